// "I need something different" during the talk: a dialog that asks, and shows the outcome.
import { Refused } from "./protocol.js";
import * as view from "./view.js";

const ANSWERS = { more_time: "different-time", writing: "different-text" };
const dialog = view.part("different-dialog");
const form = view.part("different-form");

// onGranted(choice, time limit in seconds) is called for what is granted at once: "more_time" and "writing".
export function different(protocol, onGranted) {
  if (!dialog) return;
  view.on("different", openDifferent);
  view.on("different-close", () => dialog.close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(form));
    try {
      const told = await protocol.post("different", fields, { tries: 4 });
      const granted = told.asked.some((wish) => wish.choice === fields.choice && wish.state === "granted");
      view.say("different", granted && ANSWERS[fields.choice] ? ANSWERS[fields.choice] : "different-asked");
      form.reset();
      asking(false);
      if (granted) onGranted(fields.choice, told.time_limit_seconds);
    } catch (error) {
      view.write("different", error instanceof Refused ? error.message : view.word("unreachable"));
      form.elements[error.data?.field]?.focus?.();
    }
  });
}

// What was asked for is said alone; another request begins with reopening the dialog.
function asking(yes) {
  view.show("different-fields", yes);
  view.control("different-ask").hidden = !yes;
  if (!yes) view.control("different-close").focus();
}

export function openDifferent() {
  if (!dialog || dialog.open) return;
  asking(true);
  view.write("different", "");
  dialog.showModal();
  dialog.querySelector("h2").focus();
}
