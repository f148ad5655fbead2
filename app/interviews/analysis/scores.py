"""Checks the analyst's scores: within 0..5, each with a quote from the transcript, capped where little was said.

The organization's own criteria are scored as the contract's scores are. The analyst scores everything three times. What
it cannot repeat is no score. All this is applied here and not in a prompt, so that a model cannot ignore it.
"""

import math
import statistics
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from app.gateways.speech.catalogue import word_count
from app.gateways.speech.ports import Analyst, Judged, Material, Quote, Scores, Segment
from app.interviews.analysis.fluency import Fluency, measure

LOWEST, HIGHEST = 0.0, 5.0
SHORT_SECONDS, SHORT_CAP, ABANDONED_CAP = 30.0, 2.0, 2.5
WORDS_PER_SECOND = 2.5
"""Words that count as a second of speech where no times were measured: 150 a minute."""
LEAST_QUOTE = 4
ROUNDS = 3
STEADY, WIDEST = 0.3, 1.0
"""Largest difference between the rounds of a stable score, and of any score; beyond that there is none."""
FLUENCY = "language_fluency_and_pace"
NAMES = tuple(field.name for field in fields(Scores))
MEASURED, JUDGED, NOT_ASSESSED = "measured", "judged", "not assessed"


@dataclass(frozen=True, slots=True)
class Evidence:
    """How one score was made. `method`: measured, judged or not assessed; `source`: the engine; `reason`: why.

    `rounds`: what each scoring gave, before the caps; None where it gave no value that counts. `is_unstable`: they
    differ by more than 0.3, or one of them gave none.
    """

    score: str
    value: float | None
    method: str
    source: str = ""
    reason: str = ""
    quotes: tuple[Quote, ...] = ()
    rounds: tuple[float | None, ...] = ()
    is_unstable: bool = False


def wanted(*, assess_language: bool) -> tuple[str, ...]:
    """The scores that an analyst may assess from text, which never include fluency."""
    return tuple(name for name in NAMES if name != FLUENCY and (assess_language or not name.startswith("language_")))


def assess(
    material: Material, segments: Sequence[Segment], *, analyst: Analyst, assess_language: bool, abandoned: bool
) -> tuple[Evidence, ...]:
    """All seven scores in the contract's order, then the material's criteria. The analyst sees only `material`."""
    own = {one.key: one for one in material.criteria}
    if not any(segment.is_answer and segment.content.strip() for segment in segments):
        return tuple(Evidence(name, None, NOT_ASSESSED, reason="nothing was answered") for name in (*NAMES, *own))
    cap = cap_for(segments, language=material.language, abandoned=abandoned)
    names = (*wanted(assess_language=assess_language), *own)
    judgements = [analyst.judge(material, scores=turned(names, by=turn)) for turn in range(ROUNDS)]
    rounds = [{judged.score: judged for judged in judgement.judged} for judgement in judgements]
    source = judgements[-1].method
    evidence = []
    for name in (*NAMES, *own):
        if name.startswith("language_") and not assess_language:
            evidence.append(Evidence(name, None, NOT_ASSESSED, reason="language is not assessed in this interview"))
        elif name == FLUENCY:
            evidence.append(_fluency(measure(segments, material.language), cap=cap))
        else:
            given = [one.get(name, Judged(name, None, "this engine does not assess it")) for one in rounds]
            checked = [_checked(one, material, source=source) for one in given]
            is_yes_no = name in own and own[name].is_yes_no
            evidence.append(_answered(checked, cap=cap) if is_yes_no else _agreed(checked, cap=cap))
    return tuple(evidence)


def turned(names: tuple[str, ...], *, by: int) -> tuple[str, ...]:
    """The same scores in another order for each round: a model without chance would only repeat itself otherwise."""
    at = by * len(names) // ROUNDS
    return names[at:] + names[:at]


def spoken_seconds(segments: Sequence[Segment], *, language: str) -> float:
    """Seconds that the candidate spoke; answers without word times, such as typed ones, count 2.5 words a second."""
    answers = [segment for segment in segments if segment.is_answer]
    return sum(
        segment.words[-1].end - segment.words[0].start
        if segment.words
        else word_count(segment.content, language) / WORDS_PER_SECOND
        for segment in answers
    )


def cap_for(segments: Sequence[Segment], *, language: str, abandoned: bool) -> float:
    """The highest score that this much material allows."""
    if spoken_seconds(segments, language=language) < SHORT_SECONDS:
        return SHORT_CAP
    return ABANDONED_CAP if abandoned else HIGHEST


def is_said(quote: Quote, material: Material) -> bool:
    """Whether the candidate said these words in the quote's segment, ignoring case and punctuation."""
    wanted_text = _plain(quote.text)
    for passage in material.passages:
        if passage.index == quote.segment_index and passage.role == "user":
            said = _plain(passage.content)
            return wanted_text == said or (len(wanted_text) >= LEAST_QUOTE and f" {wanted_text} " in f" {said} ")
    return False


def _plain(text: str) -> str:
    """Normalized letters and digits; letters of unspaced scripts are separated, so that any part of them matches."""
    letters = unicodedata.normalize("NFKC", text).casefold()
    spaced = (_spaced(letter) for letter in letters)
    return " ".join("".join(spaced).split())


def _spaced(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "Lo" and unicodedata.east_asian_width(letter) == "W":
        return f" {letter} "
    return letter if kind[0] in "LNM" else "" if letter in "'\N{RIGHT SINGLE QUOTATION MARK}" else " "


def _checked(judged: Judged, material: Material, *, source: str) -> Evidence:
    """One round's value, if it is one and has a quote."""
    quotes = tuple(quote for quote in judged.quotes if is_said(quote, material))
    value, reason = judged.value, judged.reason
    if value is None:
        return Evidence(judged.score, None, NOT_ASSESSED, source, reason)
    if not (math.isfinite(value) and LOWEST <= value <= HIGHEST):
        return Evidence(judged.score, None, NOT_ASSESSED, source, "the engine's value was outside 0 to 5")
    if not quotes:
        return Evidence(judged.score, None, NOT_ASSESSED, source, "the engine quoted nothing that the candidate said")
    return Evidence(judged.score, round(value, 1), JUDGED, source, reason, quotes)


def _agreed(checked: Sequence[Evidence], *, cap: float) -> Evidence:
    """The median of the rounds, with reason and quotes of the round nearest to it; null where most gave no value."""
    rounds = tuple(one.value for one in checked)
    values = [value for value in rounds if value is not None]
    if 2 * len(values) <= ROUNDS:
        return replace(next(one for one in checked if one.value is None), rounds=rounds if values else ())
    spread = round(max(values) - min(values), 1)
    if spread > WIDEST:
        reason = f"{len(values)} scorings gave {_listed(values)}, which are too far apart"
        return Evidence(
            checked[0].score, None, NOT_ASSESSED, checked[0].source, reason, rounds=rounds, is_unstable=True
        )
    middle = statistics.median(values)
    nearest = min((one for one in checked if one.value is not None), key=lambda one: abs((one.value or 0.0) - middle))
    is_unstable = spread > STEADY or len(values) < ROUNDS
    return replace(nearest, value=round(min(middle, cap), 1), rounds=rounds, is_unstable=is_unstable)


def _answered(checked: Sequence[Evidence], *, cap: float) -> Evidence:
    """Yes (5) or no (0). Scorings that differ give neither, and where little was said there is no yes: capped, it would
    read as a no.
    """
    clear = [one if one.value is None else replace(one, value=HIGHEST * (one.value >= HIGHEST / 2)) for one in checked]
    agreed = _agreed(clear, cap=HIGHEST)
    if agreed.value == HIGHEST > cap:
        return replace(
            agreed, value=None, method=NOT_ASSESSED, reason="too little was said to score this as a yes", quotes=()
        )
    return agreed


def _listed(values: Sequence[float]) -> str:
    *first, last = (f"{value:.1f}" for value in sorted(values))
    return f"{', '.join(first)} and {last}"


def _fluency(fluency: Fluency | None, *, cap: float) -> Evidence:
    if fluency is None:
        reason = "this score needs at least 60 s of answers with word timings, in a language whose usual pace is known"
        return Evidence(FLUENCY, None, NOT_ASSESSED, "word times", reason)
    reason = (
        f"{fluency.seconds:.0f} s of answers: {fluency.pace:.0f} words a minute,"
        f" {100 * fluency.share:.0f}% of the time spent speaking, {fluency.run:.1f} words between pauses"
    )
    return Evidence(FLUENCY, round(min(fluency.score, cap), 1), MEASURED, "word times", reason)
