"""Versions of a result's scores: keep a new one beside the others, and put one in force."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core.db import db
from app.core.errors import Conflict, NotFound
from app.flows.models import FlowCriteria
from app.interviews.actions.candidate_rights import score_again
from app.interviews.analysis.answers import Evidence
from app.interviews.models import Interview, InterviewData, ScoreVersion
from app.interviews.queries import versions_of

BY_PROCESSING, BY_TRANSCRIPT = "interview", "transcript"
WITHHELD = "The scores of this interview are withheld or erased, so there is nothing to use."


@dataclass(frozen=True, slots=True)
class Made:
    """New scores, the engine that made them, and the version of the flow's own criteria."""

    evidence: tuple[Evidence, ...]
    source: str
    criteria_id: str | None = None


def keep_version(interview: Interview, made: Made, *, by_id: str | None) -> int | None:
    """Keep new scores as the next version, which is not in force. Returns its number.

    None if there is nothing to score any more: consent was withdrawn, or the interview was erased.
    """
    data = _locked(interview)
    if data is None:
        return None
    kept = {one.number: one for one in versions_of(interview)}
    if not kept:
        kept[data.version] = _first(data)
        db.session.add(kept[data.version])
    criteria = db.session.get(FlowCriteria, made.criteria_id) if made.criteria_id else None
    version = ScoreVersion(
        interview_id=interview.id,
        number=max(kept) + 1,
        source=made.source[:300],
        criteria=criteria.number if criteria else None,
        criteria_id=made.criteria_id,
        basis=BY_TRANSCRIPT,
        scores={one.score: one.value for one in made.evidence},
        evidence={one.score: asdict(one) for one in made.evidence},
        requested_by_id=by_id,
    )
    db.session.add(version)
    db.session.flush()
    return version.number


def adopt(interview: Interview, number: int, *, by: TeamMember) -> bool:
    """Put a version in force, here and in ``/v1``. No event is sent. Audited. False if it is in force already.

    Raises NotFound for a version that does not exist, and Conflict where scores are withheld.
    """
    data = _locked(interview)
    if data is None:
        raise Conflict(WITHHELD)
    wanted = next((one for one in versions_of(interview) if one.number == number), None)
    if wanted is None and number != data.version:
        raise NotFound("There is no such version of the scores.")
    if wanted is None or number == data.version:
        return False
    before, data.version = data.version, number
    data.scores, data.evidence = wanted.scores, {**(data.evidence or {}), "scores": wanted.evidence or {}}
    data.criteria_id = wanted.criteria_id
    db.session.flush()
    db.session.expire(data, ["criteria_set"])
    if interview.candidate is not None:
        score_again(interview.candidate)
    details = {"from": before, "to": number, "model": wanted.source, "criteria": wanted.criteria}
    write_audit(interview.flow.organization, action="scores.adopted", subject=interview.id, by=by, details=details)
    return True


def forget_versions(interview_id: str) -> int:
    """Delete every version of the scores of an erased interview. Returns how many there were."""
    return db.changed(sa.delete(ScoreVersion).where(ScoreVersion.interview_id == interview_id))


def _first(data: InterviewData) -> ScoreVersion:
    evidence: Mapping[str, Any] = data.evidence or {}
    return ScoreVersion(
        interview_id=data.interview_id,
        number=data.version,
        source=(evidence.get("summary") or {}).get("source"),
        criteria=data.criteria_set.number if data.criteria_set else None,
        criteria_id=data.criteria_id,
        basis=BY_PROCESSING,
        scores=data.scores,
        evidence=evidence.get("scores") or {},
        requested_by_id=None,
        created_at=data.created_at,
    )


def _locked(interview: Interview) -> InterviewData | None:
    """The result, if its scores count. An erasure waits until the transaction ends, or has come first."""
    db.session.execute(sa.select(Interview.id).where(Interview.id == interview.id).with_for_update(key_share=True))
    db.session.refresh(interview)
    data = db.session.get(InterviewData, interview.id, populate_existing=True)
    is_gone = interview.withdrawn_at is not None or interview.erased_at is not None
    return None if is_gone else data
