// Lists below the background which of its sentences the agent can read out, and follows what you type.
const WAITS = 600;

export default function readable(region) {
  const button = region.querySelector("button");
  const form = button.form;
  let timer = 0;
  let newest = 0;
  async function show() {
    const mine = ++newest;
    let page;
    try {
      const response = await fetch(button.formAction, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (!response.ok) return;
      page = new DOMParser().parseFromString(await response.text(), "text/html");
    } catch {
      return; // offline: the button still opens the page
    }
    const list = page.getElementById("readable");
    if (list && mine === newest) region.replaceChildren(document.adoptNode(list));
  }
  const soon = () => { clearTimeout(timer); timer = setTimeout(show, WAITS); };
  for (const name of ["additional_info", "is_background_private", "language"]) {
    form.elements[name].addEventListener("input", soon);
  }
  if (form.elements.additional_info.value) show();
}
