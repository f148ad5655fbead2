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
  const stop = () => { clearInterval(timer); line.hidden = stay.hidden = true; };
  stay.addEventListener("click", stop);
  document.addEventListener("input", stop, { once: true });
  document.addEventListener("focusin", (event) => { if (!box.contains(event.target)) stop(); });
}
