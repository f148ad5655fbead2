"""Stopped jobs of one organization, and why they stopped: rows that wait for a person or for work that does not happen.

Rows hold the truth about work. The queues come second (``owned_runs``), and only the organization's own runs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import AddressChange, EntryLink, TeamMember
from app.core import clock
from app.core.claims import moment
from app.core.db import db
from app.core.queue import Failed
from app.core.rooms import Job
from app.flows import PREPARE_SPEECH
from app.flows.models import FlowStatus, InterviewFlow, SpeechState
from app.interviews import PROCESS_INTERVIEW, PROCESS_VIDEO, pending
from app.interviews.documents import READ_DOCUMENT
from app.interviews.documents.models import Document, TextState
from app.interviews.models import IN_WORK, Interview, Stage, VideoStage
from app.interviews.pending import TOO_LONG
from app.interviews.recordings.models import Recording, Revocation
from app.mail_outbox import SEND_MAIL
from app.mail_outbox.actions import CANCELLED, NOT_NEEDED
from app.mail_outbox.models import QueuedMail, QueuedMailState
from app.outreach.messages.models import PersonalMessage
from app.outreach.models import Message, Step
from app.webhooks.models import Delivery, DeliveryState, Endpoint

MOST = 100
"""Rows of each kind on a page. More appear once these are dealt with."""
LOOKED_BACK = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Backlog:
    """Work in progress: its kind, how much, and since when the oldest is due."""

    kind: str
    count: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Unsent:
    """A mail that was not sent, or not yet.

    It is about an interview (``step`` is None for a message, a code or a note), or it is a member's link to a password
    or address.
    """

    letter: QueuedMail
    interview_id: str | None = None
    step: Step | None = None
    member: TeamMember | None = None
    is_address: bool = False
    is_message: bool = False


def interviews(organization_id: str, *, limit: int = MOST) -> Sequence[Interview]:
    """Stuck interviews with their flows, the oldest first."""
    mine = sa.select(Interview).where(Interview.organization_id == organization_id, pending.stuck())
    return db.session.scalars(mine.options(joinedload(Interview.flow)).order_by(Interview.org_seq).limit(limit)).all()


def documents(organization_id: str, *, limit: int = MOST) -> Sequence[tuple[Document, Interview]]:
    """Documents whose text could not be read, with their interviews."""
    rows = db.session.execute(
        sa.select(Document, Interview)
        .join(Interview, Interview.id == Document.interview_id)
        .where(*_kept(organization_id), Document.text_state == TextState.FAILED)
        .order_by(Document.created_at)
        .limit(limit)
    )
    return [(row[0], row[1]) for row in rows]


def mails(organization_id: str, *, limit: int = MOST) -> list[Unsent]:
    """Mails of the last 30 days that failed or are overdue, except those that were sent again since."""
    since = clock.now() - LOOKED_BACK
    later = sa.orm.aliased(QueuedMail)
    is_invitation = sa.exists().where(sa.orm.aliased(Message).letter_id == later.id)  # not a colleague's mail
    sent_since = sa.exists().where(
        later.interview_id == QueuedMail.interview_id,
        later.state == QueuedMailState.SENT,
        later.created_at > QueuedMail.created_at,
        PersonalMessage.id.is_(None),
        Message.id.is_(None) | is_invitation,
    )
    about = (
        sa.select(QueuedMail, Message.step, PersonalMessage.id)
        .join(Interview, Interview.id == QueuedMail.interview_id)
        .outerjoin(Message, Message.letter_id == QueuedMail.id)
        .outerjoin(PersonalMessage, PersonalMessage.letter_id == QueuedMail.id)
        .where(*_kept(organization_id), _not_sent(since), ~sent_since)
        .order_by(QueuedMail.created_at.desc(), QueuedMail.id)
    )
    unsent = [
        Unsent(row[0], row[0].interview_id, row[1], is_message=row[2] is not None)
        for row in db.session.execute(about.limit(limit))
    ]
    for link in (EntryLink, AddressChange):
        to_members = (
            sa.select(QueuedMail, TeamMember)
            .join(link, link.letter_id == QueuedMail.id)
            .join(TeamMember, TeamMember.id == link.member_id)
            .where(TeamMember.organization_id == organization_id, link.ended_at.is_(None), _not_sent(since))
            .order_by(QueuedMail.created_at.desc(), QueuedMail.id)
            .limit(limit)
        )
        is_address = link is AddressChange
        unsent += [Unsent(row[0], member=row[1], is_address=is_address) for row in db.session.execute(to_members)]
    return sorted(unsent, key=lambda one: one.letter.created_at, reverse=True)[:limit]


def recordings(organization_id: str, *, limit: int = MOST) -> list[tuple[str, str, datetime]]:
    """(interview, what, since): files that are damaged, and revoked recordings whose bytes are still there."""
    damaged = sa.select(Recording.interview_id, Recording.media, Recording.damaged_at).where(
        Recording.organization_id == organization_id, Recording.damaged_at.is_not(None)
    )
    left = (
        sa.select(Revocation.interview_id, Revocation.revoked_at)
        .join(Interview, Interview.id == Revocation.interview_id)
        .where(
            Interview.organization_id == organization_id,
            Revocation.deleted_at.is_(None),
            Revocation.revoked_at < clock.now() - TOO_LONG,
        )
    )
    affected: list[tuple[str, str, datetime]] = []
    affected += [(row[0], row[1].value, row[2] or clock.now()) for row in db.session.execute(damaged.limit(limit))]
    affected += [(row[0], "revoked", row[1]) for row in db.session.execute(left.limit(limit))]
    return sorted(affected, key=lambda one: one[2])


def voices(organization_id: str, *, limit: int = MOST) -> Sequence[InterviewFlow]:
    """Flows whose questions could not be spoken in advance."""
    failed = sa.select(InterviewFlow).where(
        InterviewFlow.organization_id == organization_id,
        InterviewFlow.speech_state == SpeechState.FAILED,
        InterviewFlow.status != FlowStatus.ARCHIVED,
    )
    return db.session.scalars(failed.order_by(InterviewFlow.created_at).limit(limit)).all()


def backlog(organization_id: str) -> list[Backlog]:
    """Work in progress in this organization, by kind, read from the rows."""
    mine = Interview.organization_id == organization_id
    talk = sa.and_(IN_WORK, Interview.stage.in_((Stage.SUBMITTED, Stage.PROCESSING)))
    film = sa.and_(IN_WORK, Interview.stage == Stage.COMPLETED) & Interview.video_stage.in_(
        (VideoStage.WAITING, VideoStage.PROCESSING)
    )
    unread = Document.text_state.in_((TextState.PENDING, TextState.READING))
    unsent = QueuedMail.state.in_((QueuedMailState.WAITING, QueuedMailState.SENDING))
    spoken = InterviewFlow.speech_state.in_((SpeechState.PENDING, SpeechState.PREPARING))
    due = (Delivery.state == DeliveryState.SENDING) | (
        (Delivery.state == DeliveryState.PENDING) & (Delivery.due_at <= moment())
    )
    counts = {
        "interviews": _counted(Interview.due_at, Interview).where(mine, talk),
        "videos": _counted(Interview.due_at, Interview).where(mine, film),
        "documents": _counted(Document.created_at, Document).join(Interview).where(mine, unread),
        "mails": _counted(QueuedMail.created_at, QueuedMail).join(Interview).where(mine, unsent),
        "webhooks": _counted(Delivery.due_at, Delivery)
        .join(Endpoint)
        .where(Endpoint.organization_id == organization_id, Endpoint.disabled_at.is_(None), due),
        "voices": _counted(InterviewFlow.created_at, InterviewFlow).where(
            InterviewFlow.organization_id == organization_id, spoken, InterviewFlow.status != FlowStatus.ARCHIVED
        ),
    }
    rows = {kind: db.session.execute(statement).one() for kind, statement in counts.items()}
    return [Backlog(kind, count, oldest) for kind, (count, oldest) in rows.items()]


def owned_runs(organization_id: str, runs: Iterable[Failed]) -> list[tuple[Failed, str, str]]:
    """Of runs that the queues gave up, those of this organization: (run, kind of page, id of the page)."""
    mine = list(runs)
    ids = sorted({one for run in mine for one in run.ids})
    interview = sa.select(Interview.id).where(Interview.organization_id == organization_id)
    owned = {
        PROCESS_INTERVIEW: sa.select(Interview.id, Interview.id).where(Interview.id.in_(interview)),
        PREPARE_SPEECH: sa.select(InterviewFlow.id, InterviewFlow.id).where(
            InterviewFlow.organization_id == organization_id
        ),
        READ_DOCUMENT: sa.select(Document.id, Document.interview_id).where(Document.interview_id.in_(interview)),
        SEND_MAIL: sa.select(QueuedMail.id, QueuedMail.interview_id).where(QueuedMail.interview_id.in_(interview)),
    }
    pages: dict[Job, dict[str, str]] = {}
    for job, statement in owned.items():
        key: Any = statement.selected_columns[0]
        jobs = {PROCESS_INTERVIEW, PROCESS_VIDEO} if job is PROCESS_INTERVIEW else {job}
        if any(run.job in jobs for run in mine):
            page_ids = {row[0]: str(row[1]) for row in db.session.execute(statement.where(key.in_(ids)))}
            pages.update(dict.fromkeys(jobs, page_ids))
    places = [(run, pages.get(run.job, {}).get(run.ids[0]) if run.ids else None) for run in mine]
    return [(run, "flow" if run.job is PREPARE_SPEECH else "interview", place) for run, place in places if place]


def _kept(organization_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        Interview.organization_id == organization_id,
        Interview.withdrawn_at.is_(None),
        Interview.erased_at.is_(None),
        Interview.quarantined_at.is_(None),
    )


def _not_sent(since: datetime) -> sa.ColumnElement[bool]:
    over = QueuedMail.state.in_((QueuedMailState.REFUSED, QueuedMailState.EXPIRED, QueuedMailState.LOST))
    needed = sa.func.coalesce(QueuedMail.failure, "").not_in((NOT_NEEDED, CANCELLED))
    overdue = (QueuedMail.state == QueuedMailState.WAITING) & (QueuedMail.created_at < clock.now() - TOO_LONG)
    return (over & needed & (QueuedMail.settled_at > since)) | overdue


def _counted(oldest: Any, table: Any) -> sa.Select[Any]:
    return sa.select(sa.func.count(), sa.func.min(oldest)).select_from(table)
