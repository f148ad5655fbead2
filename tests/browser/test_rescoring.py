"""Thirty results are scored again and the new scores used, in Chromium, on the real platform with a scripted model."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from app import create_app
from app.core import queue
from app.core.db import db
from app.core.queue import SilentWaker
from app.interviews.rescoring import RESCORE, jobs
from app.settings import Settings

from .conftest import Installation, assert_accessible, wait_until
from .test_triage import PEOPLE, results  # noqa: F401 - a fixture

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform")]

QUOTE = {"text": "I have driven trucks for ten years", "segment": 1}


class Model(BaseHTTPRequestHandler):
    """Speaks as much of the protocol as Parley uses: a summary, or the scores that the wanted shape names."""

    value = 1.0

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = asked["response_format"]["json_schema"]["schema"]["properties"]
        said: dict[str, Any] = {"summary": "Drives trucks."}
        if "summary" not in wanted:
            said = {name: {"value": self.value, "reason": "Says so.", "quotes": [QUOTE]} for name in wanted}
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": json.dumps(said)},
            "finish_reason": "stop",
        }
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def more_settings() -> Iterator[dict[str, str]]:
    """A language model at a server of the tests' own, which scores everything 1.0 until ``Model.value`` changes."""
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield {"LLM_BASE_URL": f"http://127.0.0.1:{listener.server_port}/v1", "LLM_MODEL": "m"}
    listener.shutdown()
    thread.join()
    listener.server_close()


@pytest.fixture(scope="module")
def platform(installation: Installation, more_settings: dict[str, str]) -> Iterator[Any]:
    """The application on the running installation's data, as another worker of it."""
    given = {**os.environ, "DATA_DIR": str(installation.data), "DATABASE_URL": "", "REDIS_URL": "", **more_settings}
    app = create_app(Settings.from_env(given), waker=SilentWaker())
    with app.app_context():
        yield app
        db.session.remove()
        db.engine.dispose()


def accessible(page: Any) -> None:
    """In both widths."""
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert_accessible(page)


def test_thirty_results_are_scored_again_compared_and_the_new_scores_used(
    installation: Installation,
    results: Callable[[int], str],  # noqa: F811
    signed_in: Callable[..., Any],
) -> None:
    flow = results(PEOPLE)
    Model.value = 2.0
    page = signed_in(f"/rescorings/new?flow={flow}", viewport={"width": 1280, "height": 800})
    assert "90" in page.inner_text("dl.facts")  # calls
    accessible(page)
    page.get_by_role("button", name=f"Score {PEOPLE} interviews").press("Enter")
    page.wait_for_url("**/rescorings/*-*")
    accessible(page)
    address = page.url

    def is_done() -> bool:
        for (row_id,) in queue.overdue(RESCORE):  # one more worker, so that it does not take long
            jobs.rescore(row_id)
        page.goto(address)
        return f"{PEOPLE} of {PEOPLE} interviews finished" in page.inner_text("main")

    wait_until(is_done, seconds=300, what="everything is scored again")
    assert "30 done, 0 failed" in page.inner_text("main")
    accessible(page)
    page.locator("tbody th a").first.press("Enter")
    page.wait_for_selector("#versions")
    assert page.locator("#versions thead th").all_inner_texts()[1:] == ["Version 1\nIn force", "Version 2"]
    assert page.locator("#versions mark").count() > 3
    page.locator("#versions").scroll_into_view_if_needed()
    accessible(page)
    page.get_by_role("button", name="Use this version").press("Enter")
    page.locator(".notice", has_text="Version 2 of the scores is in force.").wait_for()
    page.goto(address)
    page.get_by_role("button", name=f"Use the new scores of {PEOPLE - 1} interviews").press("Enter")
    page.locator(".notice", has_text=f"The new scores of {PEOPLE - 1} interviews are in force.").wait_for()
    accessible(page)
    found = installation.api("GET", "/interviews?status=completed&limit=100")
    scored = [one["interview_data"]["scores"]["motivation"] for one in found["interviews"]]
    assert scored == [2.0] * PEOPLE
