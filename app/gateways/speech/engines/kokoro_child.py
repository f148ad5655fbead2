"""The process that speaks with Kokoro's voices, apart from Parley because it reads text through espeak-ng (GPL).

Started by path with a socket's number; imports nothing of Parley but its siblings. Requests as in piper_child.py. The
directory is the model's (with the Japanese voices), or that of the voices of all languages, beside the model's.
"""

import json
import logging
import runpy
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.gateways.speech.engines import kokoro_sounds, voice_child
    from app.gateways.speech.engines.voice_child import Sounds, Words
else:

    def _beside(name: str) -> SimpleNamespace:
        return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name(f"{name}.py"))))

    voice_child, kokoro_sounds = _beside("voice_child"), _beside("kokoro_sounds")
    Sounds, Words = voice_child.Sounds, voice_child.Words

RATE = 24_000
DURATIONS = b"/encoder/Clip_output_0"
"""The tensor of Kokoro's model that holds how many frames each token lasts."""
FRAME = 600
"""Samples of one frame."""
MOST_TOKENS = 500
"""A voice has a style for each length up to 510."""
LEAD, TAIL = 0.05, 0.12
"""Seconds that are left of a sentence's silence before and after it."""
PAUSE = 0.2
ESPEAK = {"en-US": "en-us", "es-419": "es-419", "fr-FR": "fr", "hi-IN": "hi", "pt-BR": "pt-br"}
MODEL_DIRECTORY = "kokoro"


@dataclass(frozen=True, slots=True)
class Model:
    """The network, the numbers of its sounds, and the styles of its voices."""

    session: Any
    vocabulary: dict[str, int]
    styles: Any


def load(directory: Path) -> Model:
    """The model with the voices of a directory. Raises ValueError with a sentence where the files are not whole."""
    import numpy as np
    import onnxruntime

    home = directory if list(directory.glob("*.onnx")) else directory.with_name(MODEL_DIRECTORY)
    networks, voices = sorted(home.glob("*.onnx")), sorted([*directory.glob("*.npz"), *directory.glob("voices*.bin")])
    if not networks or not voices:
        raise ValueError(f"the voices of {directory.name} no longer exist")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = voice_child.cores()
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # would keep what the longest sentence took
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waits without burning a core
    try:
        vocabulary = json.loads((home / "vocab.json").read_text())["vocab"]
        network = voice_child.with_output(networks[0].read_bytes(), DURATIONS)
        session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
        styles = np.load(voices[0], allow_pickle=False)
    except Exception as error:
        raise ValueError(f"the voices of {directory.name} cannot be loaded; run parley models verify") from error
    return Model(session, vocabulary, styles)


class Kokoro:
    """Answers one request after another."""

    def __init__(self) -> None:
        self._models = voice_child.Models(load)
        self._reader: Any = None

    def prepare(self, directory: str) -> None:
        """Load the model."""
        self._models.get(directory)

    def rest(self) -> None:
        """Give an idle model back where memory is short."""
        self._models.rest(available=voice_child.available_memory())

    def speak(self, actor: tuple[str, str], text: str, language: str) -> tuple[bytes, int, Words]:
        """All of a text with one voice: the directory it is in, and its name."""
        directory, speaker = actor
        model = self._models.get(directory)
        if speaker not in model.styles:
            raise ValueError(f"{Path(directory).name} has no voice {speaker}")
        style = model.styles[speaker]
        pcm, words = bytearray(), Words()
        waiting = voice_child.pieces(text)
        while waiting:
            piece = waiting.pop(0)
            written, alone, sounds = self._read(piece, language, speaker)
            tokens = [(sound, model.vocabulary[sound]) for sound in sounds if sound in model.vocabulary]
            if len(tokens) > MOST_TOKENS:
                waiting[:0] = voice_child.halves(piece)
                continue
            samples, timed = _spoken(model.session, tokens, style)
            if not timed:
                continue
            if pcm:
                pcm += b"\0\0" * round(PAUSE * RATE)
            offset = len(pcm) / 2 / RATE
            words += voice_child.timed(written, alone, [(s, start + offset, end + offset) for s, start, end in timed])
            pcm += samples
        if not pcm:
            raise ValueError("the text contains nothing that can be spoken")
        return bytes(pcm), RATE, words

    def _read(self, text: str, language: str, speaker: str) -> tuple[list[str], list[str], str]:
        """The written words, the letters of each one's sounds, and all sounds with stress and punctuation."""
        if language == "ja-JP":
            import pyopenjtalk

            nodes = pyopenjtalk.run_frontend(unicodedata.normalize("NFKC", text))
            read = [(node["string"], kokoro_sounds.japanese(node["pron"])) for node in nodes]
            spoken = [(written, kokoro_sounds.letters(sounds)) for written, sounds in read]
            return (
                [written for written, sounds in spoken if sounds],
                [sounds for _, sounds in spoken if sounds],
                kokoro_sounds.japanese_sentence(nodes),
            )
        if language not in ESPEAK:
            raise ValueError(f"Kokoro cannot read {language}")
        british = language == "en-US" and speaker.startswith("b")
        voice = "en-gb" if british else ESPEAK[language]
        written = voice_child.written_words(text, language)
        alone = [kokoro_sounds.letters(self._sounds(word, voice)) for word in written]
        return written, alone, self._sounds(text, voice)

    def _sounds(self, text: str, voice: str) -> str:
        if self._reader is None:
            from piper.phonemize_espeak import EspeakPhonemizer

            self._reader = EspeakPhonemizer()
        clauses = self._reader.phonemize(voice, text)
        return kokoro_sounds.of_espeak(" ".join("".join(clause) for clause in clauses), voice)


def _spoken(session: Any, tokens: list[tuple[str, int]], style: Any) -> tuple[bytes, Sounds]:
    """The samples of a sentence without the silence around it, and the times of its sounds."""
    import numpy as np

    if not any(kokoro_sounds.letters(sound) for sound, _ in tokens):
        return b"", []
    numbers = [0, *(number for _, number in tokens), 0]
    request = {
        "tokens": np.array([numbers], np.int64),
        "style": style[len(tokens)].reshape(1, -1),
        "speed": np.ones(1, np.float32),
    }
    audio, *more = session.run(None, request)
    audio = audio.reshape(-1)
    lengths = more[0].reshape(-1) * FRAME if more else np.full(len(numbers), len(audio) / len(numbers))
    ends = np.cumsum(lengths) / RATE
    sounds = [
        (sound, float(ends[place]), float(ends[place + 1]))
        for place, (sound, _) in enumerate(tokens)
        if kokoro_sounds.letters(sound)
    ]
    begin = max(0.0, sounds[0][1] - LEAD)
    trimmed = audio[round(begin * RATE) : round((sounds[-1][2] + TAIL) * RATE)]
    pcm = (np.clip(trimmed, -1, 1) * 32767).astype("<i2").tobytes()
    return pcm, [(sound, start - begin, end - begin) for sound, start, end in sounds]


def main() -> None:
    """Serve until the parent closes the socket."""
    logging.disable()
    voice_child.serve(Kokoro())


if __name__ == "__main__":
    main()
