"""The process that encodes replies and decodes pieces of answers: PyAV's wheel has GPL parts (docs/decisions).

Started by path with a socket's number; imports nothing of Parley. Requests: ``("encode", pcm, rate, form)`` gives a
file, ``("decode", piece)`` gives 8,000 samples. It limits itself before it reads a byte that came from a stranger.
"""

import contextlib
import ctypes
import io
import resource
import signal
import struct
import sys
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any

import av
import numpy as np
from av.audio import AudioStream
from av.audio.codeccontext import AudioCodecContext

PDEATHSIG, CLONE_NEWUSER, CLONE_NEWNET = 1, 0x10000000, 0x40000000
MEMORY = 2**31
RATE, SAMPLES = 16_000, 8_000
OPUS_RATE, TIMES = 48_000, 3
"""What Opus decodes to, and how often that is the rate of a piece."""
OPUS = b"PV\x02"
MOST_PACKETS = 50
LATE = 480
"""Samples at 48 kHz that an encoder may keep back at the end: 10 ms, which are then silent."""
FORMS = {
    "opus": ("ogg", "libopus", 24_000, {"application": "voip", "frame_duration": "20", "compression_level": "6"}),
    "aac": ("mp4", "aac", 40_000, {"aac_coder": "fast"}),
}

Samples = np.ndarray[Any, np.dtype[np.int16]]


def encode(pcm: bytes, rate: int, form: str) -> bytes:
    """A file of these samples. At 48 kHz the delay of an AAC encoder is 21 ms where a browser does not take it out."""
    container, codec, bits, options = FORMS[form]
    kept = io.BytesIO()
    with av.open(kept, "w", format=container) as file:
        stream = file.add_stream(codec, rate=OPUS_RATE, layout="mono", options=options)
        assert isinstance(stream, AudioStream)  # noqa: S101 - for mypy
        stream.bit_rate = bits
        frame = av.AudioFrame.from_ndarray(np.frombuffer(pcm, "<i2").reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = rate
        coder = stream.codec_context
        resampler = av.AudioResampler(coder.format, "mono", OPUS_RATE, frame_size=coder.frame_size)
        for ready in (frame, None):
            for part in resampler.resample(ready):
                file.mux(stream.encode(part))
        file.mux(stream.encode(None))
    return kept.getvalue()


def decode(piece: bytes) -> bytes:
    """The samples of a piece. Raises ValueError where it is not whole."""
    if not piece.startswith(OPUS) or len(piece) == len(OPUS):
        raise ValueError("the form of this piece is not known")
    return bytes(_opus(piece[len(OPUS) :])[:SAMPLES].tobytes())


def _opus(body: bytes) -> Samples:
    count = body[0]
    if not 0 < count <= MOST_PACKETS or len(body) < 3 + 2 * count:
        raise ValueError("this piece has no packets")
    skip, *sizes = struct.unpack_from(f"<{count + 1}H", body, 1)
    place, packets = 3 + 2 * count, []
    for size in sizes:
        packets.append(body[place : place + size])
        place += size
    if place != len(body) or not all(sizes):
        raise ValueError("packets of this piece are cut off")
    decoder = av.CodecContext.create("libopus", "r")
    assert isinstance(decoder, AudioCodecContext)  # noqa: S101 - for mypy
    decoder.sample_rate, decoder.layout = OPUS_RATE, "mono"
    samples = _joined(frame.to_ndarray() for packet in packets for frame in decoder.decode(av.Packet(packet)))
    missing = skip + TIMES * SAMPLES - len(samples)
    if missing > LATE:
        raise ValueError("this piece is too short")
    return _third(np.pad(samples, (0, max(0, missing))))[skip // TIMES :]


def _joined(parts: Iterable["np.ndarray[Any, Any]"]) -> Samples:
    every = [part.reshape(-1) for part in parts]
    return np.concatenate(every).astype("<i2", copy=False) if every else np.zeros(0, "<i2")


def _third(samples: Samples) -> Samples:
    """The same at a third of the rate. The wrap-around of its spectrum lies in what is left out, and in the tail."""
    whole = samples[: len(samples) // TIMES * TIMES]
    count = len(whole) // TIMES
    spectrum = np.fft.rfft(whole)[: count // 2 + 1]
    return np.clip(np.fft.irfft(spectrum, count) / TIMES, -32768, 32767).round().astype("<i2")


def confine() -> None:
    """Limit memory and files, drop the network where the kernel allows it, and end with the parent."""
    for kind, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (wanted, wanted))
    with contextlib.suppress(OSError, AttributeError):  # no Linux: the closed socket ends us
        libc = ctypes.CDLL(None)
        libc.prctl(PDEATHSIG, signal.SIGKILL)
        if libc.unshare(CLONE_NEWNET) != 0:
            libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)


def main() -> None:
    """Serve until the parent closes the socket."""
    confine()
    connection = Connection(int(sys.argv[1]))
    work: dict[str, Callable[..., bytes]] = {"encode": encode, "decode": decode}
    try:
        while True:
            number, name, *request = connection.recv()
            try:
                connection.send((number, None, work[name](*request)))
            except (ValueError, IndexError, struct.error, av.FFmpegError) as error:
                connection.send((number, str(error) or type(error).__name__, None))
    except (EOFError, OSError):
        return


if __name__ == "__main__":
    main()
