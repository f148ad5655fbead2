// Both sides of a talk, as samples of 16 bits at half the rate: first input the candidate, second the agent.
const BLOCK = 1024;

class Stereo extends AudioWorkletProcessor {
  constructor() {
    super();
    Object.assign(this, { pcm: new Int16Array(2 * BLOCK), filled: 0, from: null, power: 0 });
  }

  process([candidate, agent]) {
    this.from ??= currentFrame;
    for (let at = 0; at < 128; at += 2) {
      const [left, right] = [candidate, agent].map(([channel]) => (channel ? (channel[at] + channel[at + 1]) / 2 : 0));
      this.power += right * right;
      this.#put(left, right);
    }
    return true;
  }

  #put(left, right) {
    for (const [side, value] of [left, right].entries()) this.pcm[2 * this.filled + side] = Math.round(32767 * Math.max(-1, Math.min(1, value)));
    this.filled += 1;
    if (this.filled < BLOCK) return;
    const { pcm, from, power } = this;
    this.port.postMessage({ pcm, at: from / sampleRate, level: 10 * Math.log10(power / BLOCK + 1e-12) }, [pcm.buffer]);
    Object.assign(this, { pcm: new Int16Array(2 * BLOCK), filled: 0, from: null, power: 0 });
  }
}

registerProcessor("stereo", Stereo);
