"""``parley demo``: which Parley it checks, and what it says about that."""

import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from app.operations import cli
from app.operations.demo.platform import Customer, Platform
from app.operations.demo.telling import what_was_checked, where_to_look
from app.settings import Settings

CUSTOMER = Customer("organization", "key", "admin@example.com", "password")


def platform(settings: Settings, *, is_ours: bool) -> Platform:
    return Platform("http://127.0.0.1:8123", {}, settings.data_dir / "demo", is_ours=is_ours)


class Healthy(BaseHTTPRequestHandler):
    """Answers /healthz as any Parley does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def another() -> Iterator[str]:
    """The URL of a Parley whose data is elsewhere."""
    server = HTTPServer(("127.0.0.1", 0), Healthy)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_last_line_names_what_was_checked(without_database: Settings) -> None:
    running = what_was_checked(platform(without_database, is_ours=False), without_database)
    assert running == "on the running Parley at http://127.0.0.1:8123."
    own = what_was_checked(platform(without_database, is_ours=True), without_database)
    assert f"started for the demo, in {without_database.data_dir / 'demo'}." in own
    assert "not running at http://localhost: to check one that runs elsewhere, set the same PORT and DATA_DIR." in own


@pytest.mark.parametrize(
    ("called", "command"),
    [(".venv/bin/parley", ".venv/bin/parley"), ("/a/__main__.py", f"{sys.executable} -m app.operations.cli")],
)
def test_the_command_that_starts_it_again_is_the_one_that_was_used(
    without_database: Settings,
    called: str,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [called, "demo"])
    where_to_look(platform(without_database, is_ours=True), CUSTOMER, interview_id="id")
    assert f"DATA_DIR={without_database.data_dir / 'demo'} PORT=8123 {command} up" in capsys.readouterr().out


def test_a_running_parley_with_another_data_dir_is_said_in_a_sentence(
    home: Path, another: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP_URL", another)
    refused = CliRunner().invoke(cli.parley, ["demo"])
    assert refused.exit_code == 1
    assert refused.stderr.startswith(
        f"Error: parley org create failed: there is no Parley in {home / 'data'}. Is DATA_DIR the same"
    )
