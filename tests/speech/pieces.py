"""Pieces of an answer as browsers code them."""

import struct
from fractions import Fraction

import av
import numpy as np

PRE_SKIP, PREROLL = 312, 640
"""The encoder's delay at 48 kHz, and samples at 16 kHz that lead up to a piece in Opus."""


def opus_piece(samples: np.ndarray) -> bytes:
    """What a browser's encoder makes of a piece with its lead."""
    coder = av.CodecContext.create("libopus", "w")
    coder.sample_rate, coder.layout, coder.format, coder.bit_rate = 16_000, "mono", "s16", 18_000
    coder.time_base = Fraction(1, 16_000)
    coder.open()
    packets = []
    for at in range(0, len(samples), 320):
        frame = av.AudioFrame.from_ndarray(samples[at : at + 320].reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts = 16_000, at
        packets += [bytes(packet) for packet in coder.encode(frame)]
    head = struct.pack(f"<{len(packets) + 1}H", 3 * PREROLL + PRE_SKIP, *map(len, packets))
    return b"PV\x02" + bytes([len(packets)]) + head + b"".join(packets)


def flac_piece(samples: np.ndarray, *, rate: int = 16_000, layout: str = "mono") -> bytes:
    """What FFmpeg's own encoder makes of samples without their six lowest bits, with the shortest head."""
    coder = av.CodecContext.create("flac", "w")
    coder.sample_rate, coder.layout, coder.format = rate, layout, "s16"
    coder.time_base = Fraction(1, rate)
    coder.open()
    frames = b""
    step = 4_000 * coder.channels
    for at in range(0, len(samples), step):
        frame = av.AudioFrame.from_ndarray(samples[at : at + step].reshape(1, -1) & ~63, format="s16", layout=layout)
        frame.sample_rate, frame.pts = rate, at // coder.channels
        frames += b"".join(map(bytes, coder.encode(frame)))
    frames += b"".join(map(bytes, coder.encode(None)))
    return b"fLaC\x80\x00\x00\x22" + (coder.extradata or b"") + frames
