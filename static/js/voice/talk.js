// The talk itself: feeds events into turns.js and carries out what it decides, with the sound, the outbox, the server and
// the view. Holds no rule of its own about whose turn it is.
import { Ear, startDetector } from "./ear.js";
import { describe } from "./device.js";
import { hash } from "./outbox.js";
import { finish } from "./ending.js";
import { rest } from "./pausing.js";
import { Refused } from "./protocol.js";
import { Reply } from "./reply.js";
import { beginning, step } from "./turns.js";
import { VoiceTrack } from "./voice-track.js";
import * as view from "./view.js";

const TAIL = 4800; // samples kept after the last speech: 0.3 s

export class Talk {
  constructor({ protocol, outbox, sound, server, allowance }) {
    Object.assign(this, { protocol, outbox, sound, server, allowance, segment: null, track: null, speechEnd: null, reply: null });
    this.ear = new Ear((change) => this.#changes(change), sound && view.settings.detector ? startDetector(view.settings.detector) : null);
    this.writing = !sound;
    this.state = beginning({ mode: this.writing ? "text" : "voice", turn: server.turn });
  }

  async begin() {
    view.openTalk();
    if (this.server.paused) this.allowance.take(await this.protocol.post("pause", { paused: false })); // whoever comes back goes on
    if (this.sound) await this.record();
    this.happens({ type: "start", prompt: this.server.prompt, at: this.at, audible: this.#audible(this.server.prompt) });
    view.focusQuestion();
  }

  get at() {
    return this.track?.samples ?? 0;
  }

  happens(event) {
    if (event.prompt && event.audible === undefined) event.audible = this.#audible(event.prompt);
    const [state, effects] = step(this.state, event);
    this.state = state;
    for (const effect of effects) this.#do(effect);
    view.phase(this.state, { writing: this.writing, sound: this.sound });
  }

  #audible(prompt) {
    return Boolean(prompt?.audio_url && this.sound);
  }

  // A microphone that was not there at the beginning.
  async listens(sound) {
    this.sound = sound;
    view.mirror(sound);
    this.ear.close();
    if (view.settings.detector) this.ear = new Ear((change) => this.#changes(change), startDetector(view.settings.detector));
    if (this.state.phase === "paused") return sound.rest({ ends: false });
    return this.record();
  }

  // Words of the answer that is being spoken.
  hears(words) {
    if (this.state.phase === "answering") view.write("heard", words);
  }

  async record() {
    const { segment } = await this.protocol.post("segments", { mime_type: this.sound.type, device: describe(this.sound) });
    this.segment = segment;
    await this.sound.record((number, bytes) => this.outbox.add({ segment, track: "mix", number, bytes, type: this.sound.type.split(";")[0] }));
    this.track = new VoiceTrack((number, pcm) => this.outbox.add({ segment, track: "voice", number, bytes: new Uint8Array(pcm.buffer), type: "application/octet-stream" }));
    this.sound.onFrame = (pcm, level) => this.#frame(pcm, level);
    this.sound.stream.getAudioTracks()[0].onended = () => {
      if (this.state.phase === "leaving") return;
      view.say("heard", "microphone-lost");
      this.write(true);
    };
  }

  #frame(pcm, level) {
    this.track.push(pcm);
    view.level(level);
    this.ear.push(pcm, level, this.at);
    if (this.state.phase === "answering" || this.state.phase === "listening") this.#tick();
  }

  #changes(change) {
    if (change.type === "speech") this.happens(change);
    if (change.type !== "silence") return;
    this.speechEnd = performance.now() - (this.at - change.to) / 16;
    this.happens({ ...change, to: Math.min(change.to + TAIL, this.at) });
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
      listen: () => this.#listen(),
      unheard: () => this.#expect(),
      pause: () => rest(this).catch((error) => this.fails(error)),
      "open-track": () => this.track.open(effect.from),
      post: () => this.#post(effect),
      finish: () => finish(this).catch((error) => this.fails(error)),
    };
    actions[effect.do]();
  }

  #listen() {
    this.ear.agentSpeaks(false);
    this.ear.reset();
    if (this.writing) view.focusAnswer();
  }

  // A reply is about to come: until its first sample sounds, nothing of it has been heard.
  #expect() {
    this.reply = null;
    this.sound.player.expect(this.segment);
  }

  async #play(prompt) {
    const { sound: { player }, speechEnd } = this;
    this.speechEnd = null;
    this.#expect();
    this.ear.reset();
    this.ear.agentSpeaks(true);
    const wanted = () => this.state.phase === "speaking" && this.state.prompt === prompt;
    this.reply = new Reply(prompt.audio_urls ?? [prompt.audio_url], async (url) => {
      const bytes = await this.protocol.sound(url);
      return bytes && player.decode(bytes);
    });
    await this.reply.play(player, { segment: this.segment, speechEnd, wanted });
    if (wanted()) this.happens({ type: "played", at: this.at });
  }

  // How the last reply was heard.
  get played() {
    if (!this.sound) return null;
    return this.reply ? this.reply.report(this.sound.player) : this.sound.player.report();
  }

  async #post({ turn, kind, text, to, continues = false, unfinished = false }) {
    if (this.sound) this.ear.agentSpeaks(true); // a cough while the server thinks is no answer
    const body = { kind, continues, unfinished, segment: this.segment, played: this.played };
    if (kind === "text") body.text = text;
    if (kind === "answer") {
      const { first, last } = this.track.close(to);
      Object.assign(body, { first_chunk: first, last_chunk: last, timing: this.#timing() });
    } else this.track?.drop();
    try {
      const prompt = await this.#sent(turn, body);
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

  // The answer's chunks go first; what the server still misses is sent again, what is lost for good is left out.
  async #sent(turn, body) {
    for (;;) {
      if (body.kind === "answer") await this.outbox.empty("voice");
      try {
        return await this.protocol.post(`turns/${turn}`, body);
      } catch (error) {
        if (error.reason !== "missing") throw error;
        const lost = this.outbox.again(this.segment, "voice", error.data.missing);
        if (lost.length) body = this.#without(body, lost);
      }
    }
  }

  #without(body, lost) {
    const first = Math.max(...lost) + 1;
    return first <= body.last_chunk ? { ...body, first_chunk: first } : { kind: "repeat", segment: body.segment, played: body.played };
  }

  // Wrong number, or over: the server knows better where we are. Anything that a candidate can mend is said.
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
    this.happens({ type: "stop" });
    this.outbox.stop();
    this.ear.close();
    this.sound?.close().catch(() => {});
    view.stopped(key);
  }
}

// onWords(text): what the recogniser understands while somebody speaks.
export function sender(protocol, onWords = () => {}) {
  return async (chunk) => {
    const arrived = await protocol.call("PUT", `segments/${chunk.segment}/chunks/${chunk.number}?track=${chunk.track}`, {
      body: chunk.bytes, type: chunk.type, headers: { "X-Content-SHA256": await hash(chunk.bytes) },
    });
    if (arrived?.partial) onWords(arrived.partial);
    return arrived;
  };
}
