// The time of the talk: how much is used and left, a warning before the end, and more of it on request.
// Knows no page: ``show`` gets what to show (time, timeNote).
const WARN = 300; // seconds before the end
const THANKS_MS = 5000;
const MOST_SHARE = 4; // of a short interview a quarter

export class Allowance {
  constructor(protocol, server, { show, now = () => performance.now() }) {
    Object.assign(this, { protocol, now, show, enough: 0, asking: false, thanks: 0 });
    this.take(server);
  }

  // What the server says is right.
  take(server) {
    Object.assign(this, {
      used: server.elapsed_seconds ?? 0, limit: server.time_limit_seconds ?? null, paused: Boolean(server.paused),
      extensions: server.extensions ?? 0, left: server.extensions_left ?? 0, at: this.now(),
    });
    this.tick();
  }

  get seconds() {
    return this.used + (this.paused ? 0 : (this.now() - this.at) / 1000);
  }

  // "added" for a moment, "over", "soon", or null while there is nothing to say.
  get note() {
    if (this.now() < this.thanks) return "added";
    if (!this.limit) return null;
    const left = this.limit - this.seconds;
    if (left <= 0) return this.enough === 2 ? null : "over";
    return left <= Math.min(WARN, this.limit / MOST_SHARE) && this.enough === 0 ? "soon" : null;
  }

  tick() {
    this.show.time(this.seconds, this.limit);
    this.show.timeNote(this.note, { more: this.left > 0 });
  }

  // The candidate has read the warning; that the time is over is said once more.
  dismiss() {
    this.enough = this.note === "over" ? 2 : 1;
    this.tick();
  }

  // Each press asks for the extension that comes next, so a double click adds one.
  async more() {
    if (this.asking || this.left < 1) return false;
    this.asking = true;
    try {
      const server = await this.protocol.post("time", { extension: this.extensions + 1 });
      this.enough = 0;
      this.thanks = this.now() + THANKS_MS;
      this.take(server);
      return true;
    } finally {
      this.asking = false;
    }
  }
}
