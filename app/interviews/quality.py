"""How well an interview was recorded and heard, for the people who judge it: facts, no verdict.

It says where to listen before judging. Nothing of it enters scores or the public interface.
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
"""Seconds between two runs of the recorder that are worth a word."""
MOST_WEAK = 20


class Run(Protocol):
    """What is read of a recorder run."""

    number: Any
    mime_type: Any
    device: Any
    created_at: Any


def keep(interview: Interview) -> None:
    """Write the report down, once: what it is made of may be gone later."""
    db.session.merge(QualityReport(interview_id=interview.id, report=report_of(interview)))
    db.session.flush()


def shown(interview: Interview) -> dict[str, Any] | None:
    """The report that was kept, or as it stands now; None where nothing was said, or may be read."""
    if interview.erased_at or interview.withdrawn_at or not interview.turns:
        return None
    stored = db.session.get(QualityReport, interview.id)
    return stored.report if stored else report_of(interview)


def placed(report: Mapping[str, Any], transcript: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The weak parts with ``segment`` and ``at`` (seconds of the recording), where the transcript has those words."""
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
    """From the rows as they are."""
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
    """How long candidates waited: end of speech to the first sound heard, in milliseconds."""
    shares = ("detected_ms", "collected_ms", "recognised_ms", "decided_ms", "spoken_ms", "answered_ms", "heard_ms")
    rows = [
        {"turn": turn.number, "kind": turn.reply_kind, **{name: getattr(turn, name) for name in shares}}
        for turn in turns
        if turn.reply_kind is not None
    ]
    waits = sorted(row["heard_ms"] for row in rows if row["heard_ms"] is not None)
    return {"p50_ms": rank(waits, 0.5), "p95_ms": rank(waits, 0.95), "measured": len(waits), "turns": rows}


def rank(ordered: Sequence[int], share: float) -> int | None:
    """The value that so many of the ordered values do not exceed."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def recording(runs: Sequence[Run], there: Mapping[int, Arrived]) -> dict[str, Any]:
    """Breaks between runs, and pieces that never came. A run's end is when its last piece arrived."""
    gaps = []
    for run, following in pairwise(runs):
        ended: datetime = there[run.number].last_at if run.number in there else run.created_at
        seconds = (following.created_at - ended).total_seconds()
        if seconds >= SHORTEST_GAP:
            gaps.append({"after_run": run.number, "seconds": round(seconds, 1)})
    missing = sum(one.highest + 1 - one.count for one in there.values())
    return {"runs": len(runs), "gaps": gaps, "missing_chunks": missing}


def recognition(said: Sequence[Utterance]) -> dict[str, Any]:
    """By what the candidate was understood, how surely, and where to listen before judging."""
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
