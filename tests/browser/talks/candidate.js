// What the candidate does: the moves of a script one after the other, each at its moment, then plain answers to the end.
// A move: { when, ms, act, … }. when: "turn" (ms since the agent listens), "agent" (ms since it began to sound),
// "thinking" (ms since the server thinks), "speaking" (ms since the candidate's own words began), "quiet" (ms of silence
// on both sides). A moment that does not come within PATIENCE (or the weather's patience) is passed over with its move.
const MS = 20;
const FRAME = 320;
const SILENCE = { id: 0, loud: false };
const WORD = 15; // frames of a word …
const SOFT = 3; // … and at its end, between it and the next, this many soft ones
const PATIENCE = 12000;
const ANSWERS_AFTER = 600; // ms after which somebody who has nothing special to do answers
const GIVES_UP = 8000; // ms of an answer that hangs open, until somebody presses "I have finished"

export class Candidate {
  // reserve: { answers: [ids], no: [ids] }, words for plain answers and for a no to "do you want to end?"
  constructor(world, { moves, reserve }) {
    Object.assign(this, { world, moves: [...moves], reserve, frames: [], said: [], tape: "", phrases: 0, phase: null });
    this.since = { move: 0, own: 0, any: 0, agent: 0, phase: 0 };
  }

  get #now() { return this.world.clock.now; }

  get #speaks() { return this.frames.length > 0; }

  // What sounds in this frame: { id, kind, phrase, loud }, id 0 for silence.
  frame() {
    const { talk, audible } = this.world;
    const phase = talk?.state.phase ?? "away";
    if (phase !== this.phase) this.since.phase = this.#now;
    this.phase = phase;
    if (!audible) this.since.agent = this.#now;
    if (audible || this.#speaks) this.since.any = this.#now;
    if (talk && phase !== "leaving" && phase !== "stopped") this.#acts();
    const frame = this.frames.shift() ?? SILENCE;
    if (frame.id) Object.assign(this, { falls: frame.falls, kind: frame.kind });
    return frame;
  }

  #acts() {
    const [move] = this.moves;
    if (!move) {
      if (!this.#speaks) this.#plain();
      return;
    }
    const late = this.#now - this.since.move > (this.world.weather.patience ?? PATIENCE);
    if (!late && !this.#isDue(move)) return;
    this.moves.shift();
    this.since.move = this.#now;
    if (!late) this.#do(move);
  }

  #isDue({ when, ms }) {
    const { since } = this;
    if (when === "speaking") return !this.#speaks || this.#now - since.own >= ms;
    if (this.#speaks) return false;
    if (when === "agent") return this.world.audible && this.#now - since.agent >= ms;
    if (when === "turn") return this.phase === "listening" && this.#now - since.phase >= ms;
    if (when === "thinking") return this.phase === "thinking" && this.#now - since.phase >= ms;
    return this.#now - since.any >= ms;
  }

  #do(move) {
    const { world } = this;
    world.log.push({ at: this.#now, phase: this.phase, ...move });
    const acts = {
      say: () => this.#say(move.phrases, move.kind),
      press: () => this.#press(move.name),
      write: () => this.#write(move.text),
      reload: () => { this.frames = []; world.reload(move.away); },
      offline: () => world.disconnect(move.lasts),
      late: () => { world.busy = { turns: move.turns, seconds: move.seconds }; },
    };
    acts[move.act]();
  }

  // phrases: [{ ids, pause, falls }]: words, then ms of silence; whether the voice falls at their end, if it is not the
  // weather that says so
  #say(phrases, kind) {
    this.since.own = this.#now;
    for (const { ids, pause, falls } of phrases) {
      this.phrases += 1;
      for (const id of ids) for (let n = WORD; n > 0; n -= 1) this.frames.push({ id, kind, phrase: this.phrases, loud: n > SOFT, falls });
      this.frames.push(...Array(pause / MS).fill(SILENCE));
    }
    this.frames = this.frames.slice(0, this.frames.findLastIndex(({ id }) => id) + 1);
  }

  // A candidate who presses a button has stopped speaking, unless it only asks for time.
  #press(name) {
    if (name !== "think") this.frames = [];
    this.world.view.control(name).click();
  }

  #write(text) {
    const { talk, view } = this.world;
    if (!talk.writing) this.#press("write");
    if (!text || !talk.writing) return;
    document.getElementById("answer").value = text;
    view.part("writing").dispatchEvent(new Event("submit", { cancelable: true }));
  }

  #plain() {
    const { talk } = this.world;
    const waits = this.#now - this.since.phase;
    if (this.phase === "paused" && waits > ANSWERS_AFTER) this.#press("go-on");
    if (this.phase === "answering" && this.#now - Math.max(this.since.any, this.since.phase) > GIVES_UP) this.#press("finished");
    if (this.phase !== "listening" || waits < ANSWERS_AFTER || this.#now - this.since.any < ANSWERS_AFTER) return;
    if (talk.writing) { this.#press("write"); return; }
    const isAsked = talk.state.prompt?.kind === "sure";
    const ids = (isAsked ? this.reserve.no : this.reserve.answers).shift();
    if (!ids) return;
    this.world.log.push({ at: this.#now, phase: this.phase, act: "plain", ids });
    this.#say([{ ids, pause: 0 }], isAsked ? "command" : "answer");
  }

  // After a frame: where the word in it fell. ear: the sound that was listened to then; null where nobody listened. The tape
  // has one digit for each frame: 1 where the candidate sounds, 2 where the agent does, 3 for both.
  note({ id, kind, phrase, loud }, ear) {
    const { talk, audible } = this.world;
    this.tape += Number(loud) + 2 * Number(audible);
    if (!id) return;
    const state = talk?.state ?? { phase: "away" };
    let word = this.said.at(-1);
    if (word?.id !== id) {
      word = { id, kind, phrase, at: this.#now, run: talk?.segment ?? null, from: talk ? talk.at - FRAME : null, frames: 0, live: true, given: false, agent: false, phases: [] };
      this.said.push(word);
    }
    word.frames += 1;
    word.live &&= Boolean(ear) && state.mode === "voice" && !state.pausing; // from its button on, a pause hears nothing
    word.given ||= state.phase === "answering" || (state.phase === "thinking" && state.resumed?.to === null);
    word.agent ||= audible;
    if (!word.phases.includes(state.phase)) word.phases.push(state.phase);
  }
}
