// Facts about microphone and camera for the report on quality. A device's name may hold a person's ("Anna's AirPods"), so
// only its kind leaves the browser; and a value that makes no sense is left out rather than to stop an interview.
const KINDS = [
  ["virtual", /virtual|cable output|loopback|blackhole|voicemeeter|monitor of/i],
  ["bluetooth", /bluetooth|airpods|hands-?free|\bbuds\b|\bbt\b/i],
  ["headset", /headset|headphone|earphone|earpods/i],
  ["usb", /usb|yeti|webcam|\b[0-9a-f]{4}:[0-9a-f]{4}\b/i],
  ["built-in", /built-?in|internal|macbook|iphone|ipad|integrated|array|realtek/i],
];

export function kindOf(label) {
  return label ? KINDS.find(([, words]) => words.test(label))?.[0] ?? "other" : null;
}

const whole = (value, most) => (Number.isFinite(value) && Math.round(value) >= 1 && Math.round(value) <= most ? Math.round(value) : null);
const flag = (value) => (typeof value === "boolean" ? value : null);

export function describe({ context, stream }) {
  const [microphone] = stream.getAudioTracks();
  const [camera] = stream.getVideoTracks();
  const sound = microphone?.getSettings?.() ?? {};
  const picture = camera?.getSettings?.() ?? {};
  return {
    sample_rate: whole(sound.sampleRate ?? context?.sampleRate, 1_000_000), channels: whole(sound.channelCount, 64),
    echo_cancellation: flag(sound.echoCancellation), noise_suppression: flag(sound.noiseSuppression), gain_control: flag(sound.autoGainControl),
    microphone: kindOf(microphone?.label),
    width: whole(picture.width, 16_384), height: whole(picture.height, 16_384), frame_rate: whole(picture.frameRate, 1_000),
  };
}
