// Runs Silero beside the page. In: first the address of its weights, then Int16Array windows with the sample they end at,
// or "reset". Out: "ready", then each window's chance of speech with the same sample; an error ends it (worker.onerror).
// Until it is ready, { hold: true } makes it wait with the rest of the weights.
import { Silero, WINDOW } from "./silero.js";

const scaled = new Float32Array(WINDOW);
const PART = 32 * 1024; // bytes: a second on a thin line
let network = null;
let held = false;
let goOn = () => {};

async function weights(address) {
  const parts = [];
  for (let [at, size] = [0, 1]; at < size; at += PART) {
    if (held) await new Promise((resolve) => { goOn = resolve; });
    const response = await fetch(address, { credentials: "omit", headers: { Range: `bytes=${at}-${at + PART - 1}` } });
    if (!response.ok) throw new Error(`the detector's weights answered ${response.status}`);
    if (response.status !== 206) return response.arrayBuffer(); // something on the way knows no ranges
    size = Number(response.headers.get("Content-Range").split("/")[1]);
    parts.push(await response.arrayBuffer());
  }
  return new Blob(parts).arrayBuffer();
}

async function load(address) {
  network = new Silero(await weights(address));
  network.chance(scaled); // compiled before it counts
  network.reset();
  postMessage({ ready: true });
}

onmessage = ({ data }) => {
  if (data.address) {
    load(data.address).catch((error) => setTimeout(() => { throw error; })); // reported as the worker's error
    return;
  }
  if ("hold" in data) {
    held = data.hold;
    if (!held) goOn();
    return;
  }
  if (!network) return;
  if (data.reset) {
    network.reset();
    return;
  }
  for (let n = 0; n < WINDOW; n += 1) scaled[n] = data.window[n] / 32767;
  postMessage({ chance: network.chance(scaled), sample: data.sample });
};
