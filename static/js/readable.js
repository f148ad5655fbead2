// Lists below the background which of its sentences the agent can read out, and follows what you type.
import { fetchedPage } from "./fetched_page.js";

const WAITS = 600;

export default function readable(region) {
  const button = region.querySelector("button");
  const form = button.form;
  let timer = 0;
  let newest = 0;
  async function show() {
    const mine = ++newest;
    const body = new URLSearchParams(new FormData(form));
    const page = await fetchedPage(button.formAction, { method: "POST", body }).catch(() => null);
    const list = page?.getElementById("readable");
    if (list && mine === newest) region.replaceChildren(list); // else the button, or the older list, stays
  }
  const soon = () => { clearTimeout(timer); timer = setTimeout(show, WAITS); };
  for (const name of ["additional_info", "is_background_private", "language"]) {
    form.elements[name].addEventListener("input", soon);
  }
  if (form.elements.additional_info.value) show();
}
