// The list of candidates: filters apply at once and are in the URL, links of the list replace only the rows, and rows are
// reached and selected by keys. Without this module the filters have a button, and each link loads the page.
import copy from "./copy.js";
import { fetchedPage } from "./fetched_page.js";
import { isSingle } from "./keys.js";

const WAIT = 250; // ms between the last letter of a search and its request

// The query of the form's values, without those that change nothing: pure, so that it can be tested without a page.
export function queryOf(entries, usual) {
  const query = new URLSearchParams([...entries].filter(([name, value]) => value.trim() && !(name === "order" && value === "newest")));
  if (query.getAll("show").sort().join() === [...usual].sort().join()) query.delete("show");
  return query.toString();
}

// The key of the list that was pressed, or null: j, k (next and previous row), x (select) or / (search).
export function meant(event, on) {
  if (!isSingle(event, on) || event.target?.closest?.("[popover]:popover-open")) return null;
  return ["j", "k", "x", "/"].includes(event.key) ? event.key : null;
}

export default function people(page) {
  const find = page.querySelector(".find");
  const filters = page.querySelector("#filters");
  const count = page.querySelector("[data-live=count]");
  const usual = [...find.querySelectorAll("[data-usual=yes]")].map((box) => box.value);
  let request = null;
  let timer = null;
  let typed = false; // whether the newest entry of the history is a search that is being typed

  selection(page);
  keys(page, filters);

  async function show(url, { entry = "push", form = true } = {}) {
    request?.abort();
    const mine = (request = new AbortController());
    if (entry) history[`${entry}State`](null, "", url);
    page.setAttribute("aria-busy", "true");
    try {
      const fresh = await fetchedPage(url, { signal: mine.signal });
      if (!fresh?.querySelector("[data-module=people]")) throw new Error("not the list");
      put(fresh, form);
      page.removeAttribute("aria-busy");
    } catch {
      if (!mine.signal.aborted) location.assign(url); // the browser shows what is wrong, or the sign-in page
    }
  }

  function put(fresh, form) {
    const again = document.activeElement?.dataset.again;
    for (const part of page.querySelectorAll("[data-live]")) {
      if (part === filters && !form) continue;
      const other = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
      if (other) part.replaceChildren(...other.childNodes);
    }
    exported(fresh);
    selection(page);
    if (document.activeElement === document.body) (again && page.querySelector(`[data-again="${again}"]`) || count).focus();
  }

  // The form of the export stays, because a download may be under way.
  function exported(fresh) {
    const [here, there] = [page, fresh].map((one) => one.querySelector("form.export"));
    if (!here || !there) return;
    here.action = there.getAttribute("action");
    here.hidden = there.hidden;
    here.querySelector("[type=submit]").replaceChildren(...there.querySelector("[type=submit]").childNodes);
  }

  function apply(entry) {
    clearTimeout(timer);
    const query = queryOf(new FormData(find), usual);
    const url = query ? `${find.getAttribute("action")}?${query}` : find.getAttribute("action");
    if (new URL(url, location.href).href !== location.href) show(url, { entry, form: false });
  }

  find.addEventListener("input", (event) => {
    if (event.target.type !== "search") return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      apply(typed ? "replace" : "push");
      typed = true;
    }, WAIT);
  });
  find.addEventListener("change", (event) => {
    const entry = event.target.type === "search" && typed ? "replace" : "push";
    typed = false;
    apply(entry);
  });
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    apply(typed ? "replace" : "push");
    if (filters.matches(":popover-open")) filters.hidePopover();
  });
  page.addEventListener("click", (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const actions = event.target.closest("a[data-menu]");
    if (actions) {
      event.preventDefault();
      menu(actions);
    }
    const link = event.target.closest("a[data-goes]");
    if (!link) return;
    event.preventDefault();
    typed = false;
    show(link.href);
  });
  addEventListener("popstate", () => {
    typed = false;
    show(location.href, { entry: null });
  });
}

// The actions of one row: the page that its link leads to, in a popover.
async function menu(link) {
  const box = document.getElementById("row-menu");
  const fresh = await fetchedPage(link.href).catch(() => null);
  const content = fresh?.querySelector("[data-menu-content]");
  if (!content) return location.assign(link.href); // the browser shows what is wrong
  box.querySelector("h2").textContent = fresh.querySelector("h1").textContent;
  box.querySelector("[data-menu-place]").replaceChildren(...content.childNodes);
  for (const field of box.querySelectorAll("[data-module=copy]")) copy(field);
  link.focus(); // Escape leads back here
  box.showPopover();
  box.querySelector("a, button, select, input")?.focus();
}

// The check boxes of the rows: one for the whole page, and the number of selected rows in the bar at the bottom.
function selection(page) {
  const form = page.querySelector("[data-rows]");
  const tick = form?.querySelector("[data-all]");
  if (!tick) return;
  const boxes = [...form.querySelectorAll('[name="id"]')];
  const [apply, words, everyone] = ["[data-apply]", "[data-chosen]", '[name="all"]'].map((one) => form.querySelector(one));

  function update() {
    const chosen = boxes.filter((box) => box.checked).length;
    tick.checked = chosen === boxes.length;
    tick.indeterminate = chosen > 0 && chosen < boxes.length;
    words.textContent = chosen ? `${chosen} selected` : "";
    apply.textContent = everyone?.checked || !chosen ? "Apply action" : `Apply to ${chosen}`;
  }

  tick.closest(".all").classList.remove("waiting");
  tick.addEventListener("change", () => {
    for (const box of boxes) box.checked = tick.checked;
    update();
  });
  form.addEventListener("change", update);
  update();
}

function keys(page, filters) {
  document.addEventListener("keydown", (event) => {
    const key = meant(event, document.getElementById("use-keys")?.checked ?? true);
    if (!key || document.querySelector(".dialog:popover-open")) return;
    const rows = [...page.querySelectorAll(".people tbody tr")];
    const at = rows.indexOf(document.activeElement?.closest(".people tbody tr"));
    if (key === "/") {
      const search = filters.querySelector("[type=search]");
      if (!search.checkVisibility()) filters.showPopover();
      search.focus();
      search.select();
    } else if (key === "x") {
      if (at < 0) return;
      rows[at].querySelector('[name="id"]')?.click();
    } else {
      rows[Math.min(Math.max(at + (key === "j" ? 1 : -1), 0), rows.length - 1)]?.querySelector(".name").focus();
    }
    event.preventDefault();
  });
}
