"""Operations on flows under ``/v1`` that the contract does not have."""

from collections.abc import Callable, Mapping
from typing import Any

from app import gateways
from app.accounts import idempotency
from app.accounts.access import caller
from app.accounts.key_guard import SECRETS, shows_secrets
from app.accounts.models import Owner
from app.core.db import db
from app.core.errors import Conflict, Forbidden
from app.flows import actions, media
from app.flows.api import blp
from app.flows.models import FlowStatus, InterviewFlow
from app.flows.queries import flow_for
from app.flows.schemas import (
    FLOW_CHANGES_EXAMPLE,
    FLOW_EXAMPLE,
    InterviewFlowChangesSchema,
    InterviewFlowSchema,
    InterviewFlowTurnedSchema,
)
from app.web import examples
from app.web.spec import extension

ARCHIVED = "This interview flow is archived and cannot be changed. Create a new one instead."
_REFUSED = "The flow is archived."


@blp.patch("/interview-flows/<string:interview_flow_id>")
@blp.arguments(InterviewFlowChangesSchema, example=FLOW_CHANGES_EXAMPLE)
@blp.response(200, InterviewFlowSchema, description="The flow now.", example=FLOW_EXAMPLE)
@blp.alt_response(409, description=_REFUSED)
@blp.doc(**extension("updateInterviewFlow"))
def update_interview_flow(body: dict[str, Any], interview_flow_id: str) -> InterviewFlow:
    """Change an interview flow. Fields that are absent stay as they are; `null` removes a value.

    A logo or intro video whose URL is new is fetched and checked before anything is saved. Interviews that have started
    keep the questions they started with.
    """
    organization = caller()
    if "webhook_secret_key" in body and not shows_secrets():
        raise Forbidden(SECRETS, code="key_scope")
    wanted = _new_media(_changeable(organization, interview_flow_id), body)
    db.session.rollback()  # ends the read: fetching is slow
    outside = gateways.current()
    with media.stored(wanted, http=outside.http, storage=outside.storage) as files:
        try:
            flow = _changeable(organization, interview_flow_id, locked=True)
            _refuse_other_media(flow, body, wanted)
            replaced = actions.edit(flow, body, files=files) if body else []
            db.session.commit()
        except BaseException:
            db.session.rollback()  # before the files are deleted again
            raise
    media.discard(replaced, storage=outside.storage)
    return flow


def _refuse_other_media(flow: InterviewFlow, changes: Mapping[str, Any], fetched: media.Wanted) -> None:
    if _new_media(flow, changes) != fetched:
        raise Conflict("The logo or the video was changed by someone else in the meantime. Try again.")


def _new_media(flow: InterviewFlow, changes: Mapping[str, Any]) -> media.Wanted:
    """What has to be fetched: a URL that the flow has already was fetched before."""
    urls = {name: changes.get(name) for name in ("company_logo_url", "preamble_video_url")}
    new = {name: url if url != getattr(flow, name) else None for name, url in urls.items()}
    return media.Wanted(new["company_logo_url"], new["preamble_video_url"])


@blp.post("/interview-flows/<string:interview_flow_id>/close")
@blp.response(
    200,
    InterviewFlowTurnedSchema,
    description="The flow is closed.",
    example={"success": True, "interview_flow_id": examples.FLOW_ID, "status": FlowStatus.CLOSED.value},
)
@blp.alt_response(409, description=_REFUSED)
@blp.doc(**extension("closeInterviewFlow"))
def close_interview_flow(interview_flow_id: str) -> dict[str, Any]:
    """Create no further interviews from this flow. Those that exist can still be taken."""
    return _turned(interview_flow_id, actions.close)


@blp.post("/interview-flows/<string:interview_flow_id>/reopen")
@blp.response(
    200,
    InterviewFlowTurnedSchema,
    description="The flow is open.",
    example={"success": True, "interview_flow_id": examples.FLOW_ID, "status": FlowStatus.OPEN.value},
)
@blp.alt_response(409, description=_REFUSED)
@blp.doc(**extension("reopenInterviewFlow"))
def reopen_interview_flow(interview_flow_id: str) -> dict[str, Any]:
    """Open a closed flow again. If it is open already, nothing changes."""
    return _turned(interview_flow_id, actions.reopen)


def _turned(flow_id: str, turn: Callable[[InterviewFlow], None]) -> dict[str, Any]:
    flow = _changeable(caller(), flow_id, locked=True)
    turn(flow)
    turned = idempotency.promise({"success": True, "interview_flow_id": flow.id, "status": flow.status.value})
    db.session.commit()
    return turned


def _changeable(organization: Owner, flow_id: str, *, locked: bool = False) -> InterviewFlow:
    """The flow, if it is not archived. ``locked``: until the commit, so that two changes come one after the other,
    and the second replaces the files of the first.
    """
    flow = flow_for(organization, flow_id)
    if locked:
        db.session.refresh(flow, with_for_update={"key_share": True})
    if flow.status is FlowStatus.ARCHIVED:
        raise Conflict(ARCHIVED)
    return flow
