// One run of the browser's recorder over the mixed sound (and the camera): numbered pieces, one a second.
const VIDEO = ["video/webm;codecs=vp8,opus", "video/webm", "video/mp4"];
const AUDIO = ["audio/webm;codecs=opus", "audio/webm", "audio/mp4"];
const OPUS = 24000; // bits a second: with an answer of 20,000 and headers it fits into 64,000
const AAC = { besideNative: 48000, besideOwn: 40000 }; // by the encoder of the answers, of which our own makes 43,000
const LARGEST = 4 * 1024 * 1024; // what the server takes as one chunk

export function bestType(video, { userAgentData } = navigator) {
  // Chromium makes H.264 with the least work. WebKit claims to put it into WebM as well, and then records nothing.
  const first = userAgentData ? "video/webm;codecs=h264,opus" : "video/mp4";
  return (video ? [first, ...VIDEO] : AUDIO).find((type) => MediaRecorder.isTypeSupported(type)) ?? null;
}

export class Recorder {
  // onChunk(number, Uint8Array) is called in order, from 0, without gaps; onLost() when it stopped by itself; isNative:
  // whether the browser's encoder makes the answers' pieces
  constructor(stream, type, onChunk, { onLost = () => {}, isNative = true } = {}) {
    const aac = isNative ? AAC.besideNative : AAC.besideOwn;
    this.onChunk = onChunk;
    this.number = 0;
    this.done = Promise.resolve();
    this.recorder = new MediaRecorder(stream, {
      mimeType: type, audioBitsPerSecond: type.includes("mp4") ? aac : OPUS, videoBitsPerSecond: 900000,
      videoKeyFrameIntervalDuration: 1000, // so that MP4 comes out each second as well
    });
    this.recorder.onstop = onLost;
    this.recorder.ondataavailable = ({ data }) => {
      this.done = this.done.then(async () => this.#cut(new Uint8Array(await data.arrayBuffer())));
    };
  }

  get type() {
    return this.recorder.mimeType;
  }

  get works() {
    return this.recorder.state !== "inactive";
  }

  start() {
    return new Promise((resolve) => {
      this.recorder.onstart = resolve;
      this.recorder.start(1000);
    });
  }

  async stop() {
    if (this.works) {
      await new Promise((resolve) => {
        this.recorder.onstop = resolve;
        this.recorder.stop();
      });
    }
    await this.done;
  }

  #cut(bytes) {
    for (let at = 0; at < bytes.length; at += LARGEST) {
      this.onChunk(this.number, bytes.subarray(at, at + LARGEST));
      this.number += 1;
    }
  }
}
