// Sends a file in parts. What the server has acknowledged is never sent again: not after a break, not after a reload,
// because a file is known by its hash. Knows no page.
import { hash } from "./outbox.js";
import { Refused } from "./protocol.js";

export const canHash = () => Boolean(globalThis.crypto?.subtle);

// Gives the document. onProgress(from 0 to 1) tells what has arrived; the signal gives the upload up.
export async function upload(file, protocol, { onProgress = () => {}, onBegun = () => {}, signal = null } = {}) {
  if (!canHash()) return whole(file, protocol, onProgress);
  const sha256 = await hash(await file.arrayBuffer());
  for (;;) {
    try {
      return await inParts(file, sha256, protocol, { onProgress, onBegun, signal });
    } catch (error) {
      if (error.reason !== "missing" && error.reason !== "again") throw error; // the server says what it has
    }
  }
}

async function inParts(file, sha256, protocol, { onProgress, onBegun, signal }) {
  const begun = await protocol.post("uploads", { name: file.name, size: file.size, sha256 });
  onBegun(begun);
  if (begun.document) return begun.document;
  const there = new Set(begun.received);
  for (let number = 0; number < begun.parts; number += 1) {
    onProgress(there.size / begun.parts);
    if (there.has(number)) continue;
    if (signal?.aborted) throw signal.reason;
    await part(file, number, begun, protocol);
    there.add(number);
  }
  onProgress(1);
  return protocol.post(`uploads/${begun.id}/finish`, {});
}

async function part(file, number, { id, part_bytes: size }, protocol) {
  const bytes = new Uint8Array(await file.slice(number * size, (number + 1) * size).arrayBuffer());
  const headers = { "X-Content-SHA256": await hash(bytes) };
  await protocol.call("PUT", `uploads/${id}/parts/${number}`, { body: bytes, type: "application/octet-stream", headers });
}

// Pages without https have no hashes: the file goes in one piece.
async function whole(file, protocol, onProgress) {
  const body = new FormData();
  body.append("file", file);
  const kept = await protocol.call("POST", "documents", { body, tries: 4 });
  onProgress(1);
  return kept;
}

export const isRefusal = (error) => error instanceof Refused;
