// The criteria in the flow editor: their buttons ask the server, as without this module, but only this part of the page
// is replaced, and everything else that was typed stays.
import { fetchedPage } from "./fetched_page.js";

export default function criteria(box) {
  const form = box.closest("form");
  const note = box.querySelector("[data-note]");
  let isAsking = false;
  let isPlain = false;

  box.addEventListener("click", async (event) => {
    const button = event.target.closest("[name=criterion]");
    if (!button || isPlain) return;
    event.preventDefault();
    if (isAsking) return;
    isAsking = true;
    const body = new URLSearchParams(new FormData(form));
    body.append(button.name, button.value);
    const page = await fetchedPage(form.action, { method: "POST", body }).catch(() => null);
    isAsking = false;
    const fresh = page?.querySelector("[data-criteria]");
    if (!fresh) {
      isPlain = true; // the browser sends the form itself, and shows what went wrong
      button.click();
      return;
    }
    box.querySelector("[data-criteria]").replaceWith(fresh);
    note.textContent = page.querySelector("#criteria [data-note]").textContent;
    (fresh.querySelector("[autofocus]") ?? fresh.querySelector("[value=add]"))?.focus();
  });
}
