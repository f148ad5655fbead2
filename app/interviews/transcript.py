"""From turns to the transcript: every segment and word on the clock of the recording.

Each run of the recorder has its own clock; a turn's offset says how much later it lies in the published recording.
Only the part of the agent's speech that was heard is included. Times that were not measured are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from app.gateways.speech.ports import Retake, Role, Segment, Word
from app.interviews.analysis.alignment import as_written

MILLISECONDS = 3
STEP = 0.001
"""Least seconds between the starts of two words: both sides may speak at once, but times never run backwards."""
FARTHEST = 0.5
"""Seconds that one turn's shift may differ from the median of its run and still be used."""


@dataclass(frozen=True, slots=True)
class TurnValue:
    """One utterance as a plain value. ``words`` are (word, start, end), or None where they were not measured.

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
    obeyed: bool = False
    retake: Retake | None = None


def lay_out(
    turns: Iterable[TurnValue],
    *,
    offsets: Mapping[int, float],
    duration: float | None,
    ends: Mapping[int, float] | None = None,
) -> tuple[Segment, ...]:
    """The transcript in the order of the interview; ``offsets`` by number of the turn.

    ``ends``: where the recorder run of a turn ends in the recording, by number; words that are missing from the
    recording after a broken connection are placed there, so that they never reach into the next run. Empty turns are
    left out. Starts rise from word to word through the whole transcript. Without a recording all times are 0.
    """
    segments: list[Segment] = []
    reached = 0.0
    last_word = -STEP
    begun = 0.0
    question_index: int | None = None
    for turn in sorted(turns, key=lambda turn: turn.number):
        heard = cut_to_played(turn)
        if heard.role == "agent":
            question_index = heard.question_index
        elif heard.question_index is None:
            heard = replace(heard, question_index=question_index)  # an answer belongs to what was asked last
        if not heard.content or not heard.content.strip():
            continue
        bounds = _Bounds(begun, max(begun, last_word + STEP), _least(duration, (ends or {}).get(heard.number)))
        segment = _placed(heard, offsets.get(heard.number), bounds, reached=reached)
        segments.append(segment)
        begun = segment.start
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
        measured = _credible(
            {turn.start or 0.0: shift for turn in here if (shift := shifts.get(turn.number)) is not None}
        )
        for turn in here:
            at = turn.start or 0.0
            nearest = min(measured, key=lambda time: abs(time - at), default=None)
            offsets[turn.number] = begins + (measured[nearest] if nearest is not None else 0.0)
    return offsets


def _credible(shifts: dict[float, float]) -> dict[float, float]:
    """The shifts near the median: a clock drifts, it does not jump back and forth."""
    if not shifts:
        return {}
    middle = median(shifts.values())
    return {time: shift for time, shift in shifts.items() if abs(shift - middle) <= FARTHEST}


def cut_to_played(turn: TurnValue) -> TurnValue:
    """An agent's turn without the words that the candidate interrupted; other turns unchanged."""
    if turn.role != "agent" or turn.played is None:
        return turn
    if turn.played <= 0:
        return replace(turn, content="", words=None)
    end = turn.end if turn.start is None or turn.end is None else min(turn.end, turn.start + turn.played)
    if not turn.words:
        return replace(turn, end=end)
    begin = turn.start if turn.start is not None else turn.words[0][1]
    heard = tuple(word for word in turn.words if word[1] - begin < turn.played)
    if len(heard) == len(turn.words):
        return replace(turn, end=end)
    parts = as_written(turn.content or "", [word for word, _start, _end in turn.words])
    return replace(turn, content=" ".join(filter(None, parts[: len(heard)])), words=heard, end=end)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Bounds of a turn: its earliest start, the earliest start of its first word, its latest end (None: unbounded)."""

    start: float
    word: float
    end: float | None


def _least(first: float | None, second: float | None) -> float | None:
    times = [time for time in (first, second) if time is not None]
    return min(times, default=None)


def _placed(turn: TurnValue, offset: float | None, bounds: _Bounds, *, reached: float) -> Segment:
    content = (turn.content or "").strip()
    if offset is None or turn.start is None or turn.end is None:
        return Segment(turn.role, content, (), reached, reached, turn.question_index, turn.obeyed, turn.retake)
    words = _words_on_recording(turn.words or (), offset, bounds)
    start = _within(turn.start + offset, bounds.start, bounds.end)
    end = _within(turn.end + offset, start, bounds.end)
    if words:
        start, end = min(start, words[0].start), max(end, *(word.end for word in words))
    return Segment(turn.role, content, words, start, end, turn.question_index, turn.obeyed, turn.retake)


def _words_on_recording(words: Iterable[tuple[str, float, float]], offset: float, bounds: _Bounds) -> tuple[Word, ...]:
    spoken = [word for word in words if word[0].strip()]
    starts: list[float] = []
    for place, (_text, begin, _finish) in enumerate(spoken):
        # Leave room for the words after it, so that those beyond the end do not all start at the same moment.
        highest = None if bounds.end is None else bounds.end - STEP * (len(spoken) - 1 - place)
        lowest = starts[-1] + STEP if starts else bounds.word
        start = begin + offset if highest is None else min(begin + offset, highest)
        starts.append(_within(start, lowest, bounds.end))
    return tuple(
        Word(text, start, _within(finish + offset, start, bounds.end))
        for (text, _begin, finish), start in zip(spoken, starts, strict=True)
    )


def _within(time: float, lowest: float, highest: float | None) -> float:
    bounded = max(time, lowest)
    return round(bounded if highest is None else min(bounded, highest), MILLISECONDS)


def as_text(segments: Iterable[Segment]) -> str:
    """The whole transcript as one text, a paragraph per turn."""
    return "\n".join(f"{segment.role}: {segment.content}" for segment in segments)
