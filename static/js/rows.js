// Comfort for a list whose rows are chosen by tick boxes: all of this page at once, and how many there are.
export default function rows(form) {
  const boxes = [...form.querySelectorAll('[name="id"]')];
  const all = form.querySelector("[data-all]");
  if (!all) return;
  const apply = form.querySelector("[data-apply]");
  const everyone = form.querySelector('[name="all"]');
  const [tick, words] = [all.querySelector("input"), all.querySelector("[data-chosen]")];

  function update() {
    const chosen = boxes.filter((box) => box.checked).length;
    tick.checked = chosen === boxes.length;
    tick.indeterminate = chosen > 0 && chosen < boxes.length;
    words.textContent = chosen ? `${chosen} chosen` : "Choose this page";
    apply.textContent = everyone?.checked || !chosen ? "Apply" : `Apply to ${chosen}`;
  }

  all.classList.remove("waiting");
  tick.addEventListener("change", () => {
    for (const box of boxes) box.checked = tick.checked;
    update();
  });
  form.addEventListener("change", update);
  update();
}
