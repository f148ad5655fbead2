// Whose turn it is. Pure: no page, no network, no clock. Everything that happens is an event, everything to be done
// is an effect that page.js carries out; so every order of events can be tried in a test.
//
// Places in the sound are samples (16 kHz) on the clock of the running recorder.
//
// Phases: ready, speaking (the agent), listening (nobody yet), answering (the candidate), thinking (the server),
// paused (the candidate wants to), leaving (everything is being saved), stopped (nothing more can be done on this page).
//
// A pause for breath looks like the end of an answer. Whoever speaks on while the server thinks, or over the first
// words of its reply, continues that answer: the reply counts as unheard, and its question is open again.

export const LONGEST_ANSWER = 5 * 60 * 16000;

export const ASK_AFTER = 25 * 16000; // of silence: the agent asks once whether it was heard, and then only waits
const EARLY = 1.5 * 16000; // nobody answers a question that has been heard for less than this

export function beginning({ mode = "voice", turn = 1 } = {}) {
  return { phase: "ready", mode, turn, prompt: null, from: null, since: 0, former: null, resumed: null, continues: false, asked: false, pausing: false, again: false };
}

const ASKS = new Set(["repeat", "skip", "end"]);
const SAME = new Set(["not_heard", "wait", "repeat", "kept"]); // replies that leave the question as it was
const open = (state) => ["speaking", "listening", "answering"].includes(state.phase) && state.prompt?.expects === "answer";
const nothing = (state) => [state, []];
const hush = (state) => (state.phase === "speaking" ? [{ do: "stop-player" }] : []);

function post(state, before, body) {
  const more = state.continues ? { continues: true } : {};
  const former = body.kind === "answer" && !body.unfinished ? state.prompt : null;
  const next = { ...state, phase: "thinking", from: null, former, resumed: null, continues: false };
  return [next, [...before, { do: "post", turn: state.turn, ...body, ...more }]];
}

function answer(state, to) {
  return post(state, [], { kind: "answer", from: state.from, to });
}

// What was spoken so far is kept; the answer goes on in another way, or later.
function part(state, to) {
  return post(state, [], { kind: "answer", from: state.from, to, unfinished: true });
}

// The answer was not over: its question is open again, and what is said now belongs to it.
function goOn(state, { from, to = null }, before) {
  const next = { ...state, phase: "answering", prompt: state.former, former: null, resumed: null, continues: true, from };
  const effects = [...before, { do: "show" }, { do: "open-track", from }];
  if (to === null) return [next, effects];
  const [after, more] = answer(next, to);
  return [after, [...effects, ...more]];
}

function afterPrompt(before, at) {
  const state = { ...before, former: null };
  if (state.prompt.expects === "finish") return [{ ...state, phase: "leaving" }, [{ do: "finish" }]];
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
    if (state.resumed) return goOn({ ...state, turn }, state.resumed, [{ do: "unheard" }]);
    const next = { ...state, prompt, turn, from: null, since: at, asked: state.asked && SAME.has(prompt.kind) };
    if (state.pausing && prompt.expects === "answer") return [{ ...next, phase: "paused", pausing: false, former: null, again: audible }, [{ do: "show" }, { do: "pause" }]];
    if (audible) return [{ ...next, phase: "speaking" }, [{ do: "show" }, { do: "play", url: prompt.audio_url }]];
    const [after, effects] = afterPrompt(next, at);
    return [after, [{ do: "show" }, ...effects]];
  },
  // The prompt was heard to its end (or could not be played).
  played(state, { at }) {
    return state.phase === "speaking" ? afterPrompt(state, at) : nothing(state);
  },
  // Somebody speaks. While the agent speaks this is an interruption: the agent falls silent at once.
  speech(state, { from }) {
    if (state.mode !== "voice") return nothing(state);
    if (state.phase === "thinking" && state.former) return [{ ...state, resumed: { from: state.resumed?.from ?? from, to: null } }, []];
    if (state.phase === "speaking" && state.former && from < state.since + EARLY) return goOn(state, { from }, hush(state));
    if (!open(state) || state.phase === "answering") return nothing(state);
    return [{ ...state, phase: "answering", from }, [...hush(state), { do: "open-track", from }]];
  },
  silence(state, { to }) {
    if (state.phase === "thinking" && state.resumed) return [{ ...state, resumed: { ...state.resumed, to } }, []];
    return state.phase === "answering" ? answer(state, to) : nothing(state);
  },
  // Time passes: an answer has a longest length, so that steady noise cannot hold the turn for ever.
  tick(state, { at }) {
    if (state.phase === "listening" && state.mode === "voice" && !state.asked && at - state.since > ASK_AFTER) {
      const from = at - 16000;
      return post({ ...state, asked: true }, [{ do: "open-track", from }], { kind: "answer", from, to: at });
    }
    return state.phase === "answering" && at - state.from > LONGEST_ANSWER ? answer(state, at) : nothing(state);
  },
  // "I have finished": ends the answer, also one that was spoken too softly to be noticed.
  finished(state, { at }) {
    if (!open(state) || state.mode !== "voice") return nothing(state);
    if (state.phase === "speaking") {
      const [after, effects] = afterPrompt(state, at);
      return [after, [{ do: "stop-player" }, ...effects]];
    }
    const from = state.from ?? state.since;
    const opened = state.phase === "answering" ? [] : [{ do: "open-track", from }];
    return post(state, opened, { kind: "answer", from, to: at });
  },
  typed(state, { text, unfinished = false }) {
    if (!open(state) || !text.trim()) return nothing(state);
    return post(state, hush(state), { kind: "text", text: text.trim(), ...(unfinished ? { unfinished } : {}) });
  },
  ask(state, { kind }) {
    return open(state) && ASKS.has(kind) ? post(state, hush(state), { kind }) : nothing(state);
  },
  // Voice and writing can be changed at any moment; what was spoken of an answer is kept, and the rest is written.
  mode(state, { mode, at }) {
    if (mode === state.mode || ["leaving", "stopped"].includes(state.phase)) return nothing(state);
    const next = { ...state, mode };
    if (state.phase === "answering") return part(next, at);
    if (state.phase === "thinking") return [{ ...next, resumed: state.resumed && { ...state.resumed, to: state.resumed.to ?? at } }, []];
    if (state.phase !== "listening") return [next, []];
    return [{ ...next, phase: "listening", since: at, from: null }, [{ do: "listen" }]];
  },
  // Nothing is said, heard or counted until the candidate goes on. What was spoken of an answer is kept first; while the
  // server thinks, its reply is awaited, and said again a second time to change one's mind.
  pause(state, { at }) {
    if (state.phase === "thinking") return [{ ...state, pausing: !state.pausing, resumed: state.resumed && { ...state.resumed, to: state.resumed.to ?? at } }, []];
    if (!open(state)) return nothing(state);
    if (state.phase === "answering") return part({ ...state, pausing: true }, at);
    return [{ ...state, phase: "paused", former: null, again: state.phase === "speaking" }, [...hush(state), { do: "pause" }]];
  },
  // A prompt that was cut off by the pause, or came during it, is said from its beginning.
  goOn(state, { at }) {
    if (state.phase !== "paused") return nothing(state);
    const next = { ...state, again: false, since: at };
    return state.again ? [{ ...next, phase: "speaking" }, [{ do: "play", url: state.prompt.audio_url }]] : afterPrompt(next, at);
  },
  // The server did not take the turn for a reason that the candidate can mend (an answer that is too long).
  refused(state, { at }) {
    return state.phase === "thinking" ? [{ ...state, phase: "listening", since: at, former: null, resumed: null, pausing: false }, [{ do: "listen" }]] : nothing(state);
  },
  stop(state) {
    return [{ ...state, phase: "stopped" }, [{ do: "stop-player" }]];
  },
};

export function step(state, event) {
  if (state.phase === "stopped") return nothing(state);
  return events[event.type](state, event);
}
