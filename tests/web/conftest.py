"""Applications with a probe endpoint, since the room's own ones neither take bodies nor fail."""

import logging
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import marshmallow as ma
import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.exc import OperationalError
from werkzeug.exceptions import BadRequest

from app import create_app
from app.accounts import actions, idempotency
from app.accounts.access import caller, require_api_key
from app.accounts.models import IdempotentCall, Team
from app.core import clock, queue
from app.core.db import db, row_security
from app.core.errors import Conflict, Forbidden, GatewayError, Gone, NotFound, Rejected
from app.gateways import Gateways
from app.gateways.storage.ports import Damaged
from app.operations.cli.console import configure_logging
from app.settings import Settings
from app.web import fields
from app.web.api import Blueprint
from tests.conftest import GIVEN_URL, postgresql_database
from tests.people import Browser, person


class ProbeSchema(ma.Schema):
    name = fields.Text(most=50, blank=False, required=True)
    note = fields.Text(most=20, allow_none=True)
    wanted = fields.Flag()
    kind = fields.Choice(["round", "square"], called="Kind", allow_none=True)
    email = fields.EmailAddress(allow_none=True)
    ref = fields.IdPattern(allow_none=True)
    parts = fields.Several(fields.Text(most=10, blank=False), most=3, words="At most 3 parts.")


class ProbeQuerySchema(ma.Schema):
    limit = fields.limit_field(20)
    offset = fields.offset_field()
    status = fields.Choice(["incomplete", "completed"], called="ProbeStatus", allow_none=True, load_default=None)
    team_id = fields.team_id_field()


FAILURES = {
    "NotFound": NotFound("No such thing."),
    "Forbidden": Forbidden("Not yours."),
    "Rejected": Rejected("is wrong", field="name"),
    "Damaged": Damaged("recordings/x"),
    "Conflict": Conflict("Moved on."),
    "Gone": Gone("Deleted after 90 days.", code="cursor_expired"),
    "GatewayError": GatewayError("The far end is away.", retryable=True),
    "OperationalError": OperationalError("SELECT secret", {"password": "hidden"}, Exception("database is locked")),
    "ValueError": ValueError("a secret detail"),
    "BadRequest": BadRequest(),
}


def add_probe(app: Flask) -> None:
    blp = Blueprint("probe", __name__, url_prefix="/v1")
    blp.before_request(require_api_key)

    @blp.post("/probe")
    @blp.arguments(ProbeSchema)
    @blp.response(200, ma.Schema.from_dict({"team_id": ma.fields.String()}, name="Probed"))
    def probe(body):
        if body["name"] == "is taken over":
            _take_over()
        team = actions.add_team(caller(), body["name"], by=None)
        answer = {"team_id": team.id}
        if body["name"] == "fails after the promise":
            idempotency.promise(answer)
        db.session.commit()
        if body["name"].startswith("fails after"):
            raise ValueError("late")
        return answer

    @blp.get("/probe")
    @blp.arguments(ProbeQuerySchema, location="query")
    @blp.response(200)
    def listed(query):
        return query

    @blp.get("/probe/<name>")
    @blp.response(200)
    def failing(name):
        if name in FAILURES:
            raise FAILURES[name]
        return {"name": name}

    app.extensions["parley.api"].register_blueprint(blp)
    app.add_url_rule("/fail/<name>", "fail", lambda name: (_ for _ in ()).throw(FAILURES[name]))


def _take_over() -> None:
    """What a repeat does to a call that is slow."""
    db.session.rollback()  # SQLite has one writer
    with db.engine.begin() as other, row_security.everyone():
        other.execute(sa.update(IdempotentCall).values(started_at=clock.now()))


@pytest.fixture
def probing(own_database, settings, engines, tmp_path) -> Iterator[Callable[..., Flask]]:
    """``probing(**settings)``: an application of its own with the probe endpoints."""
    built = []

    def build(**changes) -> Flask:
        own = replace(settings, **{"database_url": own_database, "data_dir": tmp_path, **changes})
        app = create_app(own, gateways=engines, waker=queue.SilentWaker())
        app.test_client_class = Browser
        add_probe(app)
        built.append(app)
        return app

    yield build
    for app in built:
        let_go(app)


def let_go(app: Flask) -> None:
    """Close the application's connections."""
    with app.app_context():
        db.engine.dispose()


@pytest.fixture(scope="module")
def probe_app(settings, engines, tmp_path_factory, pristine_database) -> Iterator[tuple[Flask, str]]:
    """One application with real commits for a module, and a key."""
    folder = tmp_path_factory.mktemp("probe")
    if GIVEN_URL:
        with postgresql_database(pristine_database) as url:
            made = _with_key(replace(settings, database_url=url, data_dir=folder), engines)
            yield made
            let_go(made[0])
        return
    shutil.copy(pristine_database.removeprefix("sqlite:///"), folder / "probe.db")
    made = _with_key(replace(settings, database_url=f"sqlite:///{folder / 'probe.db'}", data_dir=folder), engines)
    yield made
    let_go(made[0])


def _with_key(own: Settings, engines: Gateways) -> tuple[Flask, str]:
    app = create_app(own, gateways=engines, waker=queue.SilentWaker())
    app.test_client_class = Browser
    add_probe(app)
    with app.app_context():
        return app, person(app, "owner@first.example", organization="First Ltd", role="admin").key


@pytest.fixture
def probe(probe_app):
    """``probe(method, path, **kwargs)`` with a key."""
    app, key = probe_app

    def call(method, path, **kwargs):
        headers = {"Authorization": f"Bearer {key}", **kwargs.pop("headers", {})}
        return app.test_client().open(path, method=method, headers=headers, **kwargs)

    call.app = app

    def teams():
        with app.app_context():
            return db.session.query(Team).count()

    call.teams = teams
    return call


@pytest.fixture
def configured(settings: Settings) -> Iterator[Any]:
    """``configured(form)`` sets the log up as the commands do; the tests' own handlers come back afterwards."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level

    def configure(form: str) -> None:
        for handler in before:
            root.removeHandler(handler)  # it would be closed
        configure_logging(replace(settings, log_format=form))

    yield configure
    root.handlers[:] = before
    root.setLevel(level)
