// Plays one answer in the player of its column and stops at its end; only one player plays at a time.
// Without this module the links open the recording at the same place.
export default function compare(box) {
  const heads = [...box.querySelectorAll("thead th")];
  let now = null; // the link whose answer is playing

  const player = (link) => heads[Number(link.dataset.of)].querySelector("audio");

  function show(link) {
    for (const one of [now, link]) {
      if (!one) continue;
      one.classList.toggle("playing", one === link);
      one.querySelector("span").textContent = one === link ? "Stop" : "Play";
    }
    now = link;
  }

  function stop() {
    const link = now;
    show(null);
    if (link) player(link).pause();
  }

  function play(link) {
    stop();
    const sound = player(link);
    show(link);
    sound.currentTime = Number(link.dataset.start);
    sound.play()?.catch(() => { if (now === link) show(null); });
  }

  for (const sound of box.querySelectorAll("audio")) {
    sound.addEventListener("play", () => {
      for (const other of box.querySelectorAll("audio")) if (other !== sound) other.pause();
    });
    sound.addEventListener("pause", () => { if (now && player(now) === sound && !sound.seeking) show(null); });
    sound.addEventListener("timeupdate", () => {
      if (now && player(now) === sound && sound.currentTime >= Number(now.dataset.end)) stop();
    });
  }
  box.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-of]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link === now) stop();
    else play(link);
  });
}
