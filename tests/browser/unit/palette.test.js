import { opens, ordered } from "/static/js/palette.js";
import { equal } from "./assert.js";

const press = (key, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });
const hrefs = (entries) => entries.map(({ href }) => href).join(" ");

export const tests = {
  "Control and K, or Command and K, open it, and nothing else does"() {
    equal(opens(press("k", { ctrlKey: true })), true);
    equal(opens(press("K", { metaKey: true })), true);
    equal(opens(press("k")), false);
    equal(opens(press("k", { ctrlKey: true, shiftKey: true })), false);
    equal(opens(press("k", { ctrlKey: true, metaKey: true })), false);
    equal(opens(press("j", { ctrlKey: true })), false);
  },
  "among equals what was opened lately comes first, and a better match before it"() {
    const entries = [{ href: "/best", rank: 0 }, { href: "/a", rank: 1 }, { href: "/b", rank: 1 }, { href: "/c", rank: 1 }];
    equal(hrefs(ordered(entries, [{ href: "/c" }, { href: "/b" }], "x")), "/best /c /b /a");
    equal(hrefs(ordered(entries, [], "x")), "/best /a /b /c");
  },
  "with nothing typed the list begins with what was opened lately, and names nothing twice"() {
    const entries = [{ href: "/a", rank: 0 }, { href: "/b", rank: 0 }];
    equal(hrefs(ordered(entries, [{ href: "/gone" }, { href: "/b" }], "")), "/gone /b /a");
  },
};
