// Whose turn it is. Pure: no page, no network, no clock. Everything that happens is an event, everything to be done
// is an effect that page.js carries out; so every order of events can be tried in a test.
//
// Places in the sound are samples (16 kHz) on the clock of the running recorder.
//
// Phases: ready, speaking (the agent), interrupted (the agent pauses: was that a word?), listening (no one yet),
// answering (the candidate), thinking (the server), paused (the candidate wants to), lingering (it is over, but the last
// answer may still be given again), leaving (everything is being saved), stopped (nothing more can be done on this page).
//
// A pause for breath looks like the end of an answer. A candidate who speaks on while the server thinks, or over the first
// words of its reply, continues that answer: the reply counts as unheard, and its question is open again.
//
// Where its words are late the agent asks for a moment; then the same answer is posted once more. What is said meanwhile is
// another part of it.
//
// Any sound of a voice makes the agent pause at once. A cough or "mm-hm" lets it go on where it was; words take the turn.

import { CHUNK } from "./voice-track.js";

export const LONGEST_ANSWER = 5 * 60 * 16000;

export const ASK_AFTER = 25 * 16000; // of silence: the agent asks once whether it was heard, and then only waits
const GOES_ON = 8000; // speech noticed within this after a reply came may have begun before it
const RESTED = 16000; // … unless it had been over for so long before
const EARLY = 1.5 * 16000; // no one answers a question that has been heard for less than this

export function beginning({ mode = "voice", turn = 1 } = {}) {
  return { phase: "ready", mode, turn, prompt: null, from: null, since: 0, came: 0, former: null, resumed: null, continues: false, sent: false, before: null, rested: null, asked: false, call: null, think: false, pausing: false, again: false, asks: null, murmurs: 0 };
}

const ASKS = new Set(["repeat", "skip", "end"]);
const SAME = new Set(["not_heard", "wait", "repeat", "kept", "think"]); // replies that leave the question as it was
const LONG_CALL = 16000; // … and no one says "mm-hm" for so long: such a call counts where the server does not answer in time
const SOFT_CALL = 3 * 16000; // a candidate who has turned away speaks with someone else, unless it goes on for so long
const SHORT_CALL = 0.45 * 16000; // over the agent: no word that needs an answer is shorter, so no one asks what it was
const OPEN = new Set(["speaking", "interrupted", "listening", "answering"]);
export const open = (state) => OPEN.has(state.phase) && state.prompt?.expects === "answer";
// Whether the last answer may be given again now: until something else is said.
const AGAIN = new Set(["speaking", "interrupted", "listening", "lingering"]);
export const mayGoBack = (state) => AGAIN.has(state.phase) && typeof state.prompt?.last_answer === "string";
const nothing = (state) => [state, []];
const awaits = (state) => state.prompt?.kind === "moment"; // the words of the answer before are late: it is asked for once more
const sounding = (state) => state.phase === "speaking" || state.phase === "interrupted";
const hush = (state) => (sounding(state) ? [{ do: "stop-player" }] : []);
const forget = (state) => (state.call?.asked ? [{ do: "drop-track" }] : []);
const ended = (state, at) => state.resumed && { ...state.resumed, to: state.resumed.to ?? at };
const QUIET = { call: null, think: false };
// Whether words were said over the agent. Who then presses a button cannot be asked what they were, so their length decides.
const said = ({ phase, call }, at) => phase === "interrupted" && (call.asked ? call.length : (call.to ?? at) - call.from) >= LONG_CALL;
// Whether the words over the agent go on at this moment: a candidate who wants to think does not stop for the button.
const speaksOn = ({ phase, call }) => phase === "interrupted" && !call.asked && call.to === null;

function post(state, before, body) {
  const more = state.continues ? { continues: true } : {};
  const former = body.again ? state.former ?? state.prompt : body.kind === "answer" && !body.unfinished ? state.prompt : null;
  const next = { ...state, ...QUIET, phase: "thinking", from: null, former, resumed: null, continues: false, sent: state.continues };
  return [next, [...before, { do: "post", turn: state.turn, ...body, ...more }]];
}

function answer(state, to) {
  return post(state, [], { kind: "answer", from: state.from, to });
}

// What was spoken so far is kept; the answer goes on in another way, or later.
function part(state, to) {
  return post(state, [], { kind: "answer", from: state.from, to, unfinished: true });
}

// The words said over the agent take the turn: as an answer to what it was saying, or as more of the answer before.
function take(state) {
  const { from, to, early } = state.call;
  if (early) return takeUp(state, { from, to }, hush(state));
  const next = { ...state, phase: "answering", from, ...QUIET };
  const effects = [...hush(state), ...(state.call.asked ? [] : [{ do: "open-track", from }])];
  if (to === null) return [next, effects];
  const [after, more] = answer(next, to);
  return [after, [...effects, ...more]];
}

// That was nothing: the agent goes on where it was.
function goBack(state) {
  return [{ ...state, phase: "speaking", call: null, murmurs: state.murmurs + 1 }, [...forget(state), { do: "resume-player" }]];
}

// The answer was not over: its question is open again, and what is said now belongs to it.
function takeUp(state, { from, to = null }, before) {
  const next = { ...state, call: null, phase: "answering", prompt: state.former, former: null, resumed: null, continues: true, from };
  const effects = [...before, { do: "show" }, { do: "open-track", from }, ...(state.think ? [{ do: "wait" }] : [])];
  if (to === null) return [next, effects];
  const [after, more] = state.mode === "text" || state.pausing ? part(next, to) : answer(next, to);
  return [after, [...effects, ...more]];
}

// Speech while the server thinks is more of the answer. It is sent with the reply; until then it must survive a reload.
function goesOn(state, from) {
  if (state.resumed) return [{ ...state, resumed: { ...state.resumed, to: null } }, []];
  return [{ ...state, resumed: { from, to: null } }, [{ do: "keep-track", from }]];
}

const leave = (state) => [{ ...state, phase: "leaving" }, [{ do: "finish" }]];

function afterPrompt(before, at) {
  if (awaits(before)) return post(before, [], { kind: "answer", again: true });
  const state = { ...before, call: null, former: null };
  if (state.prompt.expects === "finish") {
    const lingering = { ...state, phase: "lingering" };
    return mayGoBack(lingering) ? [lingering, [{ do: "linger" }]] : leave(state);
  }
  return [{ ...state, phase: "listening", since: at, from: null }, [{ do: "listen" }]];
}

const events = {
  // The page is ready: ask for the first words, or go on with the prompt that is still open.
  start(state, { prompt, at }) {
    if (prompt) return events.reply(state, { prompt, turn: state.turn, at });
    return post(state, [], { kind: "begin" });
  },
  // The server's reply to a turn. A reply without sound has been given once it is shown.
  reply(state, { prompt, turn, at, audible = Boolean(prompt.audio_url) && state.mode === "voice" }) {
    if (state.resumed) return takeUp({ ...state, turn }, state.resumed, [{ do: "unheard" }]);
    const former = prompt.kind === "moment" ? state.former ?? prompt : state.former;
    const next = { ...state, prompt, former, turn, from: null, since: at, came: at, call: null, think: prompt.kind === "think", murmurs: 0, asked: state.asked && SAME.has(prompt.kind) };
    if (state.asks) return post({ ...next, asks: null }, [{ do: "show" }], { kind: state.asks });
    if (state.pausing && prompt.expects === "answer") return [{ ...next, phase: "paused", pausing: false, former: null, again: audible }, [{ do: "show" }, { do: "pause" }]];
    if (audible) return [{ ...next, phase: "speaking" }, [{ do: "show" }, { do: "play", url: prompt.audio_url }]];
    const [after, effects] = afterPrompt(next, at);
    return [after, [{ do: "show" }, ...effects]];
  },
  // The prompt was heard to its end (or could not be played).
  played(state, { at }) {
    return state.phase === "speaking" ? afterPrompt(state, at) : nothing(state);
  },
  // The first sample of the reply is heard now.
  sounds(state, { at }) {
    return state.phase === "speaking" ? [{ ...state, since: at }, []] : nothing(state);
  },
  // Someone speaks, or goes on after a pause. The agent pauses at once; whether it goes on is decided by what follows.
  speech(state, { from }) {
    if (state.mode !== "voice") return nothing(state);
    if (state.phase === "thinking" && state.former) return goesOn(state, from);
    if (state.phase === "thinking") return [{ ...state, before: state.before ?? from, rested: null }, []]; // before anything was asked: it may go on over the question
    if (state.phase === "answering") return state.think ? [{ ...state, think: false }, []] : nothing(state);
    if (state.phase === "interrupted") return [{ ...state, call: { ...state.call, to: null } }, []];
    if (state.phase === "speaking") {
      const early = Boolean(state.former) && (awaits(state) || from < state.since + EARLY);
      if (!early && !open(state)) return nothing(state);
      const goesOn = from < state.came + GOES_ON && (state.rested === null || from - state.rested < RESTED);
      const began = goesOn ? state.before ?? from : from;
      return [{ ...state, phase: "interrupted", before: null, call: { from: began, to: null, early, asked: false } }, [{ do: "pause-player" }]];
    }
    return open(state) ? [{ ...state, phase: "answering", from, think: false }, [{ do: "open-track", from }]] : nothing(state);
  },
  // A candidate who speaks over the agent for this long has something to say. Softly: much more so than usual. Who goes on
  // with an answer may become softer.
  lasting(state, { to, softly }) {
    if (state.phase !== "interrupted") return nothing(state);
    const { from, early } = state.call;
    return softly && !early && to - from < SOFT_CALL ? nothing(state) : take(state);
  },
  // A moment of silence. After a call over the agent's words the server is asked what it was, unless it was very short.
  lull(state, { to }) {
    if (state.phase === "thinking") return [{ ...state, rested: to }, []]; // the reply may come before the silence is noticed
    if (state.phase !== "interrupted" || state.call.asked) return nothing(state);
    if (to - state.call.from < SHORT_CALL) return goBack(state);
    const { from, early } = state.call;
    return [{ ...state, call: { ...state.call, asked: true, length: to - from } }, [{ do: "open-track", from }, { do: "ask-call", from, to, early }]];
  },
  // What the call was: words (counts), or nothing that wants an answer. Unknown (null) is decided by its length.
  // While someone goes on speaking (not quiet) the agent stays silent, and the next moment of silence is judged again.
  called(state, { from, counts, quiet }) {
    if (state.phase !== "interrupted" || !state.call.asked || state.call.from !== from) return nothing(state);
    if (counts ?? state.call.length >= LONG_CALL) return take(state);
    return quiet ? goBack(state) : [{ ...state, call: { ...state.call, asked: false } }, [{ do: "drop-track" }]];
  },
  silence(state, { to }) {
    if (state.phase === "thinking" && state.resumed) return [{ ...state, resumed: { ...state.resumed, to } }, []];
    if (state.phase === "thinking") return [{ ...state, before: null }, []];
    if (state.phase === "interrupted") return [{ ...state, call: { ...state.call, to } }, []];
    return state.phase === "answering" && !state.think ? answer(state, to) : nothing(state);
  },
  // Time passes: an answer has a longest length, so that steady noise cannot hold the turn forever. Both ends lie at a
  // whole chunk, so that a word in the rest of it belongs to what follows.
  tick(state, { at }) {
    if (state.phase === "listening" && state.mode === "voice" && !state.asked && !state.think && at - state.since > ASK_AFTER) {
      const to = at - (at % CHUNK);
      const from = to - 16000;
      return post({ ...state, asked: true }, [{ do: "open-track", from }], { kind: "answer", from, to });
    }
    if (state.phase !== "answering" || at - state.from <= LONGEST_ANSWER) return nothing(state);
    return post(state, [{ do: "attend" }], { kind: "answer", from: state.from, to: at - (at % CHUNK) });
  },
  // "I have finished": ends the answer, also one that was spoken too softly to be noticed. The ear has heard no silence
  // yet, so it is reset: a candidate who speaks on while the server thinks is heard.
  finished(state, { at }) {
    if (state.phase === "lingering") return leave(state);
    if (!open(state) || state.mode !== "voice") return nothing(state);
    if (sounding(state)) {
      const [after, effects] = afterPrompt(state, at);
      return [after, [...forget(state), ...hush(state), ...effects]];
    }
    const from = state.from ?? state.since;
    const opened = state.phase === "answering" ? [] : [{ do: "open-track", from }];
    return post(state, [...opened, { do: "attend" }], { kind: "answer", from, to: at, sure: true });
  },
  // "Let me think" holds the turn until the candidate speaks or presses again; no one asks meanwhile.
  think(state, { at }) {
    if (state.mode !== "voice") return nothing(state);
    if (state.phase === "thinking" && state.former) return [{ ...state, think: true, resumed: state.resumed ?? { from: at, to: null } }, []];
    if (!open(state)) return nothing(state);
    if (state.phase === "answering") return [{ ...state, think: !state.think }, [{ do: state.think ? "go-on" : "wait" }]];
    if (state.phase === "listening") return [{ ...state, think: !state.think, since: at }, []];
    if (awaits(state)) return takeUp({ ...state, think: true }, { from: at }, [...forget(state), ...hush(state)]);
    const [after, effects] = afterPrompt(state, at);
    return [{ ...after, think: true }, [...forget(state), ...hush(state), ...effects]];
  },
  typed(state, { text, unfinished = false }) {
    if (!open(state) || !text.trim()) return nothing(state);
    return post(state, hush(state), { kind: "text", text: text.trim(), ...(unfinished ? { unfinished } : {}) });
  },
  // What was spoken of an answer by then is kept first.
  ask(state, { kind, at }) {
    if (!open(state) || !ASKS.has(kind)) return nothing(state);
    return state.phase === "answering" ? part({ ...state, asks: kind }, at) : post(state, hush(state), { kind });
  },
  // The last answer is given again: its question is put once more.
  again(state) {
    return mayGoBack(state) ? post(state, hush(state), { kind: "repeat", back: true }) : nothing(state);
  },
  // No one wanted to.
  lingered(state) {
    return state.phase === "lingering" ? leave(state) : nothing(state);
  },
  // Voice and writing can be changed at any moment; what was spoken of an answer is kept, and the rest is written.
  mode(state, { mode, at }) {
    if (mode === state.mode || ["leaving", "stopped"].includes(state.phase)) return nothing(state);
    const next = { ...state, mode, think: false };
    const attend = mode === "voice" ? [{ do: "attend" }] : [];
    if (state.phase === "answering") return part(next, at);
    if (state.phase === "thinking") return [{ ...next, resumed: ended(state, at) }, attend];
    if (state.phase === "interrupted") return goBack(next);
    if (state.phase !== "listening") return [next, attend];
    return [{ ...next, phase: "listening", since: at, from: null }, [{ do: "listen" }]];
  },
  // Nothing is said, heard or counted until the candidate goes on. What was spoken of an answer is kept first; while the
  // server thinks, its reply is awaited, and said again a second time to change one's mind.
  pause(state, { at }) {
    if (state.phase === "thinking") return [{ ...state, pausing: !state.pausing, resumed: ended(state, at) }, []];
    if (!open(state)) return nothing(state);
    if (state.phase === "answering") return part({ ...state, pausing: true }, at);
    return [{ ...state, ...QUIET, phase: "paused", former: null, again: sounding(state) }, [...forget(state), ...hush(state), { do: "pause" }]];
  },
  // A prompt that was cut off by the pause, or came during it, is said from its beginning.
  goOn(state, { at, audible = true }) {
    if (state.phase !== "paused") return nothing(state);
    const next = { ...state, again: false, since: at };
    return state.again && audible ? [{ ...next, phase: "speaking" }, [{ do: "play", url: state.prompt.audio_url }]] : afterPrompt(next, at);
  },
  // The server did not take the turn for a reason that the candidate can fix (an answer that is too long).
  refused(state, { at }) {
    return state.phase === "thinking" ? [{ ...state, phase: "listening", since: at, former: null, resumed: null, pausing: false, asks: null }, [{ do: "listen" }]] : nothing(state);
  },
  stop(state) {
    return [{ ...state, phase: "stopped" }, [{ do: "stop-player" }]];
  },
};

const PRESSES = new Set(["finished", "think", "ask", "mode", "pause"]);

export function step(state, event) {
  if (state.phase === "stopped") return nothing(state);
  const words = said(state, event.at) || (event.type === "think" && speaksOn(state));
  if (!PRESSES.has(event.type) || !words) return events[event.type](state, event);
  // The words take the turn first, and the button is pressed in the middle of them.
  const [taken, effects] = take({ ...state, call: { ...state.call, to: null } });
  const [after, more] = step(taken, event);
  return [after, [...effects, ...more]];
}
