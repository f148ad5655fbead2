"""Plays the demo data: everyone is booked, talks, is processed and rated by the product's own code, in order of time.

An edge, like the command line that it belongs to. It works on a separate database and storage (``cli_keep`` takes them
over) and sets its own clock, so that months take a minute.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app import create_app, gateways
from app.accounts import actions as accounts
from app.accounts import passwords
from app.accounts.models import Organization, Role, Team, TeamMember
from app.candidate_requests.models import RequestKind
from app.core import clock
from app.core.db import db
from app.core.queue import SilentWaker
from app.flows import actions as flows
from app.flows.jobs import prepare_speech
from app.flows.media import StoredMedia
from app.flows.models import InterviewFlow, InterviewType
from app.operations.demo import cli_acts
from app.operations.demo.cast import Fate, Part
from app.operations.demo.cli_acts import Stage
from app.operations.demo.clockwork import Time
from app.operations.demo.content import Script
from app.operations.demo.engines import KnowingAnalyst, KnowingTranscriber, Receiver
from app.settings import Settings

NAME = "Demo data (Northwind)"
FILLED = "organization.demo_filled"
HOOK = "https://ats.example/hooks/parley"
"""Reserved for examples, so it never leads anywhere."""
AWAY = timedelta(hours=25)


@dataclass
class Filled:
    """The outcome; ``password`` opens the administrator's account."""

    organization_id: str
    email: str
    password: str
    interviews: int


def fill(
    settings: Settings, scripts: tuple[Script, ...], parts: list[Part], *, now: datetime, say: Callable[[str], None]
) -> Filled:
    """Play everything in ``settings``' own database and storage; ``say`` gets the progress."""
    time, transcriber = Time(parts[0].booked - timedelta(days=2)), KnowingTranscriber()
    calm = replace(settings, rate_limit_per_minute=0)
    engines = gateways.build(calm)
    scripted = replace(engines, transcriber=transcriber, analyst=KnowingAnalyst(scripts), http=Receiver())  # type: ignore[arg-type]
    app = create_app(calm, gateways=scripted, waker=SilentWaker())
    stage = Stage(app, time, transcriber, engines.speaker, secrets.token_hex(2))
    try:
        with clock.replaced(lambda: time.now):
            password = _found(stage, scripts)
            _play(stage, sorted(_events(stage, parts, now), key=lambda event: event[0]), now=now, say=say)
            _close(stage, now)
    finally:
        scripted.close()
        engines.close()
        with app.app_context():
            db.engine.dispose()
    return Filled(stage.organization_id, _admin(stage), password, len(parts))


def _admin(stage: Stage) -> str:
    return f"demo-{stage.tag}@example.com"


def _found(stage: Stage, scripts: tuple[Script, ...]) -> str:
    password = secrets.token_urlsafe(12)
    hashed, unknown = passwords.hashed(password), passwords.hashed(secrets.token_urlsafe(24))
    with stage.inside():
        founded = accounts.create_organization(
            NAME, team_name="Hiring", admin_email=_admin(stage), admin_hash=hashed, admin_name="Robin Demo"
        )
        stage.organization_id, stage.member_ids = founded.organization.id, [founded.admin.id]
        for name in ("Alex Rivera", "Sam Whitfield"):
            email = f"{name.split()[0].lower()}-{stage.tag}@example.com"
            member = accounts.add_member(
                founded.organization,
                email,
                full_name=name,
                role=Role.RECRUITER,
                teams=[founded.team],
                password_hash=unknown,
                by=founded.admin,
            )
            stage.member_ids.append(member.id)
        for script in scripts:
            stage.flow_ids[script.title] = _flow(founded.team, script, by=founded.admin).id
        db.session.commit()
        for flow_id in stage.flow_ids.values():
            prepare_speech(flow_id)
    return password


def _flow(team: Team, script: Script, *, by: TeamMember) -> InterviewFlow:
    values = {
        "title": script.title,
        "org_name": script.org_name,
        "questions": [one.text for one in script.questions],
        "criteria": [one.criterion for one in script.criteria],
        "language": script.language,
        "voice_id": script.voice_id,
        "interview_type": InterviewType.RECRUITMENT,
        "is_video_enabled": False,
        "is_doc_upload_enabled": script.documents,
        "assess_language": script.assess_language,
        "follow_up_limit": 0,
        "webhook_url": HOOK if script.webhook else None,
    }
    return flows.create(team, values, files=StoredMedia(), by=by)


Event = tuple[datetime, str, Callable[[], None]]


def _events(stage: Stage, parts: list[Part], now: datetime) -> Iterator[Event]:
    for part in parts:
        name = f"{part.first} {part.last}"
        yield part.booked, "", lambda part=part: cli_acts.book(stage, part)  # type: ignore[misc]
        if part.fate in {Fate.BOOKED, Fate.ENDING}:
            continue
        yield part.begun, f"{name}: {part.fate.value}", lambda part=part: cli_acts.take(stage, part)  # type: ignore[misc]
        if part.fate in {Fate.ABANDONED, Fate.LEFT} and part.begun + AWAY < now:
            yield part.begun + AWAY, "", lambda part=part: cli_acts.left(stage, part)  # type: ignore[misc]
        if part.fate in {Fate.VOICE, Fate.TEXT} and part.judged < now:
            yield part.judged, "", lambda part=part: cli_acts.judge(stage, part)  # type: ignore[misc]
        if part.fate is Fate.WITHDRAWN:
            later = part.begun + timedelta(hours=20)
            yield later, "", lambda part=part: cli_acts.ask(stage, part, RequestKind.WITHDRAWAL)  # type: ignore[misc]
    yield from _requests(stage, parts, now)


def _requests(stage: Stage, parts: list[Part], now: datetime) -> Iterator[Event]:
    """Two candidates whose interviews were processed recently make requests."""
    done = [part for part in parts if part.fate is Fate.TEXT]
    requests = ((RequestKind.REVIEW, "Please have a person look at my second answer."), (RequestKind.DELETION, None))
    for part, (kind, words) in zip(done[-2:], requests, strict=False):
        at = min(now - timedelta(minutes=50), part.begun + timedelta(hours=30))
        yield at, "", lambda part=part, kind=kind, words=words: cli_acts.ask(stage, part, kind, words=words)  # type: ignore[misc]


def _play(stage: Stage, events: list[Event], *, now: datetime, say: Callable[[str], None]) -> None:
    announced = [event for event in events if event[1]]
    for at, words, act in events:
        if words:
            say(f"  {announced.index((at, words, act)) + 1:2} of {len(announced)}  {words}")
        stage.time.at(min(at, now))
        act()


def _close(stage: Stage, now: datetime) -> None:
    with stage.inside():
        stage.time.at(now)
        organization = db.session.get_one(Organization, stage.organization_id)
        accounts.write_audit(organization, action=FILLED, subject=organization.id, by=None, details={})
        db.session.commit()
