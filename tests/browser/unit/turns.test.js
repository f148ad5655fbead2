import { ASK_AFTER, LONGEST_ANSWER, beginning, step } from "/static/js/voice/turns.js";
import { equal, ok } from "./assert.js";

const QUESTION = { text: "What?", kind: "question", expects: "answer", audio_url: "/a" };
const OUTRO = { text: "Bye.", kind: "outro", expects: "finish", audio_url: "/b" };
const run = (events, state = beginning()) => events.reduce(([now, all], event) => {
  const [next, effects] = step(now, event);
  return [next, [...all, ...effects]];
}, [state, []]);
const speaking = () => run([{ type: "start", prompt: QUESTION, at: 0 }])[0];
const MOMENT = { text: "One moment, please.", kind: "moment", expects: "answer", audio_url: "/m", awaits: { segment: 1, first_chunk: 0, last_chunk: 3 } };
const NEXT = { text: "And then?", kind: "question", expects: "answer", audio_url: "/c" };
const answered = () => run([{ type: "speech", from: 2000 }, { type: "silence", to: 8000 }], listening())[0];
const listening = () => step(speaking(), { type: "played", at: 1000 })[0];
const names = (effects) => effects.map((effect) => effect.do);

export const tests = {
  "a new interview asks for its first words"() {
    const [state, effects] = run([{ type: "start", prompt: null, at: 0 }]);
    equal(state.phase, "thinking");
    equal(effects, [{ do: "post", turn: 1, kind: "begin" }]);
  },
  "a resumed interview repeats the open prompt and takes no turn"() {
    const [state, effects] = run([{ type: "start", prompt: QUESTION, at: 0 }], beginning({ turn: 4 }));
    equal([state.phase, state.turn], ["speaking", 4]);
    equal(names(effects), ["show", "play"]);
  },
  "a button pressed in the middle of an answer keeps what was spoken first"() {
    const [state, effects] = run([{ type: "speech", from: 2000 }, { type: "ask", kind: "skip", at: 9000 }], listening());
    equal(effects.at(-1), { do: "post", turn: 1, kind: "answer", from: 2000, to: 9000, unfinished: true });
    const kept = { ...QUESTION, kind: "kept", audio_url: null };
    const [after, asked] = step(state, { type: "reply", prompt: kept, turn: 2, at: 9500 });
    equal([after.phase, asked.at(-1)], ["thinking", { do: "post", turn: 2, kind: "skip" }]);
    equal(step(after, { type: "reply", prompt: QUESTION, turn: 3, at: 9900 })[0].phase, "speaking");
  },
  "a button pressed in the middle of words over the agent keeps these words, and a short call only if it goes on to think"() {
    const over = step(speaking(), { type: "speech", from: 1000 })[0];
    const kept = { do: "post", turn: 1, kind: "answer", from: 1000, to: 21000, unfinished: true };
    for (const press of [{ type: "mode", mode: "text" }, { type: "pause" }, { type: "ask", kind: "repeat" }]) {
      const [state, effects] = step(over, { ...press, at: 21000 });
      equal([state.phase, names(effects)], ["thinking", ["stop-player", "open-track", "post"]]);
      equal(effects.at(-1), kept);
      equal(names(step(over, { ...press, at: 9000 })[1]).includes("open-track"), false);
    }
    const [after, effects] = step(over, { type: "finished", at: 21000 });
    equal([after.phase, names(effects)], ["thinking", ["stop-player", "open-track", "attend", "post"]]);
    equal(effects.at(-1), { do: "post", turn: 1, kind: "answer", from: 1000, to: 21000, sure: true });
    const [thinks, held] = step(over, { type: "think", at: 21000 });
    equal([thinks.phase, thinks.think, thinks.from, held.at(-1)], ["answering", true, 1000, { do: "wait" }]);
    const [early] = step(over, { type: "think", at: 6000 }); // who wants to think speaks on
    equal([early.phase, early.think, early.from], ["answering", true, 1000]);
    const paused = { ...over, call: { ...over.call, to: 5000 } };
    equal(step(paused, { type: "think", at: 6000 })[0].phase, "listening");
  },
  "words over the first of a reply that a button cuts off are more of the answer before"() {
    const early = run([{ type: "reply", prompt: NEXT, turn: 2, at: 9000 }, { type: "speech", from: 10000 }], answered())[0];
    const [state, effects] = step(early, { type: "mode", mode: "text", at: 30000 });
    equal([state.phase, state.prompt.text], ["thinking", "What?"]);
    equal(effects.at(-1), { do: "post", turn: 2, kind: "answer", from: 10000, to: 30000, unfinished: true, continues: true });
    const [repeats, asked] = step(early, { type: "ask", kind: "repeat", at: 30000 });
    const moment = run([{ type: "reply", prompt: MOMENT, turn: 2, at: 9000 }, { type: "speech", from: 10000 }], answered())[0];
    const [thinks] = step(moment, { type: "think", at: 30000 });
    equal([thinks.phase, thinks.think, thinks.from, thinks.continues], ["answering", true, 10000, true]);
    equal([repeats.asks, asked.at(-1).unfinished], ["repeat", true]);
  },
  "the last answer is given again while the next question is asked, or before anything is said to it"() {
    const offered = { ...NEXT, last_answer: "I was wrong." };
    const asking = step(answered(), { type: "reply", prompt: offered, turn: 2, at: 9000 })[0];
    for (const state of [asking, step(asking, { type: "speech", from: 60000 })[0], step(asking, { type: "played", at: 20000 })[0]]) {
      const [after, effects] = step(state, { type: "again" });
      equal([after.phase, after.former, after.call], ["thinking", null, null]);
      equal(effects.at(-1), { do: "post", turn: 2, kind: "repeat", back: true });
      const [back] = step(after, { type: "reply", prompt: { ...QUESTION, kind: "repeat", last_answer: null }, turn: 3, at: 22000 });
      equal([back.phase, back.prompt.text, step(back, { type: "again" })[1]], ["speaking", "What?", []]);
    }
    const [said] = run([{ type: "played", at: 20000 }, { type: "speech", from: 21000 }], asking);
    equal(step(said, { type: "again" })[1], []);
    equal(step(listening(), { type: "again" })[1], []);
  },
  "after the goodbye there is a while to give the last answer again"() {
    const offered = { ...OUTRO, last_answer: "" };
    const over = step(answered(), { type: "reply", prompt: offered, turn: 2, at: 9000 })[0];
    const [waits, effects] = step(over, { type: "played", at: 20000 });
    equal([waits.phase, effects], ["lingering", [{ do: "linger" }]]);
    equal(step(waits, { type: "speech", from: 21000 })[0].phase, "lingering");
    equal(step(waits, { type: "again" })[1].at(-1), { do: "post", turn: 2, kind: "repeat", back: true });
    for (const type of ["lingered", "finished"]) {
      const [after, done] = step(waits, { type, at: 21000 });
      equal([after.phase, done], ["leaving", [{ do: "finish" }]]);
    }
    equal(step(answered(), { type: "reply", prompt: { ...offered, audio_url: null }, turn: 2, at: 9000 })[0].phase, "lingering");
    const [again] = step(waits, { type: "again" });
    equal(step(again, { type: "lingered" })[0].phase, "thinking");
    equal(step(step(answered(), { type: "reply", prompt: OUTRO, turn: 2, at: 9000 })[0], { type: "played", at: 20000 })[0].phase, "leaving");
  },
  "after a request for a moment the same answer is posted once more"() {
    const [state, effects] = run([{ type: "reply", prompt: MOMENT, turn: 2, at: 9000 }], answered());
    equal([state.phase, names(effects)], ["speaking", ["show", "play"]]);
    const [waits, again] = step(state, { type: "played", at: 20000 });
    equal([waits.phase, waits.turn, again], ["thinking", 2, [{ do: "post", turn: 2, kind: "answer", again: true }]]);
    equal(step(waits, { type: "reply", prompt: NEXT, turn: 3, at: 30000 })[0].prompt, NEXT);
    const shown = step(answered(), { type: "reply", prompt: { ...MOMENT, audio_url: null }, turn: 2, at: 9000 });
    equal(shown[1].at(-1), { do: "post", turn: 2, kind: "answer", again: true });
  },
  "what is said before that sentence goes on with the answer"() {
    const [state] = run([{ type: "speech", from: 9500 }, { type: "reply", prompt: MOMENT, turn: 2, at: 9900 }], answered());
    equal([state.phase, state.continues, state.prompt, state.from], ["answering", true, QUESTION, 9500]);
  },
  "what is said during it or after it is another part of the same question"() {
    const moment = step(answered(), { type: "reply", prompt: MOMENT, turn: 2, at: 9000 })[0];
    const [over] = run([{ type: "speech", from: 60000 }, { type: "lasting", from: 60000 }], moment);
    equal([over.phase, over.continues, over.prompt], ["answering", true, QUESTION]);
    const [after, effects] = run([{ type: "played", at: 20000 }, { type: "speech", from: 21000 }, { type: "reply", prompt: NEXT, turn: 3, at: 30000 }], moment);
    equal([after.phase, after.continues, after.prompt, after.from], ["answering", true, QUESTION, 21000]);
    ok(!effects.some((effect) => effect.do === "play"));
  },
  "speech while the server thinks is kept at once, and only from where it began"() {
    const [state, effects] = step(answered(), { type: "speech", from: 9500 });
    equal(effects, [{ do: "keep-track", from: 9500 }]);
    const [paused] = step(state, { type: "silence", to: 9900 });
    const [again, more] = step(paused, { type: "speech", from: 10400 });
    equal([again.resumed, more], [{ from: 9500, to: null }, []]);
  },
  "a page that was loaded in such a moment posts the answer as well"() {
    const [state] = run([{ type: "start", prompt: MOMENT, at: 0 }], beginning({ turn: 2 }));
    const [waits, again] = step(state, { type: "played", at: 20000 });
    equal(again, [{ do: "post", turn: 2, kind: "answer", again: true }]);
    equal(step(waits, { type: "speech", from: 21000 })[0].resumed, { from: 21000, to: null });
  },
  "in such a moment the buttons work: think takes the answer up, finished and pause do not lose it"() {
    const moment = step(answered(), { type: "reply", prompt: MOMENT, turn: 2, at: 9000 })[0];
    const [thinking, effects] = step(moment, { type: "think", at: 10000 });
    equal([thinking.phase, thinking.prompt, thinking.think], ["answering", QUESTION, true]);
    ok(names(effects).includes("stop-player"));
    equal(step(moment, { type: "finished", at: 10000 })[1].at(-1), { do: "post", turn: 2, kind: "answer", again: true });
    const [paused] = step(moment, { type: "pause", at: 10000 });
    equal([paused.phase, paused.again], ["paused", true]);
    equal(run([{ type: "goOn", at: 11000 }, { type: "played", at: 30000 }], paused)[1].at(-1).again, true);
    equal(step(moment, { type: "ask", kind: "repeat", at: 10000 })[1].at(-1), { do: "post", turn: 2, kind: "repeat" });
  },
  "an answer runs from its first to its last sound"() {
    const [state, effects] = run([{ type: "speech", from: 2000 }, { type: "silence", to: 9000 }], listening());
    equal(state.phase, "thinking");
    equal(effects, [{ do: "open-track", from: 2000 }, { do: "post", turn: 1, kind: "answer", from: 2000, to: 9000 }]);
  },
  "a voice makes the agent pause at once, and words take the turn"() {
    const [state, effects] = step(speaking(), { type: "speech", from: 500 });
    equal([state.phase, effects], ["interrupted", [{ do: "pause-player" }]]);
    const [taken, more] = step(state, { type: "lasting", from: 500 });
    equal([taken.phase, taken.from, names(more)], ["answering", 500, ["stop-player", "open-track"]]);
  },
  "a cough lets the agent go on where it was"() {
    const [state, effects] = run([{ type: "speech", from: 500 }, { type: "lull", to: 5000 }], speaking());
    equal([state.phase, names(effects)], ["speaking", ["pause-player", "resume-player"]]);
    equal(step(state, { type: "played", at: 9000 })[0].phase, "listening");
  },
  "a longer call is asked about: mm-hm goes on, words are an answer"() {
    const [state, effects] = run([{ type: "speech", from: 500 }, { type: "lull", to: 9500 }], speaking());
    equal([state.phase, names(effects)], ["interrupted", ["pause-player", "open-track", "ask-call"]]);
    equal(effects.at(-1), { do: "ask-call", from: 500, to: 9500, early: false });
    const verdict = { type: "called", from: 500, quiet: true };
    const [back, resumed] = step(state, { ...verdict, counts: false });
    equal([back.phase, names(resumed)], ["speaking", ["drop-track", "resume-player"]]);
    equal(step(state, { ...verdict, counts: null })[0].phase, "speaking");
    const [long] = run([{ type: "speech", from: 500 }, { type: "lull", to: 16500 }], speaking());
    equal(step(long, { ...verdict, counts: null })[0].phase, "answering"); // too long for an "mm-hm"
    const [taken, stopped] = step(state, { ...verdict, counts: true });
    equal([taken.phase, names(stopped)], ["answering", ["stop-player"]]);
    const over = step(state, { type: "silence", to: 9500 })[0];
    equal(step(over, { ...verdict, counts: true })[1].at(-1), { do: "post", turn: 1, kind: "answer", from: 500, to: 9500 });
    equal(step(state, { ...verdict, from: 499, counts: true })[1], []);
  },
  "a soft voice over the agent is meant for someone else, unless it goes on for long or continues an answer"() {
    const soft = (from, to) => ({ type: "lasting", from, to, softly: true });
    const [heard, effects] = run([{ type: "speech", from: 500 }, soft(500, 16500), soft(500, 32500)], speaking());
    equal([heard.phase, names(effects)], ["interrupted", ["pause-player"]]);
    const [back] = run([{ type: "lull", to: 40000 }, { type: "called", from: 500, counts: false, quiet: true }], heard);
    equal([back.phase, back.murmurs], ["speaking", 1]);
    equal(step(heard, soft(500, 48500))[0].phase, "answering");
    const replied = run([{ type: "speech", from: 2000 }, { type: "silence", to: 9000 }, { type: "reply", prompt: { ...QUESTION, text: "Bye" }, turn: 2, at: 30000 }], listening())[0];
    equal(run([{ type: "speech", from: 40000 }, soft(40000, 56000)], replied)[0].continues, true);
  },
  "what only made the agent pause is counted until its next reply"() {
    const short = [{ type: "speech", from: 500 }, { type: "lull", to: 5000 }];
    const asked = [{ type: "speech", from: 9000 }, { type: "lull", to: 18000 }, { type: "called", from: 9000, counts: false, quiet: true }];
    const [state] = run([...short, ...asked], speaking());
    equal(state.murmurs, 2);
    const [taken] = run([{ type: "speech", from: 20000 }, { type: "lasting", from: 20000 }, { type: "silence", to: 60000 }], state);
    equal([taken.phase, taken.murmurs], ["thinking", 2]);
    equal(step(taken, { type: "reply", prompt: QUESTION, turn: 3, at: 70000 })[0].murmurs, 0);
  },
  "while somebody goes on speaking the agent stays silent whatever the first call was"() {
    const asked = run([{ type: "speech", from: 500 }, { type: "lull", to: 9500 }], speaking())[0];
    const [state, effects] = step(asked, { type: "called", from: 500, counts: false, quiet: false });
    equal([state.phase, names(effects)], ["interrupted", ["drop-track"]]);
    equal(names(step(state, { type: "lull", to: 30000 })[1]), ["open-track", "ask-call"]);
  },
  "speech while the server thinks continues the answer and leaves the reply unheard"() {
    const answered = run([{ type: "speech", from: 2000 }, { type: "silence", to: 9000 }, { type: "speech", from: 22000 }], listening())[0];
    const reply = { type: "reply", prompt: { ...QUESTION, text: "Next?" }, turn: 2, at: 30000 };
    const [state, effects] = step(answered, reply);
    equal([state.phase, state.prompt.text, state.turn], ["answering", "What?", 2]);
    equal(names(effects), ["unheard", "show", "open-track"]);
    const [, sent] = step(state, { type: "silence", to: 50000 });
    equal(sent, [{ do: "post", turn: 2, kind: "answer", from: 22000, to: 50000, continues: true }]);
    const whole = step(answered, { type: "silence", to: 26000 })[0];
    equal(names(step(whole, reply)[1]), ["unheard", "show", "open-track", "post"]);
  },
  "speech over the first words of the reply continues the answer, later it answers the reply"() {
    const replied = run([{ type: "speech", from: 2000 }, { type: "silence", to: 9000 },
      { type: "reply", prompt: { ...OUTRO, text: "Bye" }, turn: 2, at: 30000 }], listening())[0];
    const [state, effects] = run([{ type: "speech", from: 40000 }, { type: "lasting", from: 40000 }], replied);
    equal([state.phase, state.continues, names(effects)], ["answering", true, ["pause-player", "stop-player", "show", "open-track"]]);
    equal(run([{ type: "speech", from: 40000 }, { type: "lull", to: 43000 }], replied)[0].phase, "speaking");
    equal(step(replied, { type: "speech", from: 60000 }), [replied, []]);
  },
  "silence asks once and then only waits"() {
    const [asked, effects] = step(listening(), { type: "tick", at: 1001 + ASK_AFTER });
    equal(names(effects), ["open-track", "post"]);
    const heard = run([{ type: "reply", prompt: { ...QUESTION, kind: "not_heard" }, turn: 2, at: 500000 }, { type: "played", at: 510000 }], asked)[0];
    equal(step(heard, { type: "tick", at: 510001 + 3 * ASK_AFTER })[1], []);
    const next = run([{ type: "reply", prompt: QUESTION, turn: 3, at: 900000 }, { type: "played", at: 900001 }], heard)[0];
    equal(names(step(next, { type: "tick", at: 900002 + ASK_AFTER })[1]), ["open-track", "post"]);
  },
  "nobody interrupts the farewell and it leads to the end"() {
    const farewell = run([{ type: "start", prompt: OUTRO, at: 0 }])[0];
    equal(step(farewell, { type: "speech", from: 5 }), [farewell, []]);
    const [state, effects] = step(farewell, { type: "played", at: 9 });
    equal([state.phase, names(effects)], ["leaving", ["finish"]]);
  },
  "a prompt without sound has been given once it is shown"() {
    const [state, effects] = run([{ type: "start", prompt: { ...QUESTION, audio_url: null }, at: 70 }]);
    equal([state.phase, state.since], ["listening", 70]);
    equal(names(effects), ["show", "listen"]);
  },
  "the button ends an answer that was too soft to be noticed"() {
    const [, effects] = step(listening(), { type: "finished", at: 50000 });
    equal(effects, [{ do: "open-track", from: 1000 }, { do: "attend" }, { do: "post", turn: 1, kind: "answer", from: 1000, to: 50000, sure: true }]);
  },
  "the button during the agent's words gives the candidate the turn"() {
    const [state, effects] = step(speaking(), { type: "finished", at: 40 });
    equal([state.phase, names(effects)], ["listening", ["stop-player", "listen"]]);
  },
  "nothing is sent twice while the server thinks"() {
    const waiting = run([{ type: "typed", text: "x" }], listening())[0];
    for (const event of [{ type: "typed", text: "y" }, { type: "ask", kind: "skip" }, { type: "speech", from: 1 },
      { type: "silence", to: 2 }, { type: "finished", at: 3 }, { type: "tick", at: 1e9 }]) {
      const [state, effects] = step(waiting, event);
      equal([{ ...state, before: null }, effects], [waiting, []]);
    }
  },
  "words begun before a reply count from their beginning, if they go on over it"() {
    const waiting = run([{ type: "ask", kind: "repeat" }, { type: "speech", from: 100 }], listening())[0];
    const reply = { type: "reply", prompt: waiting.prompt, turn: 2, at: 9000 };
    const over = (from, events = []) => run([...events, reply, { type: "speech", from }], waiting)[0].call;
    equal(over(10000).from, 100);
    equal(over(40000).from, 40000); // said much later
    equal(over(10000, [{ type: "silence", to: 500 }]).from, 10000);
  },
  "an empty text is no answer"() {
    equal(step(listening(), { type: "typed", text: "  \n" })[1], []);
  },
  "repeat skip and end silence the agent"() {
    for (const kind of ["repeat", "skip", "end"]) {
      const [state, effects] = step(speaking(), { type: "ask", kind });
      equal([state.phase, effects], ["thinking", [{ do: "stop-player" }, { do: "post", turn: 1, kind }]]);
    }
    equal(step(speaking(), { type: "ask", kind: "leave" })[1], []);
  },
  "steady noise cannot hold the turn for ever"() {
    const answering = step(listening(), { type: "speech", from: 1000 })[0];
    equal(step(answering, { type: "tick", at: LONGEST_ANSWER })[1], []);
    equal(names(step(answering, { type: "tick", at: LONGEST_ANSWER + 1001 })[1]), ["attend", "post"]);
  },
  "in writing nobody is heard"() {
    const [state, effects] = run([{ type: "mode", mode: "text", at: 9 }, { type: "speech", from: 10 }], listening());
    equal([state.phase, names(effects)], ["listening", ["listen"]]);
  },
  "a turn that the server refused can be given again"() {
    const [state] = run([{ type: "typed", text: "x" }, { type: "refused", at: 5 }], listening());
    equal(state.phase, "listening");
    ok(step(state, { type: "typed", text: "shorter" })[1].length === 1);
  },
  "after a stop nothing happens any more"() {
    const [state] = step(listening(), { type: "stop" });
    equal(step(state, { type: "reply", prompt: QUESTION, turn: 9, at: 1 }), [state, []]);
  },
  "the reply counts from its first sample, however long it was held back"() {
    const replied = run([{ type: "speech", from: 2000 }, { type: "silence", to: 9000 },
      { type: "reply", prompt: QUESTION, turn: 2, at: 30000 }, { type: "sounds", at: 90000 }], listening())[0];
    equal(run([{ type: "speech", from: 100000 }, { type: "lasting", from: 100000 }], replied)[0].continues, true);
    equal(run([{ type: "speech", from: 120000 }, { type: "lasting", from: 120000 }], replied)[0].continues, false);
  },
  "let me think holds the turn, and nobody asks"() {
    const [state] = step(listening(), { type: "think", at: 2000 });
    equal([state.think, step(state, { type: "tick", at: 2000 + 9 * ASK_AFTER })[1]], [true, []]);
    const [answering] = step(state, { type: "speech", from: 9000 });
    equal([answering.phase, answering.think], ["answering", false]);
    const [again] = step(state, { type: "think", at: 5000 });
    equal([again.think, again.since], [false, 5000]);
    equal(names(step(again, { type: "tick", at: 5001 + ASK_AFTER })[1]), ["open-track", "post"]);
  },
  "let me think in the middle of an answer waits for its next word"() {
    const answering = step(listening(), { type: "speech", from: 2000 })[0];
    const [state, effects] = step(answering, { type: "think", at: 9000 });
    equal([state.think, effects], [true, [{ do: "wait" }]]);
    equal(step(state, { type: "silence", to: 9000 }), [state, []]);
    const on = step(state, { type: "speech", from: 400000 })[0];
    equal([on.think, names(step(on, { type: "silence", to: 500000 })[1])], [false, ["post"]]);
    equal(names(step(state, { type: "think", at: 10000 })[1]), ["go-on"]);
    equal(names(step(state, { type: "finished", at: 10000 })[1]), ["attend", "post"]);
  },
  "let me think after the answer was sent takes it up again"() {
    const sent = run([{ type: "speech", from: 2000 }, { type: "silence", to: 9000 }, { type: "think", at: 12000 }], listening())[0];
    const [state, effects] = step(sent, { type: "reply", prompt: { ...QUESTION, text: "Next?" }, turn: 2, at: 30000 });
    equal([state.phase, state.continues, state.think, names(effects)], ["answering", true, true, ["unheard", "show", "open-track", "wait"]]);
  },
  "let me think while the agent speaks silences it"() {
    const [state, effects] = step(speaking(), { type: "think", at: 700 });
    equal([state.phase, state.think, names(effects)], ["listening", true, ["stop-player", "listen"]]);
  },
  "said instead of pressed it holds the turn too"() {
    const state = run([{ type: "speech", from: 2000 }, { type: "silence", to: 9000 },
      { type: "reply", prompt: { ...QUESTION, kind: "think" }, turn: 2, at: 30000 }, { type: "played", at: 40000 }], listening())[0];
    equal([state.phase, state.think, step(state, { type: "tick", at: 40000 + 9 * ASK_AFTER })[1]], ["listening", true, []]);
  },
  "whatever happens, the agent never speaks over a candidate's answer"() {
    // Every order of six events from a small alphabet: a prompt may only begin to play when nobody is answering.
    const alphabet = [{ type: "speech", from: 10 }, { type: "lasting", from: 10 }, { type: "lull", to: 9000 },
      { type: "lasting", from: 10, to: 16010, softly: true },
      { type: "called", from: 10, counts: true, quiet: true }, { type: "called", from: 10, counts: false, quiet: true },
      { type: "silence", to: 20 }, { type: "think", at: 25 }, { type: "played", at: 5 }, { type: "finished", at: 30 },
      { type: "typed", text: "t" }, { type: "ask", kind: "skip" }, { type: "reply", prompt: QUESTION, turn: 2, at: 40 }];
    const walk = (state, playing, depth) => {
      if (depth === 0) return;
      for (const event of alphabet) {
        if (event.type === "reply" && state.phase !== "thinking") continue; // replies follow turns
        const [next, effects] = step(state, event);
        let sound = event.type === "played" ? false : playing;
        for (const effect of effects) {
          if (effect.do === "stop-player" || effect.do === "pause-player") sound = false;
          if (effect.do === "play" || effect.do === "resume-player") sound = true;
        }
        ok(sound === (next.phase === "speaking"), `${event.type} left the agent ${sound ? "speaking" : "silent"} in ${next.phase}`);
        walk(next, sound, depth - 1);
      }
    };
    walk(speaking(), true, 6);
  },
  "what was spoken before writing is kept as a part, and the question stays open"() {
    const [state, effects] = run([{ type: "speech", from: 2000 }, { type: "mode", mode: "text", at: 9000 }], listening());
    equal(state.phase, "thinking");
    equal(effects.at(-1), { do: "post", turn: 1, kind: "answer", from: 2000, to: 9000, unfinished: true });
    const kept = { ...QUESTION, kind: "kept", audio_url: null };
    const [after] = step(state, { type: "reply", prompt: kept, turn: 2, at: 9100, audible: false });
    equal([after.phase, after.mode, after.former], ["listening", "text", null]);
    const [, rest] = step(after, { type: "typed", text: "the rest" });
    equal(rest, [{ do: "post", turn: 2, kind: "text", text: "the rest" }]);
  },
  "a draft goes along when the candidate speaks on"() {
    const [state] = step(listening(), { type: "mode", mode: "text", at: 9 });
    const [spoken, effects] = run([{ type: "mode", mode: "voice", at: 10 }, { type: "typed", text: "first", unfinished: true }], state);
    equal([spoken.mode, effects.at(-1)], ["voice", { do: "post", turn: 1, kind: "text", text: "first", unfinished: true }]);
  },
  "a pause while the agent speaks says it again from the beginning"() {
    const [paused, effects] = step(speaking(), { type: "pause", at: 100 });
    equal([paused.phase, names(effects)], ["paused", ["stop-player", "pause"]]);
    const [after, again] = step(paused, { type: "goOn", at: 0 });
    equal([after.phase, again], ["speaking", [{ do: "play", url: "/a" }]]);
    const [silent, shown] = step(paused, { type: "goOn", at: 0, audible: false }); // the sound card was lost meanwhile
    equal([silent.phase, shown], ["listening", [{ do: "listen" }]]);
  },
  "a pause while nobody speaks listens again afterwards"() {
    const [paused, effects] = step(listening(), { type: "pause", at: 100 });
    equal([paused.phase, effects], ["paused", [{ do: "pause" }]]);
    const [after, heard] = step(paused, { type: "goOn", at: 5 });
    equal([after.phase, after.since, heard], ["listening", 5, [{ do: "listen" }]]);
  },
  "a pause in the middle of an answer keeps what was said first"() {
    const [posted, effects] = run([{ type: "speech", from: 2000 }, { type: "pause", at: 9000 }], listening());
    equal(effects.at(-1), { do: "post", turn: 1, kind: "answer", from: 2000, to: 9000, unfinished: true });
    const kept = { ...QUESTION, kind: "kept", audio_url: null };
    const [paused, quiet] = step(posted, { type: "reply", prompt: kept, turn: 2, at: 9100, audible: false });
    equal([paused.phase, names(quiet)], ["paused", ["show", "pause"]]);
    equal(step(paused, { type: "goOn", at: 0 })[0].phase, "listening");
  },
  "a reply that comes during a pause waits for its end"() {
    const [thinking] = run([{ type: "speech", from: 2000 }, { type: "silence", to: 9000 }, { type: "pause", at: 9010 }], listening());
    const [paused, effects] = step(thinking, { type: "reply", prompt: QUESTION, turn: 2, at: 9100 });
    equal([paused.phase, names(effects)], ["paused", ["show", "pause"]]);
    equal(step(paused, { type: "goOn", at: 0 })[1], [{ do: "play", url: "/a" }]);
  },
  "pressing pause twice while the server thinks changes nothing"() {
    const [thinking] = run([{ type: "ask", kind: "skip" }, { type: "pause", at: 1 }, { type: "pause", at: 2 }], listening());
    equal(step(thinking, { type: "reply", prompt: QUESTION, turn: 2, at: 9 })[0].phase, "speaking");
  },
  "nothing is heard, asked or taken during a pause"() {
    const [paused] = step(listening(), { type: "pause", at: 100 });
    for (const event of [{ type: "speech", from: 5 }, { type: "silence", to: 9 }, { type: "tick", at: ASK_AFTER * 9 }, { type: "finished", at: 9 },
      { type: "typed", text: "t" }, { type: "ask", kind: "end" }, { type: "pause", at: 9 }]) {
      const [after, effects] = step(paused, event);
      equal([after.phase, effects], ["paused", []]);
    }
  },
  "the goodbye is not paused"() {
    const [thinking] = run([{ type: "ask", kind: "end" }, { type: "pause", at: 1 }], listening());
    equal(step(thinking, { type: "reply", prompt: OUTRO, turn: 2, at: 9 })[0].phase, "speaking");
  },
};
