// When an answer that has fallen silent is sent, and when the reply to it may be heard. The server judges the words: how long
// to wait after them (patience_ms), and after a voice that came to rest with them (at_rest_ms). The melody tells which; a
// candidate who was nearly cut short is given more. Pure.
const EARLIER = 400; // ms: the turn is sent so long before its reply may be heard, for the engines have to work anyway
const LEAST = 400; // ms of silence before anything is sent
const UNKNOWN = { patience_ms: 600, at_rest_ms: 600 }; // while the server has not told yet
const IN_THE_AIR = 2600; // ms of silence where the voice stayed up, whatever the words
const ASKED_FOR = 10000; // a candidate who asked for this much time gets it, however it sounded
const LEARNED = 300; // ms more after each answer that turned out not to be over …
const LEARNED_MOST = 900; // … up to this

export class Patience {
  constructor() {
    this.more = 0;
  }

  // The candidate went on after the answer had been sent.
  wasWrong() {
    this.more = Math.min(LEARNED_MOST, this.more + LEARNED);
  }

  // ms of silence until the turn is sent; null where nothing is known. judged: by the words, null while they are unknown
  send(judged, falls = null) {
    if (!judged && falls === null) return null;
    return Math.max(LEAST, this.speak(judged ?? UNKNOWN, falls) - EARLIER);
  }

  // ms of silence until the reply may be heard; a reply that needs no patience (0) needs none here either.
  speak({ patience_ms: words, at_rest_ms: atRest = words }, falls = null) {
    if (!words) return 0;
    if (falls === null || words >= ASKED_FOR) return words + this.more;
    return (falls ? atRest : Math.max(IN_THE_AIR, words)) + this.more;
  }
}
