// Files that the candidate adds during the talk: one after the other, each with its progress; a broken one goes on by
// itself, or when the same file is chosen again after a reload. Each can be taken away again before the end.
import { isRefusal, upload } from "./upload.js";
import * as view from "./view.js";

const LARGEST = 10 * 1024 * 1024;

export function documents(protocol, already, unfinished = []) {
  const box = view.part("documents");
  if (!box) return;
  const [list, input] = [box.querySelector("ul"), box.querySelector("input")];
  const rows = new Map(); // by what is sent: hash or document
  const queue = [];
  let busy = false;

  const count = () => {
    const whole = list.querySelectorAll("li[data-document]").length;
    view.write("documents", whole ? view.word("files", { n: whole }) : "");
  };

  function row(name, note) {
    const [item, label, state, bar, remove] = ["li", "span", "small", "progress", "button"].map((tag) => document.createElement(tag));
    label.textContent = name;
    state.textContent = note ?? "";
    bar.setAttribute("aria-label", name);
    Object.assign(bar, { max: 1, value: 0, hidden: true });
    Object.assign(remove, { type: "button", className: "button button-small", textContent: view.word("remove") });
    remove.setAttribute("aria-label", `${view.word("remove")}: ${name}`);
    item.append(label, remove, state, bar);
    list.append(item);
    return { item, state, bar, remove };
  }

  function gone(shown) {
    const held = shown.item.contains(document.activeElement);
    shown.item.remove();
    count();
    if (held) input.focus();
  }

  function whole(shown, { id }) {
    shown.item.dataset.document = id;
    shown.bar.hidden = true;
    shown.state.textContent = "";
    shown.remove.onclick = async () => {
      if (await attempt(() => protocol.call("DELETE", `documents/${id}`, { tries: 4 })) !== failed) gone(shown);
    };
    count();
  }

  function half(shown, { id, sha256 }) {
    rows.set(sha256, shown);
    shown.remove.onclick = async () => {
      if (await attempt(() => protocol.call("DELETE", `uploads/${id}`, { tries: 4 })) === failed) return;
      rows.delete(sha256);
      gone(shown);
    };
  }

  const failed = Symbol("failed");
  async function attempt(action) {
    try {
      return await action();
    } catch (error) {
      if (error.status === 404) return null; // it is gone already
      view.write("document", isRefusal(error) ? error.message : view.word("lost"));
      return failed;
    }
  }

  async function send(file) {
    if (file.size > LARGEST) return view.say("document", "too-large", { name: file.name });
    view.say("document", "add", { name: file.name });
    let shown = row(file.name);
    const stop = new AbortController();
    shown.remove.onclick = () => stop.abort(new DOMException("given up", "AbortError"));
    shown.bar.hidden = false;
    let begun = null;
    const onBegun = (one) => {
      begun = one;
      const former = rows.get(one.sha256);
      if (former && former !== shown) former.item.remove(); // the same file, chosen again
      if (one.document) list.querySelector(`li[data-document="${one.document.id}"]`)?.remove();
      rows.set(one.sha256, shown);
    };
    try {
      const kept = await upload(file, protocol, { onBegun, signal: stop.signal, onProgress: (part) => { shown.bar.value = part; } });
      whole(shown, kept);
      view.say("document", "added", { name: file.name });
    } catch (error) {
      if (begun && error.name === "AbortError") { // a file that the server refuses it has forgotten already
        await protocol.call("DELETE", `uploads/${begun.id}`, { tries: 2 }).catch(() => {});
      }
      if (error.name === "AbortError") view.say("document", null);
      else view.write("document", isRefusal(error) ? error.message : view.word("lost"));
      gone(shown);
    }
    return null;
  }

  async function drain() {
    if (busy) return;
    busy = true;
    while (queue.length) await send(queue.shift());
    busy = false;
  }

  input.addEventListener("change", () => {
    queue.push(...input.files);
    input.value = "";
    drain();
  });
  for (const one of already) whole(row(one.name), one);
  for (const one of unfinished) half(row(one.name, view.word("unfinished")), one);
}
