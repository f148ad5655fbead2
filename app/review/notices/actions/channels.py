"""Channels in Slack and Teams: added, changed, switched on and off, and removed by members. All of it is audited."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.core import clock, encryption
from app.core.db import db, new_id
from app.core.errors import Conflict, Rejected
from app.flows.models import InterviewFlow
from app.review.notices.models import NoticeChannel, NoticeDelivery, NoticeKind, NoticeState, Service, SwitchedOff
from app.review.notices.queries import channels_of

MOST_CHANNELS = 20
"""Of one flow, and of the organization."""
LONGEST_NAME = 100
_HOSTS = {
    Service.SLACK: ("slack.com", "slack-gov.com"),
    Service.TEAMS: ("logic.azure.com", "powerplatform.com", "office.com"),
}
_NAMES = {Service.SLACK: "Slack", Service.TEAMS: "Microsoft Teams"}

Check = Callable[[str], None]
"""Whether a URL may be called. Raises Rejected."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a member enters for a channel. Without an ``address`` a channel keeps the one it has."""

    name: str
    service: Service
    address: str
    kinds: tuple[NoticeKind, ...]
    with_names: bool = False
    with_scores: bool = False


def add(flow: InterviewFlow | None, choices: Choices, *, check: Check, by: TeamMember) -> NoticeChannel:
    """Add a channel to the flow, or to the member's organization. Raises Rejected with the field, Conflict."""
    if len(channels_of(by.organization_id, flow)) >= MOST_CHANNELS:
        raise Conflict(f"There are already {MOST_CHANNELS} channels here. Remove one first.")
    if not choices.address:
        raise Rejected("Enter the URL that Slack or Microsoft Teams gave you.", field="secret_url")
    channel = NoticeChannel(
        id=new_id(),
        organization_id=by.organization_id,
        flow_id=flow.id if flow else None,
        created_by_id=by.id,
        created_at=clock.now(),
    )
    _apply(channel, choices, check=check)
    db.session.add(channel)
    db.session.flush()
    _audit(channel, "notices.channel_added", by=by)
    return channel


def change(channel: NoticeChannel, choices: Choices, *, check: Check, by: TeamMember) -> None:
    """Change a channel. A new URL forgets the failures of the old one, and replaces one that no longer existed.

    Raises Rejected with the field.
    """
    _apply(channel, choices, check=check)
    db.session.flush()
    _audit(channel, "notices.channel_changed", by=by)
    if choices.address and channel.switched_off_by is SwitchedOff.GONE:
        switch(channel, on=True, by=by, because=SwitchedOff.MEMBER)


def _apply(channel: NoticeChannel, choices: Choices, *, check: Check) -> None:
    name = choices.name.strip()
    if not name or len(name) > LONGEST_NAME:
        raise Rejected(f"Enter a name with up to {LONGEST_NAME} characters, such as #hiring.", field="name")
    if not choices.kinds:
        raise Rejected("Choose at least one kind of notice.", field="kinds")
    if choices.address:
        _set_address(channel, choices.address, check=check)
    _refuse_other_service(channel.address_hint.partition("/")[0], choices.service)
    channel.name, channel.service = name, choices.service
    channel.kinds = [kind.value for kind in NoticeKind if kind in choices.kinds]
    channel.with_names, channel.with_scores = choices.with_names, choices.with_scores


def _refuse_other_service(host: str, service: Service) -> None:
    for other, hosts in _HOSTS.items():
        if other is not service and host.endswith(hosts):
            raise Rejected(
                f"This is a {_NAMES[other]} URL. Choose {_NAMES[other]}, or enter another URL.", field="service"
            )


def _set_address(channel: NoticeChannel, address: str, *, check: Check) -> None:
    try:
        check(address)
        host = urlsplit(address).hostname
    except Rejected as refusal:
        raise Rejected(refusal.message, field="secret_url") from None
    channel.address_sealed = encryption.seal(address, context=_context(channel.id))
    channel.address_hint = f"{host}/…{address[-4:]}"[:300]
    channel.address_hash = hashlib.sha256(address.encode()).hexdigest()
    channel.failing_since = channel.failure = channel.not_before = None


def address_of(channel: NoticeChannel) -> str:
    """The URL in plain text: only for sending. Raises SealBroken if SECRET_KEY has changed."""
    return encryption.unseal(channel.address_sealed, context=_context(channel.id))


def _context(channel_id: str) -> str:
    return f"notice_channel:{channel_id}:address"


def switch(channel: NoticeChannel, *, on: bool, by: TeamMember | None, because: SwitchedOff) -> bool:
    """Switch the channel on or off; returns whether anything changed. What waited for a channel is dropped with it."""
    if channel.is_on == on:
        return False
    channel.switched_off_at, channel.switched_off_by = (None, None) if on else (clock.now(), because)
    if on:
        channel.failing_since = channel.failure = channel.not_before = None
    db.session.flush()
    waiting = (NoticeDelivery.channel_id == channel.id, NoticeDelivery.state == NoticeState.WAITING)
    dropped = {"state": NoticeState.DROPPED, "finished_at": clock.now(), "failure": "The channel was switched off."}
    db.changed(sa.update(NoticeDelivery).where(*waiting).values(dropped))
    details = {} if on or by else {"because": because.value}
    _audit(channel, "notices.channel_on" if on else "notices.channel_off", by=by, **details)
    return True


def reached(channel: NoticeChannel) -> None:
    """The service has accepted a message: earlier failures are over."""
    channel.failing_since = channel.failure = channel.not_before = None
    channel.sent_at = clock.now()


def remove(channel: NoticeChannel, *, by: TeamMember) -> None:
    """Delete the channel with its URL and the log of what was sent to it."""
    db.changed(sa.delete(NoticeDelivery).where(NoticeDelivery.channel_id == channel.id))
    _audit(channel, "notices.channel_removed", by=by)
    db.session.delete(channel)
    db.session.flush()


def _audit(channel: NoticeChannel, action: str, *, by: TeamMember | None, **more: object) -> None:
    details = {"service": channel.service.value, "flow": channel.flow_id, **more}
    if action in {"notices.channel_added", "notices.channel_changed"}:
        details |= {"kinds": list(channel.kinds), "names": channel.with_names, "scores": channel.with_scores}
    known = {key: value for key, value in details.items() if value is not None}
    organization = db.session.get_one(Organization, channel.organization_id)
    write_audit(organization, action=action, subject=channel.id, by=by, details=known)
