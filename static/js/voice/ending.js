// The end: the recorder stops, everything goes to the server, and only when the server says that it has it all does the
// candidate see the thank-you (a page of the server's own).
import * as view from "./view.js";

const ROUNDS = 6;
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export async function finish(talk) {
  const read = talk.sound ? 0 : Math.min(10000, 2500 + 45 * (talk.state.prompt?.text.length ?? 0));
  const shown = sleep(read);
  await talk.sound?.close();
  talk.outbox.press("none");
  const late = setInterval(() => view.saving(talk.outbox.pending), 400);
  try {
    await talk.outbox.empty();
    if (talk.outbox.stopped) return;
    await handIn(talk, await segments(talk));
  } finally {
    clearInterval(late);
  }
  await talk.outbox.store.clear();
  await shown;
  location.replace(view.settings.base);
}

async function segments({ outbox }) {
  const runs = await outbox.store.runs();
  return runs.map(({ segment, mix, voice }) => ({ segment, last_mix_chunk: mix, last_voice_chunk: voice }));
}

async function handIn(talk, parts, round = 0, more = {}) {
  try {
    return await talk.protocol.post("finish", { segments: parts, played: talk.played, ...more });
  } catch (error) {
    if (error.reason === "cv") return handIn(talk, parts, round, await view.cv(error.data.cv));
    if (error.reason !== "missing" || round >= ROUNDS) throw error;
    const kept = parts.map((part) => cut(talk.outbox, part, error.data.missing[part.segment] ?? []));
    await talk.outbox.empty();
    return handIn(talk, kept, round + 1);
  }
}

// Chunks that no one has any more (a browser without memory was reloaded) end their run before the gap.
function cut(outbox, part, missing) {
  const lost = outbox.again(part.segment, "mix", missing);
  return lost.length ? { ...part, last_mix_chunk: Math.min(...lost) - 1 } : part;
}
