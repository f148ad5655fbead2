"""``/v1/interviews``, as the interface describes it. Results are spliced out of kept bytes and never parsed here."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from flask import Response, current_app
from flask_smorest import abort

from app import gateways
from app.accounts.access import caller, require_api_key
from app.accounts.queries import team_of
from app.db import db
from app.errors import GatewayError
from app.interviews import actions
from app.interviews.models import InterviewStatus
from app.interviews.queries import Published, interview_for, page_ids, published
from app.interviews.schemas import (
    InterviewCreatedSchema,
    InterviewQuerySchema,
    InterviewSchema,
    InterviewsQuerySchema,
    InterviewsSchema,
    NewInterviewSchema,
    RevokedSchema,
    scores_of,
)
from app.recordings import actions as recordings
from app.recordings.models import Media
from app.recordings.queries import urls_for_many
from app.settings import Settings
from app.web.api import Blueprint, Fragment, Part, spliced, takes_gzip

blp = Blueprint("Interviews", __name__, url_prefix="/v1", description="Interviews, their results and recordings.")
blp.before_request(require_api_key)


def _app_url() -> str:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings.app_url


@blp.get("/interviews")
@blp.arguments(InterviewsQuerySchema, location="query")
@blp.response(200, InterviewsSchema)
def list_interviews(query: dict[str, Any]) -> Response:
    """List interviews, newest first."""
    organization = caller()
    team = team_of(organization, query["team_id"]) if query["team_id"] else None
    status = InterviewStatus(query["status"]) if query["status"] else None
    ids = page_ids(organization, team=team, status=status, limit=query["limit"], offset=query["offset"])
    rows = published(ids, transcript=query["transcript"])
    return spliced(_list_parts(rows), accepts_gzip=takes_gzip())


@blp.post("/interviews")
@blp.arguments(NewInterviewSchema)
@blp.response(200, InterviewCreatedSchema)
def create_interview(body: dict[str, Any]) -> dict[str, str]:
    """Create an interview in the same team as its flow."""
    interview = actions.book(
        caller(), body["interview_flow_id"], email=body["interviewee_email_address"],
        first_name=body["interviewee_first_name"], last_name=body["interviewee_last_name"],
        recruiter_id=body["assigned_recruiter_id"],
    )  # fmt: skip
    created = {
        "interview_id": interview.id,
        "interview_link": interview.link(_app_url()),
        "hint": actions.hint_for(interview),
    }
    db.session.commit()
    return created


@blp.get("/interviews/<string:interview_id>")
@blp.arguments(InterviewQuerySchema, location="query")
@blp.response(200, InterviewSchema)
def get_interview(query: dict[str, Any], interview_id: str) -> Response:
    """Read one interview."""
    interview = interview_for(caller(), interview_id)
    rows = published([interview.id], transcript=query["transcript"])
    urls = _urls(rows)
    return spliced(_parts(rows[0], urls.get(interview.id, {})), accepts_gzip=takes_gzip())


@blp.delete("/interviews/<string:interview_id>")
@blp.response(200, RevokedSchema)
def delete_interview(interview_id: str) -> dict[str, bool]:
    """Revoke access to the audio and video recordings, and destroy them."""
    interview = interview_for(caller(), interview_id)
    found = interview.id
    actions.revoke_recordings(interview)
    db.session.commit()  # access ends here, whatever becomes of the bytes
    try:
        recordings.destroy(found, storage=gateways.current().storage)
    except GatewayError:
        abort(500, message="Access has ended, but the bytes could not be deleted yet. Repeat the request.")
    recordings.bytes_gone(found)
    db.session.commit()
    return {"success": True}


def _list_parts(rows: Sequence[Published]) -> Iterator[Part]:
    urls = _urls(rows)
    separator = b'{"interviews":['
    for row in rows:
        yield separator
        yield from _parts(row, urls.get(row.id, {}))
        separator = b","
    yield b"]}" if rows else b'{"interviews":[]}'


def _urls(rows: Sequence[Published]) -> dict[str, dict[Media, str]]:
    completed = [row.id for row in rows if row.has_data]
    return urls_for_many(completed) if completed else {}


def _parts(row: Published, urls: dict[Media, str]) -> Iterator[Part]:
    """One interview: what can change is dumped now, what was frozen goes out as it is kept."""
    head: dict[str, Any] = {
        "interview_flow_id": row.flow_id, "interview_id": row.id, "team_id": row.team_id, "status": row.status.value,
        "interview_data": None,
    }  # fmt: skip
    if not row.has_data:
        yield orjson.dumps(head)
        return
    head["interview_data"] = {
        "audio_url": urls.get(Media.AUDIO), "video_url": urls.get(Media.VIDEO), "summary": row.summary,
        "scores": scores_of(row.scores), "interviewee_email_address": row.interviewee_email_address,
        "interviewee_first_name": row.interviewee_first_name, "interviewee_last_name": row.interviewee_last_name,
    }  # fmt: skip
    yield orjson.dumps(head)[:-2]
    for deflated, length, crc in row.fragments:
        yield Fragment(deflated, length, crc)
    yield b"}}"
