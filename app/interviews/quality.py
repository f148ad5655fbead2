"""Recording and recognition quality of an interview, for the people who review it: facts, no verdict.

It shows where to listen before deciding. It affects no score and is not part of ``/v1``.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from math import ceil
from typing import Any, Protocol

from app.core.db import db
from app.interviews.models import Interview, QualityReport, Role, Utterance
from app.interviews.queries import utterances_of
from app.interviews.recordings.queries import Arrived, arrivals, runs_of

SHORTEST_GAP = 2.0
"""Shortest break between two runs of the recorder, in seconds, that is reported."""
MOST_WEAK = 20


class Run(Protocol):
    """The columns of a recorder run that the report needs."""

    number: Any
    mime_type: Any
    device: Any
    created_at: Any


def keep(interview: Interview) -> None:
    """Store the report, because the rows it is made from may be deleted later."""
    db.session.merge(QualityReport(interview_id=interview.id, report=report_of(interview)))
    db.session.flush()


def shown(interview: Interview) -> dict[str, Any] | None:
    """The stored report, or one from the current rows; None where there is nothing to report or it is withheld."""
    if interview.erased_at or interview.withdrawn_at or not interview.turns:
        return None
    stored = db.session.get(QualityReport, interview.id)
    return stored.report if stored else report_of(interview)


def placed(report: Mapping[str, Any], transcript: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The weak parts with ``segment`` and ``at`` (seconds of the recording), None if not in the transcript."""
    parts = []
    for part in report["recognition"]["weak"]:
        wanted = part["words"].split()
        place: dict[str, Any] = {"segment": None, "at": None}
        for index, segment in enumerate(transcript):
            said = [word["word"] for word in segment["words"]] if segment["role"] == "user" else []
            at = next((n for n in range(len(said)) if said[n : n + len(wanted)] == wanted), None)
            if at is not None:
                place = {"segment": index, "at": segment["words"][at]["start"]}
                break
        parts.append({**part, **place})
    return parts


def report_of(interview: Interview) -> dict[str, Any]:
    """The report, computed from the current rows."""
    runs = runs_of(interview.id)
    return {
        "replies": replies(interview.turns),
        "interruptions": sum(bool(turn.interrupted) for turn in interview.turns),
        "murmurs": sum(turn.murmurs or 0 for turn in interview.turns),
        "recording": recording(runs, arrivals(interview.id)),
        "recognition": recognition(utterances_of(interview.id)),
        "devices": [{"run": run.number, "recorder": run.mime_type, **(run.device or {})} for run in runs],
    }


def replies(turns: Sequence[Any]) -> dict[str, Any]:
    """Milliseconds from the end of speech to the first sound of the reply."""
    shares = ("detected_ms", "collected_ms", "recognised_ms", "decided_ms", "spoken_ms", "answered_ms", "heard_ms")
    rows = [
        {"turn": turn.number, "kind": turn.reply_kind, **{name: getattr(turn, name) for name in shares}}
        for turn in turns
        if turn.reply_kind is not None
    ]
    waits = sorted(row["heard_ms"] for row in rows if row["heard_ms"] is not None)
    return {"p50_ms": rank(waits, 0.5), "p95_ms": rank(waits, 0.95), "measured": len(waits), "turns": rows}


def rank(ordered: Sequence[int], share: float) -> int | None:
    """The nearest-rank percentile: the value that ``share`` (0..1) of the ordered values do not exceed."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def recording(runs: Sequence[Run], there: Mapping[int, Arrived]) -> dict[str, Any]:
    """Breaks between runs, and chunks that never arrived. A run ends when its last chunk arrived."""
    gaps = []
    for run, following in pairwise(runs):
        ended: datetime = there[run.number].last_at if run.number in there else run.created_at
        seconds = (following.created_at - ended).total_seconds()
        if seconds >= SHORTEST_GAP:
            gaps.append({"after_run": run.number, "seconds": round(seconds, 1)})
    missing = sum(one.highest + 1 - one.count for one in there.values())
    return {"runs": len(runs), "gaps": gaps, "missing_chunks": missing}


def recognition(said: Sequence[Utterance]) -> dict[str, Any]:
    """Which engines recognised the answers, how confident they were, and where to listen."""
    answers = [one for one in said if one.role is Role.USER and not one.obeyed]
    spoken = [one for one in answers if not one.typed]
    sure = [(one.confidence, len((one.content or "").split())) for one in spoken if one.confidence is not None]
    words = sum(count for _, count in sure)
    weak = [
        {
            "utterance": one.number,
            "question": one.question_index,
            "run": one.segment,
            "start": start,
            "end": end,
            "words": text,
        }
        for one in spoken
        for start, end, text in one.weak or ()
    ]
    return {
        "engines": sorted({one.engine for one in spoken if one.engine}),
        "answers": len(answers),
        "typed": len(answers) - len(spoken),
        "unrecognised": sum(one.content is None for one in spoken),
        "confidence": round(sum(value * count for value, count in sure) / words, 3) if words else None,
        "weak": weak[:MOST_WEAK],
        "more_weak": max(0, len(weak) - MOST_WEAK),
    }
