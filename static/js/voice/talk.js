// The talk itself: feeds events into turns.js and carries out what it decides, with the sound, the outbox, the server and
// the view. Holds no rule of its own about whose turn it is.
import { Coder, own, plain } from "./coder.js";
import { catchUp, remember } from "./comeback.js";
import { Ear, startDetector } from "./ear.js";
import { describe } from "./device.js";
import { finish } from "./ending.js";
import { guard, whenGone } from "./interruptions.js";
import { rest } from "./pausing.js";
import { Melody } from "./melody.js";
import { Refused } from "./protocol.js";
import { ReplySound } from "./reply-sound.js";
import { Silences } from "./silences.js";
import { beginning, open, step } from "./turns.js";
import { CHUNK, VoiceTrack } from "./voice-track.js";
import * as view from "./view.js";

const TAIL = 4800; // samples kept after the last speech: 0.3 s …
const TAIL_LEAST = 1600; // … or 0.1 s, where the answer then ends with a whole chunk at once
const SETTLES = 8000; // samples after "Let me think" that may still be the end of a word: half a second
const LINGERS = 20_000; // ms after the goodbye in which the last answer may still be given again
const TRIES = 1000; // ms for the encoder to show that it works, before the recorder's bit rate is chosen
const EARLIER = 60; // ms at most by which a reply is played before it may be heard; a candidate who goes on then would hear more of it
const AFTER_THINKING = 5000; // ms of silence once "let me think" is undone

// Has the server wait for chunks that are under way.
const asks = (waits) => (waits ? { "X-Wait": "1" } : {});

export class Talk {
  constructor({ protocol, outbox, sound, server, allowance, melody = null, coder = new Coder() }) {
    Object.assign(this, { protocol, outbox, sound, server, allowance, coder, segment: null, track: null, speechEnd: null, over: null, reply: null, next: null, silences: null, thinking: 0, taken: null });
    this.#hears();
    this.melody = melody ?? Melody.of(view.settings.language);
    this.#decides();
    this.writing = !sound;
    this.state = beginning({ mode: this.writing ? "text" : "voice", turn: server.turn });
  }

  #hears() {
    this.ear = new Ear((change) => this.#changes(change));
    this.detects = false;
  }

  // The detector is nearly a megabyte: it is loaded once the agent's first words are there.
  #detects() {
    if (this.detects || !this.sound || !view.settings.detector) return;
    this.detects = true;
    this.ear.use(startDetector(view.settings.detector));
  }

  // What of the replies' forms this browser decodes.
  #decides() {
    if (this.sound) this.replies ??= new ReplySound((url) => this.protocol.sound(url), (bytes) => this.sound.player.decode(bytes));
  }

  async begin() {
    view.openTalk();
    this.server = await catchUp(this);
    if (this.server.stage === "finished") return location.assign(view.settings.base);
    this.state = { ...this.state, turn: this.server.turn };
    if (this.server.paused) this.allowance.take(await this.protocol.post("pause", { paused: false })); // coming back ends the pause
    if (this.sound) await this.record();
    this.happens({ type: "start", prompt: this.server.prompt, at: this.at, audible: this.#audible(this.server.prompt) });
    if (this.server.prompt?.kind === "kept") view.say("before", "kept-beginning");
    view.focusQuestion();
  }

  get at() {
    return this.track?.samples ?? 0;
  }

  happens(event) {
    if (event.prompt && event.audible === undefined) event.audible = this.#audible(event.prompt);
    const [state, effects] = step(this.state, event);
    if (state.continues && !this.state.continues && this.state.phase !== "thinking") this.silences?.patience.wasWrong();
    this.state = state;
    for (const effect of effects) this.#do(effect);
    if (this.sound) this.#presses();
    remember(view.settings.base, this);
    view.phase(this.state, { writing: this.writing, sound: this.sound, taken: this.taken });
  }

  #audible(prompt) {
    return Boolean(prompt?.audio_url && this.sound);
  }

  // A microphone that was not there at the beginning, or another one in the place of one that is gone.
  async listens(sound) {
    this.deaf();
    Object.assign(this, { sound, taken: null, melody: Melody.of(view.settings.language) });
    this.#decides();
    view.mirror(sound);
    this.ear.close();
    this.#hears();
    this.#detects();
    if (this.state.phase === "paused") return sound.rest({ ends: false });
    return this.record();
  }

  deaf() {
    this.outbox.press("none");
    this.sound?.close().catch(() => {});
    this.sound = null;
    return true;
  }

  // A call, or something like it: as if the candidate had asked for a pause.
  #interrupted() {
    if (this.state.pausing || !(open(this.state) || this.state.phase === "thinking")) return;
    this.taken = "taken";
    this.happens({ type: "pause", at: this.at });
  }

  // Words of the answer that is being spoken.
  hears(words) {
    if (this.state.phase === "answering") view.write("heard", words);
  }

  async record() {
    if (this.sound.runs) this.sound.listen(true); // after a pause that only muted
    else await this.#run();
    this.sound.onFrame = (pcm, level) => this.#frame(pcm, level);
  }

  async #run() {
    const { segment, is_heard_well: looks } = await this.protocol.post("segments", { mime_type: this.sound.type, device: describe(this.sound) });
    this.segment = segment;
    const mix = (number, bytes) => this.outbox.add({ segment, track: "mix", number, bytes, type: this.sound.type.split(";")[0] });
    await Promise.race([this.coder.tried, new Promise((go) => { setTimeout(go, TRIES); })]);
    await this.sound.record(mix, { isNative: this.coder.isNative });
    const voice = (number, pcm) => this.#piece({ segment, track: "voice", number, pcm, type: "application/octet-stream" });
    this.track = new VoiceTrack((...chunk) => this.outbox.add(voice(...chunk)), (...chunk) => this.outbox.hold(voice(...chunk)));
    this.sound.onLost ??= guard(this.sound, () => this.#interrupted());
    this.melody.restart();
    const ask = async ({ begun, ...chunks }) => this.#judged({ segment, ...chunks, ...(begun && await this.coder.begin(begun, { soon: looks })) });
    this.silences = new Silences({ ear: this.ear, track: this.track, ask, melody: this.melody, patience: this.silences?.patience, looks, early: () => !this.outbox.thin, continues: () => this.state.continues });
    const [microphone] = this.sound.stream.getAudioTracks();
    if (microphone === this.microphone) return; // the same one after a pause
    this.microphone = microphone;
    this.present = whenGone(microphone, () => this.#goneDeaf(microphone));
  }

  #goneDeaf(microphone) {
    if (this.state.phase === "leaving" || microphone !== this.microphone) return;
    microphone.stop();
    this.taken = "microphone-lost";
    this.write(true);
  }

  // A chunk of the own voice, whose bytes are ready a moment later.
  #piece(chunk) {
    chunk.coding = this.coder.code(chunk.pcm).then((bytes) => { chunk.bytes = bytes; });
    chunk.others = [() => { this.coder.lose(); return own(chunk.pcm); }, () => plain(chunk.pcm)];
    return chunk;
  }

  #frame(pcm, level) {
    this.track.push(pcm);
    this.present(level);
    view.level(level);
    this.ear.push(pcm, level, this.at);
    this.#ends();
    if (this.state.phase !== "speaking") this.melody.push(pcm, this.at); // not the agent's own voice out of the loudspeaker
    this.silences.frame();
    if (this.state.phase === "answering" || this.state.phase === "listening") this.#tick();
    if (this.state.think && this.state.phase === "answering" && !this.ear.waits) this.#speaksAgain();
    this.#presses();
  }

  #presses() {
    const pressure = this.#pressure();
    this.outbox.press(pressure);
    this.ear.hold(pressure === "reply" || (this.outbox.thin && pressure !== "speaking"));
  }

  // What depends on the line now: see outbox.js.
  #pressure() {
    const { phase } = this.state;
    if (phase === "thinking" || (phase === "speaking" && !this.sound.player.playing)) return "reply";
    if (phase !== "answering" && phase !== "interrupted") return "none";
    return this.ear.talks ? "speaking" : "reply";
  }

  // A candidate who presses "Let me think" in the last word has not gone on yet.
  #speaksAgain() {
    if (this.at < this.thinking + SETTLES) this.ear.wait(Infinity);
    else this.happens({ type: "speech", from: this.at });
  }

  #changes(change) {
    if (change.type !== "silence") {
      if (change.type === "speech") this.speechEnd = this.over = null;
      this.happens({ ...change, softly: change.type === "lasting" && this.melody.isSoft(change.from) });
      if (change.type === "lull" && this.state.phase === "answering" && !this.state.think) this.silences.lull(change.to);
      return;
    }
    this.speechEnd = performance.now() - (this.at - change.to) / 16;
    const whole = Math.floor(this.at / CHUNK) * CHUNK;
    this.over = change.to + TAIL > whole && change.to + TAIL_LEAST <= whole ? whole : change.to + TAIL;
    this.#ends();
  }

  // An answer ends with a whole chunk: a word that begins in the rest of it would belong to no answer. Until then, and
  // while someone seems to begin a word, the answer may still go on.
  #ends() {
    if (this.over === null || this.ear.stirs || this.at < Math.ceil(this.over / CHUNK) * CHUNK) return;
    const to = this.over;
    this.over = null;
    this.happens({ type: "silence", to });
  }

  // What the server makes of a silence. No one waits for it: without an answer the page goes by its own rules.
  async #judged(body) {
    const headers = asks(await this.outbox.underWay("voice"));
    const judged = await this.protocol.post(`turns/${this.state.turn}/silence`, body, { tries: 1, headers });
    if (judged?.text && !body.interrupts) this.hears(judged.text); // the newest caption of the own words
    return judged;
  }

  async #call(call) {
    const counts = await this.silences.call(call);
    this.happens({ type: "called", from: call.from, counts, quiet: !this.ear.talks });
  }

  #tick() {
    const [state, effects] = step(this.state, { type: "tick", at: this.at });
    if (effects.length) this.happens({ type: "tick", at: this.at });
    else this.state = state;
  }

  write(writing) {
    const draft = document.getElementById("answer").value;
    this.writing = writing;
    this.happens({ type: "mode", mode: writing ? "text" : "voice", at: this.at });
    if (writing) document.getElementById("answer").focus();
    else this.happens({ type: "typed", text: draft, unfinished: true }); // what is written already belongs to the answer
  }

  #do(effect) {
    const actions = {
      show: () => view.prompt(this.state.prompt, { spoken: this.#audible(this.state.prompt) }),
      play: () => this.#play(this.state.prompt),
      "stop-player": () => { this.sound?.player.stop(); this.ear.agentSpeaks(false); },
      "pause-player": () => { this.sound.player.pause(); this.ear.agentSpeaks(false); },
      "resume-player": () => { this.sound.player.resume(); this.ear.reset(); this.ear.agentSpeaks(true); },
      "ask-call": () => this.#call(effect),
      "drop-track": () => this.track.drop(),
      wait: () => { this.thinking = this.at; this.ear.wait(Infinity); },
      "go-on": () => this.ear.wait((this.at - (this.ear.quietSince ?? this.at)) / 16 + AFTER_THINKING),
      attend: () => this.ear.reset(), // speech in progress is noticed again
      listen: () => this.#listen(),
      unheard: () => this.#expect(),
      pause: () => rest(this).catch((error) => this.fails(error)),
      "open-track": () => { this.track.open(effect.from); this.outbox.release(); this.#foresees().catch(() => {}); },
      "keep-track": () => this.track.keep(effect.from),
      post: () => this.#post(effect),
      linger: () => setTimeout(() => this.happens({ type: "lingered" }), LINGERS),
      finish: () => finish(this).catch((error) => this.fails(error)),
    };
    actions[effect.do]();
  }

  #listen() {
    this.#detects();
    this.ear.agentSpeaks(false);
    this.ear.reset();
    if (this.writing) view.focusAnswer();
  }

  // A reply is about to come: until its first sample sounds, nothing of it has been heard.
  #expect() {
    this.reply = null;
    this.sound.player.expect(this.segment);
  }

  // The likely reply is there before it is needed, where replies come with their sound and the line has room beside the voice.
  async #foresees() {
    const { turn, continues, prompt } = this.state;
    if (continues || !prompt.sound_name) return;
    await this.outbox.empty("voice");
    if (this.state.turn !== turn || this.state.phase !== "answering" || this.outbox.thin) return;
    await this.replies?.foresee(turn, (headers) => this.protocol.call("GET", `turns/${turn}/likely`, { tries: 1, headers }));
  }

  async #play(prompt) {
    const { sound: { player }, speechEnd } = this;
    const ready = this.next?.prompt === prompt ? this.next.reply : null;
    this.speechEnd = this.next = null;
    this.#expect();
    this.ear.reset();
    this.ear.agentSpeaks(true);
    const wanted = () => ["speaking", "interrupted"].includes(this.state.phase) && this.state.prompt === prompt;
    const onSound = () => {
      this.#detects();
      this.happens({ type: "sounds", at: this.at });
    };
    this.reply = ready ?? this.replies.of(prompt);
    await this.reply.play(player, { segment: this.segment, speechEnd, wanted, onSound });
    if (wanted()) this.happens({ type: "played", at: this.at });
  }

  // Until the answer has surely been over, or is gone on with, or no one waits for the reply to it any more.
  async #hold(prompt, ended) {
    if (!prompt.patience_ms || !this.#audible(prompt) || this.state.mode !== "voice") return;
    this.next = { prompt, reply: this.replies.of(prompt) }; // its sound is fetched at once
    await this.silences.hold(ended - Math.min(EARLIER, 1000 * this.sound.player.ahead), prompt, () => this.state.phase !== "thinking" || this.state.resumed !== null || this.state.pausing || this.state.mode !== "voice");
  }

  // How the last reply was heard.
  get played() {
    if (!this.sound) return null;
    const report = this.reply ? this.reply.report(this.sound.player) : this.sound.player.report();
    const { murmurs } = this.state;
    return report && murmurs ? { ...report, murmurs } : report;
  }

  async #post({ turn, kind, text, to, again = false, back = false, continues = false, unfinished = false, sure = false }) {
    if (this.sound) this.ear.agentSpeaks(true, false); // a cough while the server thinks is no answer
    const body = { kind, continues, unfinished, segment: this.segment, played: this.played, ...(back ? { again: true } : {}) };
    if (kind === "text") {
      body.text = text;
      this.taken = null;
    }
    if (again) Object.assign(body, this.state.prompt.awaits);
    else if (kind === "answer") {
      const { first, last } = this.track.close(to);
      Object.assign(body, { first_chunk: first, last_chunk: last, timing: this.#timing() });
    } else if (this.track) {
      this.track.drop();
      if (this.track.last >= 0) body.last_chunk = this.track.last; // what lies before it has been dealt with
    }
    const ended = sure || again ? null : this.speechEnd;
    try {
      const prompt = await this.#sent(turn, body);
      if (kind === "answer" && ended !== null) await this.#hold(prompt, ended);
      view.sent(text);
      this.happens({ type: "reply", prompt, turn: turn + 1, at: this.at });
    } catch (error) {
      await this.fails(error);
    }
  }

  #timing() {
    const now = Math.round(performance.now());
    return { speech_end_ms: this.speechEnd === null ? null : Math.round(this.speechEnd), detected_ms: now, posted_ms: now };
  }

  // The answer's chunks go first, and the server waits a moment for those that are under way. What it misses then is sent
  // again, and what is lost for good is left out.
  async #sent(turn, body) {
    let waits = body.kind === "answer" && await this.outbox.underWay("voice");
    const sound = this.sound ? await this.replies?.headers(turn) : {};
    for (;;) {
      try {
        return await this.protocol.post(`turns/${turn}`, body, { headers: { ...asks(waits), ...sound } });
      } catch (error) {
        if (error.reason !== "missing") throw error;
        await this.outbox.empty("voice");
        if (waits) { // they took longer than the server waits, and are there now
          waits = false;
          continue;
        }
        const lost = this.outbox.again(this.segment, "voice", error.data.missing);
        if (lost.length) body = this.#without(body, lost);
      }
    }
  }

  #without(body, lost) {
    const first = Math.max(...lost) + 1;
    return first <= body.last_chunk ? { ...body, first_chunk: first } : { kind: "repeat", segment: body.segment, played: body.played };
  }

  // Wrong number, or over: the server knows better where we are. Anything that a candidate can fix is said.
  async fails(error) {
    if (!(error instanceof Refused)) throw error;
    if (error.reason === "wrong turn" || error.reason === "over") return this.#follow();
    if (error.reason === "finished") return location.assign(view.settings.base);
    if (error.status === 422 || error.status === 413) {
      this.happens({ type: "refused", at: this.at });
      return view.write("phase", error.message);
    }
    return this.stop({ "taken over": "taken-over", "no sitting": "no-sitting" }[error.reason] ?? "broken");
  }

  async #follow() {
    const server = await this.protocol.get("state");
    if (server.stage === "finished") return location.assign(view.settings.base);
    return this.happens({ type: "reply", prompt: server.prompt, turn: server.turn, at: this.at });
  }

  stop(key) {
    if (this.state.phase === "stopped") return; // said once
    this.happens({ type: "stop" });
    this.outbox.stop();
    this.ear.close();
    this.sound?.close().catch(() => {});
    view.stopped(key);
  }
}
