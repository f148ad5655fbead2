"""Data of the release before, the wheel of this one, ``parley up``: everything is there.

The release before is the newest tag ``v*`` of another version. Until there is one it is a commit from before migrations
0039 and later and from before the rooms got their names, so that an upgrade has something to do. Its own code makes the
data: it founds an organization, plays an interview from question to result, and books one that nobody has opened.
"""

import hashlib
import io
import json
import os
import re
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from app.core import migrate

from . import installed
from .conftest import PYTHON, ROOT, Start, a_free_port, answers, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform")]

FIRST = ("cff55948fc21", "app.cli")
"""A commit, and the module of its command."""
PASSWORD = "a long enough password"
Rows = dict[str, dict[Any, dict[str, Any]]]


def _git(*words: str) -> bytes | None:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def _before() -> tuple[str, str]:
    from importlib.metadata import version

    tags = (_git("tag", "--merged", "HEAD", "--sort=-version:refname", "--list", "v*") or b"").decode().split()
    older = [tag for tag in tags if tag != f"v{version('parley')}"]
    return (older[0], "app.operations.cli") if older else FIRST


@dataclass
class Before:
    """What the release before left: its directory of data, and what its customers know."""

    data: Path
    key: str = ""
    interview: str = ""
    link: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    sound: str = ""
    rows: Rows = field(default_factory=dict)


def _environment(data: Path, port: int, **more: str) -> dict[str, str]:
    return {"DATA_DIR": str(data), "PORT": str(port), "STT_PROCESSES": "1", "DATABASE_URL": "", "REDIS_URL": ""} | more


def _rows(data: Path) -> Rows:
    """Every row by table and key."""
    with closing(sqlite3.connect(data / "parley.db")) as connection:
        connection.row_factory = sqlite3.Row
        names = [row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: _rows_of(connection, name) for name in names if not name.startswith("sqlite_")}


def _rows_of(connection: sqlite3.Connection, table: str) -> dict[Any, dict[str, Any]]:
    keys = [row["name"] for row in connection.execute(f"PRAGMA table_info({table})") if row["pk"]]
    read = [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]
    return {tuple(row[key] for key in keys): row for row in read}


def _is_prepared(data: Path) -> bool:
    return all(flow["speech_state"] in {"ready", "failed"} for flow in _rows(data)["interview_flow"].values())


def _read(url: str, before: Before) -> dict[str, Any]:
    answer = requests.get(
        f"{url}/v1/interviews/{before.interview}", headers={"Authorization": f"Bearer {before.key}"}, timeout=30
    )
    return dict(answer.json())


def _hash_of(url: str) -> str:
    answer = requests.get(url, timeout=30)
    assert answer.status_code == 200
    return hashlib.sha256(answer.content).hexdigest()


@pytest.fixture
def before(start: Start, tmp_path: Path) -> Before:
    """The data of the release before, made by its own code and stopped."""
    commit, module = _before()
    packed = _git("archive", commit)
    if packed is None:
        pytest.skip(f"no history here: the release before, {commit}, is not in this repository (git fetch --unshallow)")
    source, port = tmp_path / "before", a_free_port()
    with tarfile.open(fileobj=io.BytesIO(packed)) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
        opened.extractall(source)
    made = Before(tmp_path / "data")
    env = _environment(made.data, port, PYTHONPATH=str(source))
    command = [str(PYTHON), "-m", module]

    def cli(*words: str) -> dict[str, Any]:
        said = subprocess.run(
            [*command, *words, "--json"], cwd=source, env={**os.environ, **env}, capture_output=True, check=True
        )
        return dict(json.loads(said.stdout))

    process = start(*command, "up", env=env, name="before", cwd=source)
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: answers(f"{url}/readyz"), seconds=60, what="the release before is ready")
    live = cli("org", "create", "Ex", "--team", "One", "--admin-email", "a@ex.example", "--admin-password", PASSWORD)
    made.key = cli("api-key", "create", "trial", "--test")["api_key"]

    def post(path: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = requests.post(f"{url}/v1/{path}", json=body, headers={"Authorization": f"Bearer {key}"}, timeout=30)
        assert answer.ok, answer.text
        return dict(answer.json())

    asked = {"org_name": "Ex", "title": "Nurse", "interview_type": "recruitment", "questions": ["Why nursing?"]}
    flow = post("interview-flows", live["api_key"], asked)["interview_flow_id"]
    booking = {"interview_flow_id": flow, "interviewee_email_address": "robin@ex.example"}
    made.interview = post("interviews", made.key, booking)["interview_id"]
    made.link = post("interviews", live["api_key"], booking)["interview_link"]
    # A result is published before its sound has its last form: the job is awaited, not the status.
    done, log = f"process_interview({made.interview}) done", tmp_path / "before.log"
    wait_until(lambda: done in log.read_text(), seconds=120, what="the interview has a result")
    # This release would go on with what is not prepared yet, and change the flow.
    wait_until(lambda: _is_prepared(made.data), seconds=120, what="the flow's speech is prepared")
    made.result = _read(url, made)
    made.sound = _hash_of(made.result["interview_data"]["audio_url"])
    process.terminate()
    assert process.wait(timeout=40) == 0
    made.rows = _rows(made.data)
    return made


@pytest.fixture
def upgraded(before: Before, start: Start, tmp_path: Path) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The address of this release, run from its wheel on the same data, and ``parley(*words)`` of it."""
    wheel = installed.build(ROOT, "wheel", tmp_path / "wheel")
    command = str(installed.install(wheel, tmp_path / "venv") / "parley")
    # The address people know stays the same, as it does when a release is replaced.
    port = int(re.findall(r":(\d+)/", before.link)[0])
    env = _environment(before.data, port, PYTHONPATH="")

    def parley(*words: str) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, **env}
        return subprocess.run(
            [command, *words], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )

    process = start(command, "up", env=env, name="upgraded", cwd=tmp_path)
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: answers(f"{url}/readyz"), seconds=60, what="this release is ready")
    yield url, parley
    process.terminate()
    assert process.wait(timeout=40) == 0


def _sign_in(url: str) -> requests.Response:
    browser = requests.Session()
    page = browser.get(f"{url}/sign-in", timeout=30).text
    (token,) = set(re.findall(r'name="csrf_token"[^>]* value="([^"]+)"', page))
    form = {"email": "a@ex.example", "password": PASSWORD, "csrf_token": token}
    return browser.post(f"{url}/sign-in", data=form, timeout=30)


def test_everything_is_there_after_an_upgrade(before: Before, upgraded: tuple[str, Callable[..., Any]]) -> None:
    url, parley = upgraded
    now = _rows(before.data)
    assert set(now["alembic_version"]) == {(migrate.head(),)}
    lost = [
        f"{table} {key}: {column} was {value!r}, now {now[table].get(key, {}).get(column, 'missing')!r}"
        for table, rows in before.rows.items()
        if table != "alembic_version"
        for key, row in rows.items()
        for column, value in row.items()
        if now[table].get(key, {}).get(column, object()) != value
    ]
    assert not lost, "\n".join(lost)
    after = _read(url, before)
    links = [shown["interview_data"].pop("audio_url") for shown in (after, before.result)]  # signed for a time
    assert after == before.result
    assert [_hash_of(link) for link in links] == [before.sound, before.sound]
    page = requests.get(before.link, timeout=30)
    assert page.status_code == 200
    assert "Nurse" in page.text
    signed_in = _sign_in(url)
    assert signed_in.status_code == 200
    assert "Sign out" in signed_in.text
    checked = parley("check", "--json")
    assert checked.returncode == 0, checked.stdout


def test_data_of_a_newer_release_is_refused_with_a_sentence(tmp_path: Path) -> None:
    command = str(installed.install(installed.build(ROOT, "wheel", tmp_path / "wheel"), tmp_path / "venv") / "parley")
    data = tmp_path / "data"
    env = {**os.environ, **_environment(data, a_free_port(), PYTHONPATH="")}
    subprocess.run([command, "migrate"], cwd=tmp_path, env=env, check=True, capture_output=True)
    with closing(sqlite3.connect(data / "parley.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    stored = (data / "parley.db").read_bytes()
    refused = subprocess.run(
        [command, "up"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert refused.returncode == 1
    assert f"is at revision 9999, but this release supports revisions up to {migrate.head()}" in refused.stderr
    assert "Start the newer release" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert (data / "parley.db").read_bytes() == stored
