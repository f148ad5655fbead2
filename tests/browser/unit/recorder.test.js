import { bestType } from "/static/js/voice/recorder.js";
import { equal } from "./assert.js";

// A browser that claims these types.
function claims(types, work) {
  const real = MediaRecorder.isTypeSupported;
  MediaRecorder.isTypeSupported = (type) => types.includes(type);
  try {
    return work();
  } finally {
    MediaRecorder.isTypeSupported = real;
  }
}

const WEBM = ["video/webm;codecs=h264,opus", "video/webm;codecs=vp8,opus", "video/webm"];
const [CHROMIUM, OTHER] = [{ userAgentData: {} }, {}];

export const tests = {
  "video is H.264 in WebM only in Chromium, because WebKit claims it too and records nothing"() {
    claims([...WEBM, "video/mp4"], () => {
      equal(bestType(true, CHROMIUM), "video/webm;codecs=h264,opus");
      equal(bestType(true, OTHER), "video/mp4");
    });
  },

  "video is VP8 where a browser has neither H.264 nor MP4, and MP4 where it has nothing else"() {
    claims(WEBM.slice(1), () => equal(bestType(true, OTHER), "video/webm;codecs=vp8,opus"));
    claims(["video/mp4"], () => equal(bestType(true, CHROMIUM), "video/mp4"));
    claims([], () => equal(bestType(true, CHROMIUM), null));
  },

  "sound alone is Opus where the browser has it"() {
    claims(["audio/webm;codecs=opus", "audio/mp4"], () => equal(bestType(false, OTHER), "audio/webm;codecs=opus"));
    claims(["audio/mp4"], () => equal(bestType(false, OTHER), "audio/mp4"));
  },
};
