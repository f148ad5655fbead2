// When an answer that has fallen silent is sent, and when the reply to it may be heard. The server judges the words
// (patience_ms); here it is turned into times, and a candidate who was nearly cut short is given more of it. Pure.
const EARLIER = 400; // ms: the turn is sent so long before its reply may be heard, for the engines have to work anyway
const LEAST = 450; // ms of silence before anything is sent
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

  // ms of silence until the turn is sent
  send(judged) {
    return Math.max(LEAST, judged + this.more - EARLIER);
  }

  // ms of silence until the reply may be heard; a reply that needs no patience (0) needs none here either
  speak(judged) {
    return judged ? judged + this.more : 0;
  }
}
