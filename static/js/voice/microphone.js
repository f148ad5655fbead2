// The candidate's microphone and camera: asked for once, kept for the whole interview, explained when they fail.
const SOUND = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };
const PICTURE = { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 24, max: 30 } };

// What the page cannot do without: app/conversation/browsers.py knows since when each browser has it.
const NEEDED = {
  "AudioWorklet": window.AudioWorkletNode,
  "MediaRecorder": window.MediaRecorder,
  "crypto.subtle": crypto.subtle,
  "HTMLDialogElement": window.HTMLDialogElement?.prototype.showModal,
  "Array.findLast": Array.prototype.findLast,
  "AbortSignal.timeout": AbortSignal.timeout,
};

export function unusable() {
  if (!window.isSecureContext) return "no-https";
  if (!navigator.mediaDevices?.getUserMedia) return "no-devices-here"; // the browsers inside of other apps
  if (!Object.values(NEEDED).every(Boolean)) return "no-recorder";
  return null;
}

export async function ask({ video, deviceId, cameraId }) {
  return navigator.mediaDevices.getUserMedia({
    audio: deviceId ? { ...SOUND, deviceId: { exact: deviceId } } : SOUND,
    video: video && (cameraId ? { ...PICTURE, deviceId: { exact: cameraId } } : PICTURE),
  });
}

// The name of the sentence that says what is wrong and what helps.
export async function explain(error, video) {
  if (error?.name === "NotAllowedError" || error?.name === "SecurityError") return refused(error);
  const fault = ["NotReadableError", "AbortError"].includes(error?.name) ? "busy" : "missing";
  const culprit = video && (await works({ audio: SOUND })) ? "camera" : "microphone";
  return `${culprit}-${fault}`;
}

// Both were asked for in one breath; what works alone was not to blame.
async function works(wanted) {
  try {
    const stream = await navigator.mediaDevices.getUserMedia(wanted);
    for (const track of stream.getTracks()) track.stop();
    return true;
  } catch {
    return false;
  }
}

async function refused(error) {
  if (/system/i.test(error.message)) return "system-refused"; // the browser may, the computer does not let it
  const asked = ["microphone", "camera"].map((name) => navigator.permissions?.query({ name }).catch(() => null));
  const states = (await Promise.all(asked)).map((answer) => answer?.state);
  return states.includes("denied") || !states.includes("prompt") ? "no-permission" : "dismissed";
}

export async function devices(kind) {
  const all = await navigator.mediaDevices.enumerateDevices();
  return all.filter((device) => device.kind === kind && device.deviceId);
}

export class Microphone {
  // onFrame(Int16Array of 320 samples at 16 kHz, dBFS)
  static async open(context, stream, workletUrl, onFrame) {
    await context.audioWorklet.addModule(workletUrl);
    return new Microphone(context, stream, onFrame);
  }

  constructor(context, stream, onFrame) {
    this.context = context;
    this.node = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
    this.node.port.onmessage = ({ data }) => onFrame(data.pcm, data.level);
    this.use(stream);
  }

  use(stream) {
    this.source?.disconnect();
    this.stream = stream;
    this.source = this.context.createMediaStreamSource(stream);
    this.source.connect(this.node);
    if (this.output) this.source.connect(this.output);
  }

  feed(output) {
    this.output = output;
    this.source.connect(output);
  }
}
