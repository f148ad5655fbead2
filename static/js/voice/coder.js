// Pieces of an answer in the smallest form that works here: Opus where the browser has an encoder that can be believed,
// else FLAC, a quarter of the samples. An encoder that fails once is not asked again. The forms are described in
// app/gateways/speech/coding.
import { flac } from "./flac.js";
import { LEAD } from "./voice-track.js";

const OPUS = [80, 86, 2]; // "PV", and the form
const TAIL = 320; // samples, so that the encoder's delay cuts nothing off
const PATIENCE = 1500; // ms for a piece, of which a browser needs ten

export function startOpus() {
  try {
    return new Worker(new URL("./opus-worker.js", import.meta.url), { type: "module" });
  } catch {
    return null;
  }
}

export class Coder {
  // worker: as startOpus gives it, or null
  constructor(worker = null, patience = PATIENCE) {
    Object.assign(this, { worker, patience, opus: false, asked: new Map(), last: 0, known: () => {} });
    this.tried = worker ? new Promise((resolve) => { this.known = resolve; }) : Promise.resolve(); // whether it works is known
    if (!worker) return;
    worker.onmessage = ({ data }) => (data.id ? this.asked.get(data.id)?.(data.piece) : this.#tried(data.works));
    worker.onerror = (event) => { event.preventDefault?.(); this.lose(); };
    worker.postMessage("try");
  }

  #tried(works) {
    if (works) this.opus = true;
    else this.lose();
    this.known();
  }

  // The encoder is of no use any more.
  lose() {
    this.opus = false;
    this.known();
    this.worker?.terminate();
    this.worker = null;
    for (const answer of [...this.asked.values()]) answer(null);
  }

  // pcm: 8,000 samples of a VoiceTrack. Resolves with the bytes of the piece, never throws.
  async code(pcm) {
    const bytes = this.opus ? await this.#opus(pcm) : null;
    return bytes ? Uint8Array.of(...OPUS, ...bytes) : flac(pcm);
  }

  async #opus(pcm) {
    const skip = Math.min(LEAD, pcm.byteOffset / 2);
    const samples = new Int16Array(skip + pcm.length + TAIL);
    samples.set(new Int16Array(pcm.buffer, pcm.byteOffset - 2 * skip, skip + pcm.length));
    for (let at = 0; at < TAIL; at += 1) samples[skip + pcm.length + at] = pcm[pcm.length - 1 - at]; // mirrored: no click
    this.last += 1;
    const id = this.last;
    const piece = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), this.patience);
      this.asked.set(id, (bytes) => { clearTimeout(timer); resolve(bytes); });
      this.worker.postMessage({ id, samples, skip, count: pcm.length });
    });
    this.asked.delete(id);
    if (!piece && this.worker) this.lose();
    return piece;
  }
}

export const plain = (pcm) => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength).slice();
