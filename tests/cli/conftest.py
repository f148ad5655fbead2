"""Runs ``parley`` commands in this process against a database of their own."""

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from app.operations import cli
from tests.conftest import GIVEN_URL

collect_ignore = [] if GIVEN_URL else ["test_empty_postgresql.py"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A working directory without settings of the machine's own."""
    for name in ("HOST", "PORT", "APP_URL", "REDIS_URL", "STORAGE_URL", "LOG_LEVEL", "DATA_DIR", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SECRET_KEY", "a secret key that is long enough")
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def parley(home, own_database, monkeypatch) -> Callable[..., Result]:
    """``parley("org", "create", …)`` on a migrated database."""
    monkeypatch.setenv("DATABASE_URL", own_database)
    return lambda *arguments, **options: CliRunner().invoke(cli.parley, [str(a) for a in arguments], **options)


@pytest.fixture
def founded(parley) -> dict[str, str]:
    """An organization made by the command."""
    made = parley(
        "org",
        "create",
        "First Ltd",
        "--team",
        "Hiring",
        "--admin-email",
        "owner@first.example",
        "--admin-password",
        "a staple and a horse",
        "--json",
    )
    assert made.exit_code == 0, made.stderr
    return json.loads(made.stdout)
