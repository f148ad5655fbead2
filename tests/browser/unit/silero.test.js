import { Silero, WINDOW, WrongFile, half, parse } from "/static/js/voice/silero.js";
import { equal, ok } from "./assert.js";

const address = "/interview/api/flow/one/detector.bin";
const weights = async () => (await fetch(address)).arrayBuffer();

function refused(buffer) {
  try {
    new Silero(buffer);
  } catch (error) {
    return error instanceof WrongFile;
  }
  return false;
}

export const tests = {
  "half precision is read in all its forms"() {
    equal([0x0000, 0x3c00, 0xc000, 0x3555, 0x0001, 0x03ff, 0x7bff].map(half),
      [0, 1, -2, 0.333251953125, 2 ** -24, 1023 * 2 ** -24, 65504]);
    equal([half(0x7c00) === Infinity, half(0xfc00) === -Infinity, Number.isNaN(half(0x7e00)), Object.is(half(0x8000), -0)], [true, true, true, true]);
  },
  async "the file holds the network that we run"() {
    const tensors = parse(await weights());
    equal(Object.keys(tensors).length, 15);
    equal(tensors["_model.stft.forward_basis_buffer"].dims, [256, 1, 258]);
    equal(tensors["_model.decoder.rnn.weight_ih"].dims, [128, 512]);
  },
  async "another file or a part of it is refused"() {
    const whole = await weights();
    ok(refused(new ArrayBuffer(0)));
    ok(refused(new TextEncoder().encode("<!doctype html><title>404</title>").buffer));
    for (const length of [40, 200, 400, 5000, whole.byteLength - 1]) ok(refused(whole.slice(0, length)), `${length} bytes were taken`);
    const other = whole.slice(0);
    new DataView(other).setInt32(30, 1024, true);
    ok(refused(other), "another window was taken");
  },
  async "silence is no speech and forgetting makes the same of the same"() {
    const network = new Silero(await weights());
    const window = Float32Array.from({ length: WINDOW }, (_, n) => 0.2 * Math.sin(n * 0.06) * Math.sin(n * 0.004));
    const first = [1, 2, 3].map(() => network.chance(window));
    ok(first.every((chance) => chance >= 0 && chance <= 1), String(first));
    network.reset();
    equal([1, 2, 3].map(() => network.chance(window)), first);
    network.reset();
    const silence = Array.from({ length: 20 }, () => network.chance(new Float32Array(WINDOW)));
    ok(silence.at(-1) < 0.1, `silence is ${silence.at(-1)}`);
  },
};
