// Whether the connection carries an interview: three small round trips and an upload to our own server, which throws the
// bytes away; a quick one is measured with more of them. `grade` is pure.
const ROUNDS = 3;
const [FEW, MANY] = [16 * 1024, 128 * 1024]; // bytes
const QUICK = 1000; // ms
const PATIENCE = 10000;
const NEEDS = { voice: 64, video: 964 }; // kilobits a second that the talk sends
const SPARE = 1.5;
const SLOWEST = 600; // ms there and back

// {ms, kilobits} → "good", "speech" (good without a picture) or "slow"; null (nothing came back) → "none"
export function grade(measured, { video }) {
  if (!measured) return "none";
  const { ms, kilobits } = measured;
  if (ms > SLOWEST || kilobits < SPARE * NEEDS.voice) return "slow";
  return video && kilobits < SPARE * NEEDS.video ? "speech" : "good";
}

export async function measure(base, token) {
  try {
    const times = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await timed(`${base}/check`, {}));
    const ms = times.sort((a, b) => a - b)[1];
    const upload = async (size) => {
      const took = await timed(`${base}/check`, { method: "POST", body: noise(size), headers: { "X-CSRFToken": token, "Content-Type": "application/octet-stream" } });
      return { took, kilobits: (size * 8) / Math.max(1, took - ms) };
    };
    const { took, kilobits } = await upload(FEW);
    return { ms, kilobits: took < QUICK ? (await upload(MANY)).kilobits : kilobits };
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
function noise(size) {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
  return bytes;
}
