// Comfort for a list whose rows are chosen by tick boxes: all of this page at once, how many there are, and only the
// input that the chosen action needs. Without this module every input shows.
export default function rows(form) {
  const boxes = [...form.querySelectorAll('[name="id"]')];
  const all = form.querySelector("[data-all]");
  const kind = form.querySelector('[name="kind"]');
  if (!all || !kind) return;
  const [tick, words] = [all.querySelector("input"), all.querySelector("[data-chosen]")];

  function update() {
    const chosen = boxes.filter((box) => box.checked).length;
    tick.checked = chosen === boxes.length;
    tick.indeterminate = chosen > 0 && chosen < boxes.length;
    words.textContent = chosen ? `${chosen} chosen` : "Choose this page";
  }

  function fit() {
    for (const part of form.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(kind.value);
  }

  all.hidden = false;
  tick.addEventListener("change", () => {
    for (const box of boxes) box.checked = tick.checked;
    update();
  });
  form.addEventListener("change", update);
  kind.addEventListener("change", fit);
  fit();
  update();
}
