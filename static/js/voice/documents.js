// Files that the candidate adds during the talk: one after the other, each can be taken away again.
import { Refused } from "./protocol.js";
import * as view from "./view.js";

export function documents(protocol, already) {
  const box = view.part("documents");
  if (!box) return;
  const [list, input] = [box.querySelector("ul"), box.querySelector("input")];
  const count = () => view.write("documents", list.children.length ? view.word("files", { n: list.children.length }) : "");

  function add({ id, name }) {
    const [row, label, remove] = ["li", "span", "button"].map((tag) => document.createElement(tag));
    label.textContent = name;
    Object.assign(remove, { type: "button", className: "button button-small", textContent: view.word("remove") });
    remove.setAttribute("aria-label", `${view.word("remove")}: ${name}`);
    remove.addEventListener("click", async () => {
      await attempt(() => protocol.call("DELETE", `documents/${id}`, { tries: 4 }));
      row.remove();
      count();
      input.focus();
    });
    row.append(label, remove);
    list.append(row);
    count();
  }

  async function attempt(action) {
    try {
      return await action();
    } catch (error) {
      view.write("document", error instanceof Refused ? error.message : view.word("lost"));
      return null;
    }
  }

  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (!file) return;
    view.say("document", "add", { name: file.name });
    input.disabled = true;
    const body = new FormData();
    body.append("file", file);
    const kept = await attempt(() => protocol.call("POST", "documents", { body, tries: 4 }));
    input.disabled = false;
    input.value = "";
    if (!kept) return;
    view.say("document", "added", { name: kept.name });
    add(kept);
  });
  already.forEach(add);
}
