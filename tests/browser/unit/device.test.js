import { describe, kindOf } from "/static/js/voice/device.js";
import { equal } from "./assert.js";

const track = (label, settings) => ({ label, getSettings: () => settings });
const stream = (audio, video = []) => ({ getAudioTracks: () => audio, getVideoTracks: () => video });

export const tests = {
  "only the kind of a microphone is told, never its name"() {
    const labels = ["Anna's AirPods", "MacBook Pro Microphone (Built-in)", "Jabra Headset", "Blue Yeti (046d:0ab7)", "OBS Virtual Audio", "Strange thing", ""];
    equal(labels.map(kindOf), ["bluetooth", "built-in", "headset", "usb", "virtual", "other", null]);
    equal(JSON.stringify(describe({ stream: stream([track("Anna's AirPods", {})]) })).includes("Anna"), false);
  },
  "what the browser knows is told"() {
    const audio = track("Jabra Headset", { sampleRate: 48000, channelCount: 1, echoCancellation: true, noiseSuppression: false });
    const video = track("Camera", { width: 640, height: 480, frameRate: 23.98 });
    equal(describe({ context: { sampleRate: 44100 }, stream: stream([audio], [video]) }), {
      sample_rate: 48000, channels: 1, echo_cancellation: true, noise_suppression: false, gain_control: null,
      microphone: "headset", width: 640, height: 480, frame_rate: 24,
    });
  },
  "what makes no sense is left out and stops nothing"() {
    const audio = { label: "", getSettings: () => ({ sampleRate: NaN, channelCount: 0, echoCancellation: "all" }) };
    equal(describe({ context: { sampleRate: 1e9 }, stream: stream([audio]) }), {
      sample_rate: null, channels: null, echo_cancellation: null, noise_suppression: null, gain_control: null,
      microphone: null, width: null, height: null, frame_rate: null,
    });
    equal(describe({ stream: stream([{}]) }).sample_rate, null);
  },
};
