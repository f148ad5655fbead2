"""An organization with results, channels and members who get mail."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import queue
from app.core.db import db
from app.flows.models import InterviewFlow
from app.gateways.outbound import Outbound, SendLimits
from app.review.notices import SPREAD_NOTICE, actions, jobs
from app.review.notices.models import Notice, NoticeChannel, NoticeDelivery, NoticeKind, NoticeState, Service
from app.review.notices.queries import Wanted
from tests.interviews.conftest import book, completed, scripted, submitted  # noqa: F401 - fixtures
from tests.outbound.receiver import Receiver
from tests.people import Person

from .services import SERVICES

EVERY_KIND = tuple(NoticeKind)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def quick(app: Flask) -> Iterator[None]:
    """Calls to channels give up after a moment."""
    kept = app.extensions["parley.gateways"]
    limits = SendLimits(connect=0.5, total=0.6, body=0.2)
    app.extensions["parley.gateways"] = replace(kept, http=Outbound(app.extensions["parley.settings"], limits=limits))
    yield
    app.extensions["parley.gateways"] = kept


@pytest.fixture
def channel(owner: Person, receiver: Receiver) -> Callable[..., NoticeChannel]:
    """``channel(service="slack", flow=None, **choices)``: one of the owner's organization, at the receiver."""

    def make(service: str = "slack", flow: InterviewFlow | None = None, **choices: Any) -> NoticeChannel:
        receiver.script = SERVICES[service]
        given = {"name": "#hiring", "kinds": EVERY_KIND, "address": receiver.url, **choices}
        by = given.pop("by", owner).member
        made = actions.add(flow, actions.Choices(service=Service(service), **given), check=lambda url: None, by=by)
        db.session.commit()
        return made

    return make


def wants(person: Person, **choices: Any) -> None:
    """The member gets mail like this from now on."""
    actions.set_preference(person.member, Wanted(**choices))
    db.session.commit()


def spread() -> int:
    """Work out the destinations of every new notice, as the worker does; returns how many notices there were."""
    waiting = queue.overdue(SPREAD_NOTICE)
    for (notice_id,) in waiting:
        jobs.spread(notice_id)
    return len(waiting)


def deliveries() -> list[NoticeDelivery]:
    """Every delivery as it is in the database, the oldest first."""
    db.session.rollback()
    ordered = sa.select(NoticeDelivery).order_by(NoticeDelivery.created_at, NoticeDelivery.id)
    return list(db.session.scalars(ordered.execution_options(populate_existing=True)))


def states() -> list[NoticeState]:
    return [delivery.state for delivery in deliveries()]


def notices() -> list[Notice]:
    return list(db.session.scalars(sa.select(Notice).order_by(Notice.created_at)))
