"""1,000 candidates are moved and moved back, in Chromium, on the real platform, with and without scripts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.candidates import actions
from app.candidates.bulk import Change, Kind
from app.candidates.bulk_changes import MAKE_CHANGE, jobs
from app.candidates.bulk_changes import actions as changes
from app.candidates.models import BulkChange, BulkState, Candidate, StatusChange
from app.core import claims, queue
from app.core.db import db
from app.flows.models import InterviewFlow

from .conftest import Installation, assert_accessible, wait_until
from .test_triage import asked, platform  # noqa: F401 - a fixture

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]
PEOPLE = 1_000
WIDTHS = ((1280, 800), (360, 740))


@pytest.fixture
def flow(installation: Installation, platform: Any) -> str:  # noqa: F811
    """A new flow with 1,000 invited candidates."""
    body = {
        "org_name": "Example Freight",
        "title": "Picker",
        "questions": ["Why?"],
        "team_id": installation.team_id,
        "interview_type": "recruitment",
    }
    flow_id: str = installation.api("POST", "/interview-flows", json=body)["interview_flow_id"]
    found = db.session.get_one(InterviewFlow, flow_id)
    for number in range(PEOPLE):
        names = {"first_name": "Ada", "last_name": f"Number {number:04}"}
        actions.enrol_without_row(found, email=f"{flow_id}-{number}@e.com", names=names, recruiter=None)
    db.session.commit()
    return flow_id


def accessible(page: Any) -> None:
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        assert_accessible(page)


def in_status(flow_id: str, status: str) -> int:
    query = sa.select(sa.func.count()).select_from(Candidate)
    return int(asked(query.where(Candidate.flow_id == flow_id, Candidate.status == status))[0][0])


def help_along() -> None:
    """One more worker, so that it does not take long."""
    for (change_id,) in queue.overdue(MAKE_CHANGE):
        jobs.make(change_id)


def test_a_thousand_are_moved_with_progress_and_moved_back_by_keys(flow: str, signed_in: Callable[..., Any]) -> None:
    page = signed_in(f"/candidates?flow={flow}", viewport={"width": 1280, "height": 800})
    page.wait_for_selector("label.all:not(.waiting)")  # the script is there
    page.get_by_role("checkbox", name="Select all on this page").press("Space")
    page.locator("[name=all]").wait_for()
    page.locator("[name=all]").press("Space")
    page.locator("#bulk-kind").select_option("move")
    page.locator("#bulk-status").select_option("shortlisted")
    page.get_by_role("button", name="Apply action", exact=True).press("Enter")
    page.get_by_role("button", name="Move 1,000 candidates to Shortlisted").press("Enter")
    page.wait_for_url("**/candidates/changes/*")
    accessible(page)
    address = page.url
    help_along()
    page.get_by_role("status").filter(has_text="1,000 candidates changed.").wait_for(timeout=120_000)
    assert page.url == address
    assert page.get_by_role("progressbar").get_attribute("value") == "1000"
    accessible(page)
    assert in_status(flow, "shortlisted") == PEOPLE
    page.get_by_role("link", name="Candidates", exact=True).first.press("Enter")
    page.wait_for_url("**/candidates")
    accessible(page)
    page.locator(".change-note").get_by_role("button", name="Undo").press("Enter")
    page.wait_for_url("**/candidates/changes/*")
    help_along()
    page.get_by_role("status").filter(has_text="The change was undone for 1,000 candidates.").wait_for(timeout=120_000)
    assert in_status(flow, "invited") == PEOPLE
    moves = sa.select(sa.func.count()).select_from(StatusChange).join(Candidate).where(Candidate.flow_id == flow)
    assert asked(moves) == [(2 * PEOPLE,)]
    page.goto(address)
    assert page.get_by_role("button", name="Undo").count() == 0
    accessible(page)


def test_a_change_under_way_is_shown_stopped_and_followed_without_scripts(
    flow: str, installation: Installation, signed_in: Callable[..., Any]
) -> None:
    page = signed_in("/candidates", viewport={"width": 360, "height": 740}, java_script_enabled=False)
    member = db.session.scalars(sa.select(TeamMember).where(TeamMember.email == installation.email)).one()
    ids = list(db.session.scalars(sa.select(Candidate.id).where(Candidate.flow_id == flow)))
    run = changes.start(member, ids, Change(Kind.MOVE, "rejected"))
    claims.take(
        BulkChange.state, run.id, expects=[BulkState.WAITING], becomes=BulkState.WORKING, lease=timedelta(hours=1)
    )
    run_id, first = run.id, changes.make_piece(run, limit=100)
    db.session.commit()
    page.goto(f"{page.url}/changes/{run_id}")
    assert f"{first} of 1,000 candidates processed" in page.inner_text("main")
    changes.make_piece(db.session.get_one(BulkChange, run_id), limit=100)
    db.session.commit()
    page.get_by_role("link", name="Reload").click()
    assert "200 of 1,000 candidates processed" in page.inner_text("main")
    page.get_by_role("button", name="Stop").click()
    assert "200 candidates changed, 800 not reached." in page.inner_text("main")
    page.get_by_role("button", name="Undo").click()
    help_along()

    def is_undone() -> bool:
        page.reload()
        return "The change was undone for 200 candidates." in page.inner_text("main")

    wait_until(is_undone, seconds=120, what="the undo")
    assert in_status(flow, "invited") == PEOPLE
