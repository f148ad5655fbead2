// Says how well this installation recognizes the flow's language, also after another one is chosen.
export default function hearing(note) {
  const notes = JSON.parse(note.dataset.notes);
  const language = document.getElementById("language");
  language.addEventListener("change", () => { note.textContent = notes[language.value] ?? ""; });
}
