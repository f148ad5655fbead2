// What takes the sound away from a page: a call, a locked screen, another program, a recorder that stops by itself.

const GRACE = 1500; // ms: a change of headsets is silent for a moment, and a page in front may sound again by itself

const silent = ({ context, recorder }) => !recorder || context.state === "closed"; // of its own will
const works = ({ context, stream, recorder }) =>
  context.state === "running" && !stream.getAudioTracks().some((track) => track.muted) && recorder.works;

// Looks after a Sound while it records: calls taken() when it has stopped working and does not come back by itself.
// Gives a function that looks at once.
export function guard(sound, taken, { page = document, wait = (ms) => new Promise((over) => setTimeout(over, ms)) } = {}) {
  let looking = false;
  const look = async () => {
    if (looking || silent(sound) || works(sound)) return;
    looking = true;
    sound.context.resume().catch(() => {});
    await wait(GRACE);
    looking = false;
    if (!silent(sound) && !works(sound)) taken();
  };
  sound.context.addEventListener("statechange", look);
  for (const track of sound.stream.getAudioTracks()) track.addEventListener("mute", look);
  for (const name of ["visibilitychange", "resume"]) page.addEventListener(name, look);
  return look;
}

// The screen stays lit while the page is in front; the browser takes this back whenever it is not.
export function stayLit(page = document, lock = navigator.wakeLock) {
  const ask = () => { if (page.visibilityState === "visible") lock?.request("screen").catch(() => {}); };
  page.addEventListener("visibilitychange", ask);
  ask();
}
