"""Whisper by CTranslate2, with its window cut to the speech, which costs a fifth of the usual thirty seconds."""

import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import machine
from .detector import RATE, Samples
from .words import Word, with_marks

PADDING = 3.0
"""Seconds of silence after the speech. With one, sentences are written twice now and then."""
HOP = 160
MOST_FRAMES = 3_000
"""Thirty seconds: no model takes more."""
TOKENS_PER_SECOND, SPARE_TOKENS = 20, 24
"""More than anyone says, in any of the languages; it ends a loop."""
TOKEN_SECONDS = 0.02
LATE = 0.07
"""Seconds by which attention steps on to a word before it begins: 0.04 with human speech, 0.1 with Piper's."""
MOST_TOKENS = 440
IDLE_SECONDS = 600.0
SHORT_OF_MEMORY = 0.25
"""Share of the memory that is available, below which a model that no one uses is given back."""
NEEDED = ("model.bin", "config.json", "tokenizer.json")

Stages = Generator["Reading | None", None, "Reading"]


class Refused(Exception):
    """Something that an operator can put right; its message is safe to show."""


class Reading(NamedTuple):
    """What a model wrote for one window. `sure` is the mean logarithm of the chance of its tokens."""

    words: tuple[Word, ...]
    no_speech: float
    sure: float


class Beams(NamedTuple):
    """How many texts are followed at once, and how many of them must have ended."""

    followed: int
    ended: int


class Model:
    """One model in memory."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        import ctranslate2
        import tokenizers
        from faster_whisper.feature_extractor import FeatureExtractor

        self._ct2 = ctranslate2
        try:
            self._whisper = ctranslate2.models.Whisper(
                str(folder), device="cpu", compute_type="int8", intra_threads=threads
            )
            self._vocabulary = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:
            raise Refused(
                f"the model {folder.name} cannot be loaded; run `parley models verify` and install it again"
            ) from error
        self._features = FeatureExtractor(feature_size=self._whisper.n_mels)
        self._tokenizers: dict[str, Any] = {}

    def read(self, samples: Samples, language: str, beams: Beams, *, varied: bool = False) -> Stages:
        """Recognise up to 25 s (16 kHz, -1..1) in stages; words count from their start. `varied` forbids repetitions.

        The last stage places the words: the one before it yields them without places and with confidence 0. Raises
        Refused where the model does not know the language.
        """
        tokenizer = self._tokenizer(language)
        seconds = len(samples) / RATE
        encoded = self._whisper.encode(self._storage(samples))
        yield None
        result = self._whisper.generate(
            encoded,
            [[*tokenizer.sot_sequence, tokenizer.no_timestamps]],
            beam_size=beams.followed,
            patience=beams.ended / beams.followed,
            no_repeat_ngram_size=3 if varied else 0,
            max_length=min(MOST_TOKENS, round(seconds * TOKENS_PER_SECOND) + SPARE_TOKENS),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=_never_written(tokenizer),
        )[0]
        tokens = [token for token in result.sequences_ids[0] if token < tokenizer.eot]
        sure = result.scores[0] * len(result.sequences_ids[0]) / (len(result.sequences_ids[0]) + 1)
        if not tokens:
            return Reading((), result.no_speech_prob, sure)
        texts, groups = tokenizer.split_to_word_tokens([*tokens, tokenizer.eot])
        yield Reading(tuple(with_marks([Word(text, 0, 0, 0) for text in texts[:-1]])), result.no_speech_prob, sure)
        frames = min(round(seconds * RATE / HOP), encoded.shape[1] * 2)
        aligned = self._whisper.align(encoded, tokenizer.sot_sequence, [tokens], frames)[0]
        return Reading(tuple(_placed(texts, groups, aligned)), result.no_speech_prob, sure)

    def _storage(self, samples: Samples) -> Any:
        silence = np.zeros(round(PADDING * RATE), np.float32)
        features = self._features(np.concatenate([samples, silence]), padding=0)
        frames = min(features.shape[1] // 2 * 2, MOST_FRAMES)
        return self._ct2.StorageView.from_array(np.ascontiguousarray(features[None, :, :frames], np.float32))

    def _tokenizer(self, language: str) -> Any:
        from faster_whisper.tokenizer import Tokenizer

        if not self._whisper.is_multilingual and language != "en":
            raise Refused(f"this model knows English only; install another one for {language}")
        if language not in self._tokenizers:
            try:
                self._tokenizers[language] = Tokenizer(
                    self._vocabulary, self._whisper.is_multilingual, task="transcribe", language=language
                )
            except ValueError:
                raise Refused(f"Whisper does not know the language {language}") from None
        return self._tokenizers[language]


def _never_written(tokenizer: Any) -> tuple[int, ...]:
    orders = (
        tokenizer.transcribe,
        tokenizer.translate,
        tokenizer.sot,
        tokenizer.sot_prev,
        tokenizer.sot_lm,
        tokenizer.no_speech,
    )
    return tuple(sorted({*tokenizer.non_speech_tokens, *(token for token in orders if token is not None)}))


def _placed(texts: Sequence[str], groups: Sequence[Sequence[int]], aligned: Any) -> list[Word]:
    """Words with the places where attention steps on to their first token."""
    token_of = np.array([token for token, _ in aligned.alignments])
    frame_of = np.array([frame for _, frame in aligned.alignments])
    steps = frame_of[np.diff(token_of, prepend=-1) > 0] * TOKEN_SECONDS + LATE
    words, first = [], 0
    for text, group in zip(texts[:-1], groups[:-1], strict=True):
        last = first + len(group)
        chances = aligned.text_token_probs[first:last]
        if first < len(steps) and chances:
            end = float(steps[min(last, len(steps) - 1)])
            words.append(Word(text, float(steps[first]), end, round(float(np.mean(chances)), 3)))
        first = last
    return with_marks(words)


class Models:
    """The models in memory, each loaded when first needed and again where its file has changed."""

    def __init__(self, *, threads: int | None = None) -> None:
        self._threads = threads or machine.threads()
        self._loaded: dict[Path, tuple[Model, tuple[int, ...]]] = {}
        self._used: dict[Path, float] = {}

    def get(self, folder: str) -> Model:
        """The model of this directory. Raises Refused where it is not complete."""
        path = Path(folder)
        try:
            stamps = tuple(stamp for name in NEEDED for stamp in _stamp(path / name))
        except OSError:
            self._loaded.pop(path, None)
            raise Refused(f"the model {path.name} is not complete; run `parley models install {path.name}`") from None
        if path not in self._loaded or self._loaded[path][1] != stamps:
            self._loaded.pop(path, None)
            self._loaded[path] = Model(path, threads=self._threads), stamps
        self._used[path] = time.monotonic()
        return self._loaded[path][0]

    @property
    def loaded(self) -> tuple[str, ...]:
        """Names of those in memory."""
        return tuple(path.name for path in self._loaded)

    def give_back(self, *, now: float, available: float) -> None:
        """Forget what no one used for ten minutes, where less than a quarter of the memory is `available` (a share)."""
        if available >= SHORT_OF_MEMORY:
            return
        for path in [path for path in self._loaded if now - self._used[path] >= IDLE_SECONDS]:
            del self._loaded[path]


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
