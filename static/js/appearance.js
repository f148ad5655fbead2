// Shows the candidate's page beside the flow editor and follows what is typed. The server renders it from the fields; where
// there is no room for a column, a button opens it over the form.
import { fetchedPage } from "./fetched_page.js";

const WAIT = 300; // ms after the last letter
const FIELDS = /^(csrf_token|title|org_name|intro|language|time_limit_minutes|is_video_enabled|company_logo_url|questions-\d+)$/;

export default function appearance(aside) {
  const editor = aside.parentElement;
  const form = editor.querySelector("form");
  const opener = editor.querySelector("[data-opens=appearance]");
  const [shown, told] = ["[data-shown]", "[data-told]"].map((wanted) => aside.querySelector(wanted));
  let timer = 0, newest = 0, sent = "";

  async function show() {
    if (!aside.checkVisibility()) return;
    const body = new URLSearchParams([...new FormData(form)].filter(([name, value]) => FIELDS.test(name) && typeof value === "string"));
    if (body.toString() === sent) return;
    const mine = ++newest;
    const page = await fetchedPage(aside.dataset.url, { method: "POST", body }).catch(() => null);
    if (mine !== newest) return;
    const found = page?.getElementById("appearance-page");
    told.textContent = found ? "" : "The preview could not be updated. Check your connection.";
    if (!found) return;
    sent = body.toString();
    shown.replaceChildren(...page.body.children);
  }
  const soon = () => { clearTimeout(timer); timer = setTimeout(show, WAIT); };
  function open(wanted) {
    aside.classList.toggle("is-open", wanted);
    opener.setAttribute("aria-expanded", String(wanted));
    if (wanted) { show(); aside.querySelector("[data-close]").focus(); } else opener.focus();
  }

  aside.hidden = false;
  opener.hidden = false;
  editor.classList.add("has-appearance");
  form.addEventListener("input", soon);
  form.addEventListener("click", soon); // questions are moved and removed by buttons
  opener.addEventListener("click", () => open(!aside.classList.contains("is-open")));
  aside.querySelector("[data-close]").addEventListener("click", () => open(false));
  editor.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && aside.classList.contains("is-open")) open(false);
  });
  matchMedia("(min-width: 80rem)").addEventListener("change", show);
  show();
}
