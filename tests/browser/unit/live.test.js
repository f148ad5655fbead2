import { pause } from "/static/js/live.js";
import { equal } from "./assert.js";

const MINUTE = 60_000;

export const tests = {
  "a tab in use asks every 10 seconds"() {
    for (const idle of [0, 1, MINUTE, 5 * MINUTE - 1]) equal(pause(idle), 10_000);
  },
  "a page whose work takes seconds asks more often, but only while it is in use"() {
    equal(pause(0, 1_500), 1_500);
    equal(pause(5 * MINUTE, 1_500), pause(5 * MINUTE));
  },
  "after 5 minutes without a sign of use it asks less and less often, down to once a minute"() {
    equal([5, 6, 7, 8, 60, 10_000].map((minutes) => pause(minutes * MINUTE)), [20_000, 40_000, 60_000, 60_000, 60_000, 60_000]);
  },
};
