import voices from "/static/js/voices.js";
import { equal } from "./assert.js";

const ABOUT = { "en-US": { a: "Woman, British", b: "Man" }, "de-DE": { a: "The only voice for this language" } };

function form() {
  const box = document.createElement("div");
  box.innerHTML = `<select id="language"><option>en-US</option><option>de-DE</option><option>th-TH</option></select>
    <div data-spoken="en-US de-DE"><p data-voice-note data-silent="No voice speaks {language}."></p><ul>
    <li><a href="/flows/voices/a" data-voice="a"></a><small data-voice-about></small></li>
    <li><a href="/flows/voices/b" data-voice="b"></a><small data-voice-about></small></li></ul></div>`;
  box.querySelector("[data-spoken]").dataset.about = JSON.stringify(ABOUT);
  document.body.append(box);
  voices(box.querySelector("[data-spoken]"));
  const language = box.querySelector("select");
  const choose = (name) => { language.value = name; language.dispatchEvent(new Event("change")); };
  const said = () => [...box.querySelectorAll("[data-voice-about]")].map((one) => one.textContent);
  return { box, choose, said };
}

export const tests = {
  "what is said of each voice follows the flow's language"() {
    const { box, choose, said } = form();
    try {
      equal(said(), ["Woman, British", "Man"]);
      choose("de-DE");
      equal(said(), ["The only voice for this language", ""]);
      choose("th-TH");
      equal([said(), box.querySelector("[data-voice-note]").textContent], [["", ""], "No voice speaks th-TH."]);
    } finally {
      box.remove();
    }
  },
};
