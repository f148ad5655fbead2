// Runs Silero beside the page. In: first the address of its weights, then Int16Array windows with the sample they end at,
// or "reset". Out: "ready", then each window's chance of speech with the same sample; an error ends it (worker.onerror).
import { Silero, WINDOW } from "./silero.js";

const scaled = new Float32Array(WINDOW);
let network = null;

async function load(address) {
  const response = await fetch(address, { credentials: "omit" });
  if (!response.ok) throw new Error(`the detector's weights answered ${response.status}`);
  network = new Silero(await response.arrayBuffer());
  network.chance(scaled); // compiled before it counts
  network.reset();
  postMessage({ ready: true });
}

onmessage = ({ data }) => {
  if (data.address) {
    load(data.address).catch((error) => setTimeout(() => { throw error; })); // reported as the worker's error
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
