"""`language_fluency_and_pace`, from word times alone. No other score uses them.

Three measures that predicted listeners' fluency ratings best in Kormos and Dénes (2004, System 32(2), 145-164), with
pauses counted from 0.25 s as De Jong and Bosker (2013, DiSS) recommend:

- pace: words a minute inside the answers, pauses included;
- phonation share: time in words / time from the first to the last word of each answer;
- mean run: words between two pauses.

The time before an answer begins is not measured. Each measure is mapped to 0..5 by the straight lines below, which are
this project's choice and not validated against raters; the score is their mean. Languages differ in words a minute:
pace is scaled by the reading speeds of Trauzettel-Klosinski and Dietz (2012, IOVS 53(9), 5452-5461). Languages without
a figure there, or whose recognisers give no comparable words, are not assessed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from app.gateways.speech.ports import Segment, Word

PAUSE = 0.25
LEAST_SECONDS = 60.0
ENGLISH_WORDS_PER_MINUTE = 228
WORDS_PER_MINUTE = {"en-US": 228, "de-DE": 179, "es-419": 218, "pt-BR": 181, "fr-FR": 195, "ar-AE": 138}
PACE = ((50.0, 0.0), (120.0, 5.0), (190.0, 5.0), (260.0, 2.5))
SHARE = ((0.40, 0.0), (0.80, 5.0))
RUN = ((1.5, 0.0), (8.0, 5.0))


@dataclass(frozen=True, slots=True)
class Fluency:
    """The measures (pace in words a minute, share 0..1, run in words) and the score 0..5 made of them."""

    seconds: float
    pace: float
    share: float
    run: float
    score: float


def measure(segments: Iterable[Segment], language: str) -> Fluency | None:
    """None with less than 60 s of answers with measured word times, or in a language without reference."""
    reference = WORDS_PER_MINUTE.get(language)
    answers = [segment.words for segment in segments if segment.is_answer and len(segment.words) > 1]
    seconds = sum(words[-1].end - words[0].start for words in answers)
    if reference is None or seconds < LEAST_SECONDS:
        return None
    count = sum(len(words) for words in answers)
    pauses = [_pauses(words) for words in answers]
    silent = sum(sum(one) for one in pauses)
    pace = 60 * count / seconds
    share = 1 - silent / seconds
    run = count / sum(len(one) + 1 for one in pauses)
    marks = (_on(PACE, pace * ENGLISH_WORDS_PER_MINUTE / reference), _on(SHARE, share), _on(RUN, run))
    return Fluency(seconds, pace, share, run, round(sum(marks) / len(marks), 1))


def _pauses(words: tuple[Word, ...]) -> list[float]:
    gaps = (after.start - before.end for before, after in pairwise(words))
    return [gap for gap in gaps if gap >= PAUSE]


def _on(line: tuple[tuple[float, float], ...], value: float) -> float:
    """Piecewise linear interpolation at `value`; constant beyond the ends."""
    for (left, low), (right, high) in pairwise(line):
        if value <= right:
            return low if value <= left else low + (high - low) * (value - left) / (right - left)
    return line[-1][1]
