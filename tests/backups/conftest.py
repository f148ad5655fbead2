"""An embedded installation with rows and files of its own, and the commands that back it up and bring it back."""

import hashlib
import io
import itertools
import json
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from app import create_app, gateways
from app.accounts.models import Team, TeamMember
from app.core import migrate, queue
from app.core.db import db
from app.gateways import Gateways
from app.gateways.storage import LocalStorage
from app.interviews import actions as interviews
from app.interviews.documents.models import Document
from app.interviews.models import Interview
from app.interviews.recordings import actions as recordings
from app.interviews.recordings import queries
from app.interviews.recordings.models import Track
from app.operations import cli
from app.settings import Settings, kept_secret
from tests.conftest import GIVEN_URL
from tests.factories import a_flow
from tests.people import Person, person

Rows = dict[str, list[tuple[Any, ...]]]


@dataclass
class Installation:
    """One DATA_DIR. ``app`` writes to it as a web process would; ``parley`` runs a command on it."""

    data: Path
    app: Flask
    owner_id: str
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def database(self) -> Path:
        return self.data / "parley.db"

    @property
    def owner(self) -> Person:
        """The administrator, read by the session of whoever asks."""
        member = db.session.get_one(TeamMember, self.owner_id)
        team = db.session.query(Team).filter_by(organization_id=member.organization_id).one()
        return Person(app=self.app, member=member, organization=member.organization, team=team, key="")

    def parley(self, *arguments: object) -> Result:
        return CliRunner().invoke(cli.parley, [str(argument) for argument in arguments])

    def book(self, *, chunks: int = 2, email: str | None = None) -> str:
        """An interview with a recording under way and a document; returns its id."""
        number = next(self.numbers)
        flow, owner = a_flow(self.owner), self.owner
        interview = interviews.book(owner.organization, flow.id, email=email or f"candidate{number}@example.com")
        found = interview.id
        recordings.open_run(found, mime_type="audio/webm")
        db.session.commit()
        for chunk in range(chunks):
            self.send(found, chunk, f"{found} says {chunk}".encode())
        key = f"documents/{found}/cv"
        db.session.rollback()
        gateways.current().storage.put(key, b"the cv of " + found.encode())
        db.session.add(Document(interview_id=found, name="cv.txt", content_type="text/plain", size=1, storage_key=key))
        db.session.commit()
        return found

    def send(self, interview_id: str, number: int, content: bytes) -> None:
        """As the page does: bytes first, then the row."""
        sha256 = hashlib.sha256(content).hexdigest()
        key = queries.chunk_key(interview_id, segment=1, track=Track.MIX, number=number, sha256=sha256)
        db.session.rollback()
        stored = gateways.current().storage.put(key, content)
        recordings.keep_chunk(
            interview_id,
            segment=1,
            track=Track.MIX,
            number=number,
            sha256=stored.sha256,
            size=stored.size,
            storage_key=key,
        )
        db.session.commit()

    def interview(self, interview_id: str) -> Interview:
        db.session.expire_all()
        return db.session.get_one(Interview, interview_id)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory, pristine_database: str) -> Path:
    """A migrated SQLite database, also when the suite runs on PostgreSQL."""
    if not GIVEN_URL:
        return Path(pristine_database.removeprefix("sqlite:///"))
    path = tmp_path_factory.mktemp("sqlite") / "pristine.db"
    migrate.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, and no settings but where DATA_DIR is."""
    for name in ("DATABASE_URL", "REDIS_URL", "STORAGE_URL", "SECRET_KEY", "ERASURE_JOURNAL", "APP_URL", "PORT"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def opened(data: Path, settings: Settings, engines: Gateways) -> Flask:
    """The application on a DATA_DIR that has a database."""
    own = replace(
        settings,
        data_dir=data,
        database_url=f"sqlite:///{data / 'parley.db'}",
        storage_url=str(data / "files"),
        secret_key=kept_secret(data / "secret_key"),
        erasure_journal=data / "erasures.jsonl",
    )
    mine = replace(engines, storage=LocalStorage(data / "files"))
    return create_app(own, gateways=mine, waker=queue.SilentWaker())


Reopen = Callable[[Path], Flask]


@pytest.fixture
def reopen(settings: Settings, engines: Gateways) -> Iterator[Reopen]:
    """``reopen(data_dir)``: an application on it, let go of at the end."""
    apps: list[Flask] = []

    def open_again(data: Path) -> Flask:
        apps.append(opened(data, settings, engines))
        return apps[-1]

    yield open_again
    for app in apps:
        with app.app_context():
            db.session.remove()
            db.engine.dispose()


@pytest.fixture
def installation(home: Path, sqlite_template: Path, reopen: Reopen) -> Iterator[Installation]:
    data = home / "data"
    data.mkdir()
    (data / "parley.db").write_bytes(sqlite_template.read_bytes())
    app = reopen(data)
    with app.app_context():
        owner_id = person(app, "owner@first.example", organization="First Ltd", role="admin").member.id
        db.session.rollback()  # a transaction that is left open would keep the commands waiting
        yield Installation(data, app, owner_id)
        db.session.remove()


def rows_of(database: Path) -> Rows:
    """All rows of all tables."""
    with closing(sqlite3.connect(database)) as found:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        names = [name for (name,) in found.execute(tables)]
        return {name: sorted(found.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in names}


def files_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder by their relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".incoming" not in path.parts
    }


def members_of(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar if one.isreg()}  # type: ignore[union-attr]


def packed(target: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> Path:
    """A tar file of whatever is given."""
    with tarfile.open(target, "w") as tar:
        for info, content in members:
            info.size = len(content) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(content))
    return target


def told(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))
