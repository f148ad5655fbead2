"""Plain arithmetic on samples that several engines need."""

import io
import wave

import numpy as np

from app.speech.ports import SAMPLE_BYTES

BLOCK_SECONDS, MARGIN_SECONDS = 4, 1


def resample(pcm: bytes, rate: int, to: int) -> bytes:
    """The same sound at another sampling rate, band-limited: through the spectrum of overlapping blocks."""
    if rate == to or len(pcm) < SAMPLE_BYTES:
        return pcm
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
    count = len(block) // rate * to
    spectrum = np.fft.rfft(block)
    kept = np.zeros(count // 2 + 1, spectrum.dtype)
    shared = min(len(kept), len(spectrum))
    kept[:shared] = spectrum[:shared]
    result = np.fft.irfft(kept, count) * (count / len(block))
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
