// How chunks go to the server: alone, or several of a run as one body and a list of what is in it.
import { hash } from "./outbox.js";
import { Refused } from "./protocol.js";

// onWords(text): what the recogniser understands while someone speaks.
export function sender(protocol, onWords = () => {}) {
  const put = async ({ segment, track, type }, path, given) => {
    const arrived = await protocol.call("PUT", `segments/${segment}/chunks${path}?track=${track}`, { type, ...given });
    if (arrived?.partial) onWords(arrived.partial);
    return arrived;
  };
  const send = async (chunk, signal) => put(chunk, `/${chunk.number}`, { body: chunk.bytes, signal, headers: { "X-Content-SHA256": await hash(chunk.bytes) } });
  const bundle = async (chunks, signal) => {
    const listed = await Promise.all(chunks.map(async ({ number, bytes }) => `${number} ${bytes.length} ${await hash(bytes)}`));
    const body = new Blob(chunks.map(({ bytes }) => bytes));
    const { missing, refused } = await put(chunks[0], "", { body, signal, headers: { "X-Chunks": listed }, tries: 1 });
    return { missing, refused: refused.map((one) => ({ number: one.number, error: new Refused(one.status, one) })) };
  };
  return { send, bundle };
}
