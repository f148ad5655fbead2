"""Speech in a codec, so that a talk fits on a thin line: replies on their way down, pieces of answers on their way up.

The media library runs in its own process (0041, 0071), which starts when a page first asks for either.

**A piece** is half a second of an answer, 8,000 samples at 16 kHz, and can be decoded alone: pieces arrive in any
order, at any process, and more than once. It begins with ``PV`` and a byte of the value 2, for Opus. Then come the
number of packets (one byte), the samples at 48 kHz to leave out at the beginning (16 bits), the size of each packet
(16 bits), the packets of 20 ms. What is left out lets the decoder settle, and holds the encoder's delay.

Sixteen thousand bytes are plain samples.
"""

from pathlib import Path
from typing import Literal

from app.core.errors import GatewayError
from app.gateways.speech.engines.children import ChildFailed, Children

PROGRAM = Path(__file__).with_name("codec_child.py")
PIECE_BYTES = 16_000
"""Of a decoded piece."""
LONGEST_PIECE = 8_000
"""Bytes of a coded one: above what any form needs, below plain samples."""
MAGIC = b"PV"
TIMEOUT = 10.0
Form = Literal["opus", "aac"]
CONTENT_TYPES: dict[Form, str] = {"opus": "audio/ogg", "aac": "audio/mp4"}
ENDINGS: dict[Form, str] = {"opus": "opus", "aac": "m4a"}


class Undecodable(Exception):
    """The bytes of a piece make no sound; the page has to send it in another form."""


class Codec:
    """Encodes replies and decodes pieces through one child process; both take milliseconds."""

    def __init__(self) -> None:
        self._children = Children(PROGRAM)

    def encode(self, pcm: bytes, rate: int, form: Form) -> bytes:
        """A file of these samples (s16le, mono): Opus in Ogg at 24 kbit/s, or AAC in MP4 at 40. Raises GatewayError."""
        try:
            coded: bytes = self._children.call("encode", pcm, rate, form, timeout=TIMEOUT)
        except ChildFailed as error:
            raise GatewayError(f"the sound could not be encoded: {error}", retryable=False) from error
        return coded

    def decode(self, piece: bytes) -> bytes:
        """The 8,000 samples of a piece, 16 kHz, s16le. Raises Undecodable, and GatewayError if it cannot be tried."""
        if len(piece) > LONGEST_PIECE or not is_coded(piece):
            raise Undecodable("this is no coded piece")
        try:
            pcm: bytes = self._children.call("decode", piece, timeout=TIMEOUT)
        except ChildFailed as error:
            raise Undecodable(str(error)) from error
        if len(pcm) != PIECE_BYTES:
            raise Undecodable("this piece has another length")
        return pcm

    def pids(self) -> list[int]:
        """Process ids of the running children."""
        return self._children.pids()

    def close(self) -> None:
        """End the process."""
        self._children.close()


def is_coded(piece: bytes) -> bool:
    """Whether these bytes are a piece in a codec, not plain samples."""
    return len(piece) != PIECE_BYTES and piece.startswith(MAGIC)
