// When an answer that has fallen silent is sent, and when the reply to it may be heard. The server judges the words
// (patience_ms), the melody tells whether the voice came to rest; here both are turned into times, and a candidate who was
// nearly cut short is given more of it. Pure.
const EARLIER = 400; // ms: the turn is sent so long before its reply may be heard, for the engines have to work anyway
const LEAST = 400; // ms of silence before anything is sent
const AT_REST = 600; // ms of silence before the reply to an answer that sounded like its end …
const BELIEVED = 0.3; // … or so much of what its words ask for, where they seem open
const IN_THE_AIR = 2600; // … where the voice stayed up, whatever the words
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
    return Math.max(LEAST, this.speak(judged || AT_REST, falls) - EARLIER);
  }

  // ms of silence until the reply may be heard; a reply that needs no patience (0) needs none here either. Recognisers
  // mishear last words, so words that only seem to be open are believed a little when the voice came to rest.
  speak(judged, falls = null) {
    if (!judged) return 0;
    if (falls === null || judged >= ASKED_FOR) return judged + this.more;
    return (falls ? Math.max(AT_REST, judged * BELIEVED) : Math.max(IN_THE_AIR, judged)) + this.more;
  }
}
