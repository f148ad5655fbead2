"""A candidate of ``.ci/compose.py``: takes a written interview through the proxy, in two halves."""

import json
import os
import sys
import time

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from app.operations.demo.answers import ANSWERS
from app.operations.demo.candidate import Candidate

URL = os.environ["URL"]
WITHIN = 90.0
AGAIN = Retry(total=3, backoff_factor=0.5, status_forcelist=[502], allowed_methods=None)
"""As the candidate's page does: Caddy before March 2026 answers a POST with 502 where it first tries a dead process."""


def call(method: str, path: str, body: object = None) -> dict[str, object]:
    """One call of /v1 with the key of the new organization."""
    key = json.loads(os.environ["MADE"])["api_key"]
    answer = requests.request(method, URL + path, json=body, headers={"Authorization": f"Bearer {key}"}, timeout=60)
    if not answer.ok:
        raise SystemExit(f"{method} {path} answered {answer.status_code}: {answer.text[:500]}")
    read: dict[str, object] = answer.json()
    return read


def wait_for_proxy() -> None:
    """Return when a web process answers through the proxy, which first has to make its certificate."""
    deadline = time.monotonic() + WITHIN
    while True:
        try:
            if requests.get(f"{URL}/readyz", timeout=10).ok:
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.3)


def main() -> None:
    """Begin, wait for a line, answer everything, and wait for the result."""
    wait_for_proxy()
    if requests.get(f"{URL}/metrics", timeout=10).status_code != 404:
        raise SystemExit("the proxy shows the metrics")
    wanted = {"org_name": "Example Ltd", "title": "Nurse", "interview_type": "recruitment", "questions": list(ANSWERS)}
    flow = call("POST", "/v1/interview-flows", wanted)
    body = {"interview_flow_id": flow["interview_flow_id"], "interviewee_email_address": "candidate@example.com"}
    made = call("POST", "/v1/interviews", body)
    session = requests.Session()
    session.mount(URL, HTTPAdapter(max_retries=AGAIN))
    candidate = Candidate(str(made["interview_link"]), session=session)
    candidate.open()
    candidate.start(mode="text")
    candidate.turn(candidate.state["turn"], "begin")
    print(f"interview {made['interview_id']} began at {URL}", flush=True)
    sys.stdin.readline()
    candidate.write(list(ANSWERS.values()))
    deadline = time.monotonic() + WITHIN
    while (found := call("GET", f"/v1/interviews/{made['interview_id']}"))["status"] != "completed":
        if time.monotonic() > deadline:
            raise SystemExit(f"the interview is {found['status']} after {WITHIN:.0f} s")
        time.sleep(0.5)
    print("the interview is completed, with a result")


if __name__ == "__main__":
    main()
