"""People who use Parley while its processes are killed and replaced. They repeat requests without a response."""

import hashlib
import itertools
import os
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable

import _ground as ground  # noqa: F401 - makes the product importable
import requests

from app.operations.demo.candidate import Candidate, Refused
from tests.faults.people import Recruiter

CHUNK = 8_000


class Load:
    """People who go on until ``stop``, and what they remember. ``phase`` is what their calls count for."""

    def __init__(self, url: str, key: str, flow: str) -> None:
        self.url, self.key, self.flow, self.over, self.phase = url, key, flow, threading.Event(), ""
        self.times: dict[str, list[float]] = {}
        self.failed: Counter[str] = Counter()
        self.why: Counter[str] = Counter()
        self.booked: list[str] = []
        self.waiting: list[str] = []
        self.chunks: dict[tuple[str, int], str] = {}
        self.threads: list[threading.Thread] = []
        self.broken: list[str] = []

    def begin(self, *people: Callable[[], None]) -> None:
        for person in people:
            self.threads.append(threading.Thread(target=self._guarded, args=(person,), daemon=True))
            self.threads[-1].start()

    def _guarded(self, person: Callable[[], None]) -> None:
        try:
            person()
        except Exception as error:  # noqa: BLE001 - told at the end: a person who is gone would hide what fails
            self.broken.append(f"{type(error).__name__}: {error}"[:300])

    def done(self, call: Callable[[], str], *, tries: int = 200) -> None:
        """Until it succeeds; ``call`` says what went wrong, or nothing."""
        for _ in range(tries):
            began, phase = time.perf_counter(), self.phase
            try:
                wrong = call()
            except (requests.RequestException, Refused) as error:
                wrong = str(getattr(error, "status", type(error).__name__))
            self.times.setdefault(phase, []).append(time.perf_counter() - began)
            if not wrong:
                return
            self.failed[phase] += 1
            self.why[f"{phase}: {wrong}"] += 1
            time.sleep(0.1)
        raise RuntimeError(f"never succeeded: {wrong}")

    def customer(self) -> None:
        while not self.over.is_set():
            email = f"{uuid.uuid4()}@bench.example"
            headers = {"Authorization": f"Bearer {self.key}", "Idempotency-Key": email}
            body = {"interview_flow_id": self.flow, "interviewee_email_address": email}

            def book(body: dict[str, str] = body, headers: dict[str, str] = headers) -> str:
                answer = requests.post(f"{self.url}/v1/interviews", json=body, headers=headers, timeout=30)
                if answer.status_code == 409:  # its first process died at it: the platform says to come back later
                    self.waiting.append(body["interviewee_email_address"])
                return "" if answer.status_code in {200, 409} else str(answer.status_code)

            self.done(book)
            self.booked += [email] if email not in self.waiting else []
            time.sleep(0.2)

    def candidate(self, link: str) -> None:
        interview_id, browser = link.rsplit("/", 1)[1], Candidate(link)
        browser.open()
        browser.start(mode="voice")
        segment = browser.open_segment("audio/webm")
        for number in itertools.count():
            if self.over.is_set():
                return
            content = os.urandom(CHUNK)

            def put(number: int = number, content: bytes = content) -> str:
                browser.put_chunk(segment, number, content, track="mix")
                return ""

            self.done(put)
            self.chunks[interview_id, number] = hashlib.sha256(content).hexdigest()
            time.sleep(0.25)

    def recruiter(self, people: list[str]) -> None:
        recruiter = Recruiter(self.url)
        recruiter.sign_in()
        for one in itertools.cycle(people):
            if self.over.is_set():
                return

            def look() -> str:
                answer = recruiter.session.get(f"{self.url}/candidates/board", timeout=30)
                return "" if answer.status_code == 200 else str(answer.status_code)

            def move(one: str = one) -> str:
                moved = recruiter.move(one, recruiter.next_status(one))
                return "" if moved else str(recruiter.refused[-1].status)

            self.done(look)
            self.done(move)
            time.sleep(0.1)
