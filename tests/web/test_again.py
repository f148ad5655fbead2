"""Views whose transaction PostgreSQL ended run again, where nothing of them was committed."""

from collections.abc import Callable
from io import BytesIO

import pytest
import sqlalchemy as sa
from flask import Flask, after_this_request, flash, get_flashed_messages, request, session
from psycopg import errors
from sqlalchemy.exc import OperationalError

from app.accounts.models import Organization
from app.core.db import db, row_security
from app.web import retry_on_deadlock

JSON = {"json": {"name": "Again Ltd"}}


@pytest.fixture
def site(probing, monkeypatch) -> Callable[..., tuple[Flask, list[str]]]:
    """``site(*ends, commits=False)``: /meet writes and then meets one of ``ends`` after another."""
    monkeypatch.setattr(retry_on_deadlock, "PAUSE_SECONDS", 0)

    def build(*ends: Exception, commits: bool = False) -> tuple[Flask, list[str]]:
        app, runs = probing(), []

        def meet() -> str:
            row_security.choose(row_security.EVERYONE)
            runs.append(request.json["name"] if request.is_json else request.form.get("name", ""))
            db.session.add(Organization(name="Again Ltd"))
            db.session.flush()
            if commits:
                db.session.commit()
            if len(runs) <= len(ends):
                raise OperationalError("SELECT", {}, ends[len(runs) - 1])
            db.session.commit()
            return "done"

        app.add_url_rule("/v1/meet", "meet", meet, methods=["POST"])
        return app, runs

    return build


def made(app: Flask) -> int:
    with app.app_context(), row_security.everyone():
        return db.session.scalar(sa.select(sa.func.count()).where(Organization.name == "Again Ltd"))


@pytest.mark.parametrize("end", [errors.DeadlockDetected, errors.SerializationFailure])
def test_who_is_ended_runs_again_and_writes_once(site, end):
    app, runs = site(end(), end(), end())
    assert app.test_client().post("/v1/meet", **JSON).data == b"done"
    assert runs == ["Again Ltd"] * 4
    assert made(app) == 1


def test_forms_are_read_again_too(site):
    app, runs = site(errors.DeadlockDetected())
    assert app.test_client().post("/v1/meet", data={"name": "x"}).status_code == 200
    assert len(runs) == 2


def test_a_form_of_a_script_is_read_again_but_no_files(site):
    app, runs = site(errors.DeadlockDetected())
    multipart = {"content_type": "multipart/form-data"}
    assert app.test_client().post("/v1/meet", data={"name": "x"}, **multipart).status_code == 200
    sent = {"file": (BytesIO(b"x"), "x.pdf")}
    app, runs = site(errors.DeadlockDetected())
    assert app.test_client().post("/v1/meet", data=sent, **multipart).status_code == 503
    assert len(runs) == 1


def test_the_session_is_as_it_came(probing, monkeypatch):
    """As in the second step of signing in, which empties the session before it writes."""
    monkeypatch.setattr(retry_on_deadlock, "PAUSE_SECONDS", 0)
    app, seen, after = probing(), [], []

    def step() -> str:
        seen.append(session.get("waiting"))
        session.clear()
        flash("Once.")
        after_this_request(lambda response: after.append(1) or response)
        if len(seen) == 1:
            raise OperationalError("SELECT", {}, errors.DeadlockDetected())
        return " ".join(get_flashed_messages())

    app.add_url_rule("/step", "step", step, methods=["GET"])
    client = app.test_client()
    with client.session_transaction() as kept:
        kept["waiting"] = "for a code"
    assert client.get("/step").data == b"Once."
    assert seen == ["for a code"] * 2
    assert after == [1]


def test_what_was_read_as_a_stream_is_not_read_again(probing, monkeypatch):
    app, runs = probing(), []

    def drain() -> str:
        runs.append(request.stream.read())
        raise OperationalError("SELECT", {}, errors.DeadlockDetected())

    app.add_url_rule("/v1/drain", "drain", drain, methods=["POST"])
    assert app.test_client().post("/v1/drain", **JSON).status_code == 503
    assert len(runs) == 1


def test_after_three_repeats_the_client_is_told_when_to_come_back(site):
    app, runs = site(*[errors.DeadlockDetected()] * 4)
    response = app.test_client().post("/v1/meet", **JSON)
    assert (response.status_code, len(runs), made(app)) == (503, 4, 0)
    assert int(response.headers["Retry-After"]) > 0


def test_what_was_committed_is_not_done_twice(site):
    app, runs = site(errors.DeadlockDetected(), commits=True)
    assert app.test_client().post("/v1/meet", **JSON).status_code == 503
    assert (len(runs), made(app)) == (1, 1)


@pytest.mark.parametrize("more", [{"content_length": 3}, {"headers": {"Transfer-Encoding": "chunked"}}])
def test_a_stream_cannot_be_read_again(site, more):
    app, runs = site(errors.DeadlockDetected())
    given = {"data": b"abc", "content_type": "audio/webm", **more}
    assert app.test_client().post("/v1/meet", **given).status_code == 503
    assert len(runs) == 1


def test_who_waited_long_for_a_lock_does_not_wait_again(site):
    app, runs = site(errors.LockNotAvailable())
    assert app.test_client().post("/v1/meet", **JSON).status_code == 503
    assert len(runs) == 1
