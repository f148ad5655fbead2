"""Fixtures of the whole suite: one migrated database per process, a transaction per test, real engines, no network."""

import gc
import os
import shutil
import socket
import sys
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from hypothesis import HealthCheck
from hypothesis import settings as generated
from jinja2 import StrictUndefined, Undefined
from jinja2.utils import missing
from psycopg.errors import InsufficientPrivilege
from pytest_socket import socket_allow_hosts
from sqlalchemy.exc import ProgrammingError

from app import create_app, gateways
from app.core import migrate, queue, rooms
from app.core.db import db, row_security
from app.gateways import Gateways
from app.gateways.speech.engines import pocketsphinx
from app.gateways.speech.model_files import ModelStore
from app.settings import Settings

from .guards import guarded
from .lanes import Lanes, place_of
from .people import Browser, Person, person

pytest_plugins = ["tests.factories", "tests.leftovers", "tests.mailing"]

GIVEN_URL = os.environ.get("DATABASE_URL", "")

# A test that makes a row before any application is built needs every table that the row's table refers to.
rooms.load_tables()

# Tests fetch no speech models, nor do the processes they start.
os.environ["MODELS"] = "off"

APART = ("models", "engines")
"""Marks of tests that run only when they are asked for."""

# Time decides no test: by itself hypothesis fails an example that takes 200 ms.
generated.register_profile("shared machines", deadline=None, suppress_health_check=[HealthCheck.too_slow])
generated.load_profile("shared machines")


NO_POCKETSPHINX = "pocketsphinx has no wheel for this Python"
LACKS_POCKETSPHINX = sys.version_info >= (3, 14) and not pocketsphinx.is_installed()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--with-database", action="store_true", help="only tests that see a database")
    parser.addoption("--models", action="store_true", help="only tests with real speech models, which MODELS_DIR has")
    parser.addoption("--engines", action="store_true", help="only tests in three browser engines, with sound")
    parser.addoption("--within", type=float, metavar="SECONDS", help="leave out, by name, browser tests without time")
    parser.addoption("--complete", action="store_true", help="this machine has all: a test that is left out fails")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Python's collector never looks at what is here for the whole run: modules, mappers and the tests themselves."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place_of(item.nodeid))
    wanted = next((name for name in APART if config.getoption(f"--{name}")), None)
    other = [item for item in items if next((n for n in APART if item.get_closest_marker(n)), None) != wanted]
    if other:
        config.hook.pytest_deselected(items=other)
        items[:] = [item for item in items if item not in set(other)]
    if not config.getoption("--with-database"):
        return
    blind = [item for item in items if "pristine_database" not in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=blind)
    items[:] = [item for item in items if item not in set(blind)]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    config.option.loadscopereorder = False  # by the number of tests, which says little about time
    return Lanes(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and item.config.getoption("--complete") and NO_POCKETSPHINX not in str(report.longrepr):
        report.outcome, report.longrepr = "failed", f"left out, where nothing may be: {report.longrepr}"
    return report


def pytest_runtest_setup(item: pytest.Item) -> None:
    socket_allow_hosts(["127.0.0.1", "::1"], allow_unix_socket=True)
    needs = item.get_closest_marker("pocketsphinx") or "sphinx" in getattr(item, "fixturenames", ())
    if needs and LACKS_POCKETSPHINX:
        pytest.skip(NO_POCKETSPHINX)


@pytest.fixture(scope="session")
def real_model() -> Callable[[str], Path]:
    """The directory of a real model of MODELS_DIR (default: that of ``make run``); without it the test is left out."""
    store = ModelStore(Path(os.environ.get("MODELS_DIR") or Path(__file__).parents[1] / "instance" / "models"))

    def path_of(name: str) -> Path:
        path = store.path(name)
        if path is None:
            pytest.skip(f"{name} is not in {store.folder}: parley models install {name}")
        return path

    return path_of


@pytest.fixture(scope="session", autouse=True)
def in_sight() -> Iterator[None]:
    """A test sees the rows of all organizations; every request begins without any, jobs and commands as they do."""
    with row_security.everyone():
        yield


@pytest.fixture(scope="session")
def pristine_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A migrated database that nobody ever connects to, so that PostgreSQL can copy it."""
    if not GIVEN_URL:
        url = f"sqlite:///{tmp_path_factory.mktemp('database') / 'pristine.db'}"
        migrate.upgrade(url)
        yield url
        return
    with postgresql_database() as url:
        migrate.upgrade(url)
        yield url


@pytest.fixture(scope="session")
def template_database(pristine_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The database that tests share, each in a transaction: SQLite, or PostgreSQL when DATABASE_URL names a server."""
    if not GIVEN_URL:
        path = tmp_path_factory.mktemp("database") / "shared.db"
        shutil.copy(pristine_database.removeprefix("sqlite:///"), path)
        yield f"sqlite:///{path}"
        return
    with postgresql_database(pristine_database) as url:
        yield url


class postgresql_database:  # noqa: N801 - used like a function
    """A database of its own on the server of DATABASE_URL, dropped at the end; ``template`` is copied if given."""

    def __init__(self, template: str | None = None) -> None:
        self.url = sa.make_url(GIVEN_URL.replace("postgresql://", "postgresql+psycopg://"))
        self.name = f"parley_test_{uuid.uuid4().hex[:12]}"
        self.template = sa.make_url(template).database if template else None

    def _run(self, statement: str) -> None:
        engine = sa.create_engine(self.url, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                connection.execute(sa.text(statement))
        finally:
            engine.dispose()

    def __enter__(self) -> str:
        self._run(f'CREATE DATABASE "{self.name}"' + (f' TEMPLATE "{self.template}"' if self.template else ""))
        return self.url.set(database=self.name).render_as_string(hide_password=False)

    def __exit__(self, *_: object) -> None:
        for _tried in range(100):
            try:
                return self._run(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')
            except ProgrammingError as refusal:
                # The server's own vacuum is at work there, which a plain role may not send away.
                if not isinstance(refusal.orig, InsufficientPrivilege):
                    raise
                time.sleep(0.1)
        raise AssertionError(f"{self.name} could not be dropped")


@contextmanager
def migrated_database(pristine_database: str, folder: Path) -> Iterator[str]:
    """A migrated database for real commits, threads or processes; SQLite's is in ``folder``."""
    if GIVEN_URL:
        with postgresql_database(pristine_database) as url:
            yield url
        return
    path = folder / "own.db"
    shutil.copy(pristine_database.removeprefix("sqlite:///"), path)
    yield f"sqlite:///{path}"


@pytest.fixture
def own_database(pristine_database: str, tmp_path: Path) -> Iterator[str]:
    """A migrated database for one test that needs real commits, threads or processes."""
    with migrated_database(pristine_database, tmp_path) as url:
        yield url


@pytest.fixture(scope="session")
def without_database(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of the shared application but for its database: limits on calls are off, loopback may be called."""
    data_dir = tmp_path_factory.mktemp("data")
    return Settings.from_env(
        {
            "DATA_DIR": str(data_dir),
            "DATABASE_URL": f"sqlite:///{data_dir / 'nobody-asks.db'}",
            "SECRET_KEY": "test-secret-" * 4,
            "RATE_LIMIT_PER_MINUTE": "0",
            "APP_URL": "http://localhost",
            "STT_PROCESSES": "1",
        }
    )


@pytest.fixture(scope="session")
def settings(without_database: Settings, template_database: str) -> Settings:
    return replace(without_database, database_url=template_database)


@pytest.fixture(scope="session")
def engines(without_database: Settings) -> Iterator[Gateways]:
    """The embedded engines and local storage, shared by all tests; they refuse to work inside a transaction."""
    built = gateways.build(without_database)
    yield guarded(built)
    built.close()


@pytest.fixture(scope="session")
def waker() -> queue.SilentWaker:
    return queue.SilentWaker()


@pytest.fixture(scope="session")
def shared_app(settings: Settings, engines: Gateways, waker: queue.SilentWaker) -> Iterator[Flask]:
    application = under_test(create_app(settings, gateways=engines, waker=waker))
    yield application
    with application.app_context():
        db.engine.dispose()


class Missing(Undefined):
    """A name that a template uses and nobody passes fails a test; in production it is empty. A missing key is empty."""

    def __new__(cls, hint: str | None = None, obj: Any = missing, name: str | None = None, *rest: Any) -> Any:
        kind = StrictUndefined if obj is missing and name is not None else Undefined
        return kind(hint, obj, name, *rest)


def under_test(application: Flask) -> Flask:
    application.test_client_class = Browser
    application.config["TESTING"] = True
    application.jinja_env.undefined = Missing
    return application


@pytest.fixture
def app(shared_app: Flask, engines: Gateways, waker: queue.SilentWaker) -> Iterator[Flask]:
    """The application inside a transaction that is rolled back; commits of the code under test are SAVEPOINTs."""
    waker.enqueued.clear()
    shared_app.extensions["parley.gateways"] = engines
    with shared_app.app_context():
        databases = db.engines
        engine = databases[None]
        connection = engine.connect()
        transaction = connection.begin()
        databases[None] = connection  # type: ignore[assignment]
        yield shared_app
        db.session.remove()
        transaction.rollback()
        connection.close()
        databases[None] = engine


@contextmanager
def committing_app(database: str, settings: Settings, engines: Gateways, folder: Path) -> Iterator[Flask]:
    """An application with a database of its own, real commits, and its files in ``folder``."""
    own = replace(settings, database_url=database, data_dir=folder, storage_url=str(folder / "files"))
    mine = replace(engines, storage=gateways.build_storage(own))
    application = under_test(create_app(own, gateways=mine, waker=queue.SilentWaker()))
    yield application
    with application.app_context():
        db.engine.dispose()


@pytest.fixture
def own_app(own_database: str, settings: Settings, engines: Gateways, tmp_path: Path) -> Iterator[Flask]:
    """An application with a database and files of its own and real commits, for threads, claims and draining."""
    with committing_app(own_database, settings, engines, tmp_path) as application:
        yield application


@pytest.fixture
def client(app: Flask) -> Browser:
    """A browser that nobody has signed in."""
    return app.test_client()  # type: ignore[return-value]


@pytest.fixture
def owner(app: Flask) -> Person:
    """Administrator of the first organization."""
    return person(app, "owner@first.example", organization="First Ltd", role="admin")


@pytest.fixture
def colleague(app: Flask, owner: Person) -> Person:
    """Recruiter in the owner's organization and team."""
    return person(app, "colleague@first.example", organization=owner.organization, role="recruiter")


@pytest.fixture
def viewer(app: Flask, owner: Person) -> Person:
    """Someone of the owner's team who may only look."""
    return person(app, "viewer@first.example", organization=owner.organization, role="viewer")


@pytest.fixture
def outsider(app: Flask) -> Person:
    """Administrator of another organization."""
    return person(app, "outsider@second.example", organization="Second Ltd", role="admin")


@pytest.fixture
def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
