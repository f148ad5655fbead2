// Runs in the page before its own scripts. The real microphone is opened as always, but what it hears is a quiet room and
// a candidate who speaks when it is their turn: sentences are said by the page's state, never by a clock of their own.
(() => {
  const { rate, sounds, room, automatic } = __GIVEN__;
  const real = navigator.mediaDevices?.getUserMedia?.bind(navigator.mediaDevices);
  if (!real) return;
  let context = null;
  let mixed = null;
  let current = null;

  // Outlives the page: what was said and shown, in order, with the page's clock.
  function remember(kind, about) {
    const kept = JSON.parse(sessionStorage.getItem("mouth") ?? "[]");
    sessionStorage.setItem("mouth", JSON.stringify([...kept, { kind, page: performance.timeOrigin, at: performance.now(), ...about }]));
  }

  function buffer(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const pcm = new Int16Array(bytes.buffer);
    const made = context.createBuffer(1, pcm.length, rate);
    made.copyToChannel(Float32Array.from(pcm, (value) => value / 32768), 0);
    return made;
  }

  function source(text, { loop = false } = {}) {
    const made = context.createBufferSource();
    made.buffer = buffer(text);
    made.loop = loop;
    made.mouth = true;
    made.connect(mixed);
    return made;
  }

  navigator.mediaDevices.getUserMedia = async (wanted) => {
    const stream = await real(wanted);
    const [microphone] = stream.getAudioTracks();
    if (!microphone) return stream;
    if (!context) {
      context = new AudioContext();
      mixed = context.createGain();
      source(room, { loop: true }).start();
    }
    await context.resume();
    const out = context.createMediaStreamDestination();
    mixed.connect(out);
    const [track] = out.stream.getAudioTracks();
    const stop = track.stop.bind(track);
    track.stop = () => { microphone.stop(); stop(); };
    stream.removeTrack(microphone);
    stream.addTrack(track);
    return stream;
  };

  const mouth = { get speaks() { return current !== null; }, get voice() { return mixed; } };
  mouth.hush = () => current?.stop();
  mouth.say = (name) => {
    if (!context || current) return;
    const said = source(sounds[name]);
    current = said;
    said.onended = () => { if (current === said) current = null; };
    said.start();
    const ends = performance.now() + said.buffer.duration * 1000;
    remember("said", { name, ends });
  };
  window.mouth = mouth;

  const start = AudioBufferSourceNode.prototype.start;
  AudioBufferSourceNode.prototype.start = function begin(when = 0, ...more) {
    if (!this.mouth && this.buffer) {
      const lag = this.context.outputLatency || this.context.baseLatency || 0;
      remember("agent", { sounds: performance.now() + 1000 * (Math.max(0, when - this.context.currentTime) + lag), seconds: this.buffer.duration });
    }
    return start.call(this, when, ...more);
  };

  // What the server asked the page to wait before a reply may sound.
  const post = window.fetch;
  window.fetch = async (...given) => {
    const response = await post(...given);
    if (response.status === 200 && /\/turns\/\d+$/.test(String(given[0]))) {
      response.clone().json().then((reply) => remember("reply", { name: reply.kind, patience: reply.patience_ms ?? 0 }), () => {});
    }
    return response;
  };

  // The candidate: greets until the microphone is known to work, then answers each question once it may.
  const TURN = 300; // ms that somebody takes before an answer
  const AGAIN = 8000; // ms after which somebody who was not heard says it again
  let listening = null;
  let notices = "";
  let asked = null;

  // Seen as it is shown: between two looks of a busy page a notice may come and go.
  new MutationObserver(() => {
    const shown = document.querySelector("[data-part=connection] .notice")?.textContent.trim() ?? "";
    if (shown && shown !== notices) remember("notice", { text: shown });
    notices = shown;
  }).observe(document, { subtree: true, childList: true, characterData: true });

  function look() {
    const talk = document.querySelector("[data-part=talk]");
    if (!talk || !automatic) return;
    const phase = talk.dataset.phase;
    if (phase !== "listening") listening = null;
    if (talk.hidden || phase === "ready") {
      const proven = document.querySelector(".level.works") || !talk.hidden;
      if (proven) { if (asked === "hello") mouth.hush(); } else if (context && !current) { asked = "hello"; mouth.say("hello"); }
      return;
    }
    if (asked === "hello") { mouth.hush(); asked = null; }
    if (phase !== "listening" || talk.dataset.mode !== "voice" || current) return;
    const now = performance.now();
    listening ??= { since: now, said: -Infinity };
    if (now - listening.since < TURN || now - listening.said < AGAIN) return;
    listening.said = now;
    const number = document.querySelector("[data-text=progress]").textContent.match(/\d+/)?.[0];
    mouth.say(sounds[number] ? number : "answer");
  }
  setInterval(look, 50);
})();
