// Talks with the server about one interview. Whatever can pass (no network, a restart, a busy server) is tried again
// until it works; whatever cannot is thrown as Refused.
export class Refused extends Error {
  constructor(status, data) {
    super(data?.message || `The server answered ${status}.`);
    Object.assign(this, { status, data: data ?? {}, reason: data?.reason ?? null });
  }
}

const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
const sleep = (ms) => new Promise((resolve) => {
  const timer = setTimeout(done, ms);
  function done() { clearTimeout(timer); window.removeEventListener("online", done); resolve(); }
  window.addEventListener("online", done);
});

export class Protocol {
  // onLink(true or false): whether the last attempt reached the server
  constructor(base, token, onLink = () => {}) {
    Object.assign(this, { base, token, onLink });
  }

  get(path) { return this.call("GET", path); }

  post(path, json, { tries, headers } = {}) {
    return this.call("POST", path, { body: JSON.stringify(json), type: "application/json", tries, headers });
  }

  async sound(url) {
    const response = await this.#patiently("GET", url, {});
    return response.ok ? response.arrayBuffer() : null;
  }

  // signal: gives the request up, with the error that fetch throws then
  async call(method, path, { body, type, headers = {}, tries, signal } = {}) {
    const sent = { ...headers, Accept: "application/json", ...(type ? { "Content-Type": type } : {}) };
    for (;;) {
      const response = await this.#patiently(method, `${this.base}/${path}`, { body, headers: sent, tries, signal });
      const data = response.status === 204 ? null : await response.json().catch(() => null);
      if (response.status === 202) {
        await sleep(data?.retry_after_ms ?? 500);
      } else if (response.ok) {
        return data;
      } else {
        throw new Refused(response.status, data);
      }
    }
  }

  async #patiently(method, url, { body, headers, tries = Infinity, signal }) {
    for (let attempt = 0; ; attempt += 1) {
      // nosemgrep: guessable-number - a pause that is spread by chance
      let wait = Math.min(8000, 400 * 2 ** Math.min(attempt, 6)) * (0.75 + Math.random() / 2);
      try {
        const unsafe = method === "GET" ? {} : { "X-CSRFToken": this.token };
        const response = await fetch(url, { method, body, signal, headers: { ...headers, ...unsafe }, credentials: "same-origin", cache: "no-store" });
        if (!PASSING.has(response.status) || attempt + 1 >= tries) {
          this.onLink(true);
          return response;
        }
        const asked = Number(response.headers.get("Retry-After"));
        if (asked > 0) wait = Math.min(30000, asked * 1000);
      } catch (error) {
        if (attempt + 1 >= tries || signal?.aborted) throw error;
      }
      if (attempt > 0 || !navigator.onLine) this.onLink(false);
      await sleep(wait);
    }
  }
}
