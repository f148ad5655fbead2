// Coming back to a talk whose page was left: what was spoken there last is the first part of the answer that goes on now.
import { base64 } from "./coder.js";
import { CHUNK } from "./voice-track.js";

const MOST = 60; // chunks that are kept for the next page, the newest ones: 1.3 MB, of the 5 MB that browsers give
const UNHEARD = { segment: null, started: 0, seconds: 0, whole: false };
const key = (base) => `parley-left ${base}`;
const restOf = (base) => `parley-rest ${base}`;

// After each event of the talk, so that the next page knows how the agent was heard, also where a tab was killed.
export function remember(base, { state, played }) {
  const { turn, resumed } = state;
  const continues = state.phase === "thinking" ? state.sent : state.continues; // a turn that is on its way may not arrive
  try { sessionStorage.setItem(key(base), JSON.stringify({ turn, continues, played, resumed: Boolean(resumed) })); } catch { /* a browser that keeps nothing */ }
}

function remembered(base) {
  try { return JSON.parse(sessionStorage.getItem(key(base))); } catch { return null; }
}

// The page is being left: what the browser's database does not have yet is kept for the next page, also the end of an answer
// that fills no chunk. Nothing slower would be done in time.
export function keepRest(base, { segment, track, outbox }) {
  const chunks = [...outbox.unkept.values()].slice(-MOST);
  const rest = track?.rest;
  if (rest) chunks.push({ segment, ...rest });
  if (!chunks.length) return;
  const kept = chunks.map(({ segment: run, number, pcm }) => ({ segment: run, number, pcm: base64(pcm) }));
  try { sessionStorage.setItem(restOf(base), JSON.stringify(kept)); } catch { /* as above */ }
}

// The page goes on after all.
export function forgetRest(base) {
  try { sessionStorage.removeItem(restOf(base)); } catch { /* as above */ }
}

// As chunks, the last one filled up with silence. A page of the version before kept one at most, without a list.
function keptRest(base) {
  try {
    return [].concat(JSON.parse(sessionStorage.getItem(restOf(base)))).map(({ segment, number, pcm }) => {
      const bytes = new Uint8Array(2 * CHUNK);
      bytes.set(Uint8Array.from(atob(pcm), (letter) => letter.charCodeAt(0)));
      return { segment, track: "voice", number, bytes, pcm: new Int16Array(bytes.buffer), type: "application/octet-stream" };
    });
  } catch { return []; }
}

// How the agent was heard when the speech began. A candidate who kept speaking while a reply was being made has heard nothing of it.
function knownOf(left, now) {
  if (left?.turn === now.turn) return { played: left.played, continues: left.continues };
  if (left?.resumed && left.turn + 1 === now.turn) return { played: UNHEARD, continues: true };
  return { continues: now.stage === "outro" };
}

// Sends what the earlier page could not send any more, then posts what no turn has taken. Gives where the interview stands.
export async function catchUp({ protocol, outbox, server }) {
  const chunks = keptRest(protocol.base);
  forgetRest(protocol.base);
  for (const chunk of chunks) if (!outbox.has(chunk)) outbox.add(chunk);
  if (!server.open_speech && !outbox.pending) return server;
  let left = remembered(protocol.base);
  for (;;) {
    await outbox.empty("voice");
    const now = await protocol.get("state");
    if (!now.open_speech || outbox.stopped) return now;
    const known = knownOf(left, now);
    try {
      await protocol.post(`turns/${now.turn}`, { kind: "answer", unfinished: true, recovered: true, ...known, ...now.open_speech });
    } catch (error) {
      if (error.reason === "over") return now; // after the goodbye only more of the last answer counts
      if (error.reason !== "wrong turn") throw error; // else the turn was taken meanwhile
    }
    left = { turn: now.turn + 1, played: UNHEARD, continues: now.stage === "outro" && known.continues }; // no one has heard what was said to it
  }
}
