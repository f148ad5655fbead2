// The practice question: a few seconds of the microphone, heard again on this device. Nothing leaves the page: this module
// knows neither network nor store, and what was recorded is forgotten with the next try and with Start.
import * as view from "./view.js";

const LONGEST = 30; // seconds

export class Practice {
  // stream(): the microphone of the check, or null
  constructor(stream) {
    Object.assign(this, { stream, recorder: null, clock: null, url: null });
    view.on("practice", () => (this.recorder ? this.stop() : this.begin()));
  }

  begin() {
    const stream = this.stream();
    if (!stream) return;
    this.forget();
    const recorder = new MediaRecorder(new MediaStream(stream.getAudioTracks()));
    const pieces = [];
    recorder.ondataavailable = ({ data }) => pieces.push(data);
    recorder.onstop = () => { if (this.recorder === recorder) this.#keep(new Blob(pieces, { type: recorder.mimeType })); };
    recorder.start();
    this.recorder = recorder;
    this.#tick(LONGEST);
    view.practising(true);
  }

  stop() {
    if (this.recorder?.state === "recording") this.recorder.stop();
  }

  forget() {
    clearTimeout(this.clock);
    const recorder = this.recorder;
    this.recorder = null;
    if (recorder?.state === "recording") recorder.stop();
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = null;
    view.practised(null);
  }

  #tick(left) {
    if (left <= 0) return this.stop();
    view.say("practice", "practice-left", { n: left });
    this.clock = setTimeout(() => this.#tick(left - 1), 1000);
  }

  #keep(blob) {
    clearTimeout(this.clock);
    this.recorder = null;
    this.url = URL.createObjectURL(blob);
    view.practising(false);
    view.practised(this.url);
    view.say("practice", "practice-listen");
  }
}
