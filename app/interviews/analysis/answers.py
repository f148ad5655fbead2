"""Analyses the answers: the entry point of this package. Pure; the analyst is an argument."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from app.gateways.speech.ports import Analyst, Material, OwnCriterion, Passage, Scores, Segment
from app.interviews.analysis.mapping import QuestionPart, check, map_questions
from app.interviews.analysis.placeholders import NO_ONE, Known, Shielded
from app.interviews.analysis.scores import NAMES, Evidence, assess
from app.interviews.analysis.summary import summarize

__all__ = ["NO_ONE", "Analysis", "Brief", "Evidence", "Known", "QuestionPart", "analyse", "score"]


@dataclass(frozen=True, slots=True)
class Brief:
    """The interview's context besides its transcript.

    `abandoned`: the candidate left before the end. `known`: who the candidate is, which the analyst never sees.
    """

    questions: tuple[str, ...]
    language: str = "en-US"
    title: str = ""
    org_name: str = ""
    additional_info: str | None = None
    documents: tuple[str, ...] = ()
    assess_language: bool = True
    abandoned: bool = False
    known: Known = NO_ONE
    criteria: tuple[OwnCriterion, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """Every script question once with its place in the transcript, the summary, the scores and their evidence."""

    mapping: tuple[QuestionPart, ...]
    summary: str | None
    summary_source: str
    scores: Scores
    evidence: tuple[Evidence, ...]

    def values(self) -> dict[str, float | None]:
        """The contract's scores and those of own criteria, by name or key."""
        return {one.score: one.value for one in self.evidence}

    def evidence_json(self) -> dict[str, Any]:
        """Plain values: `{"summary": {"source"}, "scores": {name: {value, method, source, reason, quotes}}}`."""
        scores = {one.score: asdict(one) for one in self.evidence}
        return {"summary": {"source": self.summary_source}, "scores": scores}


def analyse(brief: Brief, segments: Sequence[Segment], *, analyst: Analyst) -> Analysis:
    """Map, summarize and score. Raises the analyst's GatewayError, and ValueError for inconsistent input."""
    shielded = Shielded(analyst, brief.known, language=brief.language)
    mapping = map_questions(brief.questions, segments)
    check(mapping, segments)
    evidence = _assessed(brief, segments, analyst=shielded)
    return Analysis(
        mapping=mapping,
        summary=summarize(_material(brief, segments), analyst=shielded),
        summary_source=analyst.name,
        scores=Scores(**{one.score: one.value for one in evidence if one.score in NAMES}),
        evidence=evidence,
    )


def score(brief: Brief, segments: Sequence[Segment], *, analyst: Analyst) -> tuple[Evidence, ...]:
    """The scores alone, as `assess` orders them: to score a result again. Raises the analyst's GatewayError."""
    return _assessed(brief, segments, analyst=Shielded(analyst, brief.known, language=brief.language))


def _assessed(brief: Brief, segments: Sequence[Segment], *, analyst: Analyst) -> tuple[Evidence, ...]:
    # Scores use only what was said: anyone may have written a document, so no score may depend on it.
    return assess(
        replace(_material(brief, segments), documents=(), criteria=brief.criteria),
        segments,
        analyst=analyst,
        assess_language=brief.assess_language,
        abandoned=brief.abandoned,
    )


def _material(brief: Brief, segments: Sequence[Segment]) -> Material:
    return Material(
        questions=brief.questions,
        passages=tuple(
            Passage(index, segment.role, segment.content, segment.question_index)
            for index, segment in enumerate(segments)
            if not segment.obeyed
        ),
        language=brief.language,
        title=brief.title,
        org_name=brief.org_name,
        additional_info=brief.additional_info,
        documents=brief.documents,
    )
