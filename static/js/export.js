// Shows the progress of a long download, and whether it failed. Without this module the browser downloads the file;
// so it does when the server answers with a page instead of a file.

// The number of rows received: line ends, without the header's.
export function rowsIn(bytes, before = 0) {
  return bytes.reduce((count, byte) => count + (byte === 10), before);
}

export default function save(form) {
  const box = form.querySelector("[data-under-way]");
  const [bar, note, cancel] = [box.querySelector("progress"), box.querySelector("[data-note]"), box.querySelector("button")];
  const start = form.querySelector("button[type=submit]");
  let stop = null;

  function show(rows, of) {
    bar.max = of || 1;
    bar.value = rows;
    note.textContent = `${rows.toLocaleString("en")} of ${of.toLocaleString("en")} rows`;
  }

  async function read(answer) {
    const of = Number(answer.headers.get("X-Rows"));
    const parts = [];
    let rows = -1;
    show(0, of);
    for (const reader = answer.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(parts, { type: "text/csv" });
      parts.push(value);
      rows = rowsIn(value, rows);
      show(Math.max(rows, 0), of);
    }
  }

  function hand(blob, name) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (stop) return;
    stop = new AbortController();
    start.disabled = true;
    [box.hidden, bar.hidden, cancel.hidden] = [false, false, false];
    bar.removeAttribute("value");
    note.textContent = "Preparing the file";
    try {
      const answer = await fetch(form.action, { method: "POST", body: new FormData(form), signal: stop.signal });
      const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
      if (!name) { form.submit(); return; }
      hand(await read(answer), name);
      note.textContent = "The file is in your downloads.";
    } catch {
      note.textContent = stop.signal.aborted ? "Cancelled. No file was saved." : "The connection was lost and no file was saved. Try again.";
    } finally {
      stop = null;
      start.disabled = false;
      bar.hidden = cancel.hidden = true;
    }
  });
  cancel.addEventListener("click", () => stop?.abort());
}
