// When an answer that has fallen silent is sent, and when the reply to it may be heard. The server judges the words: how long
// to wait after them (patience_ms), after a voice that came to rest with them (at_rest_ms), and after one that stayed up
// (in_the_air_ms). The melody tells which; a candidate who was cut short is given more. Pure.
const EARLIER = 400; // ms: the turn is sent so long before its reply may be heard, for the engines have to work anyway
const LEAST = 400; // ms of silence before anything is sent
const LOOKS = 700; // ms of silence for which an answer waits for its words, where the voice came to rest and the server hears well
const UNKNOWN = { patience_ms: 600, at_rest_ms: 600 }; // while the server has not told yet
const IN_THE_AIR = 2600; // ms of silence where the voice stayed up, while the server has not told
const ASKED_FOR = 10000; // a candidate who asked for this much time gets it, however it sounded
const PAUSE = 700; // ms of a pause inside an answer, after which another one is likely …
const HESITANT = 1200; // … so that one is waited for, also where the voice came to rest
const LEARNED = 300; // ms more after each answer that turned out not to be over when the reply was heard …
const LEARNED_MOST = 900; // … up to this

export class Patience {
  constructor() {
    this.more = 0;
    this.hesitates = false;
  }

  // longest: ms of the longest pause in this answer after which the candidate went on
  paused(longest) {
    this.hesitates = longest >= PAUSE;
  }

  // The candidate went on when the agent had begun to speak.
  wasWrong() {
    this.more = Math.min(LEARNED_MOST, this.more + LEARNED);
  }

  // ms of silence until the turn is sent; null where nothing is known. judged: by the words, null while they are unknown;
  // looks: whether they may be known in a moment
  send(judged, falls = null, looks = false) {
    if (!judged && falls === null) return null;
    if (looks && falls) return LOOKS;
    return Math.max(LEAST, this.speak(judged ?? UNKNOWN, falls) - EARLIER);
  }

  // ms of silence until the reply may be heard; a reply that needs no patience (0) needs none here either.
  speak({ patience_ms: words, at_rest_ms: atRest = words, in_the_air_ms: inTheAir = Math.max(IN_THE_AIR, words) }, falls = null) {
    if (!words) return 0;
    if (words >= ASKED_FOR) return words + this.more;
    if (falls === false) return inTheAir + this.more;
    return Math.max((falls ? atRest : words) + this.more, this.hesitates ? HESITANT : 0);
  }
}
