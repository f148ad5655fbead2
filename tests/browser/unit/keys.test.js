import { asks, isSingle } from "/static/js/keys.js";
import { equal } from "./assert.js";

function press(key, target = document.body, more = {}) {
  return { key, target, ctrlKey: false, metaKey: false, altKey: false, defaultPrevented: false, ...more };
}

export const tests = {
  "a question mark asks for the sheet of keys, and nothing else does"() {
    equal(asks(press("?"), true), true);
    equal(asks(press("/"), true), false);
    equal(asks(press("?", document.body, { ctrlKey: true }), true), false);
    equal(asks(press("?", document.body, { defaultPrevented: true }), true), false);
  },
  "whoever types a question mark, or turned single keys off, gets no sheet"() {
    for (const made of [["input"], ["textarea"], ["select"]]) equal(asks(press("?", document.createElement(made[0])), true), false);
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    equal(asks(press("?", box), true), true);
    equal(asks(press("?"), false), false);
  },
  "g is a single key unless somebody types, holds another key or turned single keys off"() {
    equal(isSingle(press("g"), true), true);
    equal(isSingle(press("g"), false), false);
    equal(isSingle(press("g", document.body, { metaKey: true }), true), false);
    equal(isSingle(press("g", document.createElement("input")), true), false);
  },
};
