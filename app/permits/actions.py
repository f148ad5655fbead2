"""Rights are given and taken, flows narrowed and opened again: everything audited."""

from sqlalchemy.exc import IntegrityError

from app import clock
from app.accounts.actions import write_audit
from app.accounts.models import Role, TeamMember
from app.db import db
from app.errors import Conflict, Rejected
from app.flows.models import FlowGrant, InterviewFlow, Right
from app.permits import queries


def give(flow: InterviewFlow, member: TeamMember, right: Right, *, by: TeamMember) -> bool:
    """Give the member ``right`` to the flow, more or less than before; whether anything changed.

    Raises Rejected naming the field for whoever cannot have it.
    """
    _refuse(flow, member, right)
    known = queries.grant_of(flow.id, member.id)
    if known is not None and known.right is right:
        return False
    if known is None:
        try:
            with db.session.begin_nested():
                db.session.add(FlowGrant(flow_id=flow.id, member_id=member.id, right=right, by_id=by.id))
        except IntegrityError:
            raise Conflict("Somebody else has just given this member a right; load the page again.") from None
    else:
        known.right, known.by_id, known.created_at = right, by.id, clock.now()
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
            "administrator make them a recruiter first.", field="right",
        )  # fmt: skip


def take(flow: InterviewFlow, member: TeamMember, *, by: TeamMember) -> bool:
    """The member's own right is gone with the commit; whether there was one. What their team gives them stays."""
    known = queries.grant_of(flow.id, member.id)
    if known is None:
        return False
    db.session.delete(known)
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
