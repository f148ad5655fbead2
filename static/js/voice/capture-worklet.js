// Runs beside the page on the audio thread: turns the microphone into 16 kHz, 16 bit, one channel, in frames of 20 ms,
// with the loudness of each. A windowed sinc filter keeps what lies above 8 kHz out.
const RATE = 16000;
const FRAME = 320;
const PHASES = 64;
const LOBES = 12;

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.step = sampleRate / RATE;
    this.kernels = this.#kernels();
    this.history = new Float32Array(this.taps);
    this.position = 0; // of the next output sample, relative to the newest input
    this.frame = new Float32Array(FRAME);
    this.filled = 0;
    this.low = 0;
  }

  #kernels() {
    const cut = Math.min(1, 1 / this.step) * 0.92;
    this.taps = 2 * Math.ceil(LOBES / cut);
    const half = this.taps / 2;
    return Array.from({ length: PHASES }, (_, phase) => {
      const kernel = Float32Array.from({ length: this.taps }, (_, tap) => {
        const x = tap - half + 1 - phase / PHASES;
        const sinc = x === 0 ? 1 : Math.sin(Math.PI * cut * x) / (Math.PI * cut * x);
        return Math.abs(x) > half ? 0 : cut * sinc * (0.5 + 0.5 * Math.cos((Math.PI * x) / half));
      });
      const sum = kernel.reduce((total, value) => total + value, 0);
      return kernel.map((value) => value / sum);
    });
  }

  process([input]) {
    const channel = input[0];
    if (!channel) return true;
    const all = new Float32Array(this.history.length + channel.length);
    all.set(this.history);
    for (let i = 0; i < channel.length; i += 1) {
      let sum = 0;
      for (const one of input) sum += one[i];
      all[this.history.length + i] = sum / input.length;
    }
    while (this.position + this.taps <= all.length) {
      const whole = Math.floor(this.position);
      const kernel = this.kernels[Math.floor((this.position - whole) * PHASES)];
      let value = 0;
      for (let tap = 0; tap < this.taps; tap += 1) value += all[whole + tap] * kernel[tap];
      this.#put(value);
      this.position += this.step;
    }
    const used = Math.min(Math.floor(this.position), all.length);
    this.history = all.slice(used);
    this.position -= used;
    return true;
  }

  #put(value) {
    this.frame[this.filled] = value;
    this.filled += 1;
    if (this.filled < FRAME) return;
    const pcm = new Int16Array(FRAME);
    let power = 0;
    for (let i = 0; i < FRAME; i += 1) {
      const sample = Math.max(-1, Math.min(1, this.frame[i]));
      pcm[i] = Math.round(sample * 32767);
      this.low += 0.06 * (sample - this.low); // hum and thumps below about 150 Hz do not count as loudness
      power += (sample - this.low) ** 2;
    }
    this.filled = 0;
    this.port.postMessage({ pcm, level: 10 * Math.log10(power / FRAME + 1e-10) }, [pcm.buffer]);
  }
}

registerProcessor("capture", Capture);
