"""Thirty results are scored again and the new scores used, in Chromium, on the real platform with a scripted model."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app import create_app
from app.core import queue
from app.core.db import db
from app.core.queue import SilentWaker
from app.interviews.rescoring import RESCORE, jobs
from app.settings import Settings

from .conftest import Installation, assert_accessible, wait_until
from .scripted_model import Model, more_settings  # noqa: F401 - a fixture
from .test_triage import PEOPLE, results  # noqa: F401 - a fixture

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]


@pytest.fixture(scope="module")
def platform(installation: Installation, more_settings: dict[str, str]) -> Iterator[Any]:  # noqa: F811
    """The application on the running installation's data, as another worker of it."""
    given = {**os.environ, "DATA_DIR": str(installation.data), "DATABASE_URL": "", "REDIS_URL": "", **more_settings}
    app = create_app(Settings.from_env(given), waker=SilentWaker())
    with app.app_context():
        yield app
        db.session.remove()
        db.engine.dispose()
    app.extensions["parley.gateways"].close()  # a speech host that stops waits for its clients


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
    page.get_by_role("button", name=f"Use the new scores for {PEOPLE - 1} interviews").press("Enter")
    page.locator(".notice", has_text=f"The new scores for {PEOPLE - 1} interviews are in force.").wait_for()
    accessible(page)
    found = installation.api("GET", "/interviews?status=completed&limit=100")
    scored = [one["interview_data"]["scores"]["motivation"] for one in found["interviews"]]
    assert scored == [2.0] * PEOPLE
