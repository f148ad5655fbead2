import { meant, queryOf } from "/static/js/people.js";
import { equal } from "./assert.js";

const USUAL = ["email", "score"];

function press(key, target = document.body, more = {}) {
  return { key, target, ctrlKey: false, metaKey: false, altKey: false, defaultPrevented: false, ...more };
}

export const tests = {
  "the URL has what narrows the list, and nothing that changes nothing"() {
    const entries = [["text", " "], ["flow", ""], ["status", "invited"], ["order", "newest"], ["show", "score"], ["show", "email"]];
    equal(queryOf(entries, USUAL), "status=invited");
    equal(queryOf([["text", "a b"], ["order", "score"], ["show", "score"]], USUAL), "text=a+b&order=score&show=score");
  },
  "four keys belong to the list"() {
    for (const key of ["j", "k", "x", "/"]) equal(meant(press(key), true), key);
    for (const key of ["J", "Enter", "?", "n"]) equal(meant(press(key), true), null);
  },
  "whoever types, holds a modifier or turned single keys off presses no key of the list"() {
    for (const name of ["input", "textarea", "select"]) equal(meant(press("j", document.createElement(name)), true), null);
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    equal(meant(press("j", box), true), "j");
    for (const held of ["ctrlKey", "metaKey", "altKey", "defaultPrevented"]) equal(meant(press("k", document.body, { [held]: true }), true), null);
    equal(meant(press("x"), false), null);
  },
};
