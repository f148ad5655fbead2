"""Interviews at every stage, and applications with scripted engines."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.core import clock
from app.core.db import db
from app.flows.models import InterviewFlow
from app.gateways import Gateways
from app.interviews import actions
from app.interviews.models import Feedback, Interview, InterviewData, Role, Utterance
from tests.factories import Made, a_flow
from tests.people import Person

from .fakes import ScriptedAnalyst, ScriptedTranscriber

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
SAID = (
    (Role.AGENT, 0, "Why do you want this job?"),
    (Role.USER, 0, "Because I like to help people."),
    (Role.AGENT, 1, "Tell me about your last team."),
    (Role.USER, 1, "We were five and we laughed a lot."),
)


@pytest.fixture
def book(owner: Person, make_flow: Made) -> Made:
    """``book(flow=None, **values)``: an interview as ``/v1`` books it, committed."""

    def make(flow: InterviewFlow | None = None, **values: Any) -> Interview:
        found = flow or make_flow()
        given = {"email": "mary@candidate.example", "first_name": "Mary", "last_name": "Hall", **values}
        interview = actions.book(owner.organization, found.id, **given)
        db.session.commit()
        return interview

    return make


def say(interview: Interview, said: Any = SAID) -> None:
    """Write down a talk that was typed."""
    for number, (role, question, content) in enumerate(said, 1):
        db.session.add(
            Utterance(
                interview_id=interview.id,
                number=number,
                role=role,
                question_index=question,
                content=content,
                typed=role is Role.USER,
            )
        )


@pytest.fixture
def submitted(book: Made) -> Callable[..., Interview]:
    """``submitted(flow=None, said=SAID, **values)``: a text interview that has been handed in."""

    def make(flow: InterviewFlow | None = None, said: Any = SAID, **values: Any) -> Interview:
        interview: Interview = book(flow, **values)
        actions.begin(interview)
        say(interview, said)
        actions.submit(interview)
        db.session.commit()
        return interview

    return make


def later(**delta: int) -> AbstractContextManager[None]:
    """Live on some minutes or seconds from now."""
    then = clock.now() + timedelta(**delta)
    return clock.replaced(lambda: then)


@contextmanager
def engines_of(app: Flask, **parts: Any) -> Iterator[Gateways]:
    """Run the application with some of its gateways replaced."""
    before: Gateways = app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(before, **parts)
    try:
        yield app.extensions["parley.gateways"]
    finally:
        app.extensions["parley.gateways"] = before


@pytest.fixture
def scripted(app: Flask) -> Iterator[ScriptedAnalyst]:
    """Scripted recogniser and analyst in place of the embedded ones."""
    analyst = ScriptedAnalyst()
    with engines_of(app, transcriber=ScriptedTranscriber(), analyst=analyst):
        yield analyst


@pytest.fixture
def completed(app: Flask, submitted: Callable[..., Interview], scripted: ScriptedAnalyst) -> Callable[..., Interview]:
    """``completed(flow=None, said=SAID, **values)``: a text interview with its result."""
    from app.interviews.jobs.processing import process_interview

    def make(flow: InterviewFlow | None = None, said: Any = SAID, **values: Any) -> Interview:
        interview = submitted(flow, said, **values)
        process_interview(interview.id)
        return db.session.get_one(Interview, interview.id, populate_existing=True)

    return make


@pytest.fixture
def foreign_flow(outsider: Person) -> InterviewFlow:
    return a_flow(outsider, title="Secret flow")


@pytest.fixture
def flow(make_flow: Made) -> InterviewFlow:
    made: InterviewFlow = make_flow(title="=Nurse", questions=["Why?", "How?", "When?"])
    return made


@pytest.fixture
def past(book: Made, flow: InterviewFlow) -> Made:
    """``past(begun=…, minutes=…, ready=…, answered=…)``: an interview booked on a day in March, as it went then."""
    booked = 0

    def make(
        *,
        at: datetime = NOON,
        of: InterviewFlow | None = None,
        begun: bool = True,
        minutes: float | None = None,
        ready: float | None = None,
        answered: int = 0,
        rating: int | None = None,
        **columns: Any,
    ) -> Interview:
        nonlocal booked
        booked += 1
        interview: Interview = book(of or flow, email=f"someone{booked}@candidate.example")
        interview.created_at = at
        interview.started_at = at + timedelta(hours=2) if begun else None
        if interview.started_at and minutes is not None:
            interview.submitted_at = interview.started_at + timedelta(minutes=minutes)
        if interview.submitted_at and ready is not None:
            interview.completed_at = interview.submitted_at + timedelta(seconds=ready)
        for name, value in columns.items():
            setattr(interview, name, value)
        for place in range(answered):
            for number, role in ((3 * place, Role.AGENT), (3 * place + 1, Role.USER), (3 * place + 2, Role.USER)):
                db.session.add(
                    Utterance(
                        interview_id=interview.id, number=number, role=role, question_index=place, content="Words."
                    )
                )
        if rating:
            db.session.add(Feedback(interview_id=interview.id, rating=rating))
        db.session.commit()
        return interview

    return make


def result(interview: Interview, scores: dict[str, float | None] | None, summary: str | None = None) -> None:
    """The result of an interview, as far as it is counted."""
    sized = {f"{part}_{of}": 0 for part in ("text", "details") for of in ("length", "crc32")}
    db.session.add(
        InterviewData(interview_id=interview.id, text=b"", details=b"", scores=scores, summary=summary, **sized)
    )
