"""Hands out what Slack and Teams get, one claim each, and records the outcomes."""

from dataclasses import dataclass, replace
from datetime import timedelta

from app.accounts.actions import mail_administrators
from app.core import claims, clock, encryption
from app.core.db import db
from app.flows.models import Right
from app.flows.queries import may
from app.mail_outbox import actions as mail_outbox
from app.review.notices import queries, schedule, words
from app.review.notices.actions.channels import address_of, reached, switch
from app.review.notices.actions.spreading import MAIL_LASTS, Post
from app.review.notices.delivery import BODIES, Outcome
from app.review.notices.models import NoticeChannel, NoticeDelivery, NoticeState, SwitchedOff
from app.review.notices.words import Shows
from app.webhooks.schedule import wanted_delay

LEASE = timedelta(minutes=2)
"""Longer than an attempt can take, including all timeouts."""
TOO_OLD = "The notice was not accepted within a day, so Parley stopped trying."


@dataclass(frozen=True, slots=True)
class Ready:
    """One notice to send: plain values."""

    delivery_id: str
    token: int
    service: str
    address: str
    body: bytes


def take(post: Post) -> list[Ready]:
    """Claim what is due, at most one notice for each channel. The caller commits before it sends."""
    return [ready for delivery_id in queries.sendable() if (ready := _taken(delivery_id, post)) is not None]


def _taken(delivery_id: str, post: Post) -> Ready | None:
    token = claims.take(
        NoticeDelivery.state,
        delivery_id,
        expects=[NoticeState.WAITING],
        becomes=NoticeState.SENDING,
        lease=LEASE,
    )
    if token is None:
        return None
    delivery = db.session.get_one(NoticeDelivery, delivery_id, populate_existing=True)
    channel = db.session.get_one(NoticeChannel, str(delivery.channel_id))
    if delivery.recoveries:  # its worker died: it may have arrived, so sending it again could bring it twice
        _finish(delivery_id, token, state=NoticeState.LOST)
    elif delivery.created_at < clock.now() - schedule.NEWS_FOR:
        _finish(delivery_id, token, state=NoticeState.FAILED, failure=delivery.failure or TOO_OLD)
    elif not queries.is_news(delivery.notice):
        _finish(delivery_id, token, state=NoticeState.DROPPED)
    else:
        return _ready(delivery, channel, token=token, post=post)
    return None


def _ready(delivery: NoticeDelivery, channel: NoticeChannel, *, token: int, post: Post) -> Ready | None:
    try:
        address = address_of(channel)
    except encryption.SealBroken:
        channel.failure = "The URL cannot be read, because SECRET_KEY has changed. Enter it again."
        channel.failing_since = channel.failing_since or clock.now()
        _finish(delivery.id, token, state=NoticeState.FAILED, failure=channel.failure)
        return None
    shows = Shows(channel.with_names, channel.with_scores)
    message = queries.message_of(delivery.notice, shows, app_url=post.app_url)
    return Ready(delivery.id, token, channel.service.value, address, BODIES[channel.service.value](message))


def _finish(delivery_id: str, token: int, *, state: NoticeState, failure: str | None = None, attempts: int = 0) -> bool:
    return claims.finish(
        NoticeDelivery,
        delivery_id,
        token,
        state=state,
        failure=failure,
        finished_at=clock.now(),
        attempts=NoticeDelivery.attempts + attempts,
    )


def record(ready: Ready, outcome: Outcome, post: Post) -> None:
    """Record the outcome of an attempt, unless the claim was lost meanwhile or the notice was erased."""
    delivery = db.session.get(NoticeDelivery, ready.delivery_id, populate_existing=True)
    if delivery is None or delivery.channel is None:
        return
    channel_id = delivery.channel.id
    if not outcome.failure:
        if _finish(ready.delivery_id, ready.token, state=NoticeState.SENT, attempts=1):
            reached(db.session.get_one(NoticeChannel, channel_id))
    elif outcome.is_gone:
        if _finish(ready.delivery_id, ready.token, state=NoticeState.FAILED, failure=outcome.failure, attempts=1):
            _gone(db.session.get_one(NoticeChannel, channel_id), outcome, post)
    else:
        _failed(delivery, channel_id, ready=ready, outcome=outcome)
    db.session.flush()


def _failed(delivery: NoticeDelivery, channel_id: str, *, ready: Ready, outcome: Outcome) -> None:
    """Put the notice off, or give it up. Later notices to the channel wait meanwhile, so that order is kept."""
    now = clock.now()
    wanted = wanted_delay(outcome.retry_after, now=now)
    delay = schedule.next_delay(delivery.attempts + 1, wanted=wanted)
    if delay is None or now + delay > delivery.created_at + schedule.NEWS_FOR:
        is_mine = _finish(ready.delivery_id, ready.token, state=NoticeState.FAILED, failure=outcome.failure, attempts=1)
        pause = schedule.DELAYS[0]
    else:
        is_mine = claims.finish(
            NoticeDelivery,
            ready.delivery_id,
            ready.token,
            state=NoticeState.WAITING,
            due_at=claims.moment(delay),
            failure=outcome.failure,
            attempts=NoticeDelivery.attempts + 1,
        )
        pause = delay
    if is_mine:
        channel = db.session.get_one(NoticeChannel, channel_id)
        channel.failing_since = channel.failing_since or now
        channel.failure, channel.not_before = outcome.failure, now + pause


def _gone(channel: NoticeChannel, outcome: Outcome, post: Post) -> None:
    """Switch the channel off, and mail the member who added it; the administrators if that member is gone."""
    channel.failure, channel.failing_since = outcome.failure, channel.failing_since or clock.now()
    switch(channel, on=False, by=None, because=SwitchedOff.GONE)
    if not post.can_mail:
        return
    mail = words.gone(channel, outcome.failure, app_url=post.app_url)
    owner = channel.created_by
    is_there = owner.disabled_at is None and (channel.flow is None or may(owner, channel.flow, Right.EDIT))
    if is_there:
        sender = words.clean(owner.organization.name)
        mail_outbox.post(None, replace(mail, to=owner.email, sender=sender), lasts=MAIL_LASTS)
    else:
        mail_administrators(owner.organization, mail, lasts=MAIL_LASTS)
