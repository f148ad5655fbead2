"""Rights are given and taken, flows narrowed and opened, requests made and answered: everything audited."""

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
"""Makes the mail about a request to one member; None where no mail server is configured."""


def give(flow: InterviewFlow, member: TeamMember, right: Right, *, by: TeamMember) -> bool:
    """Give the member ``right`` to the flow, more or less than before; whether anything changed.

    It answers an open request for it. Raises Rejected naming the field for whoever cannot have it.
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
            raise Conflict("Somebody else has just given this member a right; load the page again.") from None
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
        raise Rejected("Choose a member of your organization who may sign in.", field="member")
    if member.role is Role.ADMIN:
        raise Rejected("Administrators see and change every flow already.", field="member")
    if member.role is Role.VIEWER and right is Right.EDIT:
        raise Rejected(
            "This member is a viewer, who may look but not change anything. Give the right to view, or have an "
            "administrator make them a recruiter first.",
            field="right",
        )


def take(flow: InterviewFlow, member: TeamMember, *, by: TeamMember) -> bool:
    """The member's own right is gone with the commit; whether there was one. What their team gives them stays."""
    grant = queries.grant_of(flow.id, member.id)
    if grant is None:
        return False
    db.session.delete(grant)
    db.session.flush()
    details = {"member": member.id}
    write_audit(flow.organization, action="flow.access_taken", subject=flow.id, by=by, details=details)
    return True


def narrow(flow: InterviewFlow, *, by: TeamMember) -> bool:
    """Of its team only those who are named see the flow; whether anything changed.

    Who narrows it and is no administrator is named with it, so that nobody shuts the door on themselves.
    """
    if flow.is_narrowed:
        return False
    if by.role is not Role.ADMIN:
        give(flow, by, Right.EDIT, by=by)
    flow.is_narrowed = True
    write_audit(flow.organization, action="flow.narrowed", subject=flow.id, by=by, details={})
    return True


def widen(flow: InterviewFlow, *, by: TeamMember) -> bool:
    """Its whole team sees the flow again; whether anything changed. Rights of single members stay."""
    if not flow.is_narrowed:
        return False
    flow.is_narrowed = False
    write_audit(flow.organization, action="flow.widened", subject=flow.id, by=by, details={})
    return True


def ask(flow: InterviewFlow, *, by: TeamMember, mail_for: MailFor) -> bool:
    """Ask for access to a flow of the own organization. False for what is seen already, or was asked before."""
    if flow.organization_id != by.organization_id or may(by, flow) or queries.open_request(flow, by) is not None:
        return False
    access_request = AccessRequest(
        organization_id=flow.organization_id, flow_id=flow.id, member_id=by.id, flow=flow, member=by
    )
    try:
        with db.session.begin_nested():
            db.session.add(access_request)
    except IntegrityError:  # the same member, twice at the same moment
        return False
    write_audit(flow.organization, action="flow.access_asked", subject=flow.id, by=by, details={})
    if mail_for is not None:
        for member in queries.deciders_of(flow, limit=MOST_MAILS):
            mail_outbox.post(None, mail_for(access_request, member), lasts=MAIL_LASTS)
    return True


def answer(
    access_request: AccessRequest, state: RequestState, *, note: str | None, by: TeamMember, mail_for: MailFor
) -> None:
    """Give the right to view or to edit, or refuse. Raises Rejected naming the field; Conflict for a second answer."""
    if state is RequestState.OPEN:
        raise Rejected("Choose what is given.", field="decision")
    if note is not None and len(note) > LONGEST_NOTE:
        raise Rejected(f"These are {len(note)} characters; at most {LONGEST_NOTE} are kept.", field="note")
    if not _decide(access_request, state, by=by, note=note):
        raise Conflict("This request has been answered already.")
    flow = access_request.flow
    if state is RequestState.REFUSED:
        details = {"member": access_request.member_id}
        write_audit(flow.organization, action="flow.access_refused", subject=flow.id, by=by, details=details)
    else:
        give(flow, access_request.member, Right(state.value), by=by)
    if mail_for is not None:
        mail_outbox.post(None, mail_for(access_request, access_request.member), lasts=MAIL_LASTS)


def _decide(access_request: AccessRequest, state: RequestState, *, by: TeamMember, note: str | None = None) -> bool:
    """The request has its answer; False when somebody else was quicker."""
    waits = sa.update(AccessRequest).where(
        AccessRequest.id == access_request.id, AccessRequest.state == RequestState.OPEN
    )
    decided = waits.values(state=state, decided_at=clock.now(), decided_by_id=by.id, note=note)
    changed = db.changed(decided) == 1
    db.session.refresh(access_request)
    return changed
