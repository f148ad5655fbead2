"""The process that speaks with Piper's voices, apart from Parley because piper-tts is GPL (docs/decisions).

Started by path with a socket's number; imports nothing of Parley but its sibling. Requests:
`("speak", (directory, speaker), text, language)` gives samples, their rate and the words with their times;
`("prepare", directory)` loads a voice. A directory holds one voice: an `.onnx` file and its `.onnx.json`.
"""

import json
import logging
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.gateways.speech.engines import voice_child
    from app.gateways.speech.engines.voice_child import Sounds, Words
else:
    voice_child = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("voice_child.py"))))
    Sounds, Words = voice_child.Sounds, voice_child.Words

DURATIONS = b"/Ceil_output_0"
"""The tensor of every Piper voice that holds how many frames each phoneme lasts."""
PAUSE = 0.2
"""Seconds between two sentences."""


def load(directory: Path) -> Any:
    """The voice in a directory. Raises ValueError with a sentence where its files are not whole."""
    import onnxruntime
    from piper.config import PhonemeType, PiperConfig
    from piper.voice import PiperVoice

    files = sorted(directory.glob("*.onnx"))
    if not files:
        raise ValueError(f"the voice {directory.name} no longer exists")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = max(1, voice_child.cores() // 2)  # a talk's other work goes on beside it
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # would keep what the longest sentence took
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waits without burning a core
    try:
        config = PiperConfig.from_dict(json.loads(Path(f"{files[0]}.json").read_text()))
        network = voice_child.with_output(files[0].read_bytes(), DURATIONS)
        session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ValueError(f"the voice {directory.name} cannot be loaded; run parley models verify") from error
    if config.phoneme_type not in {PhonemeType.ESPEAK, PhonemeType.TEXT}:
        raise ValueError(f"the voice {directory.name} reads with a library that Parley does not have")
    return PiperVoice(session=session, config=config)


class Piper:
    """Answers one request after another."""

    def __init__(self) -> None:
        self._voices = voice_child.Models(load)

    def prepare(self, directory: str) -> None:
        """Load a voice."""
        self._voices.get(directory)

    def rest(self) -> None:
        """Give back idle voices where memory is short."""
        self._voices.rest(available=voice_child.available_memory())

    def speak(self, actor: tuple[str, str], text: str, language: str) -> tuple[bytes, int, Words]:
        """All of a text with one voice: its directory, and the name of a speaker where it has several."""
        from piper.config import SynthesisConfig

        directory, speaker = actor
        voice = self._voices.get(directory)
        speakers = voice.config.speaker_id_map
        if speaker and speaker not in speakers:
            raise ValueError(f"the voice {Path(directory).name} has no speaker {speaker}")
        style = SynthesisConfig(speaker_id=speakers[speaker] if speaker else None, normalize_audio=False)
        rate = voice.config.sample_rate
        pcm, words = bytearray(), Words()
        for piece in voice_child.pieces(text):
            samples, sounds = _spoken(voice, piece, style)
            if not samples:
                continue
            if pcm:
                pcm += b"\0\0" * round(PAUSE * rate)
            offset = len(pcm) / 2 / rate
            written = voice_child.written_words(piece, language)
            alone = ["".join(_letters(phoneme) for one in voice.phonemize(word) for phoneme in one) for word in written]
            words += voice_child.timed(written, alone, [(s, start + offset, end + offset) for s, start, end in sounds])
            pcm += samples
        if not pcm:
            raise ValueError("the text contains nothing that can be spoken")
        return bytes(pcm), rate, words


def _spoken(voice: Any, text: str, style: Any) -> tuple[bytes, Sounds]:
    """The samples of a sentence, and its sounds without pauses."""
    pcm, sounds = bytearray(), Sounds()
    for chunk in voice.synthesize(text, style, include_alignments=True):
        begin = len(pcm) // 2
        pcm += chunk.audio_int16_bytes
        lengths = [(one.phoneme, int(one.num_samples)) for one in chunk.phoneme_alignments or ()]
        if not lengths:  # a voice that does not tell: even shares
            share = len(chunk.audio_int16_array) // len(chunk.phonemes)
            lengths = [(phoneme, share) for phoneme in chunk.phonemes]
        for phoneme, samples in lengths:
            end = begin + samples
            if letter := _letters(phoneme):
                sounds.append((letter, begin / voice.config.sample_rate, end / voice.config.sample_rate))
            begin = end
    return bytes(pcm), sounds


def _letters(phoneme: str) -> str:
    """One letter for a phoneme; none for stress, length, punctuation and the marks of begin and end."""
    return phoneme[0] if phoneme[0].isalpha() and phoneme[0] not in "ˈˌːˑ" else ""


def main() -> None:
    """Serve until the parent closes the socket."""
    logging.disable()  # Piper names phonemes that a voice does not know: parts of what is said
    voice_child.serve(Piper())


if __name__ == "__main__":
    main()
