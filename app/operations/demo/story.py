"""``parley demo``: an interview from the customer's first call to the last webhook, and a check of every promise.

A synthetic voice speaks the answers with a little noise, and the recognition is real. Where no engine recognizes
English, the candidate types them.
"""

import contextlib
import time
from collections.abc import Callable
from typing import Any

import requests

from app.gateways.engines import build_transcriber
from app.gateways.speech.host.client import SpeechHost
from app.operations.demo.answers import ANSWERS, spoken_answers
from app.operations.demo.candidate import Candidate
from app.operations.demo.platform import Platform, found_customer, running
from app.operations.demo.promises import EVENTS, SECRET, SPOKEN_EVENTS, Checks, check_events, check_result
from app.operations.demo.receiver import Receiver
from app.operations.demo.telling import show, what_was_checked, where_to_look
from app.settings import Settings

PATIENCE = 150.0
HOST_SECONDS = 10.0
"""For a speech host that has just been started to answer."""
LANGUAGE = "en-US"
TYPED = (
    "No engine here recognizes English, so the candidate types the answers. "
    "For a spoken interview, install a model first: parley models install default"
)


def main(settings: Settings) -> int:
    """Run the whole story. Returns 0 only if every promise was kept."""
    began = time.monotonic()
    print("Parley demo: one interview from end to end")
    with running(settings) as platform, Receiver() as receiver:
        print(f"Platform: {platform.url} ({'started for this demo' if platform.is_ours else 'already running'})")
        checks = _story(settings, platform, receiver=receiver)
    outcome = "Some checks failed" if checks.failed else "All checks passed"
    print(f"\n{outcome} after {time.monotonic() - began:.0f} s {what_was_checked(platform, settings)}")
    return 1 if checks.failed else 0


def _story(settings: Settings, platform: Platform, *, receiver: Receiver) -> Checks:
    customer = found_customer(platform)
    call = _api(platform.url, customer.api_key)
    is_spoken = _is_heard(Settings.from_env(platform.environment) if platform.is_ours else settings)
    flow = _flow(receiver.url, has_video=is_spoken)
    flow_id = call("POST", "/v1/interview-flows", flow)["interview_flow_id"]
    booked = call(
        "POST",
        "/v1/interviews",
        {
            "interview_flow_id": flow_id,
            "interviewee_email_address": "candidate@example.com",
            "interviewee_first_name": "Robin",
            "interviewee_last_name": "Example",
        },
    )
    print(
        f"Flow {flow_id}\nInterview {booked['interview_id']}\nCandidate's link {booked['interview_link']}\n\nThe talk"
    )
    candidate = Candidate(booked["interview_link"])
    candidate.open()
    _answer(candidate, settings, is_spoken=is_spoken)
    finished = time.monotonic()
    interview = _completed(call, booked["interview_id"])
    print(f"\nProcessed {time.monotonic() - finished:.1f} s after the last word")
    expected = SPOKEN_EVENTS if is_spoken else EVENTS
    events = receiver.wait_for(expected, seconds=PATIENCE)
    interview = call("GET", f"/v1/interviews/{booked['interview_id']}")
    checks = Checks()
    if interview["status"] == "completed":
        show(interview["interview_data"])
    print("\nPromises")
    check_result(checks, interview, is_spoken=is_spoken)
    check_events(checks, events, expected=expected, interview_id=booked["interview_id"])
    where_to_look(platform, customer, interview_id=booked["interview_id"])
    return checks


def _is_heard(settings: Settings) -> bool:
    """Whether any engine of the platform recognizes the candidate's English now."""
    with contextlib.closing(SpeechHost(settings)) as host:
        host.state(wait=HOST_SECONDS)
        with contextlib.closing(build_transcriber(settings, host=host)) as transcriber:
            return transcriber.supports(LANGUAGE)


def _answer(candidate: Candidate, settings: Settings, *, is_spoken: bool) -> None:
    if is_spoken:
        candidate.start(mode="voice")
        candidate.take(spoken_answers(settings), video=True, on_turn=_print_turn)
    else:
        print(TYPED)
        candidate.start(mode="text")
        candidate.write(list(ANSWERS.values()), on_turn=_print_turn)


def _flow(webhook_url: str, *, has_video: bool) -> dict[str, Any]:
    return {
        "org_name": "Demo Company",
        "title": "Team member",
        "questions": list(ANSWERS),
        "interview_type": "recruitment",
        "is_video_enabled": has_video,
        "voice_id": "vendora-Kate",
        "language": LANGUAGE,
        "webhook_url": webhook_url,
        "webhook_secret_key": SECRET,
        "intro": "Hello, and thank you for taking the time.",
        "outro": "That was all. Thank you, and goodbye.",
    }


def _api(url: str, key: str) -> Callable[..., Any]:
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"

    def call(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = session.request(method, url + path, json=body, timeout=60)
        if answer.status_code != 200:
            raise RuntimeError(f"{method} {path} responded with {answer.status_code}: {answer.text[:500]}")
        return answer.json()

    return call


def _print_turn(said: str, heard: str | None) -> None:
    if heard is not None:
        print(f"  candidate  {heard}")
    print(f"  agent      {said}")


def _completed(call: Callable[..., Any], interview_id: str) -> Any:
    deadline = time.monotonic() + PATIENCE
    while True:
        interview = call("GET", f"/v1/interviews/{interview_id}?transcript=none")
        if interview["status"] == "completed" or time.monotonic() > deadline:
            return interview
        time.sleep(0.2)
