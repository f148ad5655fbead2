import { equal } from "./assert.js";
import { fitting, typedName } from "/static/js/mentions.js";

const PEOPLE = ["Ann Lee", "Ben Hall", "Benjamin Roe", "ben@first.example"];

export const tests = {
  "a name begins at an @ that stands alone"() {
    equal(typedName("ask @be", 7), { at: 4, letters: "be" });
    equal(typedName("ask @", 5), { at: 4, letters: "" });
    equal(typedName("ann@first", 9), null);
    equal(typedName("@ann\nand", 8), null);
    equal(typedName("ask @be now", 3), null);
  },

  "any word of a name may be typed, and a whole name asks no more"() {
    equal(fitting(PEOPLE, "BEN"), ["Ben Hall", "Benjamin Roe", "ben@first.example"]);
    equal(fitting(PEOPLE, "ha"), ["Ben Hall"]);
    equal(fitting(PEOPLE, "Ben Hall has"), []);
    equal(fitting(PEOPLE, ""), PEOPLE);
  },
};
