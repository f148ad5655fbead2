// The two steps before the talk. The step, and what was entered, are kept with the page's place in the browser's history:
// a reload and the browser's own Back find them again, no address carries them, and closing the tab forgets them.
import * as view from "./view.js";

const ENTERED = ["mode", "email_address", "first_name", "last_name"];

// onShow() is called whenever a step has been shown.
export function steps(form, onShow) {
  const { consent, consent_version: version, locale } = form.elements;

  function keep(at) {
    const entered = ENTERED.filter((name) => form.elements[name]).map((name) => [name, form.elements[name].value]);
    history.replaceState({ at, version: version.value, locale: locale.value, agreed: consent.checked, entered }, "");
  }

  function show(at, options) {
    view.step(at, options);
    keep(at);
    onShow();
  }

  function goOn(options) {
    keep(1);
    history.pushState(null, "");
    show(2, options);
  }

  // What was agreed to counts for that text in that language alone.
  function restore(former) {
    for (const [name, value] of former.entered) if (form.elements[name]) form.elements[name].value = value;
    const same = former.version === version.value;
    consent.checked = same && former.locale === locale.value && former.agreed;
    view.say("next", same ? null : "text-changed");
    show(consent.checked ? former.at : 1, { focus: false });
  }

  view.on("next", () => {
    view.say("next", consent.checked ? null : "agree-first");
    if (consent.checked) goOn();
    else consent.focus();
  });
  view.on("back", () => history.back());
  form.addEventListener("change", () => {
    if (consent.checked) view.say("next", null);
    keep(view.currentStep());
  });
  window.addEventListener("popstate", ({ state }) => show(consent.checked && state?.at === 2 ? 2 : 1));

  const refused = form.querySelector(".error-summary"); // a page that answers the form has its own values
  refused?.addEventListener("click", (event) => {
    const field = document.getElementById(event.target.closest("a")?.hash.slice(1));
    if (!field) return;
    event.preventDefault(); // a jump to a field of the other step would find nothing
    const at = Number(field.closest("[data-step]").dataset.step);
    if (at === 2 && view.currentStep() === 1) goOn({ focus: false });
    else if (at !== view.currentStep()) show(at, { focus: false });
    field.focus();
  });
  if (refused && consent.checked) goOn({ focus: false });
  else if (history.state?.entered && !refused) restore(history.state);
  else show(1, { focus: false });
}
