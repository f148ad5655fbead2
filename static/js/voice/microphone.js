// The candidate's microphone and camera: asked for once, kept for the whole interview, explained when they fail.
const SOUND = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };
const PICTURE = { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 24, max: 30 } };

export function unusable() {
  if (!window.isSecureContext || !navigator.mediaDevices?.getUserMedia) return "no-https";
  if (!window.MediaRecorder || !window.AudioWorkletNode || !crypto.subtle) return "no-recorder";
  return null;
}

export async function ask({ video, deviceId }) {
  return navigator.mediaDevices.getUserMedia({
    audio: deviceId ? { ...SOUND, deviceId: { exact: deviceId } } : SOUND,
    video: video ? PICTURE : false,
  });
}

// The name of the sentence that says what is wrong and what helps.
export function explain(error) {
  const words = {
    NotAllowedError: "no-permission", SecurityError: "no-permission", NotFoundError: "no-device",
    OverconstrainedError: "no-device", NotReadableError: "in-use", AbortError: "in-use",
  };
  return words[error?.name] ?? "no-device";
}

export async function microphones() {
  const devices = await navigator.mediaDevices.enumerateDevices();
  return devices.filter((device) => device.kind === "audioinput" && device.deviceId);
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
