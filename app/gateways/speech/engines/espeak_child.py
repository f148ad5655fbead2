"""The synthesis process: espeak-ng through ctypes, apart from Parley because it is GPL (docs/decisions).

Started by path with a socket's number; imports nothing of Parley. One request, one answer: samples, their rate and
the times of the words as the engine itself reports them.
"""

import contextlib
import ctypes
import functools
import signal
import sys
import unicodedata
from multiprocessing.connection import Connection
from typing import Any

SYNCHRONOUS, PHONEME_EVENTS, DONT_EXIT = 2, 0x0001, 0x8000
RATE_PARAMETER, PITCH_PARAMETER, RANGE_PARAMETER = 1, 3, 4
POSITION_CHARACTER, CHARS_UTF8 = 1, 1
EVENT_END_OF_LIST, EVENT_WORD, EVENT_END, EVENT_PHONEME = 0, 1, 5, 7
PDEATHSIG = 1
PUNCTUATION = '.,;:!?"()[]¡¿。、，．！？「」『』（）؟،؛…—–।'

Style = tuple[str, int, int, int]
"""espeak-ng's voice, words per minute, pitch and its range (0..99)."""
Spans = list[tuple[int, int, float, float]]
"""First character, length, start and end in seconds."""
Words = list[tuple[str, float, float]]


class Identity(ctypes.Union):
    """The last field of an event: a number, a name or up to eight bytes of a phoneme's name."""

    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))


class Event(ctypes.Structure):
    """espeak_EVENT of speak_lib.h."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", Identity),
    )


Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))


class Espeak:
    """The library's one global state."""

    def __init__(self) -> None:
        import espeakng_loader

        self._library = ctypes.CDLL(espeakng_loader.get_library_path())
        self.rate = self._library.espeak_Initialize(
            SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), PHONEME_EVENTS | DONT_EXIT
        )
        if self.rate <= 0:
            raise RuntimeError("espeak-ng could not load its data")
        self._pcm = bytearray()
        self._events: list[tuple[int, int, int, int, bytes]] = []
        self._callback = Callback(self._collect)  # kept: the library holds only the address
        self._library.espeak_SetSynthCallback(self._callback)

    def _collect(self, samples: Any, count: int, events: Any) -> int:
        if samples and count > 0:
            self._pcm += ctypes.string_at(samples, count * 2)
        place = 0
        while events[place].type != EVENT_END_OF_LIST:
            event = events[place]
            name = event.id.string if event.type == EVENT_PHONEME else b""
            self._events.append((event.type, event.text_position, event.length, event.sample, name))
            place += 1
        return 0

    def speak(self, text: str, style: Style) -> tuple[bytes, Spans]:
        """The samples, and the place of each word in text and time."""
        voice, pace, pitch, span = style
        if self._library.espeak_SetVoiceByName(voice.encode()):
            raise ValueError(f"espeak-ng has no voice {voice}")
        for parameter, value in ((RATE_PARAMETER, pace), (PITCH_PARAMETER, pitch), (RANGE_PARAMETER, span)):
            self._library.espeak_SetParameter(parameter, value, 0)
        self._pcm.clear()
        self._events.clear()
        raw = text.encode() + b"\0"
        failed = self._library.espeak_Synth(raw, len(raw), 0, POSITION_CHARACTER, 0, CHARS_UTF8, None, None)
        if failed:
            raise RuntimeError("espeak-ng could not speak this text")
        self._library.espeak_Synchronize()
        return bytes(self._pcm), self._word_spans()

    def _word_spans(self) -> Spans:
        """A word lasts until the engine pauses, the clause ends or the next word begins."""
        spans: Spans = []
        open_word: tuple[int, int, int] | None = None
        last = len(self._pcm) // 2
        for kind, position, length, sample, name in [*self._events, (EVENT_END, 0, 0, last, b"")]:
            ends = kind in (EVENT_WORD, EVENT_END) or (kind == EVENT_PHONEME and name[:1] == b"_")
            if open_word and ends and sample > open_word[2]:
                first, size, start = open_word
                spans.append((first, size, start / self.rate, min(sample, last) / self.rate))
                open_word = None
            if kind == EVENT_WORD:
                open_word = (position - 1, length, sample)
        return spans


@functools.cache
def _arabic_marks() -> Any:
    try:
        from piper.tashkeel import TashkeelDiacritizer
    except ImportError:
        return None
    return TashkeelDiacritizer()


def _japanese(text: str) -> list[tuple[str, str]]:
    """(as written, as read in kana) for each accent phrase."""
    import pyopenjtalk

    phrases: list[tuple[str, str]] = []
    for one in pyopenjtalk.run_frontend(text):
        written = unicodedata.normalize("NFKC", one["string"])
        read = one["pron"].replace("’", "")
        if phrases and (one["chain_flag"] == 1 or one["pos"] == "記号"):
            phrases[-1] = (phrases[-1][0] + written, phrases[-1][1] + read)
        else:
            phrases.append((written, read))
    return phrases


def _arabic(text: str) -> list[tuple[str, str]]:
    """(as written, with vowel marks) for each word."""
    marks = _arabic_marks()
    written = text.split()
    marked = marks(text).split() if marks else written
    return list(zip(written, marked if len(marked) == len(written) else written, strict=True))


def readings(text: str, language: str) -> list[tuple[str, str]] | None:
    """Words as written and as espeak-ng must see them; None where it reads the text as it is."""
    if language == "ja-JP":
        return _japanese(text)
    if language == "ar-AE":
        return _arabic(text)
    return None


def as_written(text: str, spans: Spans) -> Words:
    """Each measured span with all the text up to the next one: the engine speaks `at the` as one word."""
    words: Words = []
    following = [first for first, _, _, _ in spans] + [len(text)]
    for (first, _, start, end), until in zip(spans, following[1:], strict=True):
        word = text[max(first, 0) : max(until, 0)].strip().strip(PUNCTUATION)
        if word:
            words.append((word, round(start, 3), round(end, 3)))
    return words


def as_read(pairs: list[tuple[str, str]], spans: Spans) -> Words:
    """The same where the engine read something else than what is written."""
    words: Words = []
    place = 0
    for written, read in pairs:
        inside = [(start, end) for first, _, start, end in spans if place <= first < place + len(read) + 1]
        place += len(read) + 1
        if inside and (word := written.strip().strip(PUNCTUATION)):
            words.append((word, round(inside[0][0], 3), round(inside[-1][1], 3)))
    return words


class Desk:
    """Answers one request after another."""

    def __init__(self) -> None:
        self._espeak = Espeak()

    def speak(self, text: str, language: str, style: Style) -> tuple[bytes, int, Words]:
        """Samples, their rate, the words."""
        pairs = readings(text, language)
        spoken = text if pairs is None else " ".join(read for _, read in pairs)
        pcm, spans = self._espeak.speak(spoken, style)
        words = as_written(text, spans) if pairs is None else as_read(pairs, spans)
        return pcm, self._espeak.rate, words


def main() -> None:
    """Serve until the parent closes the socket."""
    with contextlib.suppress(OSError, AttributeError):  # no Linux: the closed socket ends us
        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
    connection = Connection(int(sys.argv[1]))
    desk = Desk()
    try:
        while True:
            number, _, *request = connection.recv()
            try:
                connection.send((number, None, desk.speak(*request)))
            except (ValueError, RuntimeError, ImportError) as error:
                connection.send((number, str(error), None))
    except (EOFError, OSError):
        return


if __name__ == "__main__":
    main()
