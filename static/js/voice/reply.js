// One reply of the agent: its pieces are fetched ahead, one after the other, and played in order, each as soon as it and
// all before it are there. Knows how much of which piece was heard. Pure apart from what it is given.
export class Reply {
  // fetch(url) gives a buffer to be played, or null where a piece has no sound
  constructor(urls, fetch) {
    Object.assign(this, { urls, fetch, heard: [], now: null, given: new Set() });
    this.pieces = urls.map(() => null);
    this.#load(0);
  }

  // One request at a time: a piece takes less time to be made than the one before it takes to be heard.
  #load(number) {
    if (number >= this.urls.length) return;
    this.pieces[number] = Promise.resolve(this.fetch(this.urls[number])).catch(() => null);
    this.pieces[number].then((buffer) => {
      if (!buffer) this.given.add(number);
      this.#load(number + 1);
    });
  }

  // Plays to the end, or for as long as wanted() holds. Resolves when there is nothing more to be heard.
  async play(player, { segment, speechEnd, wanted, onSound }) {
    for (let number = 0; number < this.urls.length; number += 1) {
      const buffer = await this.#piece(number);
      if (!wanted()) return;
      if (!buffer) continue;
      if (this.now !== null) this.heard.push({ number: this.now, ...player.report() });
      this.now = number;
      await player.play(buffer, { segment, speechEnd: this.heard.length ? null : speechEnd, onSound: this.heard.length ? undefined : onSound });
      if (!wanted()) return;
    }
  }

  // Waits for a piece that is not even asked for yet as well.
  async #piece(number) {
    for (let before = 0; before < number; before += 1) await this.pieces[before];
    return this.pieces[number];
  }

  // What the server gets: the player's report, piece by piece where there are several.
  report(player) {
    const last = player.report();
    if (!last || this.urls.length < 2 || this.now === null) return last;
    const pieces = [...this.heard, { number: this.now, ...last }];
    const all = pieces.every((piece) => piece.whole) && pieces.length + this.given.size === this.urls.length;
    const seconds = Math.round(pieces.reduce((sum, piece) => sum + piece.seconds, 0) * 1000) / 1000;
    return {
      ...last, started: pieces[0].started, latency_ms: pieces[0].latency_ms, seconds, whole: all,
      pieces: pieces.map(({ number, started, seconds: heard, whole, rate }) => ({ number, started, seconds: heard, whole, ...(rate ? { rate } : {}) })),
    };
  }
}
