// What the accessibility tests measure on a page; each gives a list of complaints.
const shown = (element) => {
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  return box.width > 0 && box.height > 0 && style.visibility === "visible" && !element.closest(".visually-hidden, [inert]");
};
// Kept for screen readers alone.
const unseen = (element) => element instanceof Element && getComputedStyle(element).clipPath === "inset(50%)";
const name = (element) => `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ""} "${(element.textContent || element.name || "").trim().slice(0, 40)}"`;
const all = (selector) => {
  const dialog = document.querySelector("dialog[open]");
  return [...(dialog ?? document).querySelectorAll(selector)].filter(shown);
};
const PRESSED = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [tabindex='0'], video[controls]";

// The place that answers to a press: of a field with a label around it, the label.
function target(element) {
  const label = element.matches("input") ? element.closest("label") : null;
  return (label ?? element).getBoundingClientRect();
}

export function targets() {
  return all(PRESSED).filter((element) => {
    const box = target(element);
    return box.width < 23.99 || box.height < 23.99;
  }).map((element) => `${name(element)}: ${Math.round(target(element).width)} x ${Math.round(target(element).height)}`);
}

export function sideways() {
  const root = document.documentElement;
  return root.scrollWidth > root.clientWidth ? [`the page is ${root.scrollWidth - root.clientWidth} px too wide`] : [];
}

// Text that a box hides: taller or wider than what shows of it, without a way to scroll there.
export function cut() {
  return all("body *").filter((element) => {
    if (unseen(element)) return false;
    const style = getComputedStyle(element);
    const hides = (overflow) => overflow === "hidden" || overflow === "clip";
    if (!element.textContent.trim() || element.matches("select, option, svg *, textarea")) return false;
    const wide = hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
    const tall = hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1;
    return wide || tall;
  }).map((element) => `${name(element)} is cut off`);
}

// What is pressed and shows a picture without its word, though it has one.
export function wordless() {
  const seen = (node) => node.nodeType === Node.TEXT_NODE ? Boolean(node.data.trim()) : !unseen(node) && [...node.childNodes].some(seen);
  return all("button, a").filter((element) => element.textContent.trim() && !seen(element)).map((element) => `${name(element)} shows no word`);
}

export function outside() {
  const wide = document.documentElement.clientWidth;
  return all(`${PRESSED}, h1, h2, p, li`).filter((element) => {
    const box = element.getBoundingClientRect();
    return box.left < -1 || box.right > wide + 1;
  }).map((element) => `${name(element)} lies outside`);
}

// What would move or fade for longer than an eye follows, by its style: nothing has to be waited for.
export function moving() {
  const seconds = (list) => Math.max(...list.split(",").map((one) => parseFloat(one) * (one.trim().endsWith("ms") ? 0.001 : 1)));
  const found = [];
  for (const element of document.querySelectorAll("*")) {
    for (const of of [null, "::before", "::after", "::backdrop"]) {
      const style = getComputedStyle(element, of);
      const moves = style.animationName !== "none" && (seconds(style.animationDuration) > 0.05 || style.animationIterationCount.includes("infinite"));
      if (moves || seconds(style.transitionDuration) > 0.05) found.push(`${name(element)}${of ?? ""} moves`);
    }
  }
  return found;
}

// The element that has the focus: seen, framed, and not covered by anything.
export function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return ["nothing has the focus"];
  const style = getComputedStyle(element);
  const framed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const box = element.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + Math.min(box.height / 2, 20)];
  const on = document.elementFromPoint(x, y);
  const seen = on && (on === element || element.contains(on) || on.contains(element) || on.closest("label")?.contains(element));
  return [...(framed ? [] : [`${name(element)} has no frame`]), ...(seen ? [] : [`${name(element)} is covered`])];
}

export function space() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }");
  document.adoptedStyleSheets = [sheet];
}

export function enlarge() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("html { font-size: 200% !important; }");
  document.adoptedStyleSheets = [sheet];
}

export function plain() {
  document.adoptedStyleSheets = [];
}
