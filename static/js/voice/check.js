// Before the talk: asks for microphone and camera, shows that they work, says what helps when they do not. A microphone
// counts once something like speech has come in through it; another one has to prove itself again. The voice that is heard
// here is known when the talk begins.
import { EnergyEndpoint } from "./endpoint.js";
import { whenGone } from "./interruptions.js";
import { Melody } from "./melody.js";
import { ask, devices, explain, unusable } from "./microphone.js";
import { grade, measure } from "./network.js";
import { Sound } from "./sound.js";
import * as view from "./view.js";

const SOON = 5 * 16000; // samples after which a silent microphone is spoken about
const CHIME = 16000; // samples in which the tones come in through the microphone
const DEAD = -80; // dBFS; a microphone that is on hears at least the room

export class Check {
  constructor(onChange) {
    Object.assign(this, { onChange, sound: null, heard: false });
  }

  // Resolves with true once sound comes in; the candidate may still be silent.
  async begin() {
    const { video, worklet } = view.settings;
    const obstacle = unusable();
    view.checked("browser", obstacle ? "bad" : "good", obstacle ?? "browser-good");
    this.#network();
    if (obstacle) return this.#fails(obstacle);
    let stream = null;
    try {
      await this.sound?.close(); // checked once more
      this.sound = null;
      stream = await ask({ video });
      this.#listen();
      this.sound = await Sound.open(stream, { worklet, video, onFrame: (pcm, level) => this.#frame(pcm, level) });
    } catch (error) {
      stream?.getTracks().forEach((track) => track.stop());
      return this.#fails(await explain(error, video));
    }
    if (!this.sound.type) return this.#fails("no-recorder");
    this.#watch();
    await this.#pictures();
    this.onChange();
    return true;
  }

  async #network() {
    const { base, token, video } = view.settings;
    view.checked("network", "busy", "network-busy");
    const found = grade(await measure(base, token), { video });
    view.checked("network", { good: "good", speech: "warn", slow: "warn", none: "bad" }[found], `network-${found}`);
    view.show("thin", found === "speech" || found === "slow");
    const camera = view.control("camera-off");
    if (camera) camera.hidden = !video || found === "none";
  }

  // On a line that does not carry a picture: checked once more, with the microphone alone.
  withoutCamera() {
    view.withoutCamera();
    return this.begin();
  }

  #fails(key) {
    this.heard = false;
    this.problem = key;
    view.say("check", key);
    view.checked("microphone", "bad", null);
    this.onChange();
    return false;
  }

  #listen() {
    this.ear = new EnergyEndpoint();
    this.melody = Melody.of(view.settings.language);
    Object.assign(this, { heard: false, samples: 0, chimed: 0, loudest: -Infinity, told: false });
    view.proven(false);
    view.say("check", "say-something");
  }

  // A track that ends or is muted by the system before Start is no working microphone any more.
  #watch() {
    const [track] = this.sound.stream.getAudioTracks();
    const current = () => this.sound?.stream.getAudioTracks()[0] === track && !this.sound.recorder;
    this.present = whenGone(track, () => { if (current()) this.#lost(); });
    track.addEventListener("mute", () => { if (current()) { this.#listen(); view.say("check", "muted"); this.onChange(); } });
  }

  #lost() {
    this.sound.close().catch(() => {});
    this.sound = null;
    this.#fails("unplugged");
  }

  #frame(pcm, level) {
    view.level(level);
    this.samples += pcm.length;
    this.present?.(level);
    if (this.samples > this.chimed) this.melody.push(pcm, this.samples);
    if (this.heard) return;
    this.loudest = Math.max(this.loudest, level);
    if (this.ear.push(level, this.samples)?.type === "speech") this.#hears();
    else if (!this.told && this.samples > SOON) {
      this.told = true;
      view.say("check", this.loudest < DEAD ? "muted" : "still-silent");
    }
  }

  // The tones are no voice.
  chime() {
    this.chimed = this.samples + CHIME;
    this.sound.chime();
  }

  #hears() {
    this.heard = true;
    view.proven(true);
    view.say("check", "heard-you");
    this.onChange();
  }

  async #pictures() {
    const { stream } = this.sound;
    await this.#picker("microphone", "audioinput", stream.getAudioTracks()[0]);
    await this.#picker("camera", "videoinput", stream.getVideoTracks()[0]);
    this.#preview();
    view.show("devices");
  }

  async #picker(id, kind, track) {
    const picker = document.getElementById(id);
    if (!picker || !track) return;
    const current = track.getSettings().deviceId;
    const found = await devices(kind);
    picker.replaceChildren(...found.map((device, at) => new Option(device.label || view.word(id, { n: at + 1 }), device.deviceId, false, device.deviceId === current)));
    picker.onchange = () => this.#change();
  }

  #preview() {
    const preview = view.part("preview");
    if (preview) preview.srcObject = new MediaStream(this.sound.stream.getVideoTracks());
  }

  async #change() {
    const { video } = view.settings;
    const chosen = { deviceId: document.getElementById("microphone").value, cameraId: document.getElementById("camera")?.value };
    try {
      const stream = await ask({ video, ...chosen });
      this.sound.use(stream);
      this.#listen();
      this.#watch();
      this.#preview();
    } catch (error) {
      return this.#fails(await explain(error, video));
    }
    return this.onChange();
  }
}
