"""``/metrics``: who may read it, what it counts, and that it answers when other things do not."""

import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
import time_machine
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import event

from app import create_app
from app.core import clock, counters, queue
from app.core.db import db
from app.core.errors import GatewayError
from app.core.queue import RedisWaker, SilentWaker
from app.gateways import Gateways
from app.gateways.redis import embedded
from app.gateways.storage import local
from app.interviews import PROCESS_INTERVIEW, actions
from app.interviews.models import Stage
from app.mail_outbox.models import QueuedMail
from app.operations.cli import check
from app.operations.metrics import collecting
from app.settings import Settings, SettingsError
from tests.factories import a_flow
from tests.people import Browser, person

TOKEN = "a-token-of-the-watchman"
Built = Callable[..., Flask]


@pytest.fixture
def built(own_database: str, settings: Settings, engines: Gateways, tmp_path: Path) -> Iterator[Built]:
    """``built(**settings)``: an application with real commits."""
    made: list[Flask] = []

    def build(**changes: object) -> Flask:
        own = replace(settings, **{"database_url": own_database, "data_dir": tmp_path, **changes})
        made.append(create_app(own, gateways=engines, waker=SilentWaker()))
        made[-1].test_client_class = Browser
        return made[-1]

    yield build
    for app in made:
        with app.app_context():
            db.engine.dispose()


@pytest.fixture
def with_settings(app: Flask, settings: Settings) -> Iterator[Built]:
    """``with_settings(**settings)``: the shared application, for what looks at settings at each request."""

    def changed(**changes: object) -> Flask:
        app.extensions["parley.settings"] = replace(settings, **changes)  # type: ignore[arg-type]
        return app

    yield changed
    app.extensions["parley.settings"] = settings


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[tuple[str, embedded.EmbeddedRedis]]:
    url, server = embedded.found_or_started(tmp_path / "redis", "")
    assert server is not None
    yield url, server
    server.stop()


def read(app: Flask, **headers: str) -> dict[tuple[str, ...], float]:
    """Every figure under its name and the values of its labels, in the order of the labels' names."""
    answer = app.test_client().get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return {
        (sample.name, *(sample.labels[label] for label in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


@pytest.fixture(autouse=True)
def _always_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "KEPT_SECONDS", 0.0)


# --- who may -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("", 401),
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
        ("Bearer", 401),
        ("Bearer a-token-of-the-watchmaN", 401),
        (f"Bearer {TOKEN}x", 401),
        ("Bearer \u00fc", 401),
    ],
)
def test_with_a_token_only_its_bearer_reads(with_settings: Built, header: str | None, status: int) -> None:
    app = with_settings(metrics_token=TOKEN, app_url="https://parley.example.com")
    answer = app.test_client().get("/metrics", headers={} if header is None else {"Authorization": header})
    assert answer.status_code == status
    assert status == 200 or (answer.headers["WWW-Authenticate"] == "Bearer" and "parley_" not in answer.text)


@pytest.mark.parametrize(
    ("app_url", "host", "address", "status"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", "127.0.0.1", 200),
        ("http://localhost:8000", "localhost:8000", "::1", 200),
        ("http://[::1]:8000", "[::1]:8000", "::ffff:127.0.0.1", 200),
        ("http://127.0.0.1:8000", "127.0.0.1:8000", "10.0.0.7", 404),
        ("http://127.0.0.1:8000", "evil.example", "127.0.0.1", 404),
        ("http://127.0.0.1:8000", "[", "127.0.0.1", 404),
        ("https://parley.example.com", "parley.example.com", "127.0.0.1", 404),
        ("https://parley.example.com", "127.0.0.1:8000", "127.0.0.1", 404),
    ],
)
def test_without_a_token_only_this_machine_reads(
    with_settings: Built, app_url: str, host: str, address: str, status: int
) -> None:
    app = with_settings(app_url=app_url)
    answer = app.test_client().get("/metrics", headers={"Host": host}, environ_base={"REMOTE_ADDR": address})
    assert answer.status_code == status
    assert ("parley_" in answer.text) == (status == 200)


def test_a_token_that_can_be_guessed_is_refused(tmp_path: Path) -> None:
    for token in ("short", "x" * 15, "with spaces in the middle", "ünicode-that-no-header-carries"):
        with pytest.raises(SettingsError, match="METRICS_TOKEN must be"):
            Settings.from_env({"METRICS_TOKEN": token, "DATA_DIR": str(tmp_path)})


# --- what this process serves ----------------------------------------------------------------------------------------


def test_requests_are_counted_by_route_and_never_by_id(built: Built) -> None:
    app = built()
    client = app.test_client()
    some = str(uuid.uuid4())
    client.get(f"/interviews/{some}")
    client.get(f"/no/{some}")
    client.open("/healthz", method="BREW")
    text = client.get("/metrics").text
    found = read(app)
    assert found["parley_requests_total", "GET", "/interviews/<interview_id>", "302"] == 1
    assert found["parley_requests_total", "GET", "(no route)", "404"] == 1
    assert ("parley_requests_total", "other", "(no route)", "405") in found
    assert found["parley_request_seconds_count", "GET", "/interviews/<interview_id>"] == 1
    assert found["parley_requests_running",] == 1, "the scrape itself"
    assert some not in text
    assert "BREW" not in text


# --- what all processes count together -------------------------------------------------------------------------------


def test_every_process_sees_what_all_have_counted(built: Built, redis: tuple[str, embedded.EmbeddedRedis]) -> None:
    url, _server = redis
    first, second = built(redis_url=url), built(redis_url=url)
    for app in (first, second):
        with app.app_context():
            counters.current().time("engine", "speech", "espeak", "served", seconds=0.2)
    with second.app_context():
        counters.current().time("engine", "speech", "espeak", "served", seconds=300)
    found = read(first)
    assert found["parley_engine_seconds_count", "espeak", "served", "speech"] == 3
    assert found["parley_engine_seconds_sum", "espeak", "served", "speech"] == pytest.approx(300.4)
    within = {
        bound: found["parley_engine_seconds_bucket", "espeak", bound, "served", "speech"]
        for bound in ("0.1", "0.25", "60.0", "+Inf")
    }
    assert within == {"0.1": 0, "0.25": 2, "60.0": 2, "+Inf": 3}
    seen = read(second)
    assert {key: seen[key] for key in found if "engine" in key[0]} == {
        key: value for key, value in found.items() if "engine" in key[0]
    }


def test_queues_show_what_waits_and_who_serves(built: Built, redis: tuple[str, embedded.EmbeddedRedis]) -> None:
    url, _server = redis
    RedisWaker(queue.connect(url)).enqueue(PROCESS_INTERVIEW, ("one",))
    RedisWaker(queue.connect(url)).enqueue(PROCESS_INTERVIEW, ("two",))
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=90)), clock.replaced(lambda: datetime.now(UTC)):
        found = read(built(redis_url=url))
    assert found["parley_redis_up",] == 1
    assert (found["parley_queue_jobs", "interviews"], found["parley_queue_jobs", "media"]) == (2, 0)
    assert 89 < found["parley_queue_oldest_seconds", "interviews"] < 100
    assert found["parley_queue_workers", "interviews"] == 0


def test_counts_wait_while_redis_is_away(
    built: Built, redis: tuple[str, embedded.EmbeddedRedis], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, server = redis
    app = built(redis_url=url)
    server.stop()
    with app.app_context():
        counters.current().count("database_error", "OperationalError", by=2)
    found = read(app)
    assert found["parley_redis_up",] == 0
    assert found["parley_database_up",] == 1
    assert ("parley_database_errors_total", "OperationalError") not in found
    server.start()
    counts: counters.Counters = app.extensions["parley.counters"]
    monkeypatch.setattr(counts, "_not_before", 0.0)
    assert read(app)["parley_database_errors_total", "OperationalError"] == 2


def test_a_fork_hands_over_only_what_is_its_own() -> None:
    counts = counters.Counters()
    counts.count("database_error", "Parent")
    pid = os.fork()
    if pid == 0:  # the child
        counts.count("database_error", "Child")
        counts.flush()
        os._exit(0 if set(counts.read()) == {("database_error", ("Child",))} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    counts.flush()
    assert set(counts.read()) == {("database_error", ("Parent",))}


def test_engines_are_counted_each_by_itself(settings: Settings) -> None:
    from app.gateways.engines import build_speaker

    heard: list[tuple[str, str, bool]] = []
    broken = replace(settings, tts_provider=("openai", "espeak"), tts_base_url="http://127.0.0.1:9/v1")
    speaker = build_speaker(
        broken, watch=lambda part, engine, *, seconds, failed: heard.append((part, engine, failed and seconds >= 0))
    )
    try:
        assert speaker.speak("Hello.", voice_id=None, language="en-US").fell_back
    finally:
        speaker.close()
    (first, second) = heard
    assert first[0] == second[0] == "speech"
    assert (first[2], second[1:]) == (True, ("espeak", False))


# --- what waits in the database --------------------------------------------------------------------------------------


def test_backlogs_come_from_the_rows(built: Built) -> None:
    app = built()
    with app.app_context():
        owner = person(app, "owner@first.example", organization="First Ltd", role="admin")
        flow = a_flow(owner)
        for stage in (Stage.CREATED, Stage.SUBMITTED, Stage.SUBMITTED, Stage.PROCESSING_FAILED):
            row = actions.book(owner.organization, flow.id, email=None)
            row.stage = stage
            row.submitted_at = clock.now() - timedelta(seconds=100) if stage is Stage.SUBMITTED else None
        now = clock.now()
        db.session.add(QueuedMail(due_at=now - timedelta(seconds=50), expires_at=now + timedelta(days=1)))
        db.session.commit()
    found = read(app)
    stages = {stage: found["parley_interviews", stage] for stage in ("running", "submitted", "processing_failed")}
    assert stages == {"running": 0, "submitted": 2, "processing_failed": 1}
    assert ("parley_interviews", "created") not in found, "what grows without end is not counted"
    assert 99 < found["parley_waiting_seconds", "interviews"] < 130
    assert 49 < found["parley_waiting_seconds", "letters"] < 80
    assert found["parley_waiting_seconds", "webhooks"] == 0
    assert found["parley_letters", "waiting"] == 1
    assert found["parley_answers", "waiting"] == 0
    assert found["parley_webhook_endpoints", "disabled"] == 0
    assert found["parley_disk_free_bytes",] > 0
    assert found["parley_storage_has_room",] in {0, 1}


@pytest.mark.parametrize(("free", "has_room"), [(9, False), (11, True)])
def test_a_disk_that_fills_is_told_everywhere(
    built: Built, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, *, has_room: bool
) -> None:
    own = built(storage_url=str(tmp_path / "files")).extensions["parley.settings"]
    app = create_app(own, waker=SilentWaker())
    usage = SimpleNamespace(total=100 * 2**30, used=(100 - free) * 2**30, free=free * 2**30)
    monkeypatch.setattr(local.shutil, "disk_usage", lambda _path: usage)
    found = read(app)
    assert found["parley_storage_has_room",] == has_room
    assert found["parley_disk_free_bytes",] == free * 2**30
    answer = app.test_client().get("/readyz")
    told = {} if has_room else {"storage": "no space for another interview"}
    assert (answer.status_code, answer.json) == (200 if has_room else 503, {"ready": has_room, "not_ready": told})
    good, words = check._storage(own)
    assert good is has_room
    assert has_room or "No new interview can start; running ones continue" in words
    app.extensions["parley.gateways"].close()
    with app.app_context():
        db.engine.dispose()


def test_a_scrape_asks_the_database_little_and_the_next_one_nothing(
    built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "KEPT_SECONDS", 60.0)
    app, asked = built(), []
    with app.app_context():
        event.listen(
            db.engine, "before_cursor_execute", lambda *given: asked.append(given[2]) if given[2] != "BEGIN" else None
        )
    read(app)
    assert 0 < len(asked) <= 7, asked
    asked.clear()
    read(app)
    assert asked == []


def test_it_answers_without_database_and_storage(
    built: Built, monkeypatch: pytest.MonkeyPatch, engines: Gateways
) -> None:
    class Broken:
        def has_room(self) -> bool:
            raise GatewayError("away", retryable=True)

    app = built()
    app.extensions["parley.gateways"] = replace(engines, storage=Broken())  # type: ignore[arg-type]
    with app.app_context():
        db.session.execute(sa.text("ALTER TABLE letter RENAME TO gone"))
        db.session.commit()
    found = read(app)
    assert (found["parley_database_up",], found["parley_storage_has_room",]) == (0, 0)
    assert found["parley_redis_up",] == 1
    assert not [key for key in found if key[0] in {"parley_interviews", "parley_webhooks"}]
    assert found["parley_requests_running",] == 1


def test_failing_statements_are_counted_but_not_what_the_database_rightly_refuses(built: Built) -> None:
    app = built()
    with app.app_context():
        for statement in ("SELECT * FROM team WHERE nothing = 1", "SELECT no_such_function_is_there()"):
            with pytest.raises(sa.exc.SQLAlchemyError):
                db.session.execute(sa.text(statement))
            db.session.rollback()
        with pytest.raises(sa.exc.IntegrityError):
            db.session.execute(sa.text("INSERT INTO team (id) VALUES ('x')"))
        db.session.rollback()
        is_sqlite = db.engine.dialect.name == "sqlite"
    errors = {key[1]: value for key, value in read(app).items() if key[0] == "parley_database_errors_total"}
    # SQLite calls it an operational error when a column is unknown; PostgreSQL knows that it is the program's.
    assert errors == ({"OperationalError": 2} if is_sqlite else {})
