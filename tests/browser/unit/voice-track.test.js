import { CHUNK, VoiceTrack } from "/static/js/voice/voice-track.js";
import { equal, ok } from "./assert.js";

// Samples count upwards, so that each chunk shows where it came from.
function track() {
  const [out, held] = [new Map(), new Map()];
  const hold = (number, pcm) => { ok(!held.has(number), `chunk ${number} held twice`); held.set(number, pcm); };
  const made = new VoiceTrack((number, pcm) => { ok(!out.has(number), `chunk ${number} twice`); ok(pcm.length === CHUNK); out.set(number, pcm); }, hold);
  let at = 0;
  const speak = (samples) => { for (let left = samples; left > 0; left -= 320) { made.push(Int16Array.from({ length: Math.min(320, left) }, () => at++ % 30000)); } };
  return { made, out, held, speak };
}

export const tests = {
  "nothing leaves the browser while nobody answers"() {
    const { out, speak } = track();
    speak(CHUNK * 5);
    equal(out.size, 0);
  },
  "an answer takes one chunk before its first sound with it"() {
    const { made, out, speak } = track();
    speak(CHUNK * 4 + 100);
    made.open(CHUNK * 4 + 50);
    equal([...out.keys()], [3]);
    equal(out.get(3)[0], 3 * CHUNK);
  },
  "what is said while it is open whose answer it is is held, and handed out once that is known"() {
    const { made, out, held, speak } = track();
    speak(CHUNK * 4 + 100);
    made.keep(CHUNK * 4 + 50);
    speak(CHUNK * 2);
    equal([[...held.keys()], out.size], [[3, 4, 5], 0]);
    made.open(CHUNK * 4 + 50);
    equal([...out.keys()], [3, 4, 5]);
    speak(CHUNK);
    equal([[...held.keys()], [...out.keys()]], [[3, 4, 5], [3, 4, 5, 6]]);
  },
  "chunks follow as they fill and the last one is filled up with silence"() {
    const { made, out, speak } = track();
    speak(CHUNK);
    made.open(CHUNK);
    speak(CHUNK * 2 + 320);
    equal(made.close(CHUNK * 3 + 320), { first: 0, last: 3 });
    equal([...out.keys()], [0, 1, 2, 3]);
    equal([out.get(3)[319], out.get(3)[320]], [CHUNK * 3 + 319, 0]);
  },
  "an answer that ended a while ago needs no unfinished chunk"() {
    const { made, out, speak } = track();
    made.open(0);
    speak(CHUNK * 3 + 10);
    equal(made.close(CHUNK * 2), { first: 0, last: 1 });
    equal([...out.keys()], [0, 1, 2]);
  },
  "no chunk is used by two answers and no number is sent twice"() {
    const { made, out, speak } = track();
    made.open(0);
    speak(CHUNK + 1000);
    equal(made.close(CHUNK + 900), { first: 0, last: 1 });
    speak(200);
    made.open(CHUNK + 1100);
    speak(CHUNK * 2);
    equal(made.close(CHUNK * 3 + 100), { first: 2, last: 3 });
    equal([...out.keys()], [0, 1, 2, 3]);
  },
  "an answer within the filled-up end of the last one is still a chunk"() {
    const { made, out, speak } = track();
    made.open(0);
    speak(1000);
    made.close(1000);
    made.open(1000);
    speak(640);
    equal(made.close(1640), { first: 1, last: 1 });
    equal([...out.keys()], [0, 1]);
  },
  "what fills no chunk is a rest only while it belongs to an answer"() {
    const { made, speak } = track();
    speak(CHUNK + 100);
    equal(made.rest, null);
    made.open(CHUNK + 50);
    equal([made.rest.number, made.rest.pcm.length, made.rest.pcm[99]], [1, 100, CHUNK + 99]);
    speak(CHUNK - 100);
    equal(made.rest, null);
    speak(10);
    equal([made.rest.number, made.rest.pcm.length], [2, 10]);
    made.close(CHUNK * 2 + 5);
    equal(made.rest, null); // the filled-up end of the answer
    speak(CHUNK);
    equal(made.rest, null);
    made.keep(made.samples);
    equal(made.rest.number, 3);
    made.drop();
    equal(made.rest, null);
  },
  "an answer that is given up sends nothing more"() {
    const { made, out, speak } = track();
    made.open(0);
    speak(CHUNK);
    made.drop();
    speak(CHUNK * 2);
    equal([...out.keys()], [0]);
  },
  "what was handed out of a call that was given up can still belong to an answer"() {
    const { made, out, speak } = track();
    speak(CHUNK * 4);
    made.open(CHUNK * 3);
    speak(CHUNK);
    made.drop();
    speak(CHUNK);
    made.open(CHUNK * 4 + 100);
    speak(CHUNK * 2);
    equal(made.close(CHUNK * 7), { first: 3, last: 6 });
    equal([...out.keys()], [2, 3, 4, 5, 6, 7]);
  },
};
