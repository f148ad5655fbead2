"""Where generated talks are played: the page's modules under a virtual clock, and behind them the real application.

The candidate's words are numbers in the samples, so the recogniser hears exactly what was sent. Every word of an answer
is said once only, so the published transcript shows where each of them went.
"""

import hashlib
import io
import json
import wave
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from flask import Flask
from itsdangerous import URLSafeTimedSerializer

from app.accounts.models import Organization
from app.conversation import hearing
from app.conversation.models import Sitting, Turn
from app.conversation.script import machine
from app.core import clock
from app.core.db import db
from app.flows.models import InterviewFlow
from app.gateways.speech import silence
from app.gateways.speech.ports import Exchange, Passage
from app.interviews import actions as interviews
from app.interviews.jobs import processing
from app.interviews.models import Interview, InterviewData, Stage, Utterance
from app.interviews.recordings import actions as recordings
from app.web.json_splice import Fragment, inflate
from tests.conversation.conftest import working_with
from tests.people import Browser

from .engines import Asks, Detector, Reads, Recogniser, Shelf, Tapes, Voice, Wait, sound_of

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
HOME = "http://localhost/talks"
LONGEST = 400_000
"""Milliseconds after which a talk that has not ended is stuck."""
BEGAN = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Script:
    """A talk before it is played: what the candidate does, in which weather. A word's id is its place in ``words``."""

    questions: tuple[str, ...]
    moves: list[dict[str, Any]]
    weather: dict[str, Any]
    words: list[str]
    reserve: dict[str, list[list[int]]]

    @property
    def told(self) -> list[Any]:
        """The script in short, for a test that fails: of words only how many."""
        short = [
            {**move, "phrases": [(len(phrase["ids"]), phrase["pause"]) for phrase in move["phrases"]]}
            if "phrases" in move
            else move
            for move in self.moves
        ]
        return [f"{len(self.questions)} questions", self.weather, *short]


@dataclass
class Played:
    """A talk that was played and processed: what was said and heard, what was kept, and what was published."""

    script: Script
    report: dict[str, Any]
    turns: list[Turn]
    utterances: list[Utterance]
    answers: int
    stage: Stage
    transcript: list[dict[str, Any]] = field(default_factory=list)
    mapping: list[dict[str, Any]] = field(default_factory=list)
    judged: list[Passage] = field(default_factory=list)
    asked: list[Exchange] = field(default_factory=list)


class Theatre:
    """One browser page and the application, for one talk after the other."""

    def __init__(self, app: Flask, page: Any, engines: Any, *, by: Organization, flow: InterviewFlow) -> None:
        self._app, self._page, self._engines, self._by, self._flow = app, page, engines, by, flow
        self._now = 0.0

    def play(self, script: Script) -> Played:
        """The whole talk, to its published result."""
        hears, asks, reads = Recogniser(dict(enumerate(script.words))), Asks(), Reads()
        wait = Wait(hears)
        seed, script_of = str(script.weather["seed"]), machine.Script.of
        parts = {"transcriber": hears, "speaker": Voice(), "interviewer": asks, "analyst": reads, "storage": Shelf()}
        with (
            clock.replaced(lambda: BEGAN + timedelta(milliseconds=self._now)),
            working_with(self._app, self._engines, **parts),
            mock.patch.object(silence, "_detector", Detector),
            # Else the interview's random id chooses among sentences that mean the same.
            mock.patch.object(machine.Script, "of", lambda *flow, **more: script_of(*flow, **{**more, "seed": seed})),
            mock.patch.multiple(hearing, begin=wait.begin, words=wait.words),
        ):
            self._flow.questions = list(script.questions)
            self._flow.may_say_again = script.weather.get("may_say_again", False)
            interview = interviews.book(self._by, self._flow.id, email="candidate@example.com")
            db.session.commit()
            report = _Talk(self._app, interview, wait).run(self, script)
            with mock.patch.object(recordings, "workshop", Tapes(_numbers(report["runs"])).workshop):
                hears.busy = 0.0
                if interview.stage is Stage.SUBMITTED:
                    processing.process_interview(interview.id)
            played = _read(interview.id, script, report)
        played.judged = list(reads.read[0].passages) if reads.read else []
        played.asked = asks.read
        return played

    def evaluate(self, code: str, argument: Any = None) -> Any:
        """In the page. As one text, because Playwright looks at each single value that it is given."""
        told = f"async (text) => JSON.stringify(await ({code})(JSON.parse(text)))"
        return json.loads(self._page.evaluate(told, json.dumps(argument)))

    def prepare(self, html: Callable[[], str]) -> None:
        """Open the page with the first interview's document; all others have the same one."""
        if self._page.evaluate("Boolean(window.talks)"):
            return
        self._page.route("**/*", _static)
        self._page.goto(HOME)
        self._page.evaluate(
            "async (html) => { window.talks = await import('/talks/world.js'); await talks.prepare(html); }", html()
        )

    def at(self, now: float) -> None:
        """The application's time, in milliseconds of the talk."""
        self._now = now


def _static(route: Any) -> None:
    path = urlsplit(route.request.url).path
    if path.startswith("/talks/"):
        route.fulfill(path=HERE / path.removeprefix("/talks/"), content_type="text/javascript")
    elif path.startswith("/static/"):
        route.fulfill(path=ROOT / path[1:], content_type="text/javascript")
    elif path.startswith("/interview/"):
        route.fulfill(status=204)  # the page wants to go on to another one: it stays
    else:
        route.fulfill(body="<!doctype html><html lang='en'><title>Talks</title>", content_type="text/html")


class _Talk:
    """One candidate's browser, as the application sees it."""

    def __init__(self, app: Flask, interview: Interview, wait: Wait) -> None:
        self._wait = wait
        self._client: Browser = app.test_client()  # type: ignore[assignment]
        self._base = f"/interview/api/{interview.flow_id}/{interview.id}"
        self._token = ""

    def run(self, theatre: Theatre, script: Script) -> dict[str, Any]:
        theatre.at(0)
        with self._client.session_transaction() as session:
            session["csrf_token"] = "one for all"
        secret = str(self._client.application.secret_key)
        self._token = str(URLSafeTimedSerializer(secret, salt="wtf-csrf-token").dumps("one for all"))
        body = {"consent": "yes", "mode": "voice", "locale": "en"}
        started = self._open("POST", f"{self._base}/start", data=json.dumps(body), type_="application/json")
        assert started.status_code == 200, started.get_data(as_text=True)[:300]
        state = started.get_json()
        theatre.prepare(lambda: self._client.get(self._base).get_data(as_text=True))
        given = {
            "base": self._base,
            "token": self._token,
            "state": state,
            "moves": script.moves,
            "reserve": script.reserve,
            "weather": script.weather,
            "longest": LONGEST,
        }
        seen = theatre.evaluate("(given) => { window.world = new talks.World(given); return world.go(); }", given)
        while not seen["over"]:
            theatre.at(seen["now"])
            self._wait.now = seen["now"] / 1000
            # What waits for chunks that are under way is answered after them.
            in_order = sorted(seen["requests"], key=lambda request: request["url"].endswith("/silence"))
            answers = [self._answer(request) for request in in_order]
            seen = theatre.evaluate("(answers) => world.go(answers)", answers)
        report: dict[str, Any] = theatre.evaluate("() => world.report")
        return report

    def _open(self, method: str, url: str, *, data: Any, type_: str | None, **headers: str) -> Any:
        sent = {"Accept": "application/json", "X-CSRFToken": self._token, **headers}
        return self._client.open(url, method=method, data=data, content_type=type_, headers=sent, forged=True)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The application's answer, as the page's network gives it."""
        self._wait.hears.busy, self._wait.spent = request["busy"], 0.0
        chunks = [_bytes(chunk) for chunk in request.get("chunks", ())]
        hashes = [hashlib.sha256(chunk).hexdigest() for chunk in chunks]
        headers = {"X-Content-SHA256": hashes[0]} if chunks else {}
        if request["listed"]:
            numbers = [one.split()[0] for one in request["listed"]]
            listed = [f"{n} {len(chunk)} {sha}" for n, chunk, sha in zip(numbers, chunks, hashes, strict=True)]
            headers = {"X-Chunks": ",".join(listed)}
        data = b"".join(chunks) if chunks else request.get("text")
        response = self._open(request["method"], request["url"], data=data, type_=request["type"], **headers)
        answer = {
            "id": request["id"],
            "url": request["url"],
            "status": response.status_code,
            "spent": 1000 * self._wait.spent,
        }
        if response.mimetype == "audio/wav":
            return {**answer, "json": None, "seconds": _seconds(response.get_data())}
        return {**answer, "json": response.get_json(silent=True), "seconds": None}


def _bytes(chunk: dict[str, Any]) -> bytes:
    return sound_of(chunk["voice"]) if "voice" in chunk else bytes(chunk["mix"])


def _seconds(wav: bytes) -> float:
    with wave.open(io.BytesIO(wav)) as sound:
        return sound.getnframes() / sound.getframerate()


def _numbers(runs: dict[str, float]) -> dict[int, float]:
    return {int(number): seconds for number, seconds in runs.items()}


def _read(interview_id: str, script: Script, report: dict[str, Any]) -> Played:
    db.session.expire_all()
    sitting = db.session.query(Sitting).filter_by(interview_id=interview_id).one()
    interview = db.session.get_one(Interview, interview_id)
    utterances = db.session.query(Utterance).filter_by(interview_id=interview_id).order_by(Utterance.number).all()
    turns = db.session.query(Turn).filter_by(sitting_id=sitting.id).order_by(Turn.number).all()
    played = Played(script, report, turns, utterances, sitting.answers, interview.stage)
    data = db.session.get(InterviewData, interview_id)
    if data is not None:
        details = inflate(Fragment(data.details, data.details_length, data.details_crc32))
        published = json.loads(b"{" + details[1:] + b"}")
        played.transcript = published["transcript_with_timestamp"]
        played.mapping = published["questions_to_transcript_mapping"]
    return played
