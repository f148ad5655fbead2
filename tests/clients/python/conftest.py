"""Clients of the real application on a socket, and of the Parley in memory: the same tests run against both."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import pytest
from flask import Flask
from parley import AsyncParley, Parley
from parley.testing import FakeParley
from werkzeug.serving import make_server

from app.core.db import db
from app.interviews import actions
from app.interviews.jobs import processing
from app.interviews.models import Interview
from tests.interviews.conftest import engines_of, say
from tests.interviews.fakes import ScriptedAnalyst, ScriptedTranscriber
from tests.people import person


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test of ``world`` sees a database where that is the application: ``--with-database`` keeps it."""
    chosen: Any = getattr(item, "callspec", None)
    if isinstance(item, pytest.Function) and chosen and chosen.params.get("world") == "served":
        item.fixturenames = [*item.fixturenames, "served", "pristine_database"]


class World(Protocol):
    """A Parley that tests can call, in which candidates take interviews at once."""

    def client(self, **options: Any) -> Parley: ...
    def async_client(self, **options: Any) -> AsyncParley: ...
    def complete(self, interview_id: str) -> None: ...


class Served:
    """The application on a socket, with a database of its own and one organization."""

    def __init__(self, app: Flask, url: str) -> None:
        self.app, self.url = app, url
        self.key, self.team_id = self.organization("First Ltd")
        self._open = ExitStack()

    def organization(self, name: str) -> tuple[str, str]:
        """A new organization: an API key, and the id of its team."""
        owner = person(self.app, f"owner@{name[:5].lower()}.example", organization=name, role="admin")
        made = owner.key, owner.team.id
        db.session.commit()  # on SQLite, what has been read since the last one would stop the server from writing
        return made

    def client(self, key: str | None = None, **options: Any) -> Parley:
        return self._open.enter_context(Parley(key or self.key, self.url, **options))

    def async_client(self, **options: Any) -> AsyncParley:
        return AsyncParley(self.key, self.url, **options)

    def complete(self, interview_id: str) -> None:
        interview = db.session.get_one(Interview, interview_id)
        actions.begin(interview)
        say(interview)
        actions.submit(interview)
        db.session.commit()
        with engines_of(self.app, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst()):
            processing.process_interview(interview_id)
        db.session.commit()

    def close(self) -> None:
        self._open.close()


@pytest.fixture
def served(own_app: Flask) -> Iterator[Served]:
    server = make_server("127.0.0.1", 0, own_app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with own_app.app_context():
            made = Served(own_app, f"http://127.0.0.1:{server.server_port}")
            yield made
            made.close()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def fake() -> FakeParley:
    return FakeParley()


@pytest.fixture(params=["served", "fake"])
def world(request: pytest.FixtureRequest) -> World:
    """Both Parleys: what a test says of one holds for the other."""
    found: World = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def client(world: World) -> Parley:
    return world.client()


@pytest.fixture
def a_flow(client: Parley) -> Callable[..., str]:
    """``a_flow(**fields)``: the id of a new recruitment flow with two questions."""

    def make(**fields: Any) -> str:
        given = {"org_name": "First Ltd", "title": "Nurse", "questions": ["Why?", "What next?"], **fields}
        return client.flows.create(interview_type="recruitment", **given).interview_flow_id

    return make
