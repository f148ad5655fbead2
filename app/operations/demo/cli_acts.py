"""The acts of the demo data: each does what a person or a worker would make the product do.

An edge, like the command line that it belongs to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.accounts.models import Organization, TeamMember
from app.candidate_requests.actions import ask_afterwards
from app.candidate_requests.models import RequestKind
from app.candidates import actions as candidates
from app.conversation.jobs import sweep_sittings
from app.core.db import db
from app.interviews import actions as interviews
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Interview
from app.interviews.recordings.queries import prefix_of
from app.operations.demo.candidate import Candidate
from app.operations.demo.cast import SPOKEN, Fate, Part
from app.operations.demo.clockwork import Browser, Time
from app.operations.demo.engines import KnowingTranscriber
from app.review.notes import actions as notes
from app.review.ratings import actions as ratings
from app.review.ratings.actions import Opinion
from app.webhooks.jobs import drain
from app.webhooks.models import Delivery, DeliveryState

NOTES = {
    "shortlisted": "Good examples, invited to the second talk.",
    "accepted": "Everybody who met them agreed.",
    "rejected": "Not enough experience for this team.",
}


@dataclass
class Stage:
    """The application in which the demo is played, its engines, and the ids of its rows."""

    app: Flask
    time: Time
    transcriber: KnowingTranscriber
    speaker: Any
    tag: str
    organization_id: str = ""
    member_ids: list[str] = field(default_factory=list)
    flow_ids: dict[str, str] = field(default_factory=dict)
    interview_ids: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A separate application context: none may be open while a browser calls."""
        with self.app.app_context():
            yield
            db.session.rollback()

    def member(self, number: int) -> TeamMember:
        """The administrator (0), or a recruiter."""
        return db.session.get_one(TeamMember, self.member_ids[number])

    def interview(self, part: Part) -> Interview:
        return db.session.get_one(Interview, self.interview_ids[part.email])


def book(stage: Stage, part: Part) -> None:
    """A candidate is booked."""
    with stage.inside():
        organization = db.session.get_one(Organization, stage.organization_id)
        recruiter = None if part.recruiter is None else stage.member_ids[1 + part.recruiter]
        booked = interviews.book(
            organization,
            stage.flow_ids[part.script.title],
            email=part.email,
            first_name=part.first,
            last_name=part.last,
            recruiter_id=recruiter,
        )
        db.session.commit()
        stage.interview_ids[part.email] = booked.id


def take(stage: Stage, part: Part) -> None:
    """A candidate opens the link and gets as far as their fate says."""
    if part.fate is Fate.DECLINED:
        with stage.inside():
            interviews.decline(stage.interview(part), at=stage.time.now)
            db.session.commit()
        return
    candidate = _arrived(stage, part)
    texts = [answer.text for answer in part.answers]
    if part.fate in SPOKEN:
        spoken = iter(part.answers)
        candidate.take(lambda _prompt: _spoken(stage, part, next(spoken).text))
    elif part.fate is Fate.TEXT:
        candidate.write(texts)
    else:
        prompt = candidate.turn(candidate.state["turn"], "begin")
        if part.fate is not Fate.ABANDONED:
            candidate.turn(prompt["turn"] + 1, "text", text=texts[0])
        return
    stage.time.spend(2 + part.pace / 12)
    _process(stage, part)


def _arrived(stage: Stage, part: Part) -> Candidate:
    with stage.inside():
        link = stage.interview(part).link(stage.app.extensions["parley.settings"].app_url)
    candidate = Candidate(link, session=Browser(stage.app, stage.time, part.pace))
    candidate.open()
    stage.time.spend(80)
    candidate.start("voice" if part.fate in SPOKEN else "text")
    if part.has_document:
        text = f"{part.first} {part.last}\n\nAbout me\n{part.answers[0].says}\n{part.answers[-1].says}\n"
        candidate.ask("POST", "/documents", files={"file": (f"{part.last} CV.txt", text.encode())})
    return candidate


def _spoken(stage: Stage, part: Part, text: str) -> bytes:
    stage.time.spend(9)
    return stage.transcriber.expect(text, stage.speaker.speak(text, voice_id=part.voice, language=part.script.language))


def _process(stage: Stage, part: Part) -> None:
    with stage.inside():
        interview_id = stage.interview_ids[part.email]
        if part.fate is Fate.FAILED:  # as if a disk had changed a piece of the recording
            storage = gateways.current().storage
            storage.put(next(key for key in storage.list(prefix_of(interview_id)) if "/mix/" in key), b"something else")
        db.session.rollback()
        process_interview(interview_id)
        if part.rating is not None and part.fate is not Fate.FAILED:
            interviews.rate(stage.interview(part), rating=part.rating, comment=part.comment)
            db.session.commit()
        _send(stage)


def _send(stage: Stage) -> None:
    """Send everything, so that no worker has to afterwards: every second attempt succeeds."""
    waiting = sa.select(sa.exists().where(Delivery.state == DeliveryState.PENDING))
    for pause in (20, 400, 2400):
        drain()
        if not db.session.scalar(waiting):
            return
        db.session.rollback()
        stage.time.spend(pause)
    drain()


def left(stage: Stage, part: Part) -> None:
    """A day after a candidate closed the page."""
    with stage.inside():
        sweep_sittings(watched_for=0)
        if part.fate is Fate.LEFT:
            process_interview(stage.interview_ids[part.email])


def ask(stage: Stage, part: Part, kind: RequestKind, *, words: str | None = None) -> None:
    """A candidate makes a request on their own page."""
    with stage.inside():
        ask_afterwards(stage.interview(part), kind, words)
        db.session.commit()


def judge(stage: Stage, part: Part) -> None:
    """A recruiter reviews the result: tags, ratings and a decision."""
    with stage.inside():
        interview, by = stage.interview(part), stage.member(1 + (part.recruiter or 0))
        candidate = interview.candidate
        if candidate is None or part.verdict is None:
            return
        for tag in part.tags:
            candidates.tag(candidate, tag)
        candidates.move(
            candidate,
            "shortlisted" if part.verdict == "accepted" else part.verdict,
            by=by,
            note=NOTES["shortlisted" if part.verdict == "accepted" else part.verdict],
        )
        if part.verdict == "shortlisted":
            words = f"@{stage.member(0).full_name} please have a look at the second answer."
            notes.write(interview, words, by=by, mail_for=None)
        db.session.commit()
        value = round(part.value * 2) / 2
        ratings.assess(interview, {"overall": Opinion(value, "Heard all of it; the examples count most.")}, by=by)
        db.session.commit()
        if part.verdict == "accepted":
            stage.time.spend(7200)
            candidates.move(candidate, "accepted", by=stage.member(0), note=NOTES["accepted"])
            db.session.commit()
        _send(stage)
