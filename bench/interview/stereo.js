// Runs in the page after tests/browser/mouth.js and before the page's own scripts. Everything that the page plays through
// Web Audio is tapped; together with what the candidate says it is recorded in stereo, on the clock of the candidate's
// sound card. Knows nothing else of the page: the same works with any interviewer that plays through Web Audio.
(() => {
  const { rate, sounds, worklet } = __GIVEN__;
  const ask = navigator.mediaDevices?.getUserMedia;
  if (!ask || !window.mouth) return;
  const AUDIBLE = -40; // dBFS
  const GAP = 0.5; // seconds of silence that end a line of the agent
  const SOON = 0.3; // seconds until a sound starts, so that it starts exactly then on a busy machine too
  const BLOCKS = 12; // handed over at once: about half a second
  const taps = new Map(); // AudioContext -> what it plays
  const heard = { since: null, last: null };
  const sources = []; // kept, so that nothing of them is collected
  let card = null; // { context, agent, epoch } of the recorder; epoch: seconds since 1970 at its zero
  let blocks = [];
  let voice = null;

  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function connected(target, ...more) {
    if (target instanceof AudioDestinationNode && target.context !== card?.context && target.context !== window.mouth.voice?.context) connect.call(this, tapOf(target.context));
    return connect.call(this, target, ...more);
  };

  function tapOf(context) {
    if (!taps.has(context)) {
      taps.set(context, context.createMediaStreamDestination());
      if (card) listen(taps.get(context));
    }
    return taps.get(context);
  }

  function listen(tap) {
    sources.push(card.context.createMediaStreamSource(tap.stream));
    connect.call(sources.at(-1), card.agent, 0, 1);
  }

  // The microphone was opened, by this page or an earlier one: from here on both sides are recorded.
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    const stream = await ask(wanted);
    if (!card && window.mouth.voice) await record(window.mouth.voice);
    return stream;
  };

  async function record(mixed) {
    const { context } = mixed;
    await context.audioWorklet.addModule(URL.createObjectURL(new Blob([worklet], { type: "text/javascript" })));
    const node = new AudioWorkletNode(context, "stereo", { numberOfInputs: 2, outputChannelCount: [1] });
    card = { context, agent: node, epoch: clock() - context.currentTime };
    connect.call(mixed, node, 0, 0);
    connect.call(node, context.destination);
    node.port.onmessage = ({ data }) => take(data);
    for (const tap of taps.values()) listen(tap);
  }

  function clock() {
    return (performance.timeOrigin + performance.now()) / 1000;
  }

  function take({ pcm, at, level }) {
    if (level > AUDIBLE) {
      heard.since ??= at;
      heard.last = at;
    } else if (heard.last !== null && at - heard.last > GAP) heard.since = null;
    blocks.push({ pcm, at });
    if (blocks.length < BLOCKS) return;
    window.stereo_taken({ rate: card.context.sampleRate / 2, at: card.epoch + blocks[0].at, pcm: blocks.map((one) => text(one.pcm)) });
    blocks = [];
  }

  function text(pcm) {
    return btoa(String.fromCharCode(...new Uint8Array(pcm.buffer)));
  }

  window.stereo = {
    // Begins to say it; when, in seconds since 1970.
    say(name) {
      const bytes = Uint8Array.from(atob(sounds[name]), (letter) => letter.charCodeAt(0));
      const buffer = card.context.createBuffer(1, bytes.length / 2, rate);
      buffer.copyToChannel(Float32Array.from(new Int16Array(bytes.buffer), (value) => value / 32768), 0);
      voice = card.context.createBufferSource();
      Object.assign(voice, { buffer, mouth: true });
      connect.call(voice, window.mouth.voice);
      const begins = card.context.currentTime + SOON;
      voice.start(begins);
      voice.until = begins + buffer.duration;
      return card.epoch + begins;
    },
    // What a person would see and hear now; agent: for how many seconds it has been heard.
    get now() {
      const talk = document.querySelector("[data-part=talk]");
      const at = card?.context.currentTime ?? 0;
      return {
        at: card ? card.epoch + at : clock(), phase: talk && !talk.hidden ? talk.dataset.phase : "away", mode: talk?.dataset.mode ?? null,
        speaks: voice !== null && at < voice.until, agent: heard.since === null ? 0 : at - heard.since,
        ready: document.querySelector("[data-do=start]")?.disabled === false, over: /Thank you/.test(document.querySelector("h1")?.textContent),
      };
    },
  };
})();
