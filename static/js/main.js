// Mounts behaviour on plain HTML: <div data-module="copy"> loads copy.js and passes it the element.
// One module per behaviour; without JavaScript pages lose convenience, never function.
const known = new Set(["copy", "menu", "redirect", "player", "people", "voices", "hearing", "board", "questions", "criteria", "triage", "print", "keys", "mentions", "compare", "listen", "export", "unsaved", "readable", "palette", "reasons", "live", "candidate", "tabs", "timezone", "bank", "appearance", "color"]);

for (const element of document.querySelectorAll("[data-module]")) {
  for (const name of element.dataset.module.split(/\s+/)) {
    if (known.has(name)) import(`./${name}.js`).then((module) => module.default(element));
  }
}
