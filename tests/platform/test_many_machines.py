"""What docs/operations.md shows: two web and two worker processes on PostgreSQL, Redis and S3, killed as they work."""

import itertools
import json
import os
import subprocess
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from app.operations.demo.answers import spoken_answers
from app.operations.demo.candidate import Candidate
from app.operations.demo.receiver import Receiver
from app.settings import Settings

from .conftest import PYTHON, ROOT, Start, a_free_port, answers, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.postgresql, pytest.mark.xdist_group("platform")]

SECRET = "a-secret-of-at-least-thirty-two-characters"


class Rotating(requests.Session):
    """Sends each call to the next web process, as a load balancer without sticky sessions does."""

    def __init__(self, bases: list[str]) -> None:
        super().__init__()
        self.bases = bases
        self._counter = itertools.count()

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> requests.Response:
        parts = urlsplit(str(url))
        base = self.bases[next(self._counter) % len(self.bases)]
        return super().request(
            method, f"{base}{parts.path}" + (f"?{parts.query}" if parts.query else ""), *args, **kwargs
        )


def _organization(env: dict[str, str]) -> dict[str, str]:
    command = [
        str(PYTHON),
        "-m",
        "app.operations.cli",
        "org",
        "create",
        "Many",
        "--team",
        "One",
        "--admin-email",
        "a@many.example",
    ]
    made = subprocess.run(
        [*command, "--admin-password", "a long enough password", "--json"],
        env={**os.environ, **env},
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return dict(json.loads(made.stdout))


def test_an_interview_survives_the_loss_of_a_web_and_a_worker_process(
    parley: Start, postgresql_url: str, redis_url: str, s3: dict[str, str], settings: Settings, tmp_path: object
) -> None:
    ports = [a_free_port(), a_free_port()]
    bases = [f"http://127.0.0.1:{port}" for port in ports]
    env = {
        **s3,
        "DATABASE_URL": postgresql_url,
        "REDIS_URL": redis_url,
        "SECRET_KEY": "many-machines-" * 4,
        "APP_URL": bases[0],
        "DATA_DIR": str(tmp_path),
        "STT_PROCESSES": "1",
        "RATE_LIMIT_PER_MINUTE": "0",
    }
    assert parley("migrate", env=env, name="migrate").wait(timeout=60) == 0
    webs = [parley("web", env={**env, "PORT": str(port)}, name=f"web-{port}") for port in ports]
    workers = [parley("worker", env=env, name=f"worker-{number}") for number in (1, 2)]
    for base in bases:
        wait_until(lambda base=base: answers(f"{base}/healthz"), seconds=60, what=f"{base} serves")
        wait_until(lambda base=base: answers(f"{base}/readyz"), seconds=60, what=f"{base} is ready")

    customer = _organization(env)
    api = Rotating(bases)
    api.headers["Authorization"] = f"Bearer {customer['api_key']}"
    with Receiver() as receiver:
        flow = api.post(
            "/v1/interview-flows",
            json={
                "org_name": "Many",
                "title": "On many machines",
                "questions": ["Why us?", "What have you solved?"],
                "interview_type": "recruitment",
                "webhook_url": receiver.url,
                "webhook_secret_key": SECRET,
            },
        )
        assert flow.status_code == 200, flow.text
        booked = api.post(
            "/v1/interviews",
            json={
                "interview_flow_id": flow.json()["interview_flow_id"],
                "interviewee_email_address": "c@example.com",
            },
        ).json()

        calls = Rotating(bases)
        candidate = Candidate(booked["interview_link"], session=calls)
        candidate.open()
        candidate.start(mode="voice")
        turns: list[str] = []

        def lose_a_part(said: str, _heard: str | None) -> None:
            turns.append(said)
            if len(turns) == 2:
                webs[1].kill()
                calls.bases[:] = api.bases[:] = bases[:1]
                workers[1].kill()

        candidate.take(spoken_answers(settings), video=False, on_turn=lose_a_part)
        path = f"/v1/interviews/{booked['interview_id']}"
        wait_until(
            lambda: api.get(path).json()["status"] == "completed", seconds=150, what="the interview is completed"
        )
        events = receiver.wait_for(["interview_processed", "candidate_status_updated"], seconds=60)

    data = api.get(path).json()["interview_data"]
    assert [item["script_question"] for item in data["questions_to_transcript_mapping"]] == [
        "Why us?",
        "What have you solved?",
    ]
    assert requests.get(data["audio_url"], headers={"Range": "bytes=0-9"}, timeout=10).status_code == 206
    kinds = sorted(item.event["event_type"] for item in events)
    assert kinds == ["candidate_status_updated", "interview_processed"]
    assert all(item.is_signed_with(SECRET) for item in events)
    assert len(turns) >= 3
