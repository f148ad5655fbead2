"""The agent's voice: lines become sound, and what takes long comes in pieces, the first heard while others are made.

What is ready soon (all of it with the embedded voice, or where the lines were spoken before) is one sound, piece 0.
Each sentence that is not ready then is a piece of its own and owed: its sound is made when it is asked for.
"""

import logging
import time
from dataclasses import dataclass, replace

from app.conversation.script.machine import Kind, Line, Script
from app.conversation.script.sentences import sentences
from app.core.errors import GatewayError
from app.flows.flow_script import FlowScript
from app.gateways.speech import phrases, sound
from app.gateways.speech.ports import Speaker, Spoken, Word

log = logging.getLogger(__name__)

GAP = 0.35
"""Seconds of silence between two lines of one reply."""
BREATH = 0.12
"""Seconds of silence between two sentences of one line that were spoken apart."""
SOON = 0.3
"""Seconds after which the candidate waits no longer for more than the first sentence."""
LATE = 1.0
"""Seconds after which a candidate who then hears another voice is asked for a moment first."""
SHORT_LINE = 80
"""A line up to this many characters is spoken as one: it takes no longer than its first sentence would."""
PERSONAL = frozenset({Kind.FOLLOW_UP, Kind.REPLY, Kind.NAME})
"""With the candidate's name, or in a model's words, which may quote them: kept with the interview, never shared."""

MADE_SLOWLY = frozenset({"piper", "kokoro", "openai", "elevenlabs"})
"""Engines whose sentences take longer than someone waits gladly; something short and prepared is heard meanwhile."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some sentences of a line, and where in which piece of the reply they lie. ``seconds`` is 0 while owed."""

    piece: int
    text: str
    offset: float = 0.0
    seconds: float = 0.0
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a reply on the reply's own clock, which starts with its first sample.

    ``stretches`` are given where the reply comes in pieces; each then has the clock of its own piece.
    """

    kind: Kind
    text: str
    question_index: int | None
    offset: float
    seconds: float
    words: tuple[Word, ...]
    stretches: tuple[Stretch, ...] = ()


@dataclass(frozen=True, slots=True)
class Speech:
    """Lines with their sound. ``wav`` is None where they are only shown, else piece 0, which lasts ``seconds``."""

    parts: tuple[Part, ...]
    wav: bytes | None = None
    seconds: float = 0.0
    engine: str | None = None


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is spoken in one go: sentences of the line ``at``."""

    at: int
    kind: Kind
    text: str


def speak(script: Script, lines: tuple[Line, ...], speaker: Speaker | None, *, is_more: bool = False) -> Speech:
    """Speak the lines as far as that is soon done; the rest is owed. A voice that fails leaves text alone.

    ``is_more``: the candidate has just heard the beginning, or been asked for a moment.
    """
    texts = [_words_of(line, script.language) for line in lines]
    silent = Speech(
        tuple(Part(line.kind, text, line.question_index, 0.0, 0.0, ()) for line, text in zip(lines, texts, strict=True))
    )
    if not lines or speaker is None or not speaker.supports(script.language):
        return silent
    units = [unit for at, (line, text) in enumerate(zip(lines, texts, strict=True)) for unit in _units(at, line, text)]
    try:
        if units[0].kind in PERSONAL and not is_more and _is_slow(script):
            said, part = _short_line(script, Kind.ACKNOWLEDGE, speaker)
            return _with_sound(silent.parts, units, [said], before=part)
        began = time.monotonic()
        spoken = _soon(script, units, speaker)
        is_late = time.monotonic() - began >= LATE
    except GatewayError as error:
        log.warning("reply is shown, not spoken: %s", type(error).__name__)
        return silent
    spoken, apology = _with_apology(script, spoken, speaker) if is_late else (spoken, None)
    return _with_sound(silent.parts, units, spoken, before=apology)


def voice_now(script: FlowScript, speaker: Speaker) -> str | None:
    """The identity of the voice that a talk which begins now keeps to its end; None where the language has no voice."""
    return speaker.identity(script.voice_id, script.language) if speaker.supports(script.language) else None


def say(script: Script, kind: Kind, text: str, *, speaker: Speaker) -> Spoken:
    """Speak one text."""
    return speaker.speak(
        text,
        voice_id=script.voice_id,
        language=script.language,
        remember=kind not in PERSONAL,
        steady=script.voice,
    )


def _units(at: int, line: Line, text: str) -> list[_Unit]:
    # The script's own lines are spoken beforehand and as a whole, so they are asked for as a whole.
    is_long = line.kind in PERSONAL and len(text) > SHORT_LINE
    return [_Unit(at, line.kind, sentence) for sentence in (sentences(text) if is_long else [text])]


def _words_of(line: Line, language: str) -> str:
    return line.text if line.text is not None else phrases.phrase(line.kind.value, language, minutes=line.minutes)


def _soon(script: Script, units: list[_Unit], speaker: Speaker) -> list[Spoken]:
    """The sound of the first unit, and of as many more as will be ready soon, to judge by those before."""
    spoken: list[Spoken] = []
    began, characters = time.monotonic(), 0
    for unit in units:
        spent = time.monotonic() - began
        is_owed = unit.kind in PERSONAL and _is_slow(script)  # those before it were prepared, and tell nothing
        if spoken and (is_owed or spent * (1 + len(unit.text) / characters) >= SOON):
            break
        spoken.append(say(script, unit.kind, unit.text, speaker=speaker))
        characters += max(1, len(unit.text))
    return spoken


def _is_slow(script: Script) -> bool:
    return (script.voice or "").partition(":")[0] in MADE_SLOWLY


def _with_apology(script: Script, spoken: list[Spoken], speaker: Speaker) -> tuple[list[Spoken], Part | None]:
    """The voice has changed and the candidate has waited: say so first."""
    if not any(piece.fell_back for piece in spoken):
        return spoken, None
    try:
        said, part = _short_line(script, Kind.MOMENT, speaker)
    except GatewayError:
        return spoken, None
    return [said, *spoken], part


def _short_line(script: Script, kind: Kind, speaker: Speaker) -> tuple[Spoken, Part]:
    """One of the phrases that every flow has prepared."""
    text = phrases.phrase(kind.value, script.language)
    return say(script, kind, text, speaker=speaker), Part(kind, text, None, 0.0, 0.0, ())


def _with_sound(parts: tuple[Part, ...], units: list[_Unit], spoken: list[Spoken], *, before: Part | None) -> Speech:
    """The reply with its sound, ``before`` it a short line whose sound is the first of ``spoken``."""
    if before is not None:
        parts = (before, *parts)
        units = [_Unit(0, before.kind, before.text), *(replace(unit, at=unit.at + 1) for unit in units)]
    ready = len(spoken)
    stretches, wav, seconds = _joined(units[:ready], spoken)
    owed = [Stretch(number, unit.text) for number, unit in enumerate(units[ready:], start=1)]
    every = [*zip(units, [*stretches, *owed], strict=True)]
    placed = tuple(
        _placed(part, tuple(stretch for unit, stretch in every if unit.at == at), in_pieces=bool(owed))
        for at, part in enumerate(parts)
    )
    return Speech(placed, wav, seconds, spoken[-1].engine)


def _joined(units: list[_Unit], spoken: list[Spoken]) -> tuple[list[Stretch], bytes, float]:
    """The units' sound as one file, at the best of their rates, with the pauses that belong between them."""
    rate = max(piece.rate for piece in spoken)
    pcm, stretches, before = bytearray(), [], None
    for unit, piece in zip(units, [_at_once(spoken[0]), *spoken[1:]], strict=True):
        if before is not None:
            pcm += b"\0\0" * round((BREATH if before.at == unit.at else GAP) * rate)
        samples = sound.resample(piece.pcm, piece.rate, rate)
        stretches.append(Stretch(0, unit.text, len(pcm) / (2 * rate), sound.seconds(samples, rate), piece.words))
        pcm += samples
        before = unit
    return stretches, sound.wav(bytes(pcm), rate), len(pcm) / (2 * rate)


def _at_once(spoken: Spoken) -> Spoken:
    """The same from its first sound on: voices begin with up to a tenth of a second of silence."""
    skipped = sound.silence_before(spoken.pcm, spoken.rate)
    sooner = skipped / spoken.rate
    words = tuple(
        replace(word, start=max(0.0, word.start - sooner), end=max(0.0, word.end - sooner)) for word in spoken.words
    )
    return replace(spoken, pcm=spoken.pcm[2 * skipped :], words=words)


def _placed(part: Part, stretches: tuple[Stretch, ...], *, in_pieces: bool) -> Part:
    """The line on the reply's clock; of one that is partly owed, what piece 0 holds of it."""
    there = [stretch for stretch in stretches if stretch.seconds]
    if not there:
        return replace(part, stretches=stretches)
    offset = there[0].offset
    words = tuple(
        replace(word, start=word.start + stretch.offset - offset, end=word.end + stretch.offset - offset)
        for stretch in there
        for word in stretch.words
    )
    seconds = there[-1].offset + there[-1].seconds - offset
    return replace(part, offset=offset, seconds=seconds, words=words, stretches=stretches if in_pieces else ())
