"""Grants and removes access to flows, limits flows to listed members, and answers requests. All of it is audited."""

from collections.abc import Callable
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import Role, TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import FlowGrant, InterviewFlow, Right
from app.flows.queries import may
from app.gateways.mail import Mail
from app.mail_outbox import actions as mail_outbox
from app.review.flow_access import queries
from app.review.flow_access.models import LONGEST_NOTE, AccessRequest, RequestState

MOST_MAILS = 20
MAIL_LASTS = timedelta(days=2)

MailFor = Callable[[AccessRequest, TeamMember], Mail] | None
"""Makes the mail about a request to one member; None without a mail server."""


def give(flow: InterviewFlow, member: TeamMember, right: Right, *, by: TeamMember) -> bool:
    """Grant the member ``right`` to the flow, or change it; returns whether anything changed.

    Answers the member's open request. Raises Rejected with the field if the member cannot have this right.
    """
    _refuse(flow, member, right)
    grant = queries.grant_of(flow.id, member.id)
    if grant is not None and grant.right is right:
        return False
    if grant is None:
        try:
            with db.session.begin_nested():
                db.session.add(FlowGrant(flow_id=flow.id, member_id=member.id, right=right, by_id=by.id))
        except IntegrityError:
            raise Conflict("Someone else has just granted this member access. Reload the page.") from None
    else:
        grant.right, grant.by_id, grant.created_at = right, by.id, clock.now()
    access_request = queries.open_request(flow, member)
    if access_request is not None:
        _decide(access_request, RequestState(right.value), by=by)
    details = {"member": member.id, "right": right.value}
    write_audit(flow.organization, action="flow.access_given", subject=flow.id, by=by, details=details)
    return True


def _refuse(flow: InterviewFlow, member: TeamMember, right: Right) -> None:
    if member.organization_id != flow.organization_id or member.disabled_at is not None:
        raise Rejected("Choose a member of your organization who can sign in.", field="member")
    if member.role is Role.ADMIN:
        raise Rejected("Administrators can already view and edit every flow.", field="member")
    if member.role is Role.VIEWER and right is Right.EDIT:
        raise Rejected(
            "This member is a viewer and cannot edit anything. Choose “Can view”, or ask an administrator to make "
            "them a recruiter first.",
            field="right",
        )


def take(flow: InterviewFlow, member: TeamMember, *, by: TeamMember) -> bool:
    """Remove the member's own access; returns whether there was any. Access through their team stays."""
    grant = queries.grant_of(flow.id, member.id)
    if grant is None:
        return False
    db.session.delete(grant)
    db.session.flush()
    details = {"member": member.id}
    write_audit(flow.organization, action="flow.access_taken", subject=flow.id, by=by, details=details)
    return True


def narrow(flow: InterviewFlow, *, by: TeamMember) -> bool:
    """Limit the flow to members with their own access; returns whether anything changed.

    Also grants access to ``by``, unless they are an administrator, so that they do not lock themselves out.
    """
    if flow.is_narrowed:
        return False
    if by.role is not Role.ADMIN:
        give(flow, by, Right.EDIT, by=by)
    flow.is_narrowed = True
    write_audit(flow.organization, action="flow.narrowed", subject=flow.id, by=by, details={})
    return True


def widen(flow: InterviewFlow, *, by: TeamMember) -> bool:
    """Show the flow to its whole team again; returns whether anything changed. Members keep their own access."""
    if not flow.is_narrowed:
        return False
    flow.is_narrowed = False
    write_audit(flow.organization, action="flow.widened", subject=flow.id, by=by, details={})
    return True


def ask(flow: InterviewFlow, *, by: TeamMember, mail_for: MailFor) -> bool:
    """Request access to a flow of the same organization. False if the member can see it or has an open request."""
    if flow.organization_id != by.organization_id or may(by, flow) or queries.open_request(flow, by) is not None:
        return False
    access_request = AccessRequest(
        organization_id=flow.organization_id, flow_id=flow.id, member_id=by.id, flow=flow, member=by
    )
    try:
        with db.session.begin_nested():
            db.session.add(access_request)
    except IntegrityError:  # requested twice at the same moment
        return False
    write_audit(flow.organization, action="flow.access_asked", subject=flow.id, by=by, details={})
    if mail_for is not None:
        for member in queries.deciders_of(flow, limit=MOST_MAILS):
            mail_outbox.post(None, mail_for(access_request, member), lasts=MAIL_LASTS)
    return True


def answer(
    access_request: AccessRequest, state: RequestState, *, note: str | None, by: TeamMember, mail_for: MailFor
) -> None:
    """Grant or decline a request. Raises Rejected with the field, Conflict if it was already answered."""
    if state is RequestState.OPEN:
        raise Rejected("Choose whether to grant or decline access.", field="decision")
    if note is not None and len(note) > LONGEST_NOTE:
        raise Rejected(f"Notes can have up to {LONGEST_NOTE} characters. This one has {len(note)}.", field="note")
    if not _decide(access_request, state, by=by, note=note):
        raise Conflict("This request has already been answered.")
    flow = access_request.flow
    if state is RequestState.REFUSED:
        details = {"member": access_request.member_id}
        write_audit(flow.organization, action="flow.access_refused", subject=flow.id, by=by, details=details)
    else:
        give(flow, access_request.member, Right(state.value), by=by)
    if mail_for is not None:
        mail_outbox.post(None, mail_for(access_request, access_request.member), lasts=MAIL_LASTS)


def _decide(access_request: AccessRequest, state: RequestState, *, by: TeamMember, note: str | None = None) -> bool:
    """Store the answer; False when someone else answered first."""
    waits = sa.update(AccessRequest).where(
        AccessRequest.id == access_request.id, AccessRequest.state == RequestState.OPEN
    )
    decided = waits.values(state=state, decided_at=clock.now(), decided_by_id=by.id, note=note)
    changed = db.changed(decided) == 1
    db.session.refresh(access_request)
    return changed
