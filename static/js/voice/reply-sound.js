// The sound of replies in the smallest form that this browser decodes, which is tried out once with a tenth of a second of
// each. WAV remains where nothing else works, and for a file that turns out not to be decoded after all.
import { Reply } from "./reply.js";

const FORMS = ["opus", "aac"];
const LEAST = 0.05; // seconds and loudness that a sample must have once it is decoded
const SAMPLES = {
  opus: "T2dnUwACAAAAAAAAAABGjMFYAAAAAP5VqU0BE09wdXNIZWFkAQE4AYC7AAAAAABPZ2dTAAAAAAAAAAAAAEaMwVgBAAAAJ7d8bAE2T3B1c1RhZ3MNAAAATGF2ZjYyLjEyLjEwMgEAAAAVAAAAZW5jb2Rlcj1MYXZmNjIuMTIuMTAyT2dnUwAEMBUAAAAAAABGjMFYAgAAAP9V17gGFhMNEBITCIOcAZRZFdcqMWQ1Jo3R46RCBEp9GAiknjmZOg2fM/2z9A0KrsqRFOAIondw5GxpH3pkyBdRCKJ3cOSkCue89YQb66s89Aiid3DkpArnvPfd9ZEELM64gAgGRA2DS1GOri9AhxpNkf2u5tg=",
  aac: "AAAAHGZ0eXBpc29tAAACAGlzb21pc28ybXA0MQAAAAhmcmVlAAABJW1kYXTeAgBMYXZjNjIuMjguMTAyAAKMlVKQwFK59fi5IQBUxfnl+oVWFxZU6/PK5KuFKFKBtDAwMDGzZtFQUrgBSoraCEgjKIx6ffzw/4+/XWv+nx9/jQ8dd+ov1ianoXwYF8BAJfGO8ZJ42rVCEEIIH2vwcGDBTgEy6qzEsCP25D6+OZqSQETuGRDIkzi/DxVKd99GT4+DJ9/ch8fAHvoHAPQqrMhjSz++Gvrzc3oRAAUvfJYs8EcuIh7Z4gS3K9QL5dj0MDEr3etgPqAC0QcBOCqo6JAqq/h9fERCAodt17CMRX/ZQg5bpp+7+PfEB6QifERrYH2KfgFKKhlkUCKz7PvxqJIBX2j142vXhJLj4F5JKcUrkNk98vPoyOk20fgAAAMnbW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAAAHoAAQAAAQAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAlF0cmFrAAAAXHRraGQAAAADAAAAAAAAAAAAAAABAAAAAAAAAHoAAAAAAAAAAAAAAAEBAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAkZWR0cwAAABxlbHN0AAAAAAAAAAEAAAB6AAAAAAABAAAAAAHJbWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAC7gAAAFsBVxAAAAAAALWhkbHIAAAAAAAAAAHNvdW4AAAAAAAAAAAAAAABTb3VuZEhhbmRsZXIAAAABdG1pbmYAAAAQc21oZAAAAAAAAAAAAAAAJGRpbmYAAAAcZHJlZgAAAAAAAAABAAAADHVybCAAAAABAAABOHN0YmwAAAB+c3RzZAAAAAAAAAABAAAAbm1wNGEAAAAAAAAAAQAAAAAAAAAAAAEAEAAAAAC7gAAAAAAANmVzZHMAAAAAA4CAgCUAAQAEgICAF0AVAAAAAABJZwAASWcFgICABRGIVuUABoCAgAECAAAAFGJ0cnQAAAAAAABJZwAASWcAAAAgc3R0cwAAAAAAAAACAAAABQAABAAAAAABAAACwAAAABxzdHNjAAAAAAAAAAEAAAABAAAABgAAAAEAAAAsc3RzegAAAAAAAAAAAAAABgAAADwAAAA4AAAAKQAAAC8AAAApAAAAKAAAABRzdGNvAAAAAAAAAAEAAAAsAAAAGnNncGQBAAAAcm9sbAAAAAIAAAAB//8AAAAcc2JncAAAAAByb2xsAAAAAQAAAAYAAAABAAAAYnVkdGEAAABabWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAbWRpcmFwcGwAAAAAAAAAAAAAAAAtaWxzdAAAACWpdG9vAAAAHWRhdGEAAAABAAAAAExhdmY2Mi4xMi4xMDI=",
};

export class ReplySound {
  // sound(url) gives an ArrayBuffer, or null where there is none; decode(ArrayBuffer) gives an AudioBuffer or throws
  constructor(sound, decode, samples = SAMPLES) {
    Object.assign(this, { sound, decode, likely: null });
    this.form = this.#best(samples);
  }

  // The reply that this turn most likely gets, fetched and decoded while the candidate speaks; once in each turn.
  // ask(headers): what the server gives: sound (base64) and sound_name, or neither
  async foresee(turn, ask) {
    if (this.likely?.turn === turn) return;
    this.likely = { turn, name: null, buffer: null };
    const form = await this.form;
    const { sound, sound_name: name } = form ? await ask({ "X-Sound": form }) : {};
    const buffer = sound ? await this.decode(unpacked(sound)) : null;
    if (buffer && this.likely.turn === turn) this.likely = { turn, name, buffer };
  }

  // How this page wants the sound of a reply to the turn, and which it has by now.
  async headers(turn) {
    const form = await this.form;
    const { likely } = this;
    return { ...(form && { "X-Sound": form }), ...(likely?.turn === turn && likely.name && { "X-Sound-Ahead": likely.name }) };
  }

  // All of it; the sound of the first piece may have come along.
  of({ audio_url: url, audio_urls: urls = [url], sound, sound_name: name }) {
    return new Reply(urls, (one) => this.fetch(one, one === urls[0] ? { sent: sound, name } : {}));
  }

  // An AudioBuffer, or null where the piece has no sound. sent: the sound that has come with the reply, in base64; or
  // only its name.
  async fetch(url, { sent = null, name = null } = {}) {
    if (name && name === this.likely?.name) return this.likely.buffer;
    const form = await this.form;
    const bytes = sent ? unpacked(sent) : await this.sound(form ? `${url}?as=${form}` : url);
    if (!bytes || !form) return bytes && this.decode(bytes);
    try {
      return await this.decode(bytes);
    } catch {
      this.form = Promise.resolve(null);
      return this.fetch(url);
    }
  }

  async #best(samples) {
    for (const form of FORMS) {
      try {
        const buffer = await this.decode(unpacked(samples[form]));
        const loudest = buffer.getChannelData(0).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        if (buffer.duration >= LEAST && loudest >= LEAST) return form;
      } catch { /* not this one */ }
    }
    return null;
  }
}

const unpacked = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
