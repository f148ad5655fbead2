"""Operations on interviews under ``/v1`` that the contract does not have."""

from collections.abc import Iterator, Sequence
from typing import Any

import marshmallow as ma

from app.accounts import idempotency
from app.accounts.access import caller
from app.accounts.key_guard import narrows_itself
from app.core import clock
from app.core.db import db
from app.interviews import actions, metadata
from app.interviews.api import blp
from app.interviews.models import Interview, InterviewData, ScoreVersion
from app.interviews.queries import interview_for, versions_of
from app.interviews.schemas import (
    FOUND_EXAMPLE,
    METADATA_EXAMPLE,
    SCORE_VERSION_EXAMPLE,
    InterviewCancelledSchema,
    InterviewMetadataSchema,
    LookupQuerySchema,
    LookupSchema,
    ScoreVersionsSchema,
    scores_of,
)
from app.web import examples
from app.web.spec import extension


@blp.post("/interviews/<string:interview_id>/cancel")
@blp.response(
    200,
    InterviewCancelledSchema,
    description="The link is closed.",
    example={"success": True, "interview_id": examples.INTERVIEW_ID},
)
@blp.alt_response(409, description="The candidate has already started, or the interview was erased.")
@blp.doc(**extension("cancelInterview"))
def cancel_interview(interview_id: str) -> dict[str, Any]:
    """Cancel an interview that has not started: its link stops working, and no more mail about it is sent.

    The interview stays, with status `incomplete`. To cancel it again succeeds and changes nothing.
    """
    interview = interview_for(caller(), interview_id, locked=True)
    actions.cancel(interview)
    done = idempotency.promise({"success": True, "interview_id": interview.id})
    db.session.commit()
    return done


@blp.get("/interviews/<string:interview_id>/score-versions")
@blp.response(
    200,
    ScoreVersionsSchema,
    description="The versions.",
    example={"score_versions": [SCORE_VERSION_EXAMPLE]},
)
@blp.doc(**extension("listScoreVersions"))
def list_score_versions(interview_id: str) -> dict[str, Any]:
    """List all versions of the scores of an interview, newest first.

    There is one from the first scoring on, and one more for each re-scoring. The list is empty while the interview is
    incomplete, and after the candidate withdrew consent.
    """
    return {"score_versions": list(versions_shown(interview_for(caller(), interview_id)))}


def versions_shown(interview: Interview) -> Iterator[dict[str, Any]]:
    """The versions of scores that count, newest first."""
    data = interview.data
    if data is not None and interview.withdrawn_at is None and interview.erased_at is None:
        yield from versions_among(data, versions_of(interview))


def versions_among(data: InterviewData, rows: Sequence[ScoreVersion]) -> Iterator[dict[str, Any]]:
    """The versions of a result, newest first. Of one that was scored once there are no rows."""
    for row in reversed(rows):
        yield _version(row, row.number, row.source, is_current=row.number == data.version)
    if not rows:
        source = ((data.evidence or {}).get("summary") or {}).get("source")
        yield _version(data, data.version, source, is_current=True)


def _version(row: InterviewData | ScoreVersion, number: int, model: str | None, *, is_current: bool) -> dict[str, Any]:
    return {
        "score_version_id": f"{row.interview_id}.{number}",
        "interview_id": row.interview_id,
        "number": number,
        "is_current": is_current,
        "scores": scores_of(row.scores),
        "model": model,
        "created_at": clock.rfc3339(row.created_at),
    }


@blp.get("/interviews/<string:interview_id>/metadata")
@blp.response(200, InterviewMetadataSchema, description="The metadata.", example=METADATA_EXAMPLE)
@blp.doc(**extension("getInterviewMetadata"))
def get_interview_metadata(interview_id: str) -> dict[str, Any]:
    """Read what your program keeps about an interview. Empty if nothing was kept."""
    return {"metadata": metadata.metadata_of(interview_for(caller(), interview_id))}


@blp.put("/interviews/<string:interview_id>/metadata")
@blp.arguments(InterviewMetadataSchema, example=METADATA_EXAMPLE)
@blp.response(200, InterviewMetadataSchema, description="The metadata now.", example=METADATA_EXAMPLE)
@blp.alt_response(409, description="The interview was erased.")
@blp.doc(**extension("setInterviewMetadata"))
def set_interview_metadata(body: dict[str, Any], interview_id: str) -> dict[str, Any]:
    """Replace what your program keeps about an interview. Candidates can read it. It is erased with the interview.

    Webhooks of an interview with an `external_id` carry it in the header `X-Parley-External-Id`.
    """
    interview = interview_for(caller(), interview_id, locked=True)
    kept = actions.set_metadata(interview, body["metadata"])
    db.session.commit()
    return {"metadata": kept}


@blp.get("/lookup")
@blp.arguments(LookupQuerySchema, location="query", unknown=ma.RAISE)
@blp.response(200, LookupSchema, description="The interviews, newest first.", example={"interviews": [FOUND_EXAMPLE]})
@blp.doc(**extension("lookupInterviews"))
@narrows_itself
def lookup_interviews(query: dict[str, Any]) -> dict[str, Any]:
    """Find interviews by the `external_id` of their metadata: the newest 100, or none."""
    return {"interviews": metadata.interviews_with(caller(), query["external_id"])}
