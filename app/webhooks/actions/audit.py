"""Entries of the audit log about webhooks."""

from app.accounts import actions as accounts
from app.accounts.models import Organization, TeamMember
from app.core.db import db


def note(organization_id: str, action: str, subject: str, *, by: TeamMember | None, **details: object) -> None:
    """Record what a member did, or a program through ``/v1`` where ``by`` is None."""
    organization = db.session.get_one(Organization, organization_id)
    recorded = details if by else {**details, "through": "/v1"}
    accounts.write_audit(organization, action=action, subject=subject, by=by, details=recorded)
