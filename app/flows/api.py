"""``/v1/interview-flows``, as the contract describes it."""

from typing import Any

import marshmallow as ma
from flask import Request, Response, after_this_request, current_app

from app import gateways
from app.accounts import idempotency
from app.accounts.access import caller, require_api_key
from app.accounts.key_guard import narrows_itself
from app.accounts.key_scope import refuse_new_flow
from app.accounts.queries import oldest_team, team_of
from app.core.db import db
from app.flows import actions, media
from app.flows.models import InterviewFlow
from app.flows.queries import flow_for, flows_for
from app.flows.schemas import (
    FLOW_ARCHIVED_EXAMPLE,
    FLOW_CREATED_EXAMPLE,
    FLOW_EXAMPLE,
    NEW_FLOW_EXAMPLE,
    InterviewFlowArchivedSchema,
    InterviewFlowCreatedSchema,
    InterviewFlowQuerySchema,
    InterviewFlowSchema,
    InterviewFlowsSchema,
    NewInterviewFlowSchema,
    compatible,
)
from app.settings import Settings
from app.web.api import Blueprint
from app.web.body import StrictParser
from app.web.spec import header

blp = Blueprint("Interview flows", __name__, url_prefix="/v1", description="Scripts of questions and their options.")
blp.before_request(require_api_key)


@blp.get("/interview-flows")
@blp.arguments(InterviewFlowQuerySchema, location="query")
@blp.response(200, InterviewFlowsSchema, description="One page of flows.", example={"interview_flows": [FLOW_EXAMPLE]})
@blp.doc(operationId="listInterviewFlows")
@narrows_itself
def list_interview_flows(query: dict[str, Any]) -> dict[str, list[InterviewFlow]]:
    """List interview flows, including archived ones, newest first."""
    organization = caller()
    team = team_of(organization, query["team_id"]) if query["team_id"] else None
    return {"interview_flows": flows_for(organization, team=team, limit=query["limit"], offset=query["offset"])}


class _Parser(StrictParser):
    """With COMPATIBLE_INPUT, accepts bodies written for the original service. ``Warning`` names what was changed."""

    def load_json(self, req: Request, schema: ma.Schema) -> Any:
        body = super().load_json(req, schema)
        settings: Settings = current_app.extensions["parley.settings"]
        if not settings.compatible_input:
            return body
        body, notes = compatible(body)
        if notes:
            after_this_request(lambda response: _warned(response, notes))
        return body


def _warned(response: Response, notes: list[str]) -> Response:
    for note in notes:
        response.headers.add("Warning", f'299 Parley "{note}"')
    return response


blp.ARGUMENTS_PARSER = _Parser()


@blp.post("/interview-flows")
@blp.arguments(NewInterviewFlowSchema, example=NEW_FLOW_EXAMPLE)
@blp.response(
    200,
    InterviewFlowCreatedSchema,
    description="The flow is open.",
    example=FLOW_CREATED_EXAMPLE,
    headers={"Warning": header("Warning")},
)
@blp.doc(operationId="createInterviewFlow")
@narrows_itself
def create_interview_flow(body: dict[str, Any]) -> dict[str, str]:
    """Create an interview flow. A logo or intro video is fetched and checked before anything is saved."""
    organization = caller()
    refuse_new_flow(organization)
    team_id = body.pop("team_id")
    team = team_of(organization, team_id) if team_id is not None else oldest_team(organization)
    db.session.rollback()  # ends the read: fetching is slow, and a commit would count as the work of the call
    outside = gateways.current()
    wanted = media.Wanted(body["company_logo_url"], body["preamble_video_url"])
    with media.stored(wanted, http=outside.http, storage=outside.storage) as files:
        try:
            created = idempotency.promise({"interview_flow_id": actions.create(team, body, files=files).id})
            db.session.commit()
        except BaseException:
            db.session.rollback()  # before the files are deleted again
            raise
    return created


@blp.get("/interview-flows/<string:interview_flow_id>")
@blp.response(200, InterviewFlowSchema, description="The flow.", example=FLOW_EXAMPLE)
@blp.doc(operationId="getInterviewFlow")
def get_interview_flow(interview_flow_id: str) -> InterviewFlow:
    """Read one interview flow."""
    return flow_for(caller(), interview_flow_id)


@blp.delete("/interview-flows/<string:interview_flow_id>")
@blp.response(200, InterviewFlowArchivedSchema, description="The flow is archived.", example=FLOW_ARCHIVED_EXAMPLE)
@blp.doc(operationId="deleteInterviewFlow")
def delete_interview_flow(interview_flow_id: str) -> dict[str, Any]:
    """Archive an interview flow. You can still read it."""
    flow = flow_for(caller(), interview_flow_id)
    actions.archive(flow)
    db.session.commit()
    return {"success": True, "interview_flow_id": flow.id, "status": flow.status.value}
