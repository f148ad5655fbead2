"""What is done to interview flows. Values come checked by the schemas; logo and video come fetched and stored."""

from collections.abc import Mapping
from typing import Any

from app.accounts.actions import write_audit
from app.accounts.models import Team, TeamMember
from app.core import clock, encryption
from app.core.db import db, new_id
from app.core.errors import Rejected
from app.core.queue import after_commit
from app.flows import PREPARE_SPEECH
from app.flows.media import Kept
from app.flows.models import LONGEST, FlowGrant, FlowStatus, InterviewFlow, SpeechState
from app.flows.queries import grants_of, secret_context, secret_of

_SPOKEN = ("questions", "intro", "outro", "language", "voice_id")
_OF_ITS_OWN = frozenset(
    {
        "id",
        "organization_id",
        "team_id",
        "title",
        "status",
        "created_at",
        "changed_at",
        "webhook_secret_sealed",
        "logo_key",
        "preamble_video_key",
        "preamble_video_type",
        "speech_state",
        "lease_until",
        "fence",
        "recoveries",
    }
)


def create(team: Team, values: Mapping[str, Any], *, kept: Kept, by: TeamMember | None = None) -> InterviewFlow:
    """A new, open flow of ``team``; its script is spoken into the cache after commit. Without ``by`` a program did it.

    This and every change is written into the audit log, with the names of what changed.
    """
    flow = InterviewFlow(
        id=new_id(), team_id=team.id, organization_id=team.organization_id, team=team, organization=team.organization
    )
    _apply(flow, values)
    _attach(flow, values, kept)
    db.session.add(flow)
    db.session.flush()
    _note(flow, "flow.created", by=by)
    after_commit(PREPARE_SPEECH, flow.id)
    return flow


def duplicate(flow: InterviewFlow, *, kept: Kept, by: TeamMember) -> InterviewFlow:
    """A new, open flow of the same team with all that ``flow`` has, secret and rights too, and none of its interviews.

    ``kept`` names copies of its logo and video: each flow deletes its own.
    """
    names = [attribute.key for attribute in InterviewFlow.__mapper__.column_attrs if attribute.key not in _OF_ITS_OWN]
    values = {name: getattr(flow, name) for name in names}
    title = f"Copy of {flow.title}"[: LONGEST["title"]].rstrip()
    more = {"title": title, "questions": list(flow.questions), "webhook_secret_key": secret_of(flow)}
    copy = create(flow.team, {**values, **more}, kept=kept, by=by)
    for grant in grants_of(flow):
        db.session.add(FlowGrant(flow_id=copy.id, member_id=grant.member_id, right=grant.right, by_id=by.id))
    write_audit(flow.organization, action="flow.duplicated", subject=copy.id, by=by, details={"from": flow.id})
    return copy


def edit(flow: InterviewFlow, values: Mapping[str, Any], *, kept: Kept, by: TeamMember | None = None) -> list[str]:
    """Change the named values. Interviews that have begun keep the script they began with.

    Returns storage keys of replaced logos and videos; the edge deletes them after its commit.
    """
    _refuse_archived(flow)
    before = _facts(flow)
    _apply(flow, values)
    replaced = _attach(flow, values, kept)
    changed = sorted(name for name, value in _facts(flow).items() if value != before[name])
    flow.changed_at = clock.now()
    if not set(changed).isdisjoint(_SPOKEN):
        _speak_anew(flow)
    db.session.flush()
    if changed:
        _note(flow, "flow.changed", by=by, fields=changed)
    return replaced


def _facts(flow: InterviewFlow) -> dict[str, Any]:
    return {name: getattr(flow, name) for name in InterviewFlow.__mapper__.column_attrs.keys()}  # noqa: SIM118 - no dict


def _note(flow: InterviewFlow, action: str, *, by: TeamMember | None, **details: Any) -> None:
    told = details if by else {**details, "through": "/v1"}
    write_audit(flow.organization, action=action, subject=flow.id, by=by, details=told)


def close(flow: InterviewFlow, *, by: TeamMember | None = None) -> None:
    """No new interviews; those already booked can still be taken."""
    _refuse_archived(flow)
    _turn(flow, FlowStatus.CLOSED, action="flow.closed", by=by)


def reopen(flow: InterviewFlow, *, by: TeamMember | None = None) -> None:
    """A closed flow takes interviews again."""
    _refuse_archived(flow)
    _turn(flow, FlowStatus.OPEN, action="flow.reopened", by=by)


def archive(flow: InterviewFlow, *, by: TeamMember | None = None) -> None:
    """Delete the flow, as the interface calls it: it stays readable, nothing new comes of it. Twice is once."""
    _turn(flow, FlowStatus.ARCHIVED, action="flow.archived", by=by)


def prepare_anew(flow: InterviewFlow, *, by: TeamMember | None = None) -> None:
    """Have the script spoken once more, after it failed."""
    _refuse_archived(flow)
    _speak_anew(flow)
    db.session.flush()
    _note(flow, "flow.spoken_anew", by=by)


def _apply(flow: InterviewFlow, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if name == "webhook_secret_key":
            _keep_secret(flow, value)
        elif name in InterviewFlow.__mapper__.column_attrs:
            setattr(flow, name, value)


def _keep_secret(flow: InterviewFlow, secret: str | None) -> None:
    # nosemgrep: secret-compared-with-equals - whoever sets it may read it anyway
    if secret == secret_of(flow):
        return
    flow.webhook_secret_sealed = None if secret is None else encryption.seal(secret, context=secret_context(flow.id))


def _attach(flow: InterviewFlow, values: Mapping[str, Any], kept: Kept) -> list[str]:
    """Put what was fetched in the place of what was there; an address taken away takes its file along."""
    replaced: list[str | None] = []
    if kept.logo_key or ("company_logo_url" in values and values["company_logo_url"] is None):
        replaced.append(flow.logo_key)
        flow.logo_key = kept.logo_key
    if kept.video_key or ("preamble_video_url" in values and values["preamble_video_url"] is None):
        replaced.append(flow.preamble_video_key)
        flow.preamble_video_key, flow.preamble_video_type = kept.video_key, kept.video_type
    return [key for key in replaced if key]


def _speak_anew(flow: InterviewFlow) -> None:
    # A higher fence: whoever speaks the old script at this moment must not declare the new one ready.
    flow.fence = flow.fence + 1
    flow.lease_until, flow.recoveries, flow.speech_state = None, 0, SpeechState.PENDING
    after_commit(PREPARE_SPEECH, flow.id)


def _turn(flow: InterviewFlow, status: FlowStatus, *, action: str, by: TeamMember | None) -> None:
    if flow.status is not status:
        flow.status, flow.changed_at = status, clock.now()
        db.session.flush()
        _note(flow, action, by=by)


def _refuse_archived(flow: InterviewFlow) -> None:
    if flow.status is FlowStatus.ARCHIVED:
        raise Rejected("This interview flow has been deleted and cannot be changed. Create a new one instead.")
