// Before the talk: asks for microphone and camera, shows that they work, says what helps when they do not.
import { EnergyEndpoint } from "./endpoint.js";
import { ask, explain, microphones, unusable } from "./microphone.js";
import { Sound } from "./sound.js";
import * as view from "./view.js";

export class Check {
  constructor(onChange) {
    this.onChange = onChange;
    this.sound = null;
    this.heard = false;
  }

  // Resolves with true once sound comes in; the candidate may still be silent.
  async begin() {
    const obstacle = unusable();
    if (obstacle) return this.#fails(obstacle);
    let stream = null;
    try {
      stream = await ask({ video: view.settings.video });
      this.ear = new EnergyEndpoint();
      this.samples = 0;
      this.sound = await Sound.open(stream, {
        worklet: view.settings.worklet, video: view.settings.video, onFrame: (pcm, level) => this.#frame(pcm, level),
      });
    } catch (error) {
      stream?.getTracks().forEach((track) => track.stop());
      return this.#fails(explain(error));
    }
    if (!this.sound.type) return this.#fails("no-recorder");
    await this.#pictures();
    view.say("check", "say-something");
    setTimeout(() => { if (!this.heard) view.say("check", "still-silent"); }, 7000);
    this.onChange();
    return true;
  }

  #fails(key) {
    view.say("check", key);
    this.onChange();
    return false;
  }

  #frame(pcm, level) {
    view.level(level);
    this.samples += pcm.length;
    if (this.heard || this.ear.push(level, this.samples)?.type !== "speech") return;
    this.heard = true;
    for (const meter of document.querySelectorAll(".level")) meter.classList.add("works");
    view.say("check", "heard-you");
    this.onChange();
  }

  async #pictures() {
    const picker = document.getElementById("microphone");
    const devices = await microphones();
    const current = this.sound.stream.getAudioTracks()[0].getSettings().deviceId;
    picker.replaceChildren(...devices.map((device, at) => new Option(device.label || view.word("microphone", { n: at + 1 }), device.deviceId, false, device.deviceId === current)));
    picker.onchange = () => this.#change(picker.value);
    this.#preview();
    view.show("devices");
  }

  #preview() {
    const preview = view.part("preview");
    if (preview) preview.srcObject = new MediaStream(this.sound.stream.getVideoTracks());
  }

  async #change(deviceId) {
    try {
      this.sound.use(await ask({ video: view.settings.video, deviceId }));
      this.heard = false;
      view.say("check", "say-something");
      this.#preview();
    } catch (error) {
      view.say("check", explain(error));
    }
    this.onChange();
  }
}
