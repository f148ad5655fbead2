"""One installation whose processes can be killed and started again, and the language model that it asks."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests
import sqlalchemy as sa

from tests import leftovers

from .conftest import ROOT, new_organization

QUESTIONS = ["Why would you like to work with us?", "What do you want to learn here?"]
LONGEST = 240.0


class Model:
    """A language model's server with nothing to say; ``held`` keeps its answer back, so that the platform thinks."""

    def __init__(self) -> None:
        outer = self
        self.held, self.asked, self.gate = False, threading.Event(), threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                if outer.held:
                    outer.asked.set()
                    outer.gate.wait(LONGEST)
                self.send_response(400)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self) -> None:
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


class Platform:
    """A web process on SQLite that can be killed and started again at the same address, and a worker."""

    def __init__(self, folder: Path, *, with_model: bool = True) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        self.folder, self.url, self.model = folder, f"http://127.0.0.1:{self.port}", Model()
        self.with_model = with_model
        self.env = {
            **os.environ,
            "DATA_DIR": str(folder / "data"),
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "APP_URL": self.url,
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "STT_PROCESSES": "1",
            "RATE_LIMIT_PER_MINUTE": "0",
            "SECRET_KEY": "loss-only-" * 4,
            "SWEEP_SECONDS": "5",
        }
        (folder / "data").mkdir(parents=True)
        self.command("migrate")
        made = json.loads(self.command("org", "create", *new_organization()[1]))
        self.api_key, self.team_id = made["api_key"], made["team_id"]
        self.database = sa.create_engine(f"sqlite:///{folder / 'data' / 'parley.db'}", poolclass=sa.NullPool)
        self.web: subprocess.Popen[bytes] | None = None
        self.start()
        self.worker = self._run("worker", self.env)

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "app.operations.cli", *arguments],
            env=self.env,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-800:]
        return done.stdout

    def start(self) -> None:
        model = {"LLM_BASE_URL": self.model.address, "LLM_MODEL": "m", "LLM_API_KEY": "k"}
        env = {**self.env, **(model if self.with_model else {})}
        self.web = self._run("web", env)
        until(lambda: _is_up(self.url), what="the web process answers")

    def _run(self, name: str, env: dict[str, str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "app.operations.cli", name], env=env, cwd=ROOT, stdout=log, stderr=log
            )

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nothing is said."""
        assert self.web is not None
        assert self.web.poll() is None
        self.web.kill()
        self.web.wait()

    def close(self) -> None:
        for process in (self.worker, self.web):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in (self.worker, self.web):
            if process is not None:
                leftovers.end(process, seconds=30)
        self.model.close()

    def api(self, method: str, path: str, **given: Any) -> Any:
        answer = requests.request(
            method, f"{self.url}/v1{path}", headers={"Authorization": f"Bearer {self.api_key}"}, timeout=60, **given
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def book(self, **flow: Any) -> tuple[str, str]:
        script = {
            "org_name": "Example Freight",
            "title": "Team lead, warehouse",
            "questions": QUESTIONS,
            "intro": "Welcome.",
            "outro": "Thank you, that was all.",
            "interview_type": "recruitment",
            "language": "en-US",
            "team_id": self.team_id,
            **flow,
        }
        made = self.api("POST", "/interview-flows", json=script)
        booked = self.api(
            "POST",
            "/interviews",
            json={
                "interview_flow_id": made["interview_flow_id"],
                "interviewee_email_address": "ada@applicants.example",
                "interviewee_first_name": "Ada",
            },
        )
        return booked["interview_id"], booked["interview_link"]

    def rows(self, statement: str, **values: Any) -> list[Any]:
        with self.database.begin() as connection:
            result = connection.execute(sa.text(statement), values)
            return [*result] if result.returns_rows else []


def _is_up(url: str) -> bool:
    try:
        return requests.get(f"{url}/healthz", timeout=2).status_code == 200
    except requests.RequestException:
        return False


def until(holds: Callable[[], object], *, what: str, seconds: float = LONGEST) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


@contextmanager
def platform_in(folder: Path, *, with_model: bool = True) -> Iterator[Platform]:
    running = Platform(folder, with_model=with_model)
    try:
        yield running
    finally:
        running.close()
