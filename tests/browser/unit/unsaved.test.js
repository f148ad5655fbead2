import { differs } from "/static/js/unsaved.js";
import { equal } from "./assert.js";

function form(inside, marks = "") {
  const box = document.createElement("div");
  box.innerHTML = `<form ${marks}>${inside}</form>`;
  return box.firstChild;
}

export const tests = {
  "nothing typed is nothing to lose"() {
    equal(differs(form('<input name="a" value="x"><textarea name="b">y</textarea><select name="c"><option>1<option>2</select><input type="checkbox" name="d" checked><button name="e" value="z">Go</button>')), false);
  },
  "every kind of field counts, and a change that was taken back does not"() {
    const all = form('<input name="a" value="x"><textarea name="b">y</textarea><select name="c"><option>1<option selected>2</select><input type="checkbox" name="d">');
    const [text, area, list, tick] = all.elements;
    for (const [does, undoes] of [
      [() => { text.value = "z"; }, () => { text.value = "x"; }],
      [() => { area.value = ""; }, () => { area.value = "y"; }],
      [() => { list.value = "1"; }, () => { list.value = "2"; }],
      [() => { tick.checked = true; }, () => { tick.checked = false; }],
    ]) {
      does();
      equal(differs(all), true);
      undoes();
      equal(differs(all), false);
    }
  },
  "a form that came back with errors has changes from the start"() {
    equal(differs(form('<input name="a" value="x">', "data-unsaved")), true);
  },
};
