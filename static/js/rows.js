// For lists with check boxes: selects the whole page at once, and shows the number of selected rows.
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
    words.textContent = chosen ? `${chosen} selected` : "Select all on this page";
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
