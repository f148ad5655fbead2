// Takes the candidate to the address that the flow names, after a few seconds that can be stopped.
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
  stay.addEventListener("click", () => { clearInterval(timer); line.hidden = stay.hidden = true; });
}
