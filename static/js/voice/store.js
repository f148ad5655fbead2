// Keeps unsent chunks through a reload, in IndexedDB. Where the browser has none to offer (some private windows) the
// chunks live in memory only, and `durable` says so.
const NAME = "parley-outbox";

function asked(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function written(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}

export async function openStore(interview) {
  try {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("chunks", { keyPath: "order", autoIncrement: true }).createIndex("interview", "interview");
      request.result.createObjectStore("runs", { keyPath: ["interview", "segment"] });
    };
    return new Store(await asked(request), interview);
  } catch {
    return new Memory();
  }
}

class Store {
  durable = true;

  constructor(database, interview) {
    Object.assign(this, { database, interview });
  }

  #in(mode, ...names) {
    const transaction = this.database.transaction(names, mode, mode === "readwrite" ? { durability: "strict" } : {});
    return names.map((name) => transaction.objectStore(name));
  }

  // The chunk and how far its run has come are written in one go. Gives the chunk's key.
  async keep(chunk) {
    const [chunks, runs] = this.#in("readwrite", "chunks", "runs");
    const key = [this.interview, chunk.segment];
    const run = (await asked(runs.get(key))) ?? { interview: this.interview, segment: chunk.segment, mix: -1, voice: -1 };
    run[chunk.track] = Math.max(run[chunk.track], chunk.number);
    runs.put(run);
    const added = chunks.add({ ...chunk, interview: this.interview });
    await written(chunks.transaction); // a page that is left before may have stored nothing
    return added.result;
  }

  async drop(order) {
    const [chunks] = this.#in("readwrite", "chunks");
    await asked(chunks.delete(order));
  }

  async waiting() {
    const [chunks] = this.#in("readonly", "chunks");
    return asked(chunks.index("interview").getAll(this.interview));
  }

  async runs() {
    const [runs] = this.#in("readonly", "runs");
    return (await asked(runs.getAll())).filter((run) => run.interview === this.interview);
  }

  async clear() {
    const [chunks, runs] = this.#in("readwrite", "chunks", "runs");
    for (const key of await asked(chunks.index("interview").getAllKeys(this.interview))) chunks.delete(key);
    for (const run of await asked(runs.getAll())) if (run.interview === this.interview) runs.delete([run.interview, run.segment]);
  }
}

class Memory {
  durable = false;
  #runs = new Map();

  async keep(chunk) {
    const run = this.#runs.get(chunk.segment) ?? { segment: chunk.segment, mix: -1, voice: -1 };
    run[chunk.track] = Math.max(run[chunk.track], chunk.number);
    this.#runs.set(chunk.segment, run);
    return null;
  }

  async drop() {}

  async waiting() { return []; }

  async runs() { return [...this.#runs.values()]; }

  async clear() { this.#runs.clear(); }
}
