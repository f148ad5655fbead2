// Takes the candidate to the address that the flow names, after a few seconds that can be stopped; whoever does anything
// else on the page stops them too.
export default function redirect(box) {
  const [line, stay] = [box.querySelector("[data-countdown]"), box.querySelector("button")];
  let left = Number(box.dataset.seconds);
  const show = () => { line.querySelector("span").textContent = left; };
  const timer = setInterval(() => {
    left -= 1;
    show();
    if (left <= 0) { clearInterval(timer); location.assign(box.dataset.url); }
  }, 1000);
  show();
  line.hidden = stay.hidden = false;
  // What is gone keeps its place: a press on a link below moves the focus first, and nothing may move under the pointer then.
  const stop = () => { clearInterval(timer); for (const gone of [line, stay]) gone.classList.add("settled"); };
  stay.addEventListener("click", stop);
  document.addEventListener("input", stop, { once: true });
  document.addEventListener("focusin", (event) => { if (!box.contains(event.target)) stop(); });
}
