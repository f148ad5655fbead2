"""Ten moments at which a tab, the network or the server dies in the middle of an interview, and what is left then.

Real processes: Chromium whose page process is killed by its id, ``parley web`` ended by SIGKILL and started again, the
network taken away. ``test_loss.py`` runs some of them, ``bench/loss.py`` all, with the processing afterwards.
"""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import requests
import sqlalchemy as sa

from .conftest import CHROMIUM, FLAGS, PASSWORD, ROOT, write_wav
from .speech import NOISE, spoken

QUESTIONS = ["Why would you like to work with us?", "What do you want to learn here?"]
ANSWER = "I like to help people every day and to learn new things."
LONGEST = 120.0


def microphone_file(folder: Path) -> Path:
    """Again and again: a quiet room, an answer, and so much quiet that a busy machine has replied before the next."""
    rng = np.random.default_rng(5)
    room = [np.zeros(16000 * seconds) for seconds in (3, 12)]
    samples = np.concatenate([room[0], spoken(ANSWER), room[1]])
    return write_wav(folder / "answer.wav", samples + rng.normal(0, NOISE, len(samples)), rate=16000)


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
    """One web process on SQLite that can be killed and started again at the same address; no workers."""

    def __init__(self, folder: Path, *, with_model: bool = True) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        self.folder, self.url, self.model = folder, f"http://127.0.0.1:{self.port}", Model()
        self.with_model = with_model
        self.env = {
            **os.environ, "DATA_DIR": str(folder / "data"), "HOST": "127.0.0.1", "PORT": str(self.port),
            "APP_URL": self.url, "DATABASE_URL": "", "REDIS_URL": "", "STT_PROCESSES": "1",
            "RATE_LIMIT_PER_MINUTE": "0",
            "SECRET_KEY": "loss-only-" * 4, "SWEEP_SECONDS": "5",
        }  # fmt: skip
        (folder / "data").mkdir(parents=True)
        self.command("migrate")
        made = json.loads(self.command(
            "org", "create", "Example Freight", "--team", "Main", "--admin-email", "admin@freight.example",
            "--admin-password", PASSWORD, "--json",
        ))  # fmt: skip
        self.api_key, self.team_id = made["api_key"], made["team_id"]
        self.database = sa.create_engine(f"sqlite:///{folder / 'data' / 'parley.db'}", poolclass=sa.NullPool)
        self.web: subprocess.Popen[bytes] | None = None
        self.start()

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "app.cli", *arguments], env=self.env, cwd=ROOT, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-800:]
        return done.stdout

    def start(self) -> None:
        model = {"LLM_BASE_URL": self.model.address, "LLM_MODEL": "m", "LLM_API_KEY": "k"}
        env = {**self.env, **(model if self.with_model else {})}
        with (self.folder / "web.log").open("ab") as log:
            self.web = subprocess.Popen(
                [sys.executable, "-m", "app.cli", "web"], env=env, cwd=ROOT, stdout=log,
                stderr=log,
            )  # fmt: skip
        until(lambda: _is_up(self.url), what="the web process answers")

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nothing is said."""
        assert self.web is not None
        assert self.web.poll() is None
        self.web.kill()
        self.web.wait()

    def restart(self) -> None:
        self.kill()
        self.start()

    def close(self) -> None:
        if self.web is not None and self.web.poll() is None:
            self.web.send_signal(signal.SIGTERM)
            try:
                self.web.wait(30)
            except subprocess.TimeoutExpired:
                self.web.kill()
        self.model.close()

    def api(self, method: str, path: str, **given: Any) -> Any:
        answer = requests.request(
            method, f"{self.url}/v1{path}", headers={"Authorization": f"Bearer {self.api_key}"}, timeout=60, **given
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def book(self, **flow: Any) -> tuple[str, str]:
        script = {
            "org_name": "Example Freight", "title": "Team lead, warehouse", "questions": QUESTIONS, "intro": "Welcome.",
            "outro": "Thank you, that was all.", "interview_type": "recruitment", "language": "en-US",
            "team_id": self.team_id, **flow,
        }  # fmt: skip
        made = self.api("POST", "/interview-flows", json=script)
        booked = self.api("POST", "/interviews", json={
            "interview_flow_id": made["interview_flow_id"], "interviewee_email_address": "ada@applicants.example",
            "interviewee_first_name": "Ada",
        })  # fmt: skip
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


# --- the candidate ------------------------------------------------------------------------------------------------


class Candidate:
    """Somebody with one browser, whose microphone answers by itself."""

    def __init__(
        self,
        playwright: Any,
        platform: Platform,
        microphone: Path,
        *,
        booked: tuple[str, str] | None = None,
        **flow: Any,
    ) -> None:
        self.platform = platform
        self.interview_id, self.link = booked or platform.book(**flow)
        self._playwright, self._microphone = playwright, microphone
        self._profile = tempfile.TemporaryDirectory()
        self.notices: list[str] = []
        self.launch()

    def launch(self) -> None:
        flags = [*FLAGS, f"--use-file-for-fake-audio-capture={self._microphone}"]
        self.context = self._playwright.chromium.launch_persistent_context(
            self._profile.name, executable_path=CHROMIUM, args=flags, viewport={"width": 1280, "height": 900}
        )
        self.page = self.context.pages[0]

    def close(self) -> None:
        with suppress(Exception):
            self.context.close()
        self._profile.cleanup()

    def begin(self) -> None:
        self.page.goto(self.link)
        self.page.check("#consent")
        self.page.click("[data-do=check]")
        self.reach("!document.querySelector('[data-do=start]').disabled", "the microphone check")
        self.page.click("[data-do=start]")

    def reach(self, expression: str, what: str) -> None:
        """Poll the page; sentences about the connection are remembered on the way."""
        deadline = time.monotonic() + LONGEST
        while not self.page.evaluate(expression):
            assert time.monotonic() < deadline, f"{what}: {self.page.inner_text('body')[:600]}"
            self.look()
            self.page.wait_for_timeout(50)

    def look(self) -> None:
        for notice in self.page.locator("[data-part=connection] .notice").all_text_contents():
            if notice.strip() and notice.strip() not in self.notices:
                self.notices.append(notice.strip())

    def phase(self, *names: str) -> None:
        self.reach(
            f"{list(names)}.includes(document.querySelector('[data-part=talk]').dataset.phase)", " or ".join(names)
        )

    def question(self, number: int) -> None:
        self.reach(
            f"document.querySelector('[data-text=progress]').textContent.includes('Question {number} of 2')",
            f"question {number}",
        )

    def thanked(self) -> None:
        deadline = time.monotonic() + LONGEST
        while not self.page.locator("h1", has_text="Thank you").count():
            assert time.monotonic() < deadline, f"the thank-you: {self.page.inner_text('body')[:600]}"
            with suppress(Exception):
                self.look()
            self.page.wait_for_timeout(100)

    def kill_tab(self) -> None:
        """SIGKILL to the process that shows the page; the browser itself lives on, as when a phone needs memory."""
        session = self.context.browser.new_browser_cdp_session() if self.context.browser else None
        pid = self._renderer(session)
        crashed = threading.Event()
        self.page.on("crash", lambda _: crashed.set())
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while not crashed.is_set():
            assert time.monotonic() < deadline, "the tab did not die"
            with suppress(Exception):
                self.page.wait_for_timeout(50)
        old, self.page = self.page, self.context.new_page()
        with suppress(Exception):
            old.close()

    def _renderer(self, session: Any) -> int:
        """The page's process: the only renderer that the browser has started for a site."""
        del session
        mine = [pid for pid in _descendants(os.getpid()) if self._profile.name in _command(pid)]
        found = [
            pid for top in mine for pid in {top, *_descendants(top)}
            if "--type=renderer" in _command(pid) and "--extension-process" not in _command(pid)
        ]  # fmt: skip
        assert found, "no page process"
        return max(set(found), key=_cpu)

    def resume(self) -> None:
        self.page.goto(self.link)
        self.page.click("[data-do=resume]")
        self.phase("speaking", "listening", "answering", "thinking")

    def once(self, pattern: str, method: str, act: Callable[[Any], None]) -> threading.Event:
        """Call ``act(route)`` at the next request of this kind; everything else passes."""
        done = threading.Event()

        def handle(route: Any) -> None:
            if done.is_set() or route.request.method != method:
                route.continue_()
                return
            done.set()
            act(route)

        self.page.route(pattern, handle)
        return done

    def after(self, done: threading.Event, what: str) -> None:
        deadline = time.monotonic() + LONGEST
        while not done.is_set():
            assert time.monotonic() < deadline, f"{what} never happened: {self.page.inner_text('body')[:400]}"
            self.look()
            self.page.wait_for_timeout(50)


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in task.read_text().split()]
    return found + [deeper for child in found for deeper in _descendants(child)]


def _cpu(pid: int) -> int:
    with suppress(OSError, IndexError):
        return sum(int(word) for word in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])
    return 0


# --- the ten points -----------------------------------------------------------------------------------------------


def before_starts_answer(one: Candidate) -> None:
    """The server has begun the interview and dies before it says so."""

    def die(route: Any) -> None:
        headers = {**route.request.headers, "cookie": route.request.header_value("cookie") or ""}
        answer = requests.post(route.request.url, data=route.request.post_data_buffer, headers=headers, timeout=30)
        assert answer.status_code == 200, answer.text
        one.platform.restart()
        route.abort("connectionreset")

    done = one.once("**/start", "POST", die)
    one.begin()
    one.after(done, "Start")
    one.question(1)


def during_the_intro(one: Candidate) -> None:
    """The tab is killed while the agent speaks its first words."""
    one.begin()
    one.phase("speaking")
    one.kill_tab()
    one.resume()
    one.question(1)


def in_mid_answer(one: Candidate) -> None:
    """The tab is killed while the candidate answers the second question."""
    one.begin()
    one.question(2)
    one.phase("answering")
    one.kill_tab()
    one.resume()
    one.question(2)


def between_chunk_and_turn(one: Candidate) -> None:
    """Everything of the answer is acknowledged; the server dies before the turn reaches it."""

    def die(route: Any) -> None:
        one.platform.restart()
        route.abort("connectionreset")

    done = one.once("**/turns/2", "POST", die)
    one.begin()
    one.after(done, "the turn")
    one.question(2)


def while_the_server_thinks(one: Candidate) -> None:
    """The server has claimed the turn, has recognised the answer, and dies while the language model is at it."""
    model = one.platform.model
    model.held = True
    one.begin()
    one.after(model.asked, "the language model")
    one.platform.kill()
    model.held = False
    model.gate.set()
    one.platform.start()
    one.question(2)
    model.gate.clear()
    model.asked.clear()


def during_the_reply(one: Candidate) -> None:
    """The network is gone when the reply's sound is fetched, and comes back."""

    def cut(route: Any) -> None:
        one.context.set_offline(True)
        route.abort("internetdisconnected")

    done = one.once("**/turns/2/audio", "GET", cut)
    one.begin()
    one.after(done, "the reply's sound")
    one.reach(
        "document.querySelector('[data-part=connection] .notice-warn') !== null", "the notice about the connection"
    )
    one.question(2)
    one.context.set_offline(False)
    one.phase("speaking", "listening", "answering")


def during_the_last_chunks(one: Candidate) -> None:
    """The agent has said goodbye; the server dies while the last chunks arrive."""
    done = threading.Event()

    def pass_on(route: Any) -> None:
        leaving = one.finishing and not done.is_set()
        if leaving:
            done.set()
            one.platform.restart()
            route.abort("connectionreset")
        else:
            route.continue_()

    one.finishing = False  # type: ignore[attr-defined]
    one.page.route("**/chunks/**", pass_on)
    one.begin()
    one.question(2)
    one.reach(
        "document.querySelector('[data-text=question]').textContent.includes('Thank you, that was all.')", "the outro"
    )
    one.finishing = True  # type: ignore[attr-defined]
    one.after(done, "a last chunk")


def during_finish(one: Candidate) -> None:
    """The server has handed the interview in and dies before it says so."""

    def die(route: Any) -> None:
        headers = {**route.request.headers, "cookie": route.request.header_value("cookie") or ""}
        answer = requests.post(route.request.url, data=route.request.post_data_buffer, headers=headers, timeout=30)
        if answer.status_code == 409:
            route.fulfill(status=409, body=answer.content, content_type="application/json")
            done.clear()
            return
        assert answer.status_code == 200, answer.text
        one.platform.restart()
        route.abort("connectionreset")

    done = one.once("**/finish", "POST", die)
    one.begin()
    one.after(done, "finish")


def before_the_thank_you(one: Candidate) -> None:
    """Everything is confirmed; the tab dies before the thank-you is shown."""
    done = threading.Event()

    def cut(route: Any) -> None:
        if route.request.is_navigation_request() and armed:
            done.set()
            route.abort("internetdisconnected")
        else:
            route.continue_()

    armed = False
    one.begin()
    armed = True
    one.page.route(f"**{one.link.split(str(one.platform.port))[1].split('?')[0]}*", cut)
    deadline = time.monotonic() + LONGEST
    while not done.is_set():
        assert time.monotonic() < deadline, "the end was never reached"
        one.page.wait_for_timeout(100)
    one.page = one.context.new_page()
    one.page.goto(one.link)


def during_a_document(one: Candidate) -> None:
    """The server dies while a document is uploaded."""

    def die(route: Any) -> None:
        one.platform.restart()
        route.abort("connectionreset")

    done = one.once("**/uploads/*/parts/*", "PUT", die)
    one.begin()
    one.question(1)
    content = b"My name is Ada and this is what I have done so far.\n" * 20
    one.page.set_input_files("#document", {"name": "cv.txt", "mimeType": "text/plain", "buffer": content})
    one.after(done, "the upload")
    one.question(2)
    until_document(one)


def until_document(one: Candidate) -> None:
    """The page tries again by itself, or says that the candidate should; either way the document is there once."""
    deadline = time.monotonic() + 40
    while not one.platform.rows("select 1 from document where interview_id = :i", i=one.interview_id):
        assert time.monotonic() < deadline, one.page.inner_text("[data-text=document]")
        one.page.wait_for_timeout(200)


POINTS: dict[str, tuple[str, Callable[[Candidate], None]]] = {
    "before Start's answer arrives": ("server", before_starts_answer),
    "during the intro": ("tab", during_the_intro),
    "in mid-answer": ("tab", in_mid_answer),
    "between chunk and turn": ("server", between_chunk_and_turn),
    "while the server thinks": ("server", while_the_server_thinks),
    "during the reply": ("network", during_the_reply),
    "during the last chunks": ("server", during_the_last_chunks),
    "during finish": ("server", during_finish),
    "after finish, before the thank-you": ("tab", before_the_thank_you),
    "during a document": ("server", during_a_document),
}


@dataclass
class Left:
    """What is in the database afterwards."""

    problems: list[str] = field(default_factory=list)
    runs: int = 0
    chunks: int = 0
    answers: int = 0


def survived(one: Candidate) -> Left:
    """One transcript without doubles, every run whole and sealed, every question asked and answered."""
    left, rows = Left(), one.platform.rows
    given = {"i": one.interview_id}
    stage = rows("select stage from interview where id = :i", **given)[0][0]
    left.problems += [] if stage == "submitted" else [f"the interview is {stage}"]
    turns = rows(
        "select number, state, kind from turn where sitting_id = (select id from sitting where interview_id = :i) "
        "order by number", **given,
    )  # fmt: skip
    if [turn[0] for turn in turns] != list(range(1, len(turns) + 1)) or any(turn[1] != "answered" for turn in turns):
        left.problems.append(f"turns {turns}")
    for number, last in rows("select number, last_mix_chunk from recorder_run where interview_id = :i", **given):
        kept = [row[0] for row in rows(
            "select number from chunk where interview_id = :i and segment = :s and track = 'mix' order by number",
            s=number, **given,
        )]  # fmt: skip
        left.runs, left.chunks = left.runs + 1, left.chunks + len(kept)
        if kept != list(range(len(kept))):
            left.problems.append(f"run {number} has {kept}")
        if kept and last != len(kept) - 1:
            left.problems.append(f"run {number} ends with {last}")
    said = rows("select role, question_index, content from utterance where interview_id = :i order by number", **given)
    for index in range(len(QUESTIONS)):
        if not any(role == "user" and at == index for role, at, _ in said):
            left.problems.append(f"question {index + 1} has no answer")
    left.answers = sum(role == "user" for role, _, _ in said)
    return left


def taken(playwright: Any, platform: Platform, microphone: Path, name: str) -> tuple[Candidate, Left]:
    """One interview with its accident, to the thank-you; the candidate's browser is closed again."""
    more = {"is_doc_upload_enabled": True} if POINTS[name][1] is during_a_document else {}
    one = Candidate(playwright, platform, microphone, **more)
    try:
        POINTS[name][1](one)
        one.thanked()
        return one, survived(one)
    finally:
        one.close()


@contextmanager
def platform_in(folder: Path, *, with_model: bool = True) -> Iterator[Platform]:
    running = Platform(folder, with_model=with_model)
    try:
        yield running
    finally:
        running.close()


def playable_seconds(content: bytes) -> float:
    """How long the file plays, by decoding all of it."""
    import av

    with av.open(io.BytesIO(content)) as file:
        stream = file.streams.audio[0]
        return float(sum(frame.samples / frame.sample_rate for frame in file.decode(stream)))
