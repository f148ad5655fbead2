// Pieces of an answer in Opus: by the browser's encoder where it has one that can be believed, else by our own. An encoder of the
// browser that fails once is not asked again. The form is described in app/gateways/speech/coding.
import { LEAD } from "./voice-track.js";

const HEAD = [80, 86, 2]; // "PV", and the form
const TAIL = 320; // samples, so that an encoder's delay cuts nothing off
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
    Object.assign(this, { worker, patience, isNative: false, asked: new Map(), last: 0, known: () => {} });
    this.tried = worker ? new Promise((resolve) => { this.known = resolve; }) : Promise.resolve(); // whether the browser's works is known
    if (!worker) return;
    worker.onmessage = ({ data }) => (data.id ? this.asked.get(data.id)?.(data) : this.#tried(data.works));
    worker.onerror = (event) => { event.preventDefault?.(); this.lose(); };
    worker.postMessage("try");
  }

  #tried(works) {
    this.isNative = works;
    this.known();
  }

  // The worker is of no use any more, and with it the browser's encoder.
  lose() {
    this.isNative = false;
    this.known();
    this.worker?.terminate();
    this.worker = null;
    for (const answer of [...this.asked.values()]) answer({ made: null });
  }

  // pcm: 8,000 samples of a VoiceTrack. Resolves with the bytes of the piece, never throws.
  async code(pcm) { return (await this.#beside(pcm)) ?? own(pcm); }

  // The beginning of a chunk, as the server takes it. Plain samples are there sooner, where the page waits for the words. Else it
  // sounds like the chunks before it: the embedded recogniser takes a change of the sound for a word.
  async begin({ filled, pcm }, { soon }) {
    return soon ? { begun: base64(pcm) } : { begun: base64(await this.code(filled)), begun_samples: pcm.length };
  }

  // In the worker, where it is not on the page's way; null where that fails.
  async #beside(pcm) {
    if (!this.worker) return null;
    this.last += 1;
    const id = this.last;
    const { made, isNative } = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ made: null }), this.patience);
      this.asked.set(id, (data) => { clearTimeout(timer); resolve(data); });
      this.worker.postMessage({ id, ...withLead(pcm) });
    });
    this.asked.delete(id);
    if (!made) this.lose();
    this.isNative &&= isNative;
    return made && written(made);
  }
}

// The samples of a piece with what lies before it, and its end mirrored, which makes no click.
function withLead(pcm) {
  const skip = Math.min(LEAD, pcm.byteOffset / 2);
  const samples = new Int16Array(skip + pcm.length + TAIL);
  samples.set(new Int16Array(pcm.buffer, pcm.byteOffset - 2 * skip, skip + pcm.length));
  for (let at = 0; at < TAIL; at += 1) samples[skip + pcm.length + at] = pcm[pcm.length - 1 - at];
  return { samples, skip, count: pcm.length };
}

// By our own encoder, which is loaded when it is needed: samples where it cannot be had.
export async function own(pcm) {
  try {
    const { encoded } = await import("./opus/piece.js");
    return written(encoded(withLead(pcm)));
  } catch {
    return plain(pcm);
  }
}

// As app/gateways/speech/coding reads it.
function written({ packets, leave }) {
  const head = HEAD.length + 3 + 2 * packets.length;
  const bytes = new Uint8Array(packets.reduce((all, packet) => all + packet.length, head));
  const view = new DataView(bytes.buffer, HEAD.length);
  bytes.set(HEAD);
  view.setUint8(0, packets.length);
  view.setUint16(1, leave, true);
  let at = head;
  packets.forEach((packet, number) => {
    view.setUint16(3 + 2 * number, packet.length, true);
    bytes.set(packet, at);
    at += packet.length;
  });
  return bytes;
}

export const base64 = (pcm) => btoa(String.fromCharCode(...plain(pcm)));

export const plain = (pcm) => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength).slice();
