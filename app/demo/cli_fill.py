"""Plays the demo data: all are booked, talk, are processed and judged, by the product's own code, in order of time.

An edge, like the command line that it belongs to. It works on a database and storage of its own (``cli_keep`` takes
them over), with a clock that it sets itself: what takes months is done in a minute.
"""

import io
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from flask import Flask

from app import clock, create_app, gateways
from app.accounts import actions as accounts
from app.accounts import passwords
from app.accounts.models import Organization, Role, Team, TeamMember
from app.candidates import actions as candidates
from app.db import db
from app.demo.candidate import Candidate
from app.demo.cast import SPOKEN, Fate, Part
from app.demo.content import Script
from app.demo.engines import KnowingAnalyst, KnowingTranscriber, Receiver
from app.flows import actions as flows
from app.flows.jobs import prepare_speech
from app.flows.media import Kept
from app.flows.models import InterviewFlow, InterviewType
from app.interviews import actions as interviews
from app.interviews.jobs import process_interview
from app.interviews.models import Interview
from app.portal import actions as portal
from app.queue import SilentBell
from app.recordings.queries import prefix_of
from app.reviews import actions as reviews
from app.reviews.actions import Opinion
from app.settings import Settings
from app.voice.jobs import sweep_sittings
from app.webhooks.jobs import drain
from app.wishes.models import WishKind

NAME = "Demo data (Northwind)"
FILLED = "organization.demo_filled"
HOOK = "https://ats.example/hooks/parley"
"""Reserved for examples: leads nowhere, now and later."""
NOTES = {
    "shortlisted": "Good examples, invited to the second talk.", "accepted": "Everybody who met them agreed.",
    "rejected": "Not enough experience for this team.",
}  # fmt: skip
AWAY = timedelta(hours=25)


@dataclass
class Time:
    """The demo's own clock: it only goes forward."""

    now: datetime

    def at(self, moment: datetime) -> None:
        """Go on to ``moment``, if that lies ahead."""
        self.now = max(self.now, moment)

    def spend(self, seconds: float) -> None:
        """Let seconds pass."""
        self.now += timedelta(seconds=seconds)


class Browser:
    """A candidate's browser inside of this process, in which time passes as somebody thinks and speaks."""

    def __init__(self, app: Flask, time: Time) -> None:
        self._client, self._time = app.test_client(), time
        self._base = app.extensions["parley.settings"].app_url

    def request(self, method: str, url: str, **given: Any) -> Any:
        """As ``requests.Session``, as far as ``Candidate`` needs it."""
        parts = urlsplit(url)
        self._time.spend(0.5 if "track=voice" in parts.query else 7.0 if "/turns/" in parts.path else 0.2)
        passed = {name: given[name] for name in ("json", "data", "headers") if name in given}
        if "files" in given:
            (label, (name, content)), *_ = given["files"].items()
            passed["data"] = {label: (io.BytesIO(content), name)}
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        return _Answer(self._client.open(path, method=method, base_url=self._base, **passed))


class _Answer:
    def __init__(self, response: Any) -> None:
        self.status_code, self.headers = response.status_code, response.headers
        self.content: bytes = response.get_data()
        self._response = response

    def json(self) -> Any:
        return self._response.get_json()


@dataclass
class Filled:
    """What came of it; ``password`` opens the administrator's account."""

    organization_id: str
    email: str
    password: str
    interviews: int


@dataclass
class Stage:
    """The application that is played in, its engines, and the ids of what stands on it."""

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
        """An application context of its own: none may be open while a browser calls."""
        with self.app.app_context():
            yield
            db.session.rollback()

    def member(self, number: int) -> TeamMember:
        """The administrator (0), or a recruiter."""
        return db.session.get_one(TeamMember, self.member_ids[number])

    def interview(self, part: Part) -> Interview:
        return db.session.get_one(Interview, self.interview_ids[part.email])


def fill(
    settings: Settings, scripts: tuple[Script, ...], parts: list[Part], *, now: datetime, say: Callable[[str], None]
) -> Filled:
    """Play everything in ``settings``' own database and storage; ``say`` is told how far it is."""
    time, transcriber = Time(parts[0].booked - timedelta(days=2)), KnowingTranscriber()
    calm = replace(settings, rate_limit_per_minute=0)
    engines = gateways.build(calm)
    known = replace(engines, transcriber=transcriber, analyst=KnowingAnalyst(scripts), http=Receiver())  # type: ignore[arg-type]
    app = create_app(calm, gateways=known, bell=SilentBell())
    stage = Stage(app, time, transcriber, engines.speaker, secrets.token_hex(2))
    try:
        with clock.replaced(lambda: time.now):
            password = _found(stage, scripts)
            _play(stage, sorted(_events(stage, parts, now), key=lambda event: event[0]), now=now, say=say)
            _close(stage, now)
    finally:
        known.close()
        engines.transcriber.close()
    return Filled(stage.organization_id, _admin(stage), password, len(parts))


def _admin(stage: Stage) -> str:
    return f"demo-{stage.tag}@example.com"


def _found(stage: Stage, scripts: tuple[Script, ...]) -> str:
    password = secrets.token_urlsafe(12)
    hashed, unknown = passwords.hashed(password), passwords.hashed(secrets.token_urlsafe(24))
    with stage.inside():
        founded = accounts.found_organization(
            NAME, team_name="Hiring", admin_email=_admin(stage), admin_hash=hashed, admin_name="Robin Demo"
        )
        stage.organization_id, stage.member_ids = founded.organization.id, [founded.admin.id]
        for name in ("Alex Rivera", "Sam Whitfield"):
            email = f"{name.split()[0].lower()}-{stage.tag}@example.com"
            member = accounts.add_member(
                founded.organization, email, full_name=name, role=Role.RECRUITER, teams=[founded.team],
                password_hash=unknown, by=founded.admin,
            )  # fmt: skip
            stage.member_ids.append(member.id)
        for script in scripts:
            stage.flow_ids[script.title] = _flow(founded.team, script, by=founded.admin).id
        db.session.commit()
        for flow_id in stage.flow_ids.values():
            prepare_speech(flow_id)
    return password


def _flow(team: Team, script: Script, *, by: TeamMember) -> InterviewFlow:
    values = {
        "title": script.title, "org_name": script.org_name, "questions": [one.text for one in script.questions],
        "language": script.language, "voice_id": script.voice_id, "interview_type": InterviewType.RECRUITMENT,
        "is_video_enabled": False, "is_doc_upload_enabled": script.documents,
        "assess_language": script.assess_language, "follow_up_limit": 0,
        "webhook_url": HOOK if script.webhook else None,
    }  # fmt: skip
    return flows.create(team, values, kept=Kept(), by=by)


Event = tuple[datetime, str, Callable[[], None]]


def _events(stage: Stage, parts: list[Part], now: datetime) -> Iterator[Event]:
    for part in parts:
        name = f"{part.first} {part.last}"
        yield part.booked, "", lambda part=part: _book(stage, part)  # type: ignore[misc]
        if part.fate in {Fate.BOOKED, Fate.ENDING}:
            continue
        yield part.begun, f"{name}: {part.fate.value}", lambda part=part: _take(stage, part)  # type: ignore[misc]
        if part.fate in {Fate.ABANDONED, Fate.LEFT} and part.begun + AWAY < now:
            yield part.begun + AWAY, "", lambda part=part: _left(stage, part)  # type: ignore[misc]
        if part.fate in {Fate.VOICE, Fate.TEXT} and part.judged < now:
            yield part.judged, "", lambda part=part: _judge(stage, part)  # type: ignore[misc]
        if part.fate is Fate.WITHDRAWN:
            later = part.begun + timedelta(hours=20)
            yield later, "", lambda part=part: _ask(stage, part, WishKind.WITHDRAWAL, None)  # type: ignore[misc]
    yield from _requests(stage, parts, now)


def _requests(stage: Stage, parts: list[Part], now: datetime) -> Iterator[Event]:
    """Two of those who were processed lately ask for something."""
    done = [part for part in parts if part.fate is Fate.TEXT]
    asked = ((WishKind.REVIEW, "Please have a person look at my second answer."), (WishKind.DELETION, None))
    for part, (kind, words) in zip(done[-2:], asked, strict=False):
        at = min(now - timedelta(minutes=50), part.begun + timedelta(hours=30))
        yield at, "", lambda part=part, kind=kind, words=words: _ask(stage, part, kind, words)  # type: ignore[misc]


def _play(stage: Stage, events: list[Event], *, now: datetime, say: Callable[[str], None]) -> None:
    told = [event for event in events if event[1]]
    for at, words, act in events:
        if words:
            say(f"  {told.index((at, words, act)) + 1:2} of {len(told)}  {words}")
        stage.time.at(min(at, now))
        act()


def _close(stage: Stage, now: datetime) -> None:
    with stage.inside():
        stage.time.at(now)
        organization = db.session.get_one(Organization, stage.organization_id)
        accounts.write_audit(organization, action=FILLED, subject=organization.id, by=None, details={})
        db.session.commit()


def _book(stage: Stage, part: Part) -> None:
    with stage.inside():
        organization = db.session.get_one(Organization, stage.organization_id)
        recruiter = None if part.recruiter is None else stage.member_ids[1 + part.recruiter]
        booked = interviews.book(
            organization, stage.flow_ids[part.script.title], email=part.email, first_name=part.first,
            last_name=part.last, recruiter_id=recruiter,
        )  # fmt: skip
        db.session.commit()
        stage.interview_ids[part.email] = booked.id


def _take(stage: Stage, part: Part) -> None:
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
    stage.time.spend(3)
    _process(stage, part)


def _arrived(stage: Stage, part: Part) -> Candidate:
    with stage.inside():
        link = stage.interview(part).link(stage.app.extensions["parley.settings"].app_url)
    candidate = Candidate(link, session=Browser(stage.app, stage.time))
    candidate.open()
    stage.time.spend(80)
    candidate.start("voice" if part.fate in SPOKEN else "text")
    if part.has_document:
        told = f"{part.first} {part.last}\n\nAbout me\n{part.answers[0].says}\n{part.answers[-1].says}\n"
        candidate.ask("POST", "/documents", files={"file": (f"{part.last} CV.txt", told.encode())})
    return candidate


def _spoken(stage: Stage, part: Part, text: str) -> bytes:
    stage.time.spend(9)
    return stage.transcriber.expect(
        text, stage.speaker.speak(text, voice_id=part.voice, language=part.script.language)
    )  # fmt: skip


def _process(stage: Stage, part: Part) -> None:
    with stage.inside():
        interview_id = stage.interview_ids[part.email]
        if part.fate is Fate.FAILED:  # a disk that lost a piece of the recording
            storage = gateways.current().storage
            storage.delete(next(key for key in storage.list(prefix_of(interview_id)) if "/mix/" in key))
        db.session.rollback()
        process_interview(interview_id)
        if part.rating is not None and part.fate is not Fate.FAILED:
            interviews.rate(stage.interview(part), rating=part.rating, comment=part.comment)
            db.session.commit()
        _send(stage)


def _send(stage: Stage) -> None:
    drain()
    stage.time.spend(20)
    drain()


def _left(stage: Stage, part: Part) -> None:
    with stage.inside():
        sweep_sittings()
        if part.fate is Fate.LEFT:
            process_interview(stage.interview_ids[part.email])


def _ask(stage: Stage, part: Part, kind: WishKind, words: str | None) -> None:
    with stage.inside():
        portal.ask(stage.interview(part), kind, words)
        db.session.commit()


def _judge(stage: Stage, part: Part) -> None:
    """A recruiter looks at the result: tags, an opinion of their own, and a decision."""
    with stage.inside():
        interview, by = stage.interview(part), stage.member(1 + (part.recruiter or 0))
        candidate = interview.candidate
        if candidate is None or part.verdict is None:
            return
        for tag in part.tags:
            candidates.tag(candidate, tag)
        candidates.move(candidate, "shortlisted" if part.verdict == "accepted" else part.verdict, by=by,
                        note=NOTES["shortlisted" if part.verdict == "accepted" else part.verdict])  # fmt: skip
        db.session.commit()
        value = round(part.value * 2) / 2
        reviews.assess(interview, {"overall": Opinion(value, "Heard all of it; the examples count most.")}, by=by)
        db.session.commit()
        if part.verdict == "accepted":
            stage.time.spend(7200)
            candidates.move(candidate, "accepted", by=stage.member(0), note=NOTES["accepted"])
            db.session.commit()
        _send(stage)
