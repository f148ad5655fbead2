"""``/v1/candidates`` and ``/v1/statuses``. None of it is in the contract."""

from typing import Any

import marshmallow as ma

from app.accounts import idempotency
from app.accounts.access import caller, is_test_call, require_api_key
from app.accounts.key_guard import narrows_itself
from app.accounts.models import Organization
from app.accounts.queries import team_of
from app.candidates import key_moves, listings
from app.candidates.key_moves import Wanted
from app.candidates.listings import Chosen
from app.candidates.schemas import (
    CANDIDATE_EXAMPLE,
    MOVE_EXAMPLE,
    STATUS_EXAMPLE,
    CandidateMoveSchema,
    CandidateSchema,
    CandidatesQuerySchema,
    CandidatesSchema,
    StatusesSchema,
)
from app.core.db import db
from app.flows.queries import flow_for
from app.web.api import Blueprint
from app.web.spec import extension

blp = Blueprint("Candidates", __name__, url_prefix="/v1", description="Candidates and the statuses of their pipeline.")
blp.before_request(require_api_key)


@blp.get("/candidates")
@blp.arguments(CandidatesQuerySchema, location="query", unknown=ma.RAISE)
@blp.response(
    200,
    CandidatesSchema,
    description="One page of candidates.",
    example={"candidates": [CANDIDATE_EXAMPLE], "next": None},
)
@blp.doc(**extension("listCandidates"))
@narrows_itself
def list_candidates(query: dict[str, Any]) -> dict[str, Any]:
    """List candidates, newest first.

    A test key lists the candidates of test interviews, a live key all others. Candidates in quarantine are left out.
    """
    organization = caller()
    flow = flow_for(organization, query["interview_flow_id"]) if query["interview_flow_id"] is not None else None
    team = team_of(organization, query["team_id"]) if query["team_id"] is not None else None
    chosen = Chosen(
        flow.id if flow else None, team.id if team else None, query["status"], query["email"], is_test_call()
    )
    rows, following = listings.candidates_of(organization, chosen, limit=query["limit"], after=query["after"])
    return {"candidates": listings.shown(rows), "next": following}


@blp.get("/candidates/<string:candidate_id>")
@blp.response(200, CandidateSchema, description="The candidate.", example=CANDIDATE_EXAMPLE)
@blp.doc(**extension("getCandidate"))
def get_candidate(candidate_id: str) -> dict[str, Any]:
    """Read one candidate."""
    return listings.shown([listings.candidate_for(caller(), candidate_id)])[0]


@blp.post("/candidates/<string:candidate_id>/move")
@blp.arguments(CandidateMoveSchema, example=MOVE_EXAMPLE)
@blp.response(200, CandidateSchema, description="The candidate now.", example=CANDIDATE_EXAMPLE)
@blp.alt_response(409, description="The candidate's status is not `previous_status`, or is being changed right now.")
@blp.doc(**extension("moveCandidate"))
def move_candidate(body: dict[str, Any], candidate_id: str) -> dict[str, Any]:
    """Change the status of a candidate. The webhook about it follows, as after a move on the platform.

    A move to the present status changes nothing and sends nothing.
    """
    candidate = listings.candidate_for(caller(), candidate_id)
    wanted = Wanted(
        body["status"],
        decided_by=body["decided_by"],
        reason_code=body["reason_code"],
        note=body["note"],
        seen=body["previous_status"],
    )
    key_moves.move(candidate, wanted)
    moved = idempotency.promise(listings.shown([candidate])[0])
    db.session.commit()
    return moved


@blp.get("/statuses")
@blp.response(200, StatusesSchema, description="The statuses, in their order.", example={"statuses": [STATUS_EXAMPLE]})
@blp.doc(**extension("listStatuses"))
@narrows_itself
def list_statuses() -> dict[str, Any]:
    """List the statuses of the pipeline, with the reasons for decisions."""
    # nosemgrep: row-by-id-in-edge - the organization of the key
    return {"statuses": listings.statuses_shown(db.session.get_one(Organization, caller().id))}
