"""A post office: an application with a database of its own, a clock that can be moved, and quick limits."""

import shutil
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app import create_app
from app.accounts.models import Organization, Role, Team, TeamMember
from app.core import clock, encryption
from app.core.db import Base, db, new_id
from app.core.queue import SilentWaker
from app.flows.models import InterviewFlow
from app.flows.queries import secret_context
from app.gateways import Gateways
from app.gateways.outbound import Outbound, SendLimits
from app.settings import Settings
from app.webhooks import actions, jobs
from app.webhooks.models import Attempt, Delivery, Endpoint
from tests.conftest import GIVEN_URL, postgresql_database
from tests.outbound.receiver import Receiver

TRUSTED = ssl.create_default_context()
QUICK = SendLimits(connect=0.5, total=0.6, body=0.2)


def status_updated(
    flow: InterviewFlow, *, email: str = "someone@example.com", statuses: tuple[str, str] = ("invited", "rejected")
) -> dict[str, Any]:
    """The payload of a candidate's move from one of the ``statuses`` to the other."""
    return {
        "event_type": "candidate_status_updated",
        "interview_flow_id": flow.id,
        "interview_flow_name": flow.title,
        "interviewee_email": email,
        "previous_status": statuses[0],
        "new_status": statuses[1],
    }


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **parts: float) -> None:
        self.now += timedelta(**parts)


class Office:
    """What most tests do with webhooks. Every step commits."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.organization, self.member = self.found("First")

    def found(self, name: str) -> tuple[Organization, TeamMember]:
        """An organization with a team and an administrator."""
        organization = Organization(name=name)
        db.session.add(organization)
        db.session.flush()
        db.session.add(Team(organization_id=organization.id, name="Hiring"))
        member = TeamMember(organization_id=organization.id, email=f"{name}@example.com".lower(), role=Role.ADMIN)
        db.session.add(member)
        db.session.commit()
        return organization, member

    def flow(self, url: str | None, *, secret: str | None = None, of: Organization | None = None) -> InterviewFlow:
        organization = of or self.organization
        team = db.session.scalars(sa.select(Team).where(Team.organization_id == organization.id)).one()
        flow = InterviewFlow(
            id=new_id(),
            organization_id=organization.id,
            team_id=team.id,
            org_name="First Ltd",
            title="Nurse",
            questions=["Why?"],
            webhook_url=url,
        )
        db.session.add(flow)
        self.set_secret(flow, secret)
        return flow

    def set_secret(self, flow: InterviewFlow, secret: str | None) -> None:
        flow.webhook_secret_sealed = (
            None if secret is None else encryption.seal(secret, context=secret_context(flow.id))
        )
        db.session.commit()

    def processed(self, flow: InterviewFlow, subject: str | None = None, *, video: bool = False) -> str:
        """Announce that an interview, or its video, has been processed. Returns the interview's id."""
        subject = subject or new_id()
        kind = "video_processed" if video else "interview_processed"
        payload = {
            "event_type": kind,
            "interview_flow_id": flow.id,
            "interview_id": subject,
            "interview_link": f"https://parley.example.com/interviews/{subject}",
            "interview_flow_name": flow.title,
            "interviewee_email_address": None,
            "interviewee_first_name": "Zoë",
            "interviewee_last_name": None,
            "status": "completed",
        }
        actions.announce(flow, event_type=kind, payload=payload, subject=subject, sequence=2 if video else 1)
        db.session.commit()
        return subject

    def moved(self, flow: InterviewFlow, candidate: str, number: int) -> None:
        """Announce a candidate's ``number``-th change of status."""
        payload = status_updated(flow, statuses=(f"s{number - 1}", f"s{number}"))
        actions.announce(flow, event_type=payload["event_type"], payload=payload, subject=candidate, sequence=number)
        db.session.commit()

    def drain(self) -> int:
        db.session.commit()
        return jobs.drain(seconds=20)

    def deliveries(self, **by: Any) -> list[Delivery]:
        db.session.rollback()
        ordered = sa.select(Delivery).filter_by(**by).order_by(Delivery.created_at, Delivery.sequence)
        return list(db.session.scalars(ordered.execution_options(populate_existing=True)))

    def delivery(self, **by: Any) -> Delivery:
        (found,) = self.deliveries(**by)
        return found

    def states(self, **by: Any) -> list[str]:
        return [delivery.state.value for delivery in self.deliveries(**by)]

    def attempts(self) -> list[Attempt]:
        db.session.rollback()
        return list(db.session.scalars(sa.select(Attempt).order_by(Attempt.at, Attempt.number)))

    def endpoint(self) -> Endpoint:
        db.session.rollback()
        return db.session.scalars(sa.select(Endpoint).execution_options(populate_existing=True)).one()

    def limits(self, **limits: Any) -> None:
        """Send with these limits from now on."""
        built = self.app.extensions["parley.gateways"]
        client = Outbound(self.app.extensions["parley.settings"], limits=SendLimits(**limits), tls=TRUSTED)
        self.app.extensions["parley.gateways"] = replace(built, http=client)


@pytest.fixture(scope="session")
def post_office_app(
    pristine_database: str, settings: Settings, engines: Gateways, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Flask]:
    """One application with real commits for the whole room; ``office`` empties its database before each test."""
    folder = tmp_path_factory.mktemp("post_office")
    with ExitStack() as stack:
        if GIVEN_URL:
            url = stack.enter_context(postgresql_database(pristine_database))
        else:
            url = f"sqlite:///{shutil.copy(pristine_database.removeprefix('sqlite:///'), folder / 'office.db')}"
        yield create_app(replace(settings, database_url=url), gateways=engines, waker=SilentWaker())


@pytest.fixture
def office(post_office_app: Flask, engines: Gateways) -> Iterator[Office]:
    post_office_app.extensions["parley.bell"] = SilentWaker()
    post_office_app.extensions["parley.gateways"] = engines
    with post_office_app.app_context():
        for table in reversed(Base.metadata.sorted_tables):
            if table.name != "webhook_turnstile":
                db.session.execute(sa.delete(table))
        db.session.commit()
        running = Office(post_office_app)
        running.limits(connect=QUICK.connect, total=QUICK.total, body=QUICK.body)
        yield running
        db.session.remove()
        db.engine.dispose()


@pytest.fixture
def stopped() -> Iterator[Clock]:
    """The clock of the platform, under the test's control."""
    time = Clock()
    with clock.replaced(time):
        yield time


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def receivers() -> Iterator[Callable[[int], list[Receiver]]]:
    """``receivers(n)``: that many at once."""
    with ExitStack() as stack:
        yield lambda count: [stack.enter_context(Receiver()) for _ in range(count)]
