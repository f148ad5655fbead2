"""``/v1/interviews``, as the contract describes it. Results are spliced from stored bytes and never parsed here."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from flask import Response, current_app
from flask_smorest import abort

from app import gateways
from app.accounts import idempotency
from app.accounts.access import caller, is_test_call, require_api_key
from app.accounts.actions import write_audit
from app.accounts.key_guard import narrows_itself
from app.accounts.queries import team_of
from app.core.db import db
from app.core.errors import GatewayError
from app.flows.queries import flow_for
from app.interviews import actions
from app.interviews.listings import Published, published, published_page
from app.interviews.models import InterviewStatus, Scenario
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import urls_for_many
from app.interviews.schemas import (
    INTERVIEW_CREATED_EXAMPLE,
    INTERVIEW_EXAMPLE,
    NEW_INTERVIEW_EXAMPLE,
    SCENARIO_HEADER,
    InterviewCreatedSchema,
    InterviewQuerySchema,
    InterviewSchema,
    InterviewsQuerySchema,
    InterviewsSchema,
    NewInterviewHeadersSchema,
    NewInterviewSchema,
    RevokedSchema,
    scores_of,
)
from app.settings import Settings
from app.web.api import Blueprint, Fragment, Part, spliced, takes_gzip
from app.web.body import invalid

blp = Blueprint("Interviews", __name__, url_prefix="/v1", description="Interviews, their results and recordings.")
blp.before_request(require_api_key)


def _app_url() -> str:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings.app_url


@blp.get("/interviews")
@blp.arguments(InterviewsQuerySchema, location="query")
@blp.response(200, InterviewsSchema, description="One page of interviews.", example={"interviews": [INTERVIEW_EXAMPLE]})
@blp.doc(operationId="listInterviews")
@narrows_itself
def list_interviews(query: dict[str, Any]) -> Response:
    """List interviews, newest first."""
    organization = caller()
    team = team_of(organization, query["team_id"]) if query["team_id"] else None
    flow = flow_for(organization, query["interview_flow_id"]) if query["interview_flow_id"] is not None else None
    status = InterviewStatus(query["status"]) if query["status"] else None
    rows = published_page(
        organization,
        team=team,
        flow=flow,
        created_after=query["created_after"],
        status=status,
        is_test=query["mode"] and query["mode"] == "test",
        limit=query["limit"],
        offset=query["offset"],
        transcript=query["transcript"],
    )
    return spliced(_list_parts(rows), accepts_gzip=takes_gzip())


@blp.post("/interviews")
@blp.arguments(NewInterviewSchema, example=NEW_INTERVIEW_EXAMPLE)
@blp.arguments(NewInterviewHeadersSchema, location="headers")
@blp.response(200, InterviewCreatedSchema, description="The interview was created.", example=INTERVIEW_CREATED_EXAMPLE)
@blp.doc(operationId="createInterview")
@narrows_itself
def create_interview(body: dict[str, Any], headers: dict[str, Any]) -> dict[str, str]:
    """Create an interview in the same team as its flow."""
    booked = actions.book_without_row(
        caller(),
        body["interview_flow_id"],
        email=body["interviewee_email_address"],
        names={"first_name": body["interviewee_first_name"], "last_name": body["interviewee_last_name"]},
        recruiter_id=body["assigned_recruiter_id"],
        is_test=is_test_call(),
        scenario=_scenario(headers.get("scenario")),
    )
    created = {
        "interview_id": booked.id,
        "interview_link": booked.link(_app_url()),
        "hint": booked.hint,
    }
    idempotency.promise(created)
    db.session.commit()
    return created


def _scenario(name: str | None) -> Scenario | None:
    if name is not None and not is_test_call():
        invalid("headers", {SCENARIO_HEADER: ["Scenarios need a test key. Use a test key or remove the header."]})
    return Scenario(name) if name is not None else None


@blp.get("/interviews/<string:interview_id>")
@blp.arguments(InterviewQuerySchema, location="query")
@blp.response(200, InterviewSchema, description="The interview.", example=INTERVIEW_EXAMPLE)
@blp.doc(operationId="getInterview")
def get_interview(query: dict[str, Any], interview_id: str) -> Response:
    """Read one interview."""
    row = published(caller(), interview_id, transcript=query["transcript"])
    head, fragments, tail = _parts(row, urls_of([row]).get(row.id, {}))
    return spliced([head, *fragments, tail], accepts_gzip=takes_gzip())


@blp.delete("/interviews/<string:interview_id>")
@blp.response(200, RevokedSchema, description="Access to the recording is revoked.", example={"success": True})
@blp.doc(operationId="deleteInterview")
def delete_interview(interview_id: str) -> dict[str, bool]:
    """Revoke access to the recording of an interview and delete it.

    If the interview has not started, its invite link stops working. If it is in progress, it continues, and its
    recording is never served.
    """
    row_id, is_over = actions.revoke_without_row(caller(), interview_id)
    write_audit(caller(), action="recordings.revoked", subject=row_id, by=None, details={"through": "/v1"})
    db.session.commit()  # access ends here, even if deleting the bytes fails
    if not is_over:
        return {"success": True}
    try:
        recordings.destroy(row_id, storage=gateways.current().storage)
    except GatewayError:
        abort(500, message="Access is revoked, but the files could not be deleted yet. Repeat the request.")
    recordings.bytes_gone(row_id)
    db.session.commit()
    return {"success": True}


def _list_parts(rows: Sequence[Published]) -> Iterator[Part]:
    urls = urls_of(rows)
    # Everything between two stored fragments goes out as one piece, because every piece costs the server a write.
    waiting, separator = [b'{"interviews":['], b""
    for row in rows:
        head, fragments, tail = _parts(row, urls.get(row.id, {}))
        waiting += (separator, head)
        if fragments:
            yield b"".join(waiting)
            yield from fragments
            waiting = []
        waiting.append(tail)
        separator = b","
    yield b"".join([*waiting, b"]}"])


def urls_of(rows: Sequence[Published]) -> dict[str, dict[Media, str]]:
    """URLs of the recordings that are served, by interview."""
    completed = [row.id for row in rows if row.has_data and not row.is_withheld]
    return urls_for_many(completed) if completed else {}


def _parts(row: Published, urls: dict[Media, str]) -> tuple[bytes, tuple[Fragment, ...], bytes]:
    """One interview: its changeable fields serialized now, the frozen fragments as stored, and the closing bytes."""
    whole = shape_of(row, urls)
    if not row.has_data:
        return orjson.dumps(whole), (), b""
    fragments = tuple(Fragment(deflated, length, crc) for deflated, length, crc in row.fragments)
    return orjson.dumps(whole)[:-2], fragments, b"}}"


def shape_of(row: Published, urls: dict[Media, str]) -> dict[str, Any]:
    """One interview as with ``transcript=none``."""
    whole: dict[str, Any] = {
        "interview_flow_id": row.flow_id,
        "interview_id": row.id,
        "team_id": row.team_id,
        "status": row.status,
        "interview_data": None,
    }
    if not row.has_data:
        return whole
    summary, scores = (None, None) if row.is_withheld else (row.summary, scores_of(row.scores))
    whole["interview_data"] = {
        "audio_url": urls.get(Media.AUDIO),
        "video_url": urls.get(Media.VIDEO),
        "summary": summary,
        "scores": scores,
        "interviewee_email_address": row.interviewee_email_address,
        "interviewee_first_name": row.interviewee_first_name,
        "interviewee_last_name": row.interviewee_last_name,
    }
    return whole
