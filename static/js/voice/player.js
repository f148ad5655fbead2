// Plays the agent's replies through the page's own sound graph, so that the recording holds what was heard, and knows to
// the hundredth of a second how much of each was heard.
export class Player {
  // clock(): seconds on the recorder's run, or null while nothing is recorded
  constructor(context, outputs, clock) {
    Object.assign(this, { context, outputs, clock, source: null, last: null });
  }

  async decode(bytes) {
    return this.context.decodeAudioData(bytes);
  }

  // A reply is about to come: until its first sample sounds, nothing of it has been heard.
  expect(segment) {
    this.stop();
    this.last = { segment, started: round(this.clock() ?? 0), seconds: 0, whole: false, latency_ms: null };
  }

  // Resolves when the reply has been heard to its end or was stopped.
  play(buffer, { segment, speechEnd = null }) {
    this.stop();
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    for (const output of this.outputs) source.connect(output);
    const begins = this.context.currentTime + 0.02;
    this.last = {
      segment, started: round((this.clock() ?? 0) + 0.02), seconds: 0, whole: false,
      latency_ms: speechEnd === null ? null : Math.max(0, Math.round(performance.now() + 20 + this.lag * 1000 - speechEnd)),
    };
    this.source = source;
    this.begins = begins;
    return new Promise((resolve) => {
      source.onended = () => {
        if (this.source === source) this.#note(true);
        resolve();
      };
      source.start(begins);
    });
  }

  // Falls silent now; the tail already handed to the loudspeaker is a few hundredths.
  stop() {
    if (!this.source) return;
    const source = this.source;
    this.#note(false);
    source.stop();
  }

  get lag() {
    return this.context.outputLatency || this.context.baseLatency || 0;
  }

  // What the server is told about the reply that was played last: heard how far.
  report() {
    return this.last && this.last.segment !== null ? this.last : null;
  }

  #note(whole) {
    const length = this.source.buffer.duration;
    const heard = whole ? length : Math.min(length, Math.max(0, this.context.currentTime - this.begins - this.lag));
    this.last = { ...this.last, seconds: round(heard), whole };
    this.source = null;
  }
}

const round = (seconds) => Math.round(seconds * 1000) / 1000;
