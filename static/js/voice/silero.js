// Silero's voice detector (v6.2, 16 kHz): reads its weights from the file in whisper.cpp's layout and works out, for each
// window of 32 ms, how likely it holds speech. Pure: no page, no network, typed arrays only.
//
// The network: 4 spectra of the window → 4 convolutions → one step of an LSTM → one number. Every layer is a matrix whose
// rows lie one after the other, so that the inner loop runs over neighbours.
export const WINDOW = 512; // samples taken at once
const EDGE = 64; // samples mirrored at each end of the window
const SPECTRUM = { length: 256, step: 128, bins: 129, count: 4 };
const STRIDES = [1, 2, 2, 1];
const HIDDEN = 128;
const MAGIC = 0x67676d6c; // "ggml"
const KIND = "silero-16k";

export class WrongFile extends Error {}

// The tensors by name, as { dims, data: Float32Array }; dims count from the innermost. Raises WrongFile.
export function parse(buffer) {
  const view = new DataView(buffer);
  let at = 0;
  const int = () => {
    if (at + 4 > buffer.byteLength) throw new WrongFile("the file ends too early");
    at += 4;
    return view.getInt32(at - 4, true);
  };
  const text = (length) => {
    if (length < 0 || length > 200 || at + length > buffer.byteLength) throw new WrongFile("a name is too long");
    at += length;
    return new TextDecoder().decode(new Uint8Array(buffer, at - length, length));
  };
  if (int() !== MAGIC || text(int()) !== KIND) throw new WrongFile("not a file of Silero's 16 kHz detector");
  for (let n = 0; n < 3; n += 1) int(); // its version: what counts are the shapes of the tensors
  if (int() !== WINDOW || int() !== EDGE) throw new WrongFile("another size of window");
  for (let left = int() * 3 + 4; left > 0; left -= 1) int(); // sizes, which the tensors say again
  const tensors = {};
  while (at < buffer.byteLength) {
    const [rank, nameLength, type] = [int(), int(), int()];
    if (rank < 0 || rank > 4 || (type !== 0 && type !== 1)) throw new WrongFile("an unknown kind of tensor");
    const dims = Array.from({ length: rank }, int);
    const name = text(nameLength);
    const count = dims.reduce((all, one) => all * one, 1);
    const size = count * (type === 1 ? 2 : 4);
    if (count < 0 || at + size > buffer.byteLength) throw new WrongFile(`${name} is cut off`);
    tensors[name] = { dims, data: type === 1 ? halves(view, at, count) : singles(view, at, count) };
    at += size;
  }
  return tensors;
}

const singles = (view, at, count) => Float32Array.from({ length: count }, (_, n) => view.getFloat32(at + 4 * n, true));
const halves = (view, at, count) => Float32Array.from({ length: count }, (_, n) => half(view.getUint16(at + 2 * n, true)));

// Half precision: 1 bit of sign, 5 of exponent, 10 of fraction.
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * 2 ** -24 * fraction;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

function wanted(tensors, name, count) {
  const data = tensors[name]?.data;
  if (data?.length !== count) throw new WrongFile(`${name} is missing or has another size`);
  return data;
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

// out[row] = bias[row] + rows[row] · vector; four sums at a time keep the processor busy.
function multiply(rows, vector, bias, out) {
  const width = vector.length;
  const whole = width - (width % 4);
  for (let row = 0; row < out.length; row += 1) {
    const start = row * width;
    let a = bias ? bias[row] : 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < whole; i += 4) {
      a += rows[start + i] * vector[i];
      b += rows[start + i + 1] * vector[i + 1];
      c += rows[start + i + 2] * vector[i + 2];
      d += rows[start + i + 3] * vector[i + 3];
    }
    for (let i = whole; i < width; i += 1) a += rows[start + i] * vector[i];
    out[row] = a + b + c + d;
  }
}

class Convolution {
  constructor(tensors, number, stride) {
    const name = `_model.encoder.${number}.reparam_conv`;
    const [width, channels, outputs] = tensors[`${name}.weight`]?.dims ?? [];
    if (width !== 3) throw new WrongFile(`${name} has another shape`);
    this.weight = wanted(tensors, `${name}.weight`, 3 * channels * outputs);
    this.bias = wanted(tensors, `${name}.bias`, outputs);
    Object.assign(this, { channels, outputs, stride, patch: new Float32Array(3 * channels) });
  }

  // columns: one Float32Array of channels for each moment; outside of them there is silence.
  run(columns) {
    const out = [];
    for (let middle = 0; middle < columns.length; middle += this.stride) {
      for (let k = 0; k < 3; k += 1) {
        const column = columns[middle + k - 1];
        for (let channel = 0; channel < this.channels; channel += 1) this.patch[3 * channel + k] = column ? column[channel] : 0;
      }
      const next = new Float32Array(this.outputs);
      multiply(this.weight, this.patch, this.bias, next);
      for (let n = 0; n < next.length; n += 1) if (next[n] < 0) next[n] = 0;
      out.push(next);
    }
    return out;
  }
}

export class Silero {
  // Raises WrongFile where the file is not Silero's, or one whose network has another form.
  constructor(buffer) {
    const tensors = parse(buffer);
    this.basis = wanted(tensors, "_model.stft.forward_basis_buffer", 2 * SPECTRUM.bins * SPECTRUM.length);
    this.encoder = STRIDES.map((stride, number) => new Convolution(tensors, number, stride));
    this.input = wanted(tensors, "_model.decoder.rnn.weight_ih", 4 * HIDDEN * HIDDEN);
    this.recurrent = wanted(tensors, "_model.decoder.rnn.weight_hh", 4 * HIDDEN * HIDDEN);
    const [one, other] = ["ih", "hh"].map((name) => wanted(tensors, `_model.decoder.rnn.bias_${name}`, 4 * HIDDEN));
    this.bias = one.map((value, n) => value + other[n]);
    this.last = wanted(tensors, "_model.decoder.decoder.2.weight", HIDDEN);
    [this.lastBias] = wanted(tensors, "_model.decoder.decoder.2.bias", 1);
    this.padded = new Float32Array(WINDOW + 2 * EDGE);
    this.transformed = new Float32Array(2 * SPECTRUM.bins);
    this.gates = [new Float32Array(4 * HIDDEN), new Float32Array(4 * HIDDEN)];
    this.reset();
  }

  // Forget what was heard so far.
  reset() {
    this.hidden = new Float32Array(HIDDEN);
    this.cell = new Float32Array(HIDDEN);
  }

  // samples: WINDOW numbers from -1 to 1. Gives the chance of speech, 0 to 1; windows follow each other.
  chance(samples) {
    const [encoded] = this.encoder.reduce((columns, layer) => layer.run(columns), this.#spectra(samples));
    this.#remember(encoded);
    let sum = this.lastBias;
    for (let n = 0; n < HIDDEN; n += 1) sum += Math.max(0, this.hidden[n]) * this.last[n];
    return sigmoid(sum);
  }

  #spectra(samples) {
    const { padded, transformed } = this;
    padded.set(samples, EDGE);
    for (let n = 0; n < EDGE; n += 1) {
      padded[EDGE - 1 - n] = samples[n + 1];
      padded[EDGE + WINDOW + n] = samples[WINDOW - 2 - n];
    }
    return Array.from({ length: SPECTRUM.count }, (_, moment) => {
      const start = moment * SPECTRUM.step;
      multiply(this.basis, padded.subarray(start, start + SPECTRUM.length), null, transformed);
      return Float32Array.from({ length: SPECTRUM.bins }, (__, bin) => Math.sqrt(transformed[bin] ** 2 + transformed[SPECTRUM.bins + bin] ** 2));
    });
  }

  #remember(encoded) {
    const [gates, past] = this.gates;
    multiply(this.input, encoded, this.bias, gates);
    multiply(this.recurrent, this.hidden, null, past);
    for (let n = 0; n < HIDDEN; n += 1) {
      const at = (gate) => gates[gate * HIDDEN + n] + past[gate * HIDDEN + n];
      this.cell[n] = sigmoid(at(1)) * this.cell[n] + sigmoid(at(0)) * Math.tanh(at(2));
      this.hidden[n] = sigmoid(at(3)) * Math.tanh(this.cell[n]);
    }
  }
}
