"""Virtual people: a customer with a key, a recruiter with a browser, and candidates; each remembers what was acked."""

import itertools
import re
import time
from dataclasses import dataclass, field
from typing import Any

import requests

from app.operations.demo.candidate import Candidate
from tests.faults.installation import ADMIN, PASSWORD, Installation

WEBHOOK_SECRET = "a-webhook-secret-of-more-than-32-characters"
WORDS = "I have worked in a small team for three years and I like to help people every day."

_TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]+)"')


@dataclass(frozen=True)
class Answered:
    """One call as its client saw it; ``status`` is 0 when there was no answer."""

    status: int
    seconds: float
    body: Any = field(default=None, repr=False)
    retry_after: str | None = None

    @property
    def is_honest_refusal(self) -> bool:
        """503 in JSON with a sentence and a time to come back."""
        return self.status == 503 and isinstance(self.body, dict) and bool(self.retry_after)


class Customer:
    """Calls ``/v1``."""

    def __init__(self, installation: Installation, url: str) -> None:
        self.url = url
        self._key = installation.customer["api_key"]

    def call(self, method: str, path: str, body: Any = None, *, timeout: float = 60, **headers: str) -> Answered:
        """One call on a connection of its own."""
        began = time.monotonic()
        given = {"Authorization": f"Bearer {self._key}", **{k.replace("_", "-"): v for k, v in headers.items()}}
        try:
            answer = requests.request(method, self.url + path, json=body, headers=given, timeout=timeout)
        except requests.RequestException:
            return Answered(0, time.monotonic() - began)
        parsed = answer.json() if "json" in answer.headers.get("Content-Type", "") else answer.text
        return Answered(answer.status_code, time.monotonic() - began, parsed, answer.headers.get("Retry-After"))

    def flow(self, webhook_url: str | None, **more: Any) -> str:
        """A flow of one question; returns its id."""
        made = self.call(
            "POST",
            "/v1/interview-flows",
            {
                "org_name": "Faults",
                "title": "Under stress",
                "questions": ["Why us?"],
                "interview_type": "recruitment",
                "webhook_url": webhook_url,
                "webhook_secret_key": WEBHOOK_SECRET,
                **more,
            },
        )
        if made.status != 200:
            raise RuntimeError(f"no flow: {made}")
        return str(made.body["interview_flow_id"])

    def book(self, flow_id: str, email: str, **headers: str) -> Answered:
        return self.call(
            "POST", "/v1/interviews", {"interview_flow_id": flow_id, "interviewee_email_address": email}, **headers
        )


def talk_in_writing(link: str) -> Candidate:
    """Take the whole interview by keyboard."""
    candidate = candidate_at(link)
    candidate.write([WORDS])
    return candidate


def candidate_at(link: str, mode: str = "text") -> Candidate:
    """A candidate who has pressed Start."""
    candidate = Candidate(link)
    candidate.open()
    candidate.start(mode=mode)
    return candidate


@dataclass
class Recruiter:
    """A signed-in administrator who moves candidates. ``moved`` holds what was acknowledged: (candidate, status)."""

    url: str
    session: requests.Session = field(default_factory=requests.Session)
    moved: list[tuple[str, str]] = field(default_factory=list)
    refused: list[Answered] = field(default_factory=list)
    _turns: dict[str, Any] = field(default_factory=dict)
    _unanswered: dict[str, str] = field(default_factory=dict)

    def sign_in(self) -> None:
        page = self.session.get(f"{self.url}/sign-in", timeout=30).text
        form = {"email": ADMIN, "password": PASSWORD, "csrf_token": _token(page)}
        answer = self.session.post(f"{self.url}/sign-in", data=form, timeout=30, allow_redirects=False)
        if answer.status_code not in {302, 303}:
            raise RuntimeError(f"no sign-in: {answer.status_code}")

    def post(self, path: str, *, page: str, timeout: float = 30, **form: str) -> Answered:
        """Send a form with the token of ``page``."""
        began = time.monotonic()
        try:
            token = _token(self.session.get(self.url + page, timeout=timeout).text)
            answer = self.session.post(
                self.url + path, data={**form, "csrf_token": token}, timeout=timeout, allow_redirects=False
            )
        except requests.RequestException:
            return Answered(0, time.monotonic() - began)
        return Answered(answer.status_code, time.monotonic() - began, answer.text, answer.headers.get("Retry-After"))

    def move(self, candidate_id: str, status: str, *, timeout: float = 30) -> bool:
        """Choose ``status``; True (and remembered) only when the platform said that it is done."""
        page = f"/candidates/{candidate_id}"
        answer = self.post(f"{page}/move", page=page, status=status, note="", timeout=timeout)
        if answer.status == 303:
            self.moved.append((candidate_id, status))
            self._unanswered.pop(candidate_id, None)
            return True
        self.refused.append(answer)
        self._unanswered[candidate_id] = status
        return False

    def next_status(self, candidate_id: str) -> str:
        """Another status than before; after a refusal, which may have been carried out, the same again."""
        if candidate_id in self._unanswered:
            return self._unanswered[candidate_id]
        turns = self._turns.setdefault(candidate_id, itertools.cycle(("shortlisted", "interviewed")))
        return str(next(turns))


def _token(page: str) -> str:
    found = _TOKEN.search(page) or re.search(r'<meta name="csrf-token" content="([^"]+)"', page)
    return found.group(1) if found else ""


def candidates_of(installation: Installation, customer: Customer, flow_id: str, count: int) -> list[str]:
    """Book ``count`` interviews and return the ids of their candidates."""
    emails = [f"c{number}-{flow_id[:8]}@example.com" for number in range(count)]
    for email in emails:
        booked = customer.book(flow_id, email)
        if booked.status != 200:
            raise RuntimeError(f"no interview: {booked}")
    rows = installation.sql("select email, id from candidate where flow_id = :flow", flow=flow_id)
    known = {row[0]: str(row[1]) for row in rows}
    if not known:
        raise RuntimeError("booking through the interface enrols no candidates; the case needs another way in")
    return [known[email] for email in emails]
