// The page's sound graph: microphone → frames; microphone + agent → one recorded track; agent → loudspeaker.
import { Microphone } from "./microphone.js";
import { Player } from "./player.js";
import { Recorder, bestType } from "./recorder.js";

const WAKES = 2000; // ms

export class Sound {
  // Call it from a click: browsers start sound only then.
  static async open(stream, { worklet, video, onFrame }) {
    const context = new AudioContext({ latencyHint: "interactive" });
    await context.resume();
    const sound = new Sound(context, stream, video);
    sound.microphone = await Microphone.open(context, stream, worklet, (pcm, level) => sound.onFrame(pcm, level));
    sound.microphone.feed(sound.mix);
    sound.onFrame = onFrame;
    return sound;
  }

  constructor(context, stream, video) {
    Object.assign(this, { context, stream, video, started: null, recorder: null });
    this.mix = context.createMediaStreamDestination();
    this.player = new Player(context, [context.destination, this.mix], () => this.clock());
  }

  get type() {
    return bestType(this.video);
  }

  // Seconds on the recorder's run.
  clock() {
    return this.started === null ? null : this.context.currentTime - this.started;
  }

  async record(onChunk, { isNative = true } = {}) {
    const tracks = [...this.mix.stream.getAudioTracks(), ...(this.video ? this.stream.getVideoTracks() : [])];
    this.listen(true);
    this.recorder = new Recorder(new MediaStream(tracks), this.type, onChunk, { onLost: () => this.onLost?.(), isNative });
    await this.recorder.start();
    this.started = this.context.currentTime;
  }

  // Whether a run of the recorder goes on.
  get runs() {
    return Boolean(this.recorder?.works);
  }

  // Microphone and camera go dark until ``record`` or ``listen``; the run ends unless it is to go on.
  async rest({ ends }) {
    this.player.stop();
    this.listen(false);
    if (this.runs && !ends) return;
    await this.recorder?.stop();
    this.recorder = null;
    this.started = null;
  }

  // Whether it can be heard and recorded. What the system stopped goes on after a press of a button only: call it from one.
  async awake() {
    if (this.context.state !== "running") await Promise.race([this.context.resume().catch(() => {}), new Promise((over) => setTimeout(over, WAKES))]);
    return this.context.state === "running" && !this.gone && !this.stream.getAudioTracks().some((track) => track.muted);
  }

  // The microphone was taken away for good; another one has to be asked for.
  get gone() {
    return this.stream.getAudioTracks().every((track) => track.readyState === "ended");
  }

  listen(yes) {
    for (const track of this.stream.getTracks()) track.enabled = yes;
  }

  use(stream) {
    for (const track of this.stream.getTracks()) track.stop();
    this.stream = stream;
    this.microphone.use(stream);
  }

  // Two tones, so that the candidate knows whether the loudspeaker works.
  chime() {
    for (const [after, pitch] of [[0, 523], [0.25, 659]]) {
      const [tone, gain] = [this.context.createOscillator(), this.context.createGain()];
      const at = this.context.currentTime + after;
      tone.frequency.value = pitch;
      gain.gain.setValueAtTime(0.2, at);
      gain.gain.exponentialRampToValueAtTime(0.001, at + 0.4);
      tone.connect(gain).connect(this.context.destination);
      tone.start(at);
      tone.stop(at + 0.4);
    }
  }

  // Ends the run: the last piece has been handed over when this resolves. Microphone and camera go dark.
  async close() {
    this.player.stop();
    await this.recorder?.stop();
    for (const track of this.stream.getTracks()) track.stop();
    await this.context.close();
  }
}
