import { EnergyEndpoint } from "/static/js/voice/endpoint.js";
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

export const tests = {
  "speech begins and ends once in a quiet room"() {
    const found = hear(new EnergyEndpoint(), [[1000, -70], [2000, -25], [1500, -70]]);
    equal(names(found), ["speech", "silence"]);
    ok(Math.abs(found[0].from / 16 - 1000) <= 40, `began at ${found[0].from / 16}`);
    ok(found[0].heardAt - 1000 <= 160, "noticed late");
    ok(Math.abs(found[1].to / 16 - 3000) <= 40, `ended at ${found[1].to / 16}`);
    ok(found[1].heardAt - 3000 >= 900 && found[1].heardAt - 3000 <= 980, `patience of ${found[1].heardAt - 3000}`);
  },
  "steady noise does not hold the turn"() {
    for (const noise of [-60, -50, -40, -32]) {
      const found = hear(new EnergyEndpoint(), [[1500, noise], [2500, noise + 18], [1500, noise]]);
      equal(names(found), ["speech", "silence"]);
    }
  },
  "noise that begins during the answer ends the turn all the same"() {
    const ear = new EnergyEndpoint();
    const found = hear(ear, [[1000, -65], [1500, -22], [8000, -42]]);
    equal(names(found), ["speech", "silence"]);
  },
  "a short pause inside an answer does not end it and makes the page more patient"() {
    const ear = new EnergyEndpoint();
    const found = hear(ear, [[500, -70], [800, -25], [600, -70], [800, -25], [600, -70], [800, -25], [1400, -70]]);
    equal(names(found), ["speech", "silence"]);
    const patience = found[1].heardAt - found[1].to / 16;
    ok(patience >= 1180 && patience <= 1240, `patience of ${patience}`);
  },
  "a click is no speech"() {
    equal(hear(new EnergyEndpoint(), [[1000, -70], [60, -15], [1000, -70], [40, -12], [1000, -70]]), []);
  },
  "silence makes no turn"() {
    equal(hear(new EnergyEndpoint(), [[3000, -100], [3000, -80]]), []);
  },
  "it takes a quarter of a second of speech to interrupt the agent"() {
    const ear = new EnergyEndpoint();
    ear.agentSpeaks(true);
    equal(hear(ear, [[1000, -70], [200, -25], [800, -70]]), []);
    const [found] = hear(ear, [[600, -25]], 40000);
    equal(found.type, "speech");
    const late = found.heardAt - 40000 / 16;
    ok(late >= 240 && late <= 300, `noticed after ${late}`);
  },
};
