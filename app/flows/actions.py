"""Actions on interview flows. The schemas have checked all values; logo and video are already fetched and stored."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import Organization, Team, TeamMember
from app.core import clock, encryption
from app.core.db import db, new_id
from app.core.errors import Conflict, Rejected
from app.core.queue import after_commit
from app.flows import PREPARE_SPEECH
from app.flows.criteria import Criterion
from app.flows.forbidden_topics import check
from app.flows.media import StoredMedia
from app.flows.models import LONGEST, FlowCriteria, FlowGrant, FlowStatus, InterviewFlow, SpeechState
from app.flows.queries import criteria_of, grants_of, secret_context, secret_of
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE

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
        "webhook_old_secret_sealed",
        "webhook_old_secret_until",
        "logo_key",
        "preamble_video_key",
        "preamble_video_type",
        "criteria_number",
        "speech_state",
        "spoken_with",
        "lease_until",
        "fence",
        "recoveries",
    }
)
FACTS = {
    "criteria_number": "criteria",
    "webhook_old_secret_sealed": "webhook_secret_sealed",
    "webhook_old_secret_until": "webhook_secret_sealed",
}
"""Names of changed fields in the audit log, where they are not those of the columns."""


def create(team: Team, values: Mapping[str, Any], *, files: StoredMedia, by: TeamMember | None = None) -> InterviewFlow:
    """Create an open flow of ``team``. Its script is spoken into the cache after the commit.

    ``by`` is None for calls of ``/v1``. Audited, as is every change, with the names of the changed fields.
    """
    flow = InterviewFlow(
        id=new_id(), team_id=team.id, organization_id=team.organization_id, team=team, organization=team.organization
    )
    _apply(flow, values)
    _attach(flow, files)
    db.session.add(flow)
    db.session.flush()
    _keep_criteria(flow, values.get("criteria", ()))
    _note(flow, "flow.created", by=by)
    _note_overrules(flow, {}, by=by)
    after_commit(PREPARE_SPEECH, flow.id)
    return flow


def duplicate(flow: InterviewFlow, *, files: StoredMedia, by: TeamMember) -> InterviewFlow:
    """Create an open flow with the settings, secret and grants of ``flow``, in its team. Interviews are not copied.

    ``files`` must be copies of its logo and video, because each flow deletes its own files.
    """
    names = [attribute.key for attribute in InterviewFlow.__mapper__.column_attrs if attribute.key not in _OF_ITS_OWN]
    values = {name: getattr(flow, name) for name in names}
    title = f"Copy of {flow.title}"[: LONGEST["title"]].rstrip()
    more = {
        "title": title,
        "questions": list(flow.questions),
        "webhook_secret_key": secret_of(flow),
        "criteria": criteria_of(flow),
    }
    copy = create(flow.team, {**values, **more}, files=files, by=by)
    for grant in grants_of(flow):
        db.session.add(FlowGrant(flow_id=copy.id, member_id=grant.member_id, right=grant.right, by_id=by.id))
    write_audit(flow.organization, action="flow.duplicated", subject=copy.id, by=by, details={"from": flow.id})
    return copy


def edit(
    flow: InterviewFlow,
    values: Mapping[str, Any],
    *,
    files: StoredMedia,
    without: Collection[str] = (),
    by: TeamMember | None = None,
    seen: datetime | None = None,
) -> list[str]:
    """Change the named values. Interviews that have started keep the script they started with.

    ``without`` names files to remove: ``logo``, ``video``. A file whose address is removed goes too; an uploaded one
    has none, so it stays. Returns the storage keys of the replaced files. The edge deletes them after its commit.
    Raises Rejected, and Conflict if the flow is not as it was at ``seen``, its ``changed_at`` when someone opened it.
    """
    if seen is not None:
        db.session.refresh(flow, with_for_update=True)
        if flow.changed_at != seen:
            raise Conflict("Someone else changed this flow in the meantime.")
    _refuse_archived(flow)
    before = _facts(flow)
    addresses = {"logo": "company_logo_url", "video": "preamble_video_url"}
    cleared = [what for what, name in addresses.items() if before[name] and values.get(name, before[name]) is None]
    _apply(flow, values)
    replaced = _attach(flow, files, without={*without, *cleared})
    if "criteria" in values:
        _keep_criteria(flow, values["criteria"])
    changed = sorted({FACTS.get(name, name) for name, value in _facts(flow).items() if value != before[name]})
    flow.changed_at = clock.now()
    if not set(changed).isdisjoint(_SPOKEN):
        speak_again(flow)
    db.session.flush()
    if changed:
        _note(flow, "flow.changed", by=by, fields=changed)
    _note_overrules(flow, before["overrules"] or {}, by=by)
    return replaced


def set_branding(
    organization: Organization, *, accent: str | None, files: StoredMedia, without: Collection[str], by: TeamMember
) -> list[str]:
    """Set the color and the logo of flows without their own. Audited. Returns the keys of replaced files."""
    replaced = []
    changed = ["accent"] if accent != organization.accent else []
    organization.accent = accent
    if files.logo_key or ("logo" in without and organization.logo_key):
        replaced = [organization.logo_key] if organization.logo_key else []
        organization.logo_key = files.logo_key
        changed.append("logo")
    if changed:
        details = {"fields": changed}
        write_audit(organization, action="organization.branding", subject=organization.id, by=by, details=details)
    return replaced


def _facts(flow: InterviewFlow) -> dict[str, Any]:
    return {name: getattr(flow, name) for name in InterviewFlow.__mapper__.column_attrs.keys()}  # noqa: SIM118 - no dict


def _note(flow: InterviewFlow, action: str, *, by: TeamMember | None, **details: Any) -> None:
    recorded = details if by else {**details, "through": "/v1"}
    write_audit(flow.organization, action=action, subject=flow.id, by=by, details=recorded)


def _note_overrules(flow: InterviewFlow, before: Mapping[str, str], *, by: TeamMember | None) -> None:
    """Record each question or criterion about a forbidden topic that someone gave a new reason for. Its words stay with
    the flow.
    """
    reasons = flow.overrules or {}
    texts = [("question", *one) for one in enumerate(flow.questions, 1)]
    texts += [("criterion", number, one.words) for number, one in enumerate(criteria_of(flow), 1)]
    for kind, number, text in texts:
        if reasons.get(text) != before.get(text) and text in reasons:
            topics = [found.topic.name for found in check(text, flow.language or DEFAULT_LANGUAGE)]
            _note(flow, "flow.topic_overruled", by=by, **{kind: number, "topics": topics})


def close(flow: InterviewFlow, *, by: TeamMember | None = None) -> None:
    """Create no further interviews. Those that exist can still be taken."""
    _refuse_archived(flow)
    _turn(flow, FlowStatus.CLOSED, action="flow.closed", by=by)


def reopen(flow: InterviewFlow, *, by: TeamMember | None = None) -> None:
    """Open a closed flow again."""
    _refuse_archived(flow)
    _turn(flow, FlowStatus.OPEN, action="flow.reopened", by=by)


def archive(flow: InterviewFlow, *, by: TeamMember | None = None) -> None:
    """Delete the flow in the sense of ``/v1``: it stays readable, but no interview can be created. Idempotent."""
    _turn(flow, FlowStatus.ARCHIVED, action="flow.archived", by=by)


def prepare_anew(flow: InterviewFlow, *, by: TeamMember | None = None) -> None:
    """Have the script spoken again after it failed."""
    _refuse_archived(flow)
    speak_again(flow)
    db.session.flush()
    _note(flow, "flow.spoken_anew", by=by)


def _apply(flow: InterviewFlow, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if name == "webhook_secret_key":
            _keep_secret(flow, value)
        elif name in InterviewFlow.__mapper__.column_attrs:
            setattr(flow, name, value)


def _keep_secret(flow: InterviewFlow, secret: str | None) -> None:
    """The new secret counts at once: a rotation that is under way ends."""
    try:
        # nosemgrep: secret-compared-with-equals - a caller who may set it may read it anyway
        if secret == secret_of(flow):
            return
    except encryption.SealBroken:
        pass  # saving it again is the way out
    flow.webhook_old_secret_sealed = flow.webhook_old_secret_until = None
    flow.webhook_secret_sealed = None if secret is None else encryption.seal(secret, context=secret_context(flow.id))


def _keep_criteria(flow: InterviewFlow, items: Sequence[Criterion]) -> None:
    """Store other criteria as a new version. Results keep the version that they were scored with."""
    # One change after the other: two of them at once would both take the next number.
    db.session.execute(sa.select(InterviewFlow.id).where(InterviewFlow.id == flow.id).with_for_update())
    if tuple(items) == criteria_of(flow):
        return
    number = None
    if items:
        numbers = sa.select(sa.func.max(FlowCriteria.number)).where(FlowCriteria.flow_id == flow.id)
        number = (db.session.scalar(numbers) or 0) + 1
        db.session.add(FlowCriteria(flow_id=flow.id, number=number, items=tuple(items)))
    flow.criteria_number = number
    db.session.flush()
    db.session.expire(flow, ["criteria"])


def _attach(flow: InterviewFlow, files: StoredMedia, *, without: Collection[str] = ()) -> list[str]:
    """Replace files by the stored ones, and drop those of ``without``. Returns the old keys."""
    replaced: list[str | None] = []
    if files.logo_key or "logo" in without:
        replaced.append(flow.logo_key)
        flow.logo_key = files.logo_key
    if files.video_key or "video" in without:
        replaced.append(flow.preamble_video_key)
        flow.preamble_video_key, flow.preamble_video_type = files.video_key, files.video_type
    return [key for key in replaced if key]


def speak_again(flow: InterviewFlow) -> None:
    """Have the script spoken by the job, in the voice that there is now."""
    # A higher fence, so that a worker still speaking the old script cannot mark the new one as ready.
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
        raise Rejected("This interview flow is archived and cannot be changed. Create a new one instead.")
