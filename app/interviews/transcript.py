"""From turns to the transcript: every segment and word on the one clock of the recording.

Each run of the recorder has a clock of its own; the offset of a turn says how much later it lies in the published
recording. Of the agent only what was really heard is kept. Times that nobody measured stay out, they are not made up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from app.speech.ports import Role, Segment, Word

MILLISECONDS = 3
OVERLAP = 0.5
"""Seconds by which a candidate who interrupts may overlap the agent's last words before their order is kept true."""


FARTHEST = 0.5
"""Seconds that one turn's shift may differ from the usual one of its run and still be believed."""


@dataclass(frozen=True, slots=True)
class TurnValue:
    """One utterance as a plain value. ``words`` are (word, start, end); None: nothing measured them.

    ``start``, ``end`` and the words' times are seconds on the clock of run ``segment``. ``played``: how many seconds of
    the agent's speech were heard, None for all. ``content`` None: spoken, but not recognised yet.
    """

    number: int
    role: Role
    question_index: int | None
    content: str | None
    words: tuple[tuple[str, float, float], ...] | None = None
    segment: int | None = None
    start: float | None = None
    end: float | None = None
    played: float | None = None
    typed: bool = False
    engine: str | None = None


def lay_out(turns: Iterable[TurnValue], *, offsets: Mapping[int, float], duration: float | None) -> tuple[Segment, ...]:
    """The transcript in the order of the talk; ``offsets`` by number of the turn.

    Empty turns are left out. Without a recording all times are 0.
    """
    segments: list[Segment] = []
    reached = 0.0
    last_word = 0.0
    asked: int | None = None
    for turn in sorted(turns, key=lambda turn: turn.number):
        heard = cut_to_played(turn)
        if heard.role == "agent":
            asked = heard.question_index
        elif heard.question_index is None:
            heard = replace(heard, question_index=asked)  # an answer belongs to what was asked last
        if not heard.content or not heard.content.strip():
            continue
        segment = _placed(heard, offsets, duration, reached=reached, last_word=last_word)
        segments.append(segment)
        reached = max(reached, segment.end)
        last_word = segment.words[-1].start if segment.words else last_word
    return tuple(segments)


def offsets_of(
    turns: Sequence[TurnValue], *, runs: Mapping[int, float], shifts: Mapping[int, float | None]
) -> dict[int, float]:
    """How many seconds later each turn lies in the recording than its own times say, by number of the turn.

    ``runs``: where each recorder run begins in the recording. ``shifts``: by how much the recording lags behind the
    run's clock, as found for some of the turns; a turn without one takes that of its nearest neighbour in the run.
    """
    offsets = {}
    for segment, begins in runs.items():
        here = [turn for turn in turns if turn.segment == segment and turn.start is not None]
        known = _credible({turn.start or 0.0: shift for turn in here if (shift := shifts.get(turn.number)) is not None})
        for turn in here:
            at = turn.start or 0.0
            nearest = min(known, key=lambda time: abs(time - at), default=None)
            offsets[turn.number] = begins + (known[nearest] if nearest is not None else 0.0)
    return offsets


def _credible(shifts: dict[float, float]) -> dict[float, float]:
    """Without the ones that lie far from all others: a clock drifts, it does not jump to and fro."""
    if not shifts:
        return {}
    middle = median(shifts.values())
    return {time: shift for time, shift in shifts.items() if abs(shift - middle) <= FARTHEST}


def cut_to_played(turn: TurnValue) -> TurnValue:
    """An agent's turn without the words that the candidate cut off; other turns as they are."""
    if turn.role != "agent" or turn.played is None:
        return turn
    if turn.played <= 0:
        return replace(turn, content="", words=None)
    end = turn.end if turn.start is None or turn.end is None else min(turn.end, turn.start + turn.played)
    if not turn.words:
        return replace(turn, end=end)
    begin = turn.start if turn.start is not None else turn.words[0][1]
    kept = tuple(word for word in turn.words if word[1] - begin < turn.played)
    if len(kept) == len(turn.words):
        return replace(turn, end=end)
    return replace(turn, content=_first_words(turn.content or "", kept, len(turn.words)), words=kept, end=end)


def _first_words(content: str, kept: Sequence[tuple[str, float, float]], spoken: int) -> str:
    written = content.split()
    if len(written) == spoken:  # the text as it is written, with its punctuation
        return " ".join(written[: len(kept)])
    return " ".join(word for word, _start, _end in kept)


def _placed(
    turn: TurnValue, offsets: Mapping[int, float], duration: float | None, *, reached: float, last_word: float
) -> Segment:
    offset = offsets.get(turn.number)
    content = (turn.content or "").strip()
    if offset is None or turn.start is None or turn.end is None:
        return Segment(turn.role, content, (), reached, reached, turn.question_index)
    words = _words_on_recording(turn.words or (), offset, duration, last_word=last_word)
    start = _within(turn.start + offset, 0.0, duration)
    end = _within(turn.end + offset, start, duration)
    if words:
        start, end = min(start, words[0].start), max(end, words[-1].end)
    return Segment(turn.role, content, words, start, end, turn.question_index)


def _words_on_recording(
    words: Iterable[tuple[str, float, float]], offset: float, duration: float | None, *, last_word: float
) -> tuple[Word, ...]:
    placed: list[Word] = []
    lowest = 0.0
    for text, begin, finish in words:
        if not text.strip():
            continue
        if not placed and last_word - OVERLAP <= begin + offset < last_word:
            lowest = last_word
        start = _within(begin + offset, lowest, duration)
        end = _within(finish + offset, start, duration)
        placed.append(Word(text, start, end))
        lowest = start
    return tuple(placed)


def _within(time: float, lowest: float, highest: float | None) -> float:
    bounded = max(time, lowest)
    return round(bounded if highest is None else min(bounded, highest), MILLISECONDS)


def as_text(segments: Iterable[Segment]) -> str:
    """The whole transcript as one text, a paragraph per turn."""
    return "\n".join(f"{segment.role}: {segment.content}" for segment in segments)
