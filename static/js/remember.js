// What this browser remembers between pages, if it keeps anything at all.
export function remembered(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

export function remember(key, value) {
  try { localStorage.setItem(key, value); } catch { /* a browser that keeps nothing */ }
}

// One choice for all pages: whether single keys act. The box shows it, and changes it.
export function singleKeys(box) {
  box.checked = remembered("parley-single-keys") !== "off";
  box.addEventListener("change", () => remember("parley-single-keys", box.checked ? "on" : "off"));
}
