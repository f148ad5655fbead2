"""Two organizations that are built once; every test and every attempt works on them inside a savepoint."""

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.core.db import Base, db, row_security
from app.gateways import Gateways
from app.settings import Settings
from app.webhooks.changes.actions import settle as settle_feed
from tests.conftest import GIVEN_URL
from tests.conversation.fakes import ScriptedInterviewer, ScriptedSpeaker, ScriptedTranscriber
from tests.guards import Guarded
from tests.interviews.fakes import ScriptedAnalyst

from .world import Side, planted

collect_ignore = [] if GIVEN_URL else ["test_row_level_security.py"]
"""SQLite has no such wall."""

SEEN = {"login": {"seen_at"}, "api_key": {"last_used_at", "last_address"}}
"""Columns that any visit may move."""
READS = re.compile(r"\s*(SELECT|SAVEPOINT|RELEASE|ROLLBACK)\b", re.IGNORECASE)
Stamps = frozenset[tuple[str, int, int]]


@dataclass
class World:
    """``ours`` does the asking; ``theirs`` is what it must neither see nor touch; ``copies`` is room for files kept."""

    app: Flask
    connection: sa.Connection
    files: Path
    copies: Path
    ours: Side = field(init=False)
    theirs: Side = field(init=False)
    attempts: int = 0
    watched: list[str] = field(default_factory=list)
    _outside: dict[str, str] = field(default_factory=dict)
    _tables: dict[str, str] | None = None
    _copies: dict[Stamps, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sa.event.listen(self.connection, "before_cursor_execute", self._note)

    def watch(self, told: str) -> None:
        """From here on nothing may change until ``settle``; ``told`` is what is about to be tried."""
        if not self.watched:
            db.session.remove()
            self._outside, self._tables = self.outside(), None
        self.watched.append(told)
        self.attempts += 1

    def _note(self, connection: sa.Connection, cursor: Any, statement: str, *_: Any) -> None:
        """Right before the first statement that does more than read, which mostly never comes: what all tables held."""
        if self.watched and self._tables is None and not READS.match(statement):
            self._tables = {}  # what reads them comes here too
            with row_security.everyone():
                self._tables = self.tables()
            connection.exec_driver_sql("SELECT 1")  # the wall is told again whose rows the statement may touch

    def settle(self) -> None:
        """Nothing has changed by what was tried since the first ``watch``."""
        tried, self.watched = self.watched, []
        if tried:
            db.session.remove()
            before, after = self._outside, self.outside()
            if self._tables is not None:
                before, after = {**before, **self._tables}, {**after, **self.tables()}
            changed = {name: (before[name], after[name]) for name in after if after[name] != before[name]}
            assert not changed, (changed, tried)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Whatever happens inside has never happened: rows and files alike."""
        self.settle()
        db.session.remove()  # its own savepoint would enclose ours
        with self._files_kept():
            savepoint = self.connection.begin_nested()
            try:
                yield
                self.settle()
            finally:
                self.watched = []
                db.session.remove()
                savepoint.rollback()

    @contextmanager
    def _files_kept(self) -> Iterator[None]:
        """What changes of the files inside is put back; most attempts change none."""
        before = self._stamps()
        if before not in self._copies:
            self._copies[before] = self.copies / str(len(self._copies))
            shutil.copytree(self.files, self._copies[before])
        try:
            yield
        finally:
            if self._stamps() != before:
                shutil.rmtree(self.files)
                shutil.copytree(self._copies[before], self.files)

    def _stamps(self) -> Stamps:
        """Which files and folders there are, and what shows that one was written: its size and its time."""
        found = ((path, path.stat()) for path in self.files.rglob("*"))
        return frozenset((str(path), one.st_size, one.st_mtime_ns) for path, one in found)

    def outside(self) -> dict[str, str]:
        """The files, and what the workers were rung for."""
        files = sorted((str(path), path.stat().st_size) for path in self.files.rglob("*") if path.is_file())
        return {"files": repr(files), "bell": repr(self.app.extensions["parley.bell"].enqueued)}

    def tables(self) -> dict[str, str]:
        """One hash for each table."""
        return {name: self._rows(statement) for name, statement in self._statements.items()}

    @cached_property
    def _statements(self) -> dict[str, str]:
        """What reads each table, written out once: thousands of times it is asked."""
        return {
            table.name: str(
                sa.select(*(one for one in table.columns if one.name not in SEEN.get(table.name, set()))).compile(
                    self.connection
                )
            )
            for table in Base.metadata.sorted_tables
        }

    def _rows(self, statement: str) -> str:
        rows = sorted(repr(tuple(row)) for row in self.connection.exec_driver_sql(statement))
        return f"{len(rows)} rows, {hashlib.sha256(''.join(rows).encode()).hexdigest()[:16]}"


@pytest.fixture(scope="module")
def whole_world(
    shared_app: Flask, settings: Settings, engines: Gateways, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    files = tmp_path_factory.mktemp("world") / "files"
    own: dict[str, Any] = {
        "storage": gateways.build_storage(replace(settings, data_dir=files.parent, storage_url=str(files))),
        "transcriber": Guarded(ScriptedTranscriber()),
        "speaker": Guarded(ScriptedSpeaker()),
        "interviewer": Guarded(ScriptedInterviewer()),
        "analyst": Guarded(ScriptedAnalyst(summary=None)),
    }
    kept = shared_app.extensions["parley.gateways"]
    with shared_app.app_context():
        engine = db.engines[None]
        connection = engine.connect()
        transaction = connection.begin()
        db.engines[None] = connection  # type: ignore[assignment]
        shared_app.extensions["parley.gateways"] = replace(engines, **own)
        world = World(shared_app, connection, files, files.parent / "copies")
        settle_feed()  # PostgreSQL's databases are copies here, which the first reader would find out
        world.ours, world.theirs = planted(shared_app, "ours"), planted(shared_app, "theirs")
        db.session.remove()
        try:
            yield world
        finally:
            db.session.remove()
            transaction.rollback()
            connection.close()
            db.engines[None] = engine
            shared_app.extensions["parley.gateways"] = kept


@pytest.fixture
def world(whole_world: World) -> Iterator[World]:
    """The world as it was built, whatever other tests did to it."""
    whole_world.app.extensions["parley.bell"].enqueued.clear()
    with whole_world.undone():
        yield whole_world
