"""Works out who gets a notice, and mails members: at once, or once a day. Rows and letters are in one transaction."""

from dataclasses import asdict, dataclass
from datetime import timedelta

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.core import claims, clock, queue
from app.core.db import db
from app.core.errors import Rejected
from app.mail_outbox import actions as mail_outbox
from app.review.notices import SEND_NOTICES, queries, words
from app.review.notices.models import Notice, NoticeDelivery, NoticeKind, NoticePreference, NoticeState, Pace
from app.review.notices.queries import Wanted
from app.review.notices.schedule import next_digest, time_zones

MAIL_LASTS = timedelta(days=2)
"""A mail that could not be sent within this time is given up: its news is old."""

NEWS_FOR = timedelta(days=3)
"""What waited longer for a mail server is not in the mail."""


@dataclass(frozen=True, slots=True)
class Post:
    """Settings of the installation that notices need."""

    app_url: str
    can_mail: bool


def spread(notice_id: str, post: Post) -> int:
    """Write a row for each destination of the notice, and the mails that are sent at once. Returns how many rows.

    The conditional update decides between two workers. Without a mail server, mail waits until there is one.
    """
    mine = sa.update(Notice).where(Notice.id == notice_id, Notice.spread_at.is_(None)).values(spread_at=clock.now())
    if not db.changed(mine):
        return 0
    notice = db.session.get_one(Notice, notice_id, populate_existing=True)
    if not queries.is_news(notice) or queries.organization_of(notice).disabled_at is not None:
        return 0
    channels = queries.channels_for(notice)
    for channel in channels:
        db.session.add(_row(notice, channel_id=channel.id))
    if channels:
        queue.after_commit(SEND_NOTICES)
    members = queries.members_for(notice)
    for member, wanted in members:
        db.session.add(_for_member(notice, member, wanted, post=post))
    db.session.flush()
    return len(channels) + len(members)


def _row(notice: Notice, *, channel_id: str | None = None, member_id: str | None = None) -> NoticeDelivery:
    now = clock.now()
    return NoticeDelivery(
        organization_id=notice.organization_id,
        notice_id=notice.id,
        channel_id=channel_id,
        member_id=member_id,
        created_at=now,
        due_at=now,
    )


def _for_member(notice: Notice, member: TeamMember, wanted: Wanted, *, post: Post) -> NoticeDelivery:
    delivery = _row(notice, member_id=member.id)
    if wanted.pace(notice.kind) is Pace.DAILY:
        delivery.due_at = next_digest(clock.now(), hour=wanted.hour, time_zone=wanted.time_zone)
        return delivery
    if not post.can_mail:
        return delivery  # due, so the first daily mail has it
    message = queries.message_of(notice, wanted.shows, app_url=post.app_url, member=member)
    mail = words.mail(message, member, app_url=post.app_url)
    delivery.letter_id = mail_outbox.post(None, mail, lasts=MAIL_LASTS).id
    delivery.state, delivery.finished_at = NoticeState.SENT, clock.now()
    return delivery


def digest(member_id: str, post: Post) -> int:
    """Post the member's daily mail about all that is due. Nothing is mailed if nothing is left to say.

    Returns how many notices it has. Of two workers only one changes the rows, and so posts the mail.
    """
    if not post.can_mail:
        return 0
    waits = (
        NoticeDelivery.member_id == member_id,
        NoticeDelivery.state == NoticeState.WAITING,
        NoticeDelivery.due_at <= claims.moment(),
    )
    taken = sa.update(NoticeDelivery).where(*waits).values(state=NoticeState.SENT, finished_at=clock.now())
    ids = [row.id for row in db.changed_rows(taken.returning(NoticeDelivery.id))]
    member = db.session.get_one(TeamMember, member_id)
    if member.organization.disabled_at is not None:
        _settle(ids, state=NoticeState.DROPPED)
        return 0
    wanted = queries.wanted_by(member)
    oldest = clock.now() - NEWS_FOR
    recent = [notice for notice in queries.notices_of(ids) if notice.created_at > oldest]
    notices = [notice for notice in recent if queries.still_gets(member, notice)]
    items = [(one, queries.message_of(one, wanted.shows, app_url=post.app_url, member=member)) for one in notices]
    kept = {notice.id for notice in notices}
    chosen = sa.select(NoticeDelivery.id).where(NoticeDelivery.id.in_(ids))
    _settle(list(db.session.scalars(chosen.where(NoticeDelivery.notice_id.not_in(kept)))), state=NoticeState.DROPPED)
    if items:
        letter = mail_outbox.post(None, words.digest(items, member, app_url=post.app_url), lasts=MAIL_LASTS)
        _settle(list(db.session.scalars(chosen.where(NoticeDelivery.notice_id.in_(kept)))), letter_id=letter.id)
    return len(items)


def _settle(ids: list[str], **values: object) -> None:
    db.changed(sa.update(NoticeDelivery).where(NoticeDelivery.id.in_(ids)).values(**values))
    db.session.expire_all()


def set_preference(member: TeamMember, wanted: Wanted) -> None:
    """Store what the member wants by mail. What waits for the daily mail is due at the new hour, or dropped.

    Raises Rejected with the field.
    """
    if not 0 <= wanted.hour <= 23:
        raise Rejected("Choose an hour from 0 to 23.", field="hour")
    if wanted.time_zone not in time_zones():
        raise Rejected("Choose a time zone from the list.", field="time_zone")
    row = db.session.get(NoticePreference, member.id) or NoticePreference(member_id=member.id)
    for name, value in asdict(wanted).items():
        setattr(row, name, value)
    row.changed_at = clock.now()
    db.session.add(row)
    db.session.flush()
    waiting = (NoticeDelivery.member_id == member.id, NoticeDelivery.state == NoticeState.WAITING)
    due_at = next_digest(clock.now(), hour=wanted.hour, time_zone=wanted.time_zone)
    db.changed(sa.update(NoticeDelivery).where(*waiting).values(due_at=due_at))
    unwanted = [kind for kind in NoticeKind if wanted.pace(kind) is Pace.OFF]
    of_kind = NoticeDelivery.notice_id.in_(sa.select(Notice.id).where(Notice.kind.in_(unwanted)))
    db.changed(sa.update(NoticeDelivery).where(*waiting, of_kind).values(state=NoticeState.DROPPED))
