"""How loud speech is (ITU-R BS.1770-4, gated, mono), and speech brought to one loudness, whatever voice spoke it.

The K-weighting is applied to the spectrum of the whole sound instead of sample by sample. Its two filters are those of
the standard, computed for any sampling rate from their analogue form (Brecht De Man, "Evaluation of Implementations of
the EBU R128 Loudness Measurement", 2018, which gives the four constants of each).
"""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.float64]]
    Response = np.ndarray[tuple[int], np.dtype[np.complex128]]

TARGET = -16.0
"""LUFS of everything that the agent says."""
HIGHEST_PEAK = 10 ** (-1 / 20)
"""-1 dBFS: room for what resampling and a browser's filters add."""
MOST_GAIN = 10 ** (30 / 20)
"""Sound that would have to be raised by more holds no speech."""
CLOSE_ENOUGH = 0.1
ROUNDS = 6
"""The limiter takes some loudness away again, so it is measured again."""
BLOCK, STEP = 0.4, 0.1
"""Seconds of a measured block, and from one block to the next."""
ABSOLUTE_GATE, RELATIVE_GATE = -70.0, -10.0
OFFSET = -0.691
"""LUFS of a mean square of one, after the weighting."""
LIMITER_BLOCK = 0.0025
"""Seconds that share one gain; neighbouring gains are joined by straight lines."""
SHELF = (1681.974450955533, 3.999843853973347, 0.7071752369554196)
"""Centre in Hz, gain in dB and Q of the filter that stands for the head."""
HIGH_PASS = (38.13547087602444, 0.5003270373238773)
"""Corner in Hz and Q of the filter that stands for hearing's weakness at low frequencies."""


def loudness(pcm: bytes, rate: int) -> float:
    """LUFS of mono s16le samples; minus infinity for silence and for what is shorter than a tenth of a second."""
    samples = _samples(pcm)
    return _loudness(samples, rate, _response_for(samples, rate))


def level(pcm: bytes, rate: int) -> bytes:
    """The same sound at -16 LUFS, with its peaks held below full scale. Silence stays as it is."""
    import numpy as np

    samples = _samples(pcm)
    response = _response_for(samples, rate)
    gain = 1.0
    result = samples
    for _ in range(ROUNDS):
        measured = _loudness(result, rate, response)
        if not math.isfinite(measured) or abs(TARGET - measured) <= CLOSE_ENOUGH:
            break
        gain = min(gain * 10 ** ((TARGET - measured) / 20), MOST_GAIN)
        result = _limited(samples * gain, rate)
    if result is samples:
        return pcm
    return bytes(np.round(result * 32767).astype("<i2").tobytes())


def _samples(pcm: bytes) -> "Samples":
    import numpy as np  # loaded here: most processes that import this module never measure

    return np.frombuffer(pcm[: len(pcm) // 2 * 2], "<i2").astype(np.float64) / 32768


def _loudness(samples: "Samples", rate: int, response: "Response") -> float:
    import numpy as np

    step = round(STEP * rate)
    if len(samples) < step:
        return -math.inf
    size = 2 * (len(response) - 1)
    weighted = np.fft.irfft(np.fft.rfft(samples, size) * response, size)[: len(samples)]
    block = min(round(BLOCK * rate), len(weighted))
    sums = np.concatenate([[0.0], np.cumsum(weighted**2)])
    starts = np.arange(0, len(weighted) - block + 1, step)
    powers = (sums[starts + block] - sums[starts]) / block
    powers = powers[powers > _power(ABSOLUTE_GATE)]
    if not len(powers):
        return -math.inf
    powers = powers[powers > powers.mean() * 10 ** (RELATIVE_GATE / 10)]
    return float(OFFSET + 10 * math.log10(powers.mean()))


def _power(lufs: float) -> float:
    return float(10 ** ((lufs - OFFSET) / 10))


def _quick(size: int) -> int:
    """At most an eighth more, and even: the transform of a size with a large prime factor takes many times as long."""
    unit = max(2, 1 << max(0, size.bit_length() - 4))
    return -(-size // unit) * unit


def _response_for(samples: "Samples", rate: int) -> "Response":
    """The weighting of each line of their spectrum. The filters ring for less than a quarter of a second."""
    import numpy as np

    size = _quick(len(samples) + rate // 4)
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(size))
    response: Response = np.ones_like(z)
    for b, a in (_shelf(rate), _high_pass(rate)):
        response *= (b[0] + b[1] * z + b[2] * z**2) / (a[0] + a[1] * z + a[2] * z**2)
    return response


Taps = tuple[float, float, float]


def _shelf(rate: int) -> tuple[Taps, Taps]:
    centre, gain, q = SHELF
    k = math.tan(math.pi * centre / rate)
    high = 10 ** (gain / 20)
    band = high**0.4996667741545416
    return (
        (high + band * k / q + k * k, 2 * (k * k - high), high - band * k / q + k * k),
        (1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k),
    )


def _high_pass(rate: int) -> tuple[Taps, Taps]:
    corner, q = HIGH_PASS
    k = math.tan(math.pi * corner / rate)
    scale = 1 + k / q + k * k  # the standard leaves this filter's numerator at 1, -2, 1
    return (scale, -2 * scale, scale), (scale, 2 * (k * k - 1), 1 - k / q + k * k)


def _limited(samples: "Samples", rate: int) -> "Samples":
    """Samples below the highest peak, each turned down together with what is around it."""
    import numpy as np

    size = max(1, round(LIMITER_BLOCK * rate))
    blocks = np.pad(np.abs(samples), (0, -len(samples) % size)).reshape(-1, size).max(axis=1)
    needed = np.minimum(1.0, HIGHEST_PEAK / np.maximum(blocks, 1e-9))
    around = np.pad(needed, 1, mode="edge")
    gains = np.minimum(np.minimum(around[:-2], around[1:-1]), around[2:])
    limited: Samples = samples * np.interp(np.arange(len(samples)), (np.arange(len(gains)) + 0.5) * size, gains)
    return limited
