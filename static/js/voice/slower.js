// Slower speech at the same pitch (waveform similarity overlap-add): short stretches of the sound are laid one over the
// other a little further apart than they were, each moved by up to a hundredth of a second so that the waves meet.
export const pace = { rate: 1 }; // of everything that the agent says from now on

const KEY = "parley-slower";
const RATE = 0.8;
const STRETCH = 0.04; // seconds that are laid over each other
const SEARCH = 0.01;
const EVERY = 4; // one sample in four is compared: enough to find the place

// A moment of the result is the moment of the original divided by the rate, to within SEARCH.
export function slowed(samples, rate, perSecond) {
  const size = 2 * Math.round((STRETCH * perSecond) / 2);
  const step = size / 2;
  const reach = Math.round(SEARCH * perSecond);
  const result = new Float32Array(Math.round(samples.length / rate));
  const window = Float32Array.from({ length: size }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (at + 0.5)) / size));
  let place = 0;
  for (let to = -step, turn = -1; to < result.length; to += step, turn += 1) {
    const wanted = Math.round(turn * step * rate);
    place = turn < 0 ? -step : nearest(samples, { next: place + step, wanted, reach, step });
    for (let at = 0; at < size; at += 1) {
      if (to + at >= 0 && to + at < result.length) result[to + at] += window[at] * (samples[place + at] ?? 0);
    }
  }
  return result;
}

// Where around `wanted` the sound is most like what would have come next.
function nearest(samples, { next, wanted, reach, step }) {
  let best = wanted;
  let most = -Infinity;
  for (let from = wanted - reach; from <= wanted + reach; from += EVERY) {
    let likeness = 0;
    for (let at = 0; at < step; at += EVERY) likeness += (samples[next + at] ?? 0) * (samples[from + at] ?? 0);
    if (likeness > most) [best, most] = [from, likeness];
  }
  return best;
}

export function slowedBuffer(context, buffer, rate) {
  const samples = slowed(buffer.getChannelData(0), rate, buffer.sampleRate);
  const result = context.createBuffer(1, samples.length, buffer.sampleRate);
  result.copyToChannel(samples, 0);
  return result;
}

// A button that is pressed while the agent speaks more slowly; remembered in this browser.
export function offer(button) {
  const set = (yes) => {
    pace.rate = yes ? RATE : 1;
    button.setAttribute("aria-pressed", String(yes));
  };
  button.addEventListener("click", () => {
    set(pace.rate === 1);
    try { localStorage.setItem(KEY, pace.rate === 1 ? "off" : "on"); } catch { /* a browser that keeps nothing */ }
  });
  try { set(localStorage.getItem(KEY) === "on"); } catch { set(false); }
}
