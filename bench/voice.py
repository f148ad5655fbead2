"""Latency of the agent's turns over real HTTP: the platform's own share, and the whole with the embedded engines.

    .venv/bin/python bench/voice.py [--turns 20] [--answers 6]

Typed turns show the platform alone. Spoken turns are sent at the speed of speech, half a second at a time, so the
recognizer is fed while the candidate speaks, as in a browser. The turns' rows contain the engines' shares. Captions:
from the moment the recognizer has reported new words to the response that brings them to the page.
"""

import argparse
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import requests
from waitress.server import create_server

sys.path.insert(0, str(Path(__file__).parents[1]))

from app import create_app, gateways
from app.accounts.models import Organization, Team
from app.conversation.models import Turn, TurnKind
from app.core import migrate, queue
from app.core.db import db
from app.flows.models import InterviewFlow, InterviewType
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.sound import resample
from app.interviews.actions import book
from app.operations.demo.candidate import Candidate
from app.settings import Settings

GOAL_MS = 50
CAPTION_MS = 500
percentile = partial(np.percentile, method="nearest")
SENTENCES = (
    "I have worked in a small team for three years and I like to help people every day",
    "last summer our system was very slow in the morning and I found the reason",
    "we were eight people and we met every morning to plan the work of the day",
)


class Slow:
    """A candidate's session that lets every chunk of the own voice take the half second it lasts."""

    def __init__(self, session):
        self._session, self.is_paced, self.spent = session, False, []
        self.shown: list[tuple[str, float]] = []

    def request(self, method, url, **given):
        if self.is_paced and "track=voice" in url:
            time.sleep(0.5)
        began = time.perf_counter()
        answer = self._session.request(method, url, **given)
        if method == "POST" and "/turns/" in url:
            self.spent.append((time.perf_counter() - began) * 1000)
        if "track=voice" in url and (text := answer.json().get("partial")):
            self.shown.append((text, time.perf_counter()))
        return answer


class Told:
    """When the embedded recogniser told which words; it does so in the process that serves."""

    def __init__(self) -> None:
        self.words: list[tuple[str, float]] = []
        tell = PocketsphinxTranscriber._reported

        def noted(transcriber, key: str, text: str) -> None:
            self.words.append((text, time.perf_counter()))
            tell(transcriber, key, text)

        PocketsphinxTranscriber._reported = noted

    def until_shown(self, shown: list[tuple[str, float]]) -> list[float]:
        """Milliseconds from each reported text to the first answer with it, or with a later one."""
        waits = []
        for text, at in self.words:
            later = {other for other, when in self.words if when >= at}
            seen = next((when for other, when in shown if when >= at and other in later), None)
            if seen is not None and text:
                waits.append((seen - at) * 1000)
        return waits


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--turns", type=int, default=20, help="written turns per interview, five interviews")
    asked.add_argument("--answers", type=int, default=6, help="spoken turns")
    asked.add_argument("--quick", action="store_true", help="fewer of both")
    given = asked.parse_args()
    if given.quick:
        given.turns, given.answers = 8, 2
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), turns=min(given.turns, 20), answers=min(given.answers, 20))


def run(folder: Path, *, turns: int, answers: int) -> None:
    settings = Settings.from_env({"DATA_DIR": str(folder), "RATE_LIMIT_PER_MINUTE": "0", "LOG_LEVEL": "error"})
    migrate.upgrade(settings.database_url)
    told = Told()
    engines = gateways.build(settings)
    app = create_app(settings, gateways=engines, waker=queue.SilentWaker())
    server = create_server(app, host="127.0.0.1", port=0, threads=settings.web_threads)
    settings = replace(settings, app_url=f"http://127.0.0.1:{server.effective_port}")
    threading.Thread(target=server.run, daemon=True).start()
    try:
        with app.app_context():
            written = [link_of(settings, turns) for _ in range(5)]
            spoken, idle = link_of(settings, answers), link_of(settings, 1)
        least = floor(idle, Slow(requests.Session()))
        report_written(app, [write(link) for link in written], least)
        session = speak(engines, spoken, answers)
        report_spoken(app, session.spent)
        report_captions(told.until_shown(session.shown))
    finally:
        server.close()
        engines.close()


def link_of(settings: Settings, questions: int) -> str:
    organization = db.session.query(Organization).first()
    if organization is None:
        organization = Organization(name="Bench")
        db.session.add(organization)
        db.session.flush()
        db.session.add(Team(organization_id=organization.id, name="Bench"))
        db.session.flush()
    team = db.session.query(Team).filter_by(organization_id=organization.id).one()
    flow = InterviewFlow(
        organization_id=organization.id,
        team_id=team.id,
        org_name="Bench",
        title="Bench",
        language="en-US",
        questions=[f"This is question number {n + 1}. What do you say to it?" for n in range(questions)],
        voice_id="vendora-Kate",
        interview_type=InterviewType.GENERAL,
        follow_up_limit=0,
    )
    db.session.add(flow)
    db.session.commit()
    interview = book(organization, flow.id)
    db.session.commit()
    return f"{settings.app_url}/interview/api/{flow.id}/{interview.id}"


def write(link: str) -> list[float]:
    session = Slow(requests.Session())
    candidate = Candidate(link, session=session)
    candidate.open()
    candidate.start("text")
    candidate.write(["I have worked in a small team for three years and I liked it very much."] * 20)
    return session.spent


def speak(engines, link: str, answers: int) -> Slow:
    session = Slow(requests.Session())
    candidate = Candidate(link, session=session)
    candidate.open()
    candidate.start()
    sounds = [sound_of(engines, SENTENCES[n % len(SENTENCES)], n) for n in range(answers)]
    session.is_paced = True
    candidate.take(sounds)
    return session


def sound_of(engines, text: str, seed: int) -> bytes:
    voice = engines.speaker.speak(text, voice_id="vendora-Anthony", language="en-US")
    clean = np.frombuffer(resample(voice.pcm, voice.rate, 16_000), "<i2")
    noisy = clean + np.random.default_rng(seed).normal(0, 100, len(clean))
    return np.clip(noisy, -32_768, 32_767).astype("<i2").tobytes()


def shares(app, kind: TurnKind) -> list[Turn]:
    with app.app_context():
        return db.session.query(Turn).filter_by(kind=kind).order_by(Turn.created_at).all()


def engines_of(turn: Turn) -> int:
    return sum(part or 0 for part in (turn.collected_ms, turn.recognised_ms, turn.decided_ms, turn.spoken_ms))


def floor(link: str, session: Slow) -> list[float]:
    """One guarded, durably committed write without any work: a sign of life."""
    candidate = Candidate(link, session=session)
    candidate.open()
    candidate.start("text")
    spent = []
    for _ in range(60):
        began = time.perf_counter()
        candidate.call("POST", "/heartbeat", json={})
        spent.append((time.perf_counter() - began) * 1000)
    return spent


def report_written(app, spent: list[list[float]], least: list[float]) -> None:
    every = [one for interview in spent for one in interview[1:]]
    engines = [engines_of(turn) for turn in shares(app, TurnKind.TEXT)]
    own = [max(0.0, whole - part) for whole, part in zip(every, engines, strict=False)]
    show("floor: a durable write over the same HTTP (heartbeat)", least)
    show("platform's own share of a turn (HTTP round trip without engines)", own)
    print(f"  share / floor = {statistics.median(own) / statistics.median(least):.1f}")
    print(f"  goal p95 <= {GOAL_MS} ms: {'reached' if percentile(own, 95) <= GOAL_MS else 'MISSED'}")


def report_spoken(app, spent: list[float]) -> None:
    turns = shares(app, TurnKind.ANSWER)
    show("whole spoken turn, from the end of the answer's upload to the reply (embedded engines)", spent[1:])
    for name in ("collected_ms", "recognised_ms", "decided_ms", "spoken_ms"):
        show(f"  of it {name.removesuffix('_ms')}", [float(getattr(turn, name) or 0) for turn in turns])
    own = [max(0.0, whole - engines_of(turn)) for whole, turn in zip(spent[1:], turns, strict=False)]
    show("  of it the platform", own)
    print(f"  platform / whole = {statistics.median(own) / statistics.median(spent[1:]):.2f}")


def report_captions(waits: list[float]) -> None:
    if not waits:
        print("captions: no words were reported while they were spoken")
        return
    show("captions, from recognised to with the page", waits)
    print(f"  goal <= {CAPTION_MS} ms: {'reached' if percentile(waits, 95) <= CAPTION_MS else 'MISSED'} (p95)")


def show(name: str, figures: list[float]) -> None:
    print(
        f"{name}: n {len(figures)}, median {statistics.median(figures):.0f} ms, "
        f"p95 {percentile(figures, 95):.0f} ms, max {max(figures):.0f} ms"
    )


if __name__ == "__main__":
    main()
