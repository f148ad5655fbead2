// Lets a recruiter hear the voices in the flow's language without leaving the form. One press plays, another stops.
export function sampleUrl(href, language, base) {
  const url = new URL(href, base);
  url.searchParams.set("language", language);
  return url.href;
}

export default function voices(box) {
  const spoken = new Set(box.dataset.spoken.split(" "));
  const note = box.querySelector("[data-voice-note]");
  const links = [...box.querySelectorAll("[data-voice]")];
  const language = document.getElementById("language");
  const about = JSON.parse(box.dataset.about);
  const audio = new Audio();
  let playing = null;

  function mark(link) {
    playing?.setAttribute("aria-pressed", "false");
    playing = link;
    playing?.setAttribute("aria-pressed", "true");
  }

  function stop() {
    audio.pause();
    mark(null);
  }

  function say(key) {
    const name = language.selectedOptions[0]?.textContent ?? language.value;
    note.textContent = key ? note.dataset[key].replace("{language}", name) : "";
  }

  function changed() {
    stop();
    const silent = !spoken.has(language.value);
    say(silent ? "silent" : null);
    for (const link of links) {
      link.href = sampleUrl(link.href, language.value, location.href);
      link.setAttribute("aria-disabled", String(silent));
      link.parentElement.querySelector("[data-voice-about]").textContent = about[language.value]?.[link.dataset.voice] ?? "";
    }
  }

  async function play(link) {
    mark(link);
    say(null);
    audio.src = link.href;
    try {
      await audio.play();
    } catch (error) {
      if (playing !== link || error.name === "AbortError") return; // another one was pressed in the meantime
      mark(null);
      say("broken");
    }
  }

  for (const link of links) {
    link.setAttribute("role", "button");
    link.setAttribute("aria-pressed", "false");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      if (!spoken.has(language.value)) return;
      if (playing === link) stop(); else play(link);
    });
    link.addEventListener("keydown", (event) => {
      if (event.key === " ") { event.preventDefault(); link.click(); } // buttons also react to the space bar
    });
  }
  audio.addEventListener("ended", () => mark(null));
  language.addEventListener("change", changed);
  changed();
}
