// Whether the connection carries an interview: three small round trips and one upload to our own server, which throws
// the bytes away. `grade` is pure.
const ROUNDS = 3;
const BYTES = 128 * 1024;
const PATIENCE = 10000;
const NEEDS = { voice: 320, video: 1220 }; // kilobits a second that the talk sends
const SLOWEST = 600; // ms there and back

// {ms, kilobits} → "good" or "slow"; null (nothing came back) → "none"
export function grade(measured, { video }) {
  if (!measured) return "none";
  const enough = 1.5 * (video ? NEEDS.video : NEEDS.voice);
  return measured.ms <= SLOWEST && measured.kilobits >= enough ? "good" : "slow";
}

export async function measure(base, token) {
  try {
    const times = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await timed(`${base}/check`, {}));
    const ms = times.sort((a, b) => a - b)[1];
    const took = await timed(`${base}/check`, { method: "POST", body: noise(), headers: { "X-CSRFToken": token, "Content-Type": "application/octet-stream" } });
    return { ms, kilobits: (BYTES * 8) / Math.max(1, took - ms) };
  } catch {
    return null;
  }
}

async function timed(url, options) {
  const from = performance.now();
  const response = await fetch(url, { ...options, credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  if (!response.ok) throw new Error(`answered ${response.status}`);
  await response.arrayBuffer();
  return performance.now() - from;
}

// Random, so that nothing on the way makes it smaller.
function noise() {
  const bytes = new Uint8Array(BYTES);
  for (let at = 0; at < BYTES; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
  return bytes;
}
