// Shows one part of a long page at a time: the part that the address names, or the one that contains what it names. Without
// this module the parts follow one another, and the tabs are links to them.
export default function tabs(page) {
  const links = [...page.querySelectorAll("[data-tabs] a")];
  const parts = [...page.querySelectorAll("[data-tab]")];

  function show() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = document.getElementById(id);
    const current = parts.find((one) => one.contains(target)) ?? parts[0];
    for (const part of parts) part.hidden = part !== current;
    for (const link of links) {
      if (link.hash === `#${current.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const closed = target?.closest("details:not([open])");
    if (closed) closed.open = true;
    // The browser looked for the target before its part was shown. A part itself stays where it is.
    if (target && target !== current && current.contains(target)) target.scrollIntoView();
  }

  // The page does not move when a tab is chosen, and Back returns to the part before.
  page.querySelector("[data-tabs]").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (link.hash !== location.hash) history.pushState(null, "", link.hash);
    show();
  });
  addEventListener("hashchange", show);
  addEventListener("popstate", show);
  show();
}
