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
