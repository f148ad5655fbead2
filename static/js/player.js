// Connects a recording to its transcript: the current word is marked and kept in view; a click on a word, a time or a
// chapter plays from there. Times are seconds from the start of the recording, as measured by the server.

// The last word that has started at `time`, or -1: a binary search, as words are in order.
export function wordAt(starts, time) {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const LINGER = 0.4; // seconds a word stays marked after its end, so that short pauses do not flicker

export default function player(box) {
  const media = box.querySelector("audio, video");
  if (!media) return; // deleted, or a typed interview: there is only the transcript
  const words = [...box.querySelectorAll(".word")].sort((a, b) => a.dataset.start - b.dataset.start);
  const starts = words.map((word) => Number(word.dataset.start));
  const follow = box.querySelector("#follow");
  let marked = null;

  box.classList.add("can-seek");
  box.querySelector("[data-following]").hidden = words.length === 0;
  media.addEventListener("error", () => { box.querySelector("[data-broken]").hidden = false; });

  function seek(time) {
    media.currentTime = time;
    const playing = media.play();
    if (playing) playing.catch(() => {}); // the browser requires a press on its own button first
  }

  function mark(word) {
    if (word === marked) return;
    if (marked) marked.classList.remove("now");
    marked = word;
    if (!word) return;
    word.classList.add("now");
    if (follow.checked && !media.paused) keepInView(word);
  }

  function keepInView(word) {
    const place = word.getBoundingClientRect();
    if (place.top > innerHeight * 0.25 && place.bottom < innerHeight * 0.85) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    word.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  }

  function update() {
    const time = media.currentTime;
    const word = words[wordAt(starts, time)];
    mark(word && time <= Number(word.dataset.end) + LINGER ? word : null);
  }

  function tick() {
    update();
    if (!media.paused && !media.ended) requestAnimationFrame(tick);
  }

  media.addEventListener("play", tick);
  media.addEventListener("seeked", update);
  media.addEventListener("timeupdate", update);
  box.addEventListener("click", (event) => {
    const target = event.target.closest("[data-start]");
    if (!target || String(getSelection()) !== "") return; // a selection is for copying, not for playing
    seek(Number(target.dataset.start));
  });
}
