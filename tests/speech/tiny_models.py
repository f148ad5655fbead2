"""ONNX models small enough to be written byte by byte: voices that hum, so that no test needs a real one."""

import json
import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from app.gateways.speech.engines.voice_child import length_delimited, varint
from app.gateways.speech.host.offers import Served

FLOAT, INT64 = 1, 7
RATE, HOP = 22_050, 256
KOKORO_FRAME = 600
FRAMES = 4
"""Frames that each phoneme lasts in the voices made here."""

PHONEMES = " !',-.:;?abcdefhijklmnopqrstuvwxyzæçðøħŋœɐɑɒɔəɚɛɜɡɪɫɲɹɾʃʊʌʒʔʲˈˌːθᵻ"


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def block(field: int, data: bytes | str) -> bytes:
    return length_delimited(field, data.encode() if isinstance(data, str) else data)


def node(op: str, inputs: str, output: str, **attributes: int) -> bytes:
    names = b"".join(block(1, name) for name in inputs.split())
    extras = b"".join(block(5, block(1, name) + number(3, value) + number(20, 2)) for name, value in attributes.items())
    return block(1, names + block(2, output) + block(3, f"make {output}") + block(4, op) + extras)


def scalar(name: str, value: float, kind: int) -> bytes:
    raw = struct.pack("<f", value) if kind == FLOAT else struct.pack("<q", int(value))
    return block(5, number(2, kind) + block(8, name) + block(9, raw))


def value(field: int, name: str, kind: int, shape: str = "") -> bytes:
    sizes = b"".join(block(1, number(1, int(size)) if size.isdigit() else block(2, size)) for size in shape.split())
    return block(field, block(1, name) + block(2, block(1, number(1, kind) + block(2, sizes))))


def model(*graph: bytes) -> bytes:
    opset = block(1, "") + number(2, 17)
    return number(1, 8) + block(7, b"".join(graph) + block(2, "hum")) + block(8, opset)


def humming(tokens: str, *, loudness: float, hop: int = HOP) -> bytes:
    """Nodes that give `audio`: a sine of FRAMES * `hop` samples for each of the `tokens`."""
    return b"".join(
        (
            node("Size", tokens, "count"),
            node("Mul", "count per_token", "total"),
            node("Range", "zero total one", "places"),
            node("Cast", "places", "seconds", to=FLOAT),
            node("Mul", "seconds pitch", "angles"),
            node("Sin", "angles", "wave"),
            node("Mul", "wave loudness", "audio"),
            scalar("per_token", FRAMES * hop, INT64),
            scalar("zero", 0, INT64),
            scalar("one", 1, INT64),
            scalar("pitch", 2 * 3.14159 * 220 / RATE, FLOAT),
            scalar("loudness", loudness, FLOAT),
        )
    )


def served(directories: Iterable[Path]) -> tuple[Served, ...]:
    """The models as a speech host offers them."""
    return tuple(Served(one.name, str(one)) for one in directories)


def write_piper_voice(directory: Path, *, speakers: tuple[str, ...] = (), durations: bool = True) -> Path:
    """A voice as Piper has them, which tells how long each phoneme lasts."""
    directory.mkdir(parents=True, exist_ok=True)
    lengths = b"".join(
        (
            node("Cast", "input", "numbers", to=FLOAT),
            node("Mul", "numbers nothing", "nothings"),
            node("Add", "nothings frames", "lengths"),
            node("Ceil", "lengths", "/Ceil_output_0"),
            scalar("nothing", 0, FLOAT),
            scalar("frames", FRAMES - 0.5, FLOAT),
        )
    )
    graph = (
        lengths if durations else b"",
        humming("input", loudness=0.1),
        value(11, "input", INT64, "1 phonemes"),
        value(11, "input_lengths", INT64, "1"),
        value(11, "scales", FLOAT, "3"),
        *([value(11, "sid", INT64, "1")] if speakers else []),
        value(12, "audio", FLOAT, "samples"),
    )
    file = directory / "voice.onnx"
    file.write_bytes(model(*graph))
    ids = {letter: [place] for place, letter in enumerate(["_", "^", "$", *PHONEMES])}
    config = {
        "audio": {"sample_rate": RATE},
        "espeak": {"voice": "en-us"},
        "num_symbols": len(ids),
        "num_speakers": max(1, len(speakers)),
        "speaker_id_map": {name: place for place, name in enumerate(speakers)},
        "phoneme_id_map": ids,
        "phoneme_type": "espeak",
    }
    Path(f"{file}.json").write_text(json.dumps(config))
    return directory


def write_kokoro(directory: Path, *, speakers: tuple[str, ...]) -> Path:
    """A model as Kokoro has them, which tells how long each token lasts, with the given voices."""
    directory.mkdir(parents=True, exist_ok=True)
    lengths = b"".join(
        (
            node("Cast", "tokens", "numbers", to=FLOAT),
            node("Mul", "numbers nothing", "nothings"),
            node("Add", "nothings frames", "/encoder/Clip_output_0"),
            scalar("nothing", 0, FLOAT),
            scalar("frames", FRAMES, FLOAT),
        )
    )
    graph = (
        lengths,
        humming("tokens", loudness=0.1, hop=KOKORO_FRAME),
        value(11, "tokens", INT64, "1 length"),
        value(11, "style", FLOAT, "1 256"),
        value(11, "speed", FLOAT, "1"),
        value(12, "audio", FLOAT, "samples"),
    )
    (directory / "kokoro.onnx").write_bytes(model(*graph))
    letters = ';:,.!?—…"()“” abcdefhijklmnopqrstuvwxyzAIOQWYʤʧʦʣɕʥʨçɸβɾɯɨɴŋɲʔɑɐɒæɔðəɛɜɡɪɬɹʃʊʌʒθᵊˈˌːʲᵝT'
    (directory / "vocab.json").write_text(json.dumps({"vocab": {letter: n for n, letter in enumerate(letters, 1)}}))
    write_kokoro_voices(directory / "voices.npz", speakers)
    return directory


def write_kokoro_voices(file: Path, speakers: tuple[str, ...]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as target:
        np.savez(target, **{name: np.zeros((510, 1, 256), np.float32) for name in speakers})
