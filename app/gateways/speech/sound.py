"""Plain arithmetic on samples that several engines need."""

import io
import struct
import wave
from typing import TYPE_CHECKING

from app.gateways.speech.ports import SAMPLE_BYTES

if TYPE_CHECKING:
    import numpy as np

BLOCK_SECONDS, MARGIN_SECONDS = 4, 1
QUIET = 32_768 * 10 ** (-50 / 20)
"""Root mean square of 16-bit samples below which nothing is heard."""


def resample(pcm: bytes, rate: int, to: int) -> bytes:
    """The same sound at another sampling rate, band-limited: through the spectrum of overlapping blocks."""
    if rate == to or len(pcm) < SAMPLE_BYTES:
        return pcm
    import numpy as np  # loaded here: most processes that import this module never resample

    samples = np.frombuffer(pcm[: len(pcm) // SAMPLE_BYTES * SAMPLE_BYTES], "<i2")
    wanted = round(len(samples) * to / rate)
    margin = np.zeros(MARGIN_SECONDS * rate, "<i2")
    tail = np.zeros((BLOCK_SECONDS + MARGIN_SECONDS) * rate, "<i2")
    padded = np.concatenate([margin, samples, tail])
    blocks = [
        _resample_block(padded[start : start + (BLOCK_SECONDS + 2 * MARGIN_SECONDS) * rate], rate, to)
        for start in range(0, len(samples), BLOCK_SECONDS * rate)
    ]
    return bytes(np.concatenate(blocks)[:wanted].astype("<i2").tobytes())


def _resample_block(
    block: "np.ndarray[tuple[int], np.dtype[np.int16]]", rate: int, to: int
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The inner part of a block without its margins, where the spectrum's wrap-around stays."""
    import numpy as np

    count = len(block) // rate * to
    spectrum = np.fft.rfft(block)
    target = np.zeros(count // 2 + 1, spectrum.dtype)
    shared = min(len(target), len(spectrum))
    target[:shared] = spectrum[:shared]
    result = np.fft.irfft(target, count) * (count / len(block))
    return np.clip(result[MARGIN_SECONDS * to : (MARGIN_SECONDS + BLOCK_SECONDS) * to], -32768, 32767)


def wav(pcm: bytes, rate: int) -> bytes:
    """A mono 16-bit WAV file of these samples."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(SAMPLE_BYTES)
        writer.setframerate(rate)
        writer.writeframes(pcm)
    return file.getvalue()


def seconds(pcm: bytes, rate: int) -> float:
    """How long it lasts."""
    return len(pcm) / (SAMPLE_BYTES * rate)


def silence_before(pcm: bytes, rate: int) -> int:
    """Samples before the first sound above -50 dBFS, less 10 ms; 0 where there is none."""
    size = rate // 100
    # Without numpy: a web process that only joins sound does not load it, and a voice begins within a few frames.
    for start in range(0, len(pcm) // SAMPLE_BYTES - size + 1, size):
        samples = struct.unpack_from(f"<{size}h", pcm, SAMPLE_BYTES * start)
        if sum(sample * sample for sample in samples) > QUIET**2 * size:
            return max(0, start - size)
    return 0


def read_wav(file: bytes) -> tuple[bytes, int]:
    """Samples and rate of a 16-bit mono WAV; lenient about the lengths that streaming servers do not know.

    Raises ValueError for anything else.
    """
    if file[:4] != b"RIFF" or file[8:12] != b"WAVE":
        raise ValueError("no WAV")
    place, rate = 12, 0
    while place + 8 <= len(file):
        name, size = file[place : place + 4], int.from_bytes(file[place + 4 : place + 8], "little")
        body = file[place + 8 : place + 8 + size]
        if name == b"fmt ":
            rate = _rate_of(body)
        if name == b"data" and rate:
            return body[: len(body) // SAMPLE_BYTES * SAMPLE_BYTES], rate
        place += 8 + size + size % 2
    raise ValueError("no samples")


def _rate_of(head: bytes) -> int:
    kind, channels, rate, _, _, bits = struct.unpack("<HHIIHH", head[:16].ljust(16, b"\0"))
    if kind not in (1, 0xFFFE) or channels != 1 or bits != SAMPLE_BYTES * 8 or not 8_000 <= rate <= 192_000:
        raise ValueError("not 16-bit mono")
    return int(rate)
