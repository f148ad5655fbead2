// The question bank in the flow editor: "Add from bank" opens a dialog instead of a page, and the bookmark beside a question
// saves it without reloading. The server answers both as it does without scripts; questions.js owns the list.
import { fetchedPage } from "./fetched_page.js";

const WAIT = 150; // ms after the last letter

export default function bank(region) {
  const box = region.closest("[data-module=questions]");
  const dialog = region.querySelector("dialog");
  const [input, results, told] = ["input", "[data-results]", "[data-told]"].map((wanted) => dialog.querySelector(wanted));
  const { form } = region.querySelector("[name=bank]");
  let timer = 0, newest = 0;

  const tell = (name, detail) => box.dispatchEvent(new CustomEvent(name, { detail }));
  async function show() {
    const mine = ++newest;
    const query = new URLSearchParams({ bank_text: input.value.trim() });
    const page = await fetchedPage(`${region.dataset.find}?${query}`).catch(() => null);
    if (mine !== newest) return;
    const found = page?.getElementById("bank-found");
    if (!found) { told.textContent = "The search did not work. Check your connection, then try again."; return; }
    results.replaceChildren(found);
    told.textContent = `${found.dataset.total} ${found.dataset.total === "1" ? "question" : "questions"}`;
  }
  function add(button) {
    const text = button.closest("li").querySelector("[data-bank-text]").textContent;
    const same = (one) => one.value.trim() === text;
    const there = [...box.querySelectorAll("ol textarea")].findIndex(same) + 1;
    const detail = { text, place: there };
    if (!there) tell("bank:add", detail);
    if (there) told.textContent = `This is already question ${there} in the flow.`;
    else told.textContent = detail.place ? `Added as question ${detail.place}. The flow is not saved yet.` : "The flow has no room for more questions.";
    if (!detail.place) return;
    button.textContent = "Added";
    button.setAttribute("aria-disabled", "true");
  }
  // The whole form is sent, as the button does without scripts; of the page that comes back only the sentence is used.
  async function keep(button) {
    const body = new URLSearchParams(new FormData(form));
    body.set("keep", button.value);
    const page = await fetchedPage(form.action, { method: "POST", body }).catch(() => null);
    const note = box.querySelector("[data-note]");
    tell("bank:say", page?.querySelector("[data-note]")?.textContent ?? "The question was not saved to the bank. Check your connection, then try again.");
    // The bookmark shows that it worked; what to do otherwise is said below the questions.
    button.classList.toggle("is-kept", note.textContent.includes(" was saved to the bank"));
    if (!button.classList.contains("is-kept")) note.scrollIntoView({ block: "center" });
  }

  region.querySelector("[name=bank]").addEventListener("click", (event) => {
    event.preventDefault();
    input.value = "";
    dialog.showModal();
    input.focus();
    show();
  });
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("[data-bank-add]");
    if (event.target === dialog) dialog.close();
    else if (button && !button.ariaDisabled) add(button);
  });
  // Enter must not press a button of the form behind, nor keys act on its page.
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && event.target === input) event.preventDefault();
  });
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, WAIT); });
  box.addEventListener("input", (event) => event.target.closest("li")?.querySelector("[name=keep]")?.classList.remove("is-kept"));
  box.addEventListener("click", (event) => {
    const button = event.target.closest("[name=keep]");
    if (!button) return;
    event.preventDefault();
    keep(button);
  });
}
