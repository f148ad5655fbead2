import { grade } from "/static/js/voice/network.js";
import { equal } from "./assert.js";

export const tests = {
  "a quick connection is good for voice and for video"() {
    equal(grade({ ms: 40, kilobits: 4000 }, { video: false }), "good");
    equal(grade({ ms: 40, kilobits: 4000 }, { video: true }), "good");
  },
  "what carries a voice may be too slow for a camera"() {
    equal(grade({ ms: 40, kilobits: 900 }, { video: false }), "good");
    equal(grade({ ms: 40, kilobits: 900 }, { video: true }), "speech");
    equal(grade({ ms: 40, kilobits: 100 }, { video: true }), "speech");
  },
  "a long way makes replies late"() {
    equal(grade({ ms: 900, kilobits: 4000 }, { video: false }), "slow");
  },
  "too little room is slow and no answer is none"() {
    equal(grade({ ms: 40, kilobits: 100 }, { video: false }), "good");
    equal(grade({ ms: 40, kilobits: 90 }, { video: false }), "slow");
    equal(grade({ ms: 40, kilobits: 90 }, { video: true }), "slow");
    equal(grade(null, { video: false }), "none");
  },
};
