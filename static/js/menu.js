// Folds the navigation on small screens; base CSS shows it unfolded where scripts do not run.
export default function menu(button) {
  const panel = document.getElementById(button.getAttribute("aria-controls"));
  const set = (open) => {
    panel.classList.toggle("open", open);
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => set(button.getAttribute("aria-expanded") !== "true"));
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { set(false); button.focus(); }
  });
}
