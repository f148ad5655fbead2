import { equal } from "./assert.js";
import { chapterAt, clock, meaning } from "/static/js/listen.js";

function pressed(key, html = "<p></p>", more = {}) {
  const box = document.createElement("div");
  box.innerHTML = html;
  return { key, target: box.firstElementChild, ...more };
}

export const tests = {
  "keys mean something outside of fields"() {
    equal(["k", "K", " ", "j", "l", "ArrowLeft", "ArrowRight", "?", "x"].map((key) => meaning(pressed(key), true)),
      ["toggle", "toggle", "toggle", -10, 10, -5, 5, "help", null]);
  },

  "keys mean nothing where something is typed, chosen or slid, with other keys held, or turned off"() {
    for (const html of ["<input>", "<textarea></textarea>", "<select></select>", "<div contenteditable></div>",
      '<div role="slider"></div>', "<audio></audio>", "<video></video>"]) equal(meaning(pressed("j", html), true), null);
    for (const held of ["ctrlKey", "metaKey", "altKey", "isComposing", "defaultPrevented"]) {
      equal(meaning(pressed("j", "<p></p>", { [held]: true }), true), null);
    }
    equal(meaning(pressed("j"), false), null);
  },

  "space presses buttons and links, other keys reach the player from there"() {
    equal(meaning(pressed(" ", "<button></button>"), true), null);
    equal(meaning(pressed(" ", '<a href="#x"></a>'), true), null);
    equal(meaning(pressed("j", "<button></button>"), true), -10);
  },

  "times and chapters are told as people read them"() {
    equal([0, 65.9, Number.NaN].map(clock), ["0:00", "1:05", "0:00"]);
    const chapters = [{ at: 3, title: "a" }, { at: 9, title: "b" }];
    equal([1, 3, 20].map((time) => chapterAt(chapters, time)?.title ?? null), [null, "a", "b"]);
  },
};
