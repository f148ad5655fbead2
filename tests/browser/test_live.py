"""Open pages say what is new, in Chromium with its clock under control, and nothing moves until someone asks."""

from collections.abc import Callable
from typing import Any

import pytest

from app.core.db import db
from app.flows.models import InterviewFlow

from .conftest import assert_accessible, wait_until
from .test_triage import _handed_in, _waiting, asked, platform, results  # noqa: F401 - fixtures

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]


def test_a_new_result_is_said_and_shown_on_request(
    results: Callable[[int], str],  # noqa: F811 - the fixture
    signed_in: Callable[..., Any],
) -> None:
    flow_id = results(1)
    page = signed_in("/candidates")
    page.clock.install()
    page.reload()
    note = page.get_by_role("status").filter(has_text="new result")
    rows = page.locator(".people tbody tr").count()
    _handed_in(db.session.get_one(InterviewFlow, flow_id).organization, flow_id, 1)
    wait_until(lambda: asked(_waiting(flow_id)) == [(2,)], seconds=120, what="another result")
    page.clock.fast_forward(10_500)
    note.wait_for()
    assert "1 new result" in note.inner_text()
    assert page.locator(".people tbody tr").count() == rows, "nothing moves"
    assert_accessible(page)
    note.get_by_role("button", name="Reload page").focus()
    page.keyboard.press("Enter")
    page.locator(".people tbody tr").nth(rows).wait_for()
    assert note.count() == 0


def test_a_tab_that_nobody_uses_asks_once_a_minute_and_a_hidden_one_never(signed_in: Callable[..., Any]) -> None:
    page = signed_in("/dashboard")
    page.clock.install()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "/live/" in request.url else None)
    page.reload()

    def asked_within(minutes: int) -> int:
        before = len(sent)
        for _ in range(minutes * 12):
            with page.expect_event("console", timeout=2000):
                page.evaluate("setTimeout(() => console.log('on'), 4999)")
                page.clock.fast_forward(5000)
            page.wait_for_timeout(20)
        return len(sent) - before

    assert 4 <= asked_within(1) <= 6
    asked_within(7)
    assert 2 <= asked_within(3) <= 3
    page.mouse.move(100, 100)
    assert 4 <= asked_within(1) <= 7
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true})")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert asked_within(3) == 0
