// The command palette: Ctrl+K or Cmd+K, or a button with data-opens="palette". The server finds and ranks; among equals, what was
// opened in this tab comes first. The names of what was opened stay in the tab and end with it, or with another member.
const KEPT = 8;
const RECENT = "parley-recent";
const WAIT = 120; // ms after the last letter
const PLACES = [[/^\/candidates\/[0-9a-f-]{36}$/, "Candidate"], [/^\/flows\/[0-9a-f-]{36}$/, "Flow"], [/^\/interviews\/[0-9a-f-]{36}$/, "Interview"]];

// Whether a key press opens the palette: pure, so that it can be tested without a page.
export function opens(event) {
  return event.key?.toLowerCase() === "k" && event.ctrlKey !== event.metaKey && !event.altKey && !event.shiftKey && !event.isComposing;
}

// Entries in the order shown: by rank, then what was opened lately. With an empty query, that comes first.
export function ordered(entries, recent, query) {
  const opened = new Map(recent.map((entry, index) => [entry.href, index]));
  const late = (entry) => opened.get(entry.href) ?? recent.length;
  if (!query) return [...recent, ...entries.filter((entry) => !opened.has(entry.href))];
  return entries.map((entry, index) => ({ entry, index }))
    .sort((a, b) => a.entry.rank - b.entry.rank || late(a.entry) - late(b.entry) || a.index - b.index).map(({ entry }) => entry);
}

function recentOf(member) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(RECENT));
    return kept?.member === member ? kept.entries : [];
  } catch { return []; }
}

function note(member) {
  const place = PLACES.find(([path]) => path.test(location.pathname));
  const title = document.querySelector("main h1")?.textContent.trim();
  const before = recentOf(member).filter((entry) => entry.href !== location.pathname);
  const entries = place && title ? [{ kind: place[1], text: title, href: location.pathname, detail: "", keys: "", rank: 0 }, ...before] : before;
  try { sessionStorage.setItem(RECENT, JSON.stringify({ member, entries: entries.slice(0, KEPT) })); } catch { /* a browser that keeps nothing */ }
}

export default function palette(dialog) {
  const { find, member } = dialog.dataset;
  const [input, list, told] = ["input", "ul", "[role=status]"].map((wanted) => dialog.querySelector(wanted));
  let asked = null, timer = 0, active = -1, enter = false;

  const activate = (index) => {
    active = index;
    [...list.children].forEach((option, at) => option.setAttribute("aria-selected", String(at === index)));
    const option = list.children[index];
    if (option) { input.setAttribute("aria-activedescendant", option.id); option.scrollIntoView({ block: "nearest" }); }
    else input.removeAttribute("aria-activedescendant");
  };
  const line = (entry, index) => {
    const option = Object.assign(document.createElement("li"), { id: `palette-${index}` });
    option.setAttribute("role", "option");
    option.dataset.href = entry.href;
    for (const [name, text] of [["text", entry.text], ["detail", entry.detail], ["kind", entry.kind]]) {
      if (text) option.append(Object.assign(document.createElement("span"), { className: `palette-${name}`, textContent: text }), " ");
    }
    for (const key of entry.keys.split(" ").filter(Boolean)) option.append(Object.assign(document.createElement("kbd"), { textContent: key }));
    return option;
  };
  const show = (entries, query) => {
    const shown = ordered(entries, recentOf(member), query).filter(({ href }) => !href.startsWith("#") || document.querySelector(href));
    list.replaceChildren(...shown.map(line));
    input.setAttribute("aria-expanded", String(shown.length > 0));
    told.textContent = shown.length ? `${shown.length} ${shown.length === 1 ? "result" : "results"}` : "Nothing found. Try fewer letters.";
    activate(shown.length ? 0 : -1);
    list.dataset.query = query;
    if (enter) go();
  };
  const fail = (text) => { list.replaceChildren(); activate(-1); input.setAttribute("aria-expanded", "false"); told.textContent = text; enter = false; };
  const ask = async () => {
    const query = input.value.trim();
    asked?.abort();
    const { signal } = asked = new AbortController();
    try {
      const response = await fetch(`${find}?${new URLSearchParams({ q: query })}`, { signal, headers: { Accept: "application/json" } });
      if (response.redirected) return fail("You are signed out. Reload the page to sign in.");
      const body = await response.json();
      if (signal.aborted) return;
      if (response.ok) show(body.entries, query);
      else fail(body.message ?? "The search did not work. Try again.");
    } catch (error) {
      if (error.name !== "AbortError") fail("The search did not work. Check your connection, then try again.");
    }
  };
  const go = () => {
    enter = false;
    const href = list.children[active]?.dataset.href;
    if (!href) return;
    dialog.close();
    if (href.startsWith("#")) document.querySelector(href).showPopover();
    else location.assign(href);
  };
  const open = () => {
    if (dialog.open) return;
    input.value = "";
    enter = false;
    dialog.showModal();
    input.focus();
    ask();
  };

  note(member);
  document.querySelectorAll("[data-opens=palette]").forEach((button) => button.addEventListener("click", open));
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => { clearTimeout(timer); asked?.abort(); });
  dialog.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) { activate([...list.children].indexOf(option)); go(); }
    else if (event.target === dialog) dialog.close();
  });
  // The page behind must not act on keys that are pressed here.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  input.addEventListener("input", () => { enter = false; clearTimeout(timer); timer = setTimeout(ask, WAIT); });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.children.length) {
      event.preventDefault();
      activate((active + step + list.children.length) % list.children.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      // What is shown may still be the answer to fewer letters.
      if (list.dataset.query === input.value.trim()) go(); else { enter = true; clearTimeout(timer); ask(); }
    }
  });
  window.addEventListener("keydown", (event) => {
    if (!opens(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (dialog.open) dialog.close(); else open();
  }, { capture: true });
}
