// What takes the sound away from a page: a call, a locked screen, another program, a recorder that stops by itself.

const GRACE = 1500; // ms: a change of headsets is silent for a moment, and a page in front may sound again by itself

const DEAD = -80; // dBFS; a microphone that is on hears at least the room
const DEAD_FRAMES = 100; // of 20 ms

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

// Calls lost() once a microphone was pulled out. Not every browser ends its track: WebKitGTK never does, and Chromium on
// Linux only when it is asked for the list of devices. So the list is asked for when it changes and when nothing at all
// comes in. Gives a function that takes the level of each frame.
export function whenGone(track, lost, devices = navigator.mediaDevices) {
  const { deviceId } = track.getSettings();
  let [known, told, dead] = [false, false, 0];
  const tell = () => {
    if (told) return;
    told = true;
    lost();
  };
  const look = async () => {
    if (told || track.readyState === "ended") return; // the page itself has stopped it
    const found = await devices.enumerateDevices().catch(() => []);
    const here = found.some((one) => one.kind === "audioinput" && one.deviceId === deviceId);
    if (known && !here && track.readyState !== "ended") tell();
    known ||= here;
  };
  track.addEventListener("ended", tell);
  devices.addEventListener?.("devicechange", look);
  look();
  return (level) => {
    dead = level > DEAD ? 0 : dead + 1;
    if (dead < DEAD_FRAMES) return;
    dead = 0;
    look();
  };
}

// The screen stays lit while the page is in front; the browser takes this back whenever it is not.
export function stayLit(page = document, lock = navigator.wakeLock) {
  const ask = () => { if (page.visibilityState === "visible") lock?.request("screen").catch(() => {}); };
  page.addEventListener("visibilitychange", ask);
  ask();
}
