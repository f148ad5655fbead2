import { EnergyEndpoint, SpeechEndpoint } from "/static/js/voice/endpoint.js";
import { equal, ok } from "./assert.js";

// Loudness of frames of 20 ms: a list of [milliseconds, dBFS], with a little unrest that is the same each time.
function hear(ear, parts, from = 0) {
  let sample = from;
  let seed = 7;
  const found = [];
  for (const [ms, level] of parts) {
    for (let at = 0; at < ms; at += 20) {
      seed = (seed * 16807) % 2147483647;
      sample += 320;
      const change = ear.push(level + (seed / 2147483647 - 0.5) * 3, sample);
      if (change) found.push({ ...change, heardAt: sample / 16 });
    }
  }
  return found;
}

const names = (found) => found.map((change) => change.type);
const turns = (found) => names(found).filter((name) => name === "speech" || name === "silence");
const only = (found, type) => found.filter((change) => change.type === type);

export const tests = {
  "speech begins and ends once in a quiet room"() {
    const found = hear(new EnergyEndpoint(), [[1000, -70], [1900, -25], [1500, -70]]);
    equal(turns(found), ["speech", "silence"]);
    ok(Math.abs(found[0].from / 16 - 1000) <= 40, `began at ${found[0].from / 16}`);
    ok(found[0].heardAt - 1000 <= 160, "noticed late");
    equal(names(found), ["speech", "lasting", "lull", "silence"]);
    const [pause, silence] = [found[2], found[3]];
    ok(Math.abs(silence.to / 16 - 2900) <= 40, `ended at ${silence.to / 16}`);
    ok(pause.heardAt - 2900 >= 180 && pause.heardAt - 2900 <= 260, `pause told after ${pause.heardAt - 2900}`);
    ok(silence.heardAt - 2900 >= 980 && silence.heardAt - 2900 <= 1060, `patience of ${silence.heardAt - 2900}`);
  },
  "steady noise does not hold the turn"() {
    for (const noise of [-60, -50, -40, -32]) {
      const found = hear(new EnergyEndpoint(), [[1500, noise], [2500, noise + 18], [1500, noise]]);
      equal(turns(found), ["speech", "silence"]);
    }
  },
  "noise that begins during the answer ends the turn all the same"() {
    const ear = new EnergyEndpoint();
    const found = hear(ear, [[1000, -65], [1500, -22], [8000, -42]]);
    equal(turns(found), ["speech", "silence"]);
  },
  "a short pause inside an answer does not end it and makes the page more patient"() {
    const ear = new EnergyEndpoint();
    const found = hear(ear, [[500, -70], [800, -25], [600, -70], [800, -25], [600, -70], [800, -25], [1400, -70]]);
    equal(turns(found), ["speech", "silence"]);
    equal(names(found), ["speech", "lull", "lasting", "lull", "lasting", "lull", "silence"]);
    const [silence] = only(found, "silence");
    const patience = silence.heardAt - silence.to / 16;
    ok(patience >= 1280 && patience <= 1340, `patience of ${patience}`);
  },
  "a click is no speech"() {
    equal(hear(new EnergyEndpoint(), [[1000, -70], [60, -15], [1000, -70], [40, -12], [1000, -70]]), []);
  },
  "silence makes no turn"() {
    equal(hear(new EnergyEndpoint(), [[3000, -100], [3000, -80]]), []);
  },
  "over the agent a beginning is noticed as quickly, but must be louder"() {
    const ear = new EnergyEndpoint();
    ear.agentSpeaks(true);
    equal(hear(ear, [[1000, -70], [80, -25], [800, -70]]), []);
    const [found] = hear(ear, [[600, -25]], 40000);
    equal(found.type, "speech");
    const late = found.heardAt - 40000 / 16;
    ok(late >= 100 && late <= 160, `noticed after ${late}`);
    const echo = new EnergyEndpoint();
    echo.agentSpeaks(true);
    equal(hear(echo, [[4000, -60], [400, -49], [400, -60]]), []);
  },
  "what lasts is told once for each second of speech"() {
    const found = hear(new EnergyEndpoint(), [[1000, -70], [600, -25], [400, -70], [2700, -25], [100, -70]]);
    equal(names(found), ["speech", "lull", "lasting", "lasting", "lasting"]);
    const lasting = only(found, "lasting");
    ok(lasting.every(({ from }) => from === found[0].from));
    const lengths = lasting.map(({ from, to }) => (to - from) / 16);
    ok(lengths.every((ms, at) => Math.abs(ms - [1400, 2400, 3400][at]) <= 100), `after ${lengths}`);
    const ear = new SpeechEndpoint();
    const told = Array.from({ length: 100 }, (_, n) => ear.push(n ? 0.9 : 0, (n + 1) * 512)).filter(Boolean);
    equal([names(told), told.slice(1).map(({ to }) => to / 512)], [["speech", "lasting", "lasting", "lasting"], [33, 64, 95]]);
  },
  "a wish for patience holds for one pause only"() {
    const ear = new EnergyEndpoint();
    hear(ear, [[1000, -70], [800, -25], [300, -70]]);
    ear.wait(2800);
    equal(names(hear(ear, [[2300, -70]], 2100 * 16)), []);
    const found = hear(ear, [[800, -25], [1300, -70]], 90000);
    equal(turns(found), ["silence"]);
    hear(ear, [[800, -25], [300, -70]], 200000);
    ear.wait(Infinity);
    equal(names(hear(ear, [[60000, -70]], 220000)), []);
  },
  "a short wish ends the answer sooner"() {
    const ear = new EnergyEndpoint();
    hear(ear, [[1000, -70], [800, -25], [300, -70]]);
    ear.wait(450);
    const [found] = only(hear(ear, [[600, -70]], 2100 * 16), "silence");
    const patience = found.heardAt - found.to / 16;
    ok(patience >= 440 && patience <= 500, `patience of ${patience}`);
  },
  "the trained judge needs three windows, and a cough of two is none"() {
    const listen = (chances) => {
      const ear = new SpeechEndpoint();
      return chances.map((chance, n) => ear.push(chance, (n + 1) * 512)).filter(Boolean);
    };
    equal(listen([0, 0, 0.9, 0.9, 0, 0, 0, 0.9, 0, 0.9, 0, 0]), []);
    equal(listen([0, 0, 0.9, 0.9, 0.9]), [{ type: "speech", from: 1024 }]);
    const whole = listen([0, ...Array(10).fill(0.9), ...Array(40).fill(0.4), ...Array(40).fill(0.1)]);
    equal(names(whole), ["speech", "lasting", "lull", "silence"]);
    equal(whole[3].to, 51 * 512);
  },
  "the trained judge tells of a pause after four windows, and once"() {
    const told = (quiet) => {
      const ear = new SpeechEndpoint();
      const chances = [0, ...Array(5).fill(0.9), ...Array(quiet).fill(0.1), ...Array(5).fill(0.9)];
      return chances.map((chance, n) => ear.push(chance, (n + 1) * 512)).filter(Boolean).slice(1);
    };
    equal([told(3), told(4), told(9)], [[], [{ type: "lull", to: 6 * 512 }], [{ type: "lull", to: 6 * 512 }]]);
  },
  "two frames, of which the last is surely speech, stop the agent, and begin no answer"() {
    const listen = (agent, chances) => {
      const ear = new SpeechEndpoint();
      ear.agentSpeaks(agent !== false, agent === true);
      return chances.map((chance, n) => ear.push(chance, (n + 1) * 512)).filter(Boolean).length;
    };
    equal([listen(true, [0, 0.7, 0.95]), listen(true, [0, 0.95, 0, 0.95]), listen(true, [0, 0.7, 0.85]), listen(true, [0, 0, 0.99])], [1, 1, 0, 0]);
    equal([listen("thinks", [0, 0.99, 0.99]), listen("thinks", [0, 0.99, 0.99, 0.99])], [0, 1]);
    equal([listen(false, [0, 0.99, 0.99]), listen(true, [0, 0.7, 0.7, 0.7])], [0, 1]);
  },
};
