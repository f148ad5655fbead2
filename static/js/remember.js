// Values that the browser stores between pages, if storage is allowed.
export function remembered(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

export function remember(key, value) {
  try { localStorage.setItem(key, value); } catch { /* a browser that keeps nothing */ }
}

// One setting for all pages: whether single-key shortcuts are on. The check box shows and changes it.
export function singleKeys(box) {
  box.checked = remembered("parley-single-keys") !== "off";
  box.addEventListener("change", () => remember("parley-single-keys", box.checked ? "on" : "off"));
}
