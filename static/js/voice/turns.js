// Whose turn it is. Pure: no page, no network, no clock. Everything that happens is an event, everything to be done
// is an effect that page.js carries out; so every order of events can be tried in a test.
//
// Places in the sound are samples (16 kHz) on the clock of the running recorder.
//
// Phases: ready, speaking (the agent), listening (nobody yet), answering (the candidate), thinking (the server),
// leaving (everything is being saved), stopped (nothing more can be done on this page).

export const LONGEST_ANSWER = 5 * 60 * 16000;

export function beginning({ mode = "voice", turn = 1 } = {}) {
  return { phase: "ready", mode, turn, prompt: null, from: null, since: 0 };
}

const ASKS = new Set(["repeat", "skip", "end"]);
const open = (state) => ["speaking", "listening", "answering"].includes(state.phase) && state.prompt?.expects === "answer";
const nothing = (state) => [state, []];
const hush = (state) => (state.phase === "speaking" ? [{ do: "stop-player" }] : []);

function post(state, before, body) {
  return [{ ...state, phase: "thinking", from: null }, [...before, { do: "post", turn: state.turn, ...body }]];
}

function answer(state, to) {
  return post(state, [], { kind: "answer", from: state.from, to });
}

function afterPrompt(state, at) {
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
    const next = { ...state, prompt, turn, from: null };
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
    if (!open(state) || state.mode !== "voice" || state.phase === "answering") return nothing(state);
    return [{ ...state, phase: "answering", from }, [...hush(state), { do: "open-track", from }]];
  },
  silence(state, { to }) {
    return state.phase === "answering" ? answer(state, to) : nothing(state);
  },
  // Time passes: an answer has a longest length, so that steady noise cannot hold the turn for ever.
  tick(state, { at }) {
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
  typed(state, { text }) {
    return open(state) && text.trim() ? post(state, hush(state), { kind: "text", text: text.trim() }) : nothing(state);
  },
  ask(state, { kind }) {
    return open(state) && ASKS.has(kind) ? post(state, hush(state), { kind }) : nothing(state);
  },
  // Voice and writing can be changed at any moment; a spoken beginning is given up for the written answer.
  mode(state, { mode, at }) {
    if (mode === state.mode || !["speaking", "listening", "answering"].includes(state.phase)) return nothing(state);
    const next = { ...state, mode };
    if (state.phase === "speaking") return [next, []];
    return [{ ...next, phase: "listening", since: at, from: null }, [{ do: "listen" }]];
  },
  // The server did not take the turn for a reason that the candidate can mend (an answer that is too long).
  refused(state, { at }) {
    return state.phase === "thinking" ? [{ ...state, phase: "listening", since: at }, [{ do: "listen" }]] : nothing(state);
  },
  stop(state) {
    return [{ ...state, phase: "stopped" }, [{ do: "stop-player" }]];
  },
};

export function step(state, event) {
  if (state.phase === "stopped") return nothing(state);
  return events[event.type](state, event);
}
