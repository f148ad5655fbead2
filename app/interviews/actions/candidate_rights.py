"""What candidates can do after an interview: withdraw their consent, and have everything erased."""

from typing import Any

import sqlalchemy as sa

from app.candidates import actions as candidates
from app.candidates.models import Candidate
from app.core import clock
from app.core.db import db
from app.core.rooms import outbox
from app.interviews.documents.models import Document, DocumentPart, DocumentUpload
from app.interviews.models import (
    Feedback,
    Interview,
    InterviewData,
    InterviewMetadata,
    InterviewStatus,
    QualityReport,
    ScoreVersion,
    Stage,
    Utterance,
    VideoStage,
)
from app.interviews.published_result import freeze_details, freeze_text
from app.legal_holds import actions as legal_holds

UNDER_WORK = (Stage.SUBMITTED, Stage.PROCESSING, Stage.WAITS_FOR_RECOGNITION, Stage.PROCESSING_FAILED)


def withdraw(interview: Interview) -> bool:
    """The candidate withdraws their consent: from this commit on nothing is processed, reviewed or played.

    Running work loses its claim. False when consent was already withdrawn.
    """
    statement = (
        sa.update(Interview)
        .where(Interview.id == interview.id, Interview.withdrawn_at.is_(None))
        .values(
            withdrawn_at=clock.now(),
            fence=Interview.fence + 1,
            lease_until=None,
            due_at=None,
            stage=sa.case((Interview.stage.in_(UNDER_WORK), Stage.SUBMITTED.value), else_=Interview.stage),
            video_stage=sa.case(
                (Interview.video_stage == VideoStage.PROCESSING, VideoStage.WAITING.value), else_=Interview.video_stage
            ),
        )
    )
    changed = db.changed(statement) == 1
    db.session.refresh(interview)
    if interview.candidate is not None:
        score_again(interview.candidate)
    return changed


def erase(interview: Interview) -> dict[str, int]:
    """Remove all personal data of the interview; returns how many rows there were, by kind. May be repeated.

    The caller deletes the files, whose keys lie below ``recordings/ID`` and ``documents/ID``. A completed interview
    stays completed, with an empty result, so that it still matches its published schema.
    """
    candidate = interview.candidate
    is_completed = interview.status is InterviewStatus.COMPLETED
    removed = {
        "uploads": _uploads_deleted(interview.id),
        "documents": _deleted(Document, interview.id),
        "utterances": _deleted(Utterance, interview.id),
        "results": _emptied(interview.id),
        "score_versions": _deleted(ScoreVersion, interview.id),
        "feedback": _deleted(Feedback, interview.id),
        "quality": _deleted(QualityReport, interview.id),
        "metadata": _deleted(InterviewMetadata, interview.id),
    }
    interview.interviewee_email_address = interview.interviewee_first_name = interview.interviewee_last_name = None
    interview.candidate = None
    interview.no_cv_at = None
    interview.failure = interview.due_at = interview.lease_until = None
    interview.fence += 1
    interview.stage = Stage.COMPLETED if is_completed else Stage.ABANDONED
    interview.video_stage = VideoStage.NONE if interview.video_stage is VideoStage.NONE else VideoStage.REVOKED
    interview.erased_at = interview.erased_at or clock.now()
    db.session.flush()
    db.session.expire(interview, ["documents"])
    if candidate is not None and _has_others(candidate.id):
        score_again(candidate)
    elif candidate is not None:
        legal_holds.erase(candidate.id)
        removed["payloads"] = outbox().forget(candidate.id)
        candidates.erase(candidate)
        removed["candidates"] = 1
    legal_holds.erase(interview.id)
    removed["payloads"] = removed.get("payloads", 0) + outbox().forget(interview.id)
    return removed


def score_again(candidate: Candidate) -> None:
    """Recalculate the score that the pipeline shows, from results that still count."""
    counts = sa.and_(Interview.withdrawn_at.is_(None), Interview.erased_at.is_(None))
    newest = sa.select(InterviewData).join(Interview).where(Interview.candidate_id == candidate.id, counts)
    data = db.session.scalar(newest.order_by(Interview.completed_at.desc()).limit(1))
    candidates.score_again(candidate, data.scores if data else None, data.own_criteria if data else ())


def _has_others(candidate_id: str) -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().where(Interview.candidate_id == candidate_id))))


def _uploads_deleted(interview_id: str) -> int:
    mine = sa.select(DocumentUpload.id).where(DocumentUpload.interview_id == interview_id)
    db.session.execute(sa.delete(DocumentPart).where(DocumentPart.upload_id.in_(mine)))
    return _deleted(DocumentUpload, interview_id)


def _deleted(model: Any, interview_id: str) -> int:
    return db.changed(sa.delete(model).where(model.interview_id == interview_id))


def _emptied(interview_id: str) -> int:
    data = db.session.get(InterviewData, interview_id)
    if data is None:
        return 0
    had = data.summary is not None or data.scores is not None or bool(data.evidence)
    text, details = freeze_text(""), freeze_details((), (), duration=None)
    data.text, data.text_length, data.text_crc32 = text.deflated, text.length, text.crc
    data.details, data.details_length, data.details_crc32 = details.deflated, details.length, details.crc
    data.summary = data.scores = data.evidence = data.criteria_id = None
    data.version = 1
    return int(had)
