"""The recipes of docs/adding.md name every place that has to change, and no more."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .source import ROOT

PAGE = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
ROOM = """\"\"\"Parrots repeat what they hear.\"\"\"

from app.core.rooms import Job, Room

REPEAT = Job("parrots.jobs.repeat", "app.parrots.jobs.repeat", "speech", 60)
ROOM = Room(blueprints=("app.parrots.pages.pages",), jobs=(REPEAT,), sweeps=("app.parrots.jobs.sweep",))
"""
PAGES = """\"\"\"The page of parrots.\"\"\"

from flask import Blueprint

pages = Blueprint("parrots", __name__)


@pages.get("/parrots")
def index() -> str:
    return "Hello, hello."
"""
JOBS = """\"\"\"What parrots do in the background.\"\"\"


def repeat(words: str) -> None:
    print(words, words)


def sweep() -> None:
    pass
"""
RUN = """
from pathlib import Path
from app import create_app
from app.core import rooms
from app.operations.processes.runs import run
from app.settings import Settings
app = create_app(Settings.from_env({"DATA_DIR": "data"}))
print(app.test_client().get("/parrots").text)
assert "app.parrots.jobs.sweep" in rooms.sweeps()
assert run(app, rooms.jobs()["app.parrots.jobs.repeat"], ("Polly",))
"""


def _recipe(name: str) -> set[str]:
    """Files that the recipe names."""
    text = PAGE.split(f"**{name}**")[1].split("\n\n**")[0]
    return {path for path in re.findall(r"`((?:app|templates|tests|docs|migrations)/[\w./]+)`", text) if "." in path}


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:app|templates|tests|docs|static)/[\w./]+)`", PAGE))))
def test_a_place_that_the_page_names_exists(path: str) -> None:
    assert (ROOT / path.replace("_N.", "_1.")).exists()


def test_the_recipe_for_a_field_of_a_flow_names_all_its_places() -> None:
    used_by = {"app/conversation/script/machine.py", "app/flows/jobs.py"}
    assert _files_with("time_limit_minutes") - used_by == _recipe("A field of a flow.")


def test_the_recipe_for_a_webhook_event_names_all_its_places() -> None:
    # These treat moves of candidates unlike results of interviews.
    used_by = {"app/operations/demo/promises.py", "app/webhooks/actions/replay.py", "templates/webhooks/show.html"}
    named = _files_with("CANDIDATE_STATUS_UPDATED") | _files_with("candidate_status_updated")
    assert (named - used_by) | {"docs/api.md"} == _recipe("A webhook event.")


def test_a_room_needs_two_places(tmp_path: Path) -> None:
    for name in ("app", "templates", "static", "migrations"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    room = tmp_path / "app" / "parrots"
    room.mkdir()
    for name, text in (("__init__", ROOM), ("pages", PAGES), ("jobs", JOBS)):
        (room / f"{name}.py").write_text(text, encoding="utf-8")
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(contract, encoding="utf-8")
    assert _linted(tmp_path).returncode != 0  # the second place is asked for
    placed = contract.replace('"privacy | operations"', '"privacy | operations | parrots"')
    (tmp_path / "pyproject.toml").write_text(placed, encoding="utf-8")
    linted = _linted(tmp_path)
    assert linted.returncode == 0, linted.stdout
    done = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["Hello, hello.", "Polly Polly"], done.stderr


def _linted(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def _files_with(word: str) -> set[str]:
    places = [*(ROOT / "app").rglob("*.py"), *(ROOT / "templates").rglob("*.html")]
    return {str(path.relative_to(ROOT)) for path in places if word in path.read_text(encoding="utf-8")}
