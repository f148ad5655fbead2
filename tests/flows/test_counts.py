"""How far a flow's candidates are: on its page and in the list of flows, each number a link to exactly those."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest

from app.core import clock
from app.core.db import db
from app.flows.models import FlowStatus, InterviewFlow, InterviewType
from app.interviews import actions as interviews
from app.interviews.models import Interview, InterviewStatus, Stage
from tests.factories import Made
from tests.people import Person
from tests.statements import sent

Book = Callable[..., Interview]
NAMES = ["Invited", "Started", "Completed", "To review"]


@pytest.fixture
def book(owner: Person) -> Book:
    """An interview of another candidate each time; ``interviewed``: its candidate has a result to review."""
    numbers = iter(range(1000))

    def make(flow: InterviewFlow, *, interviewed: bool = False, **columns: Any) -> Interview:
        name = f"Mary{next(numbers)}"
        email = f"{name.lower()}@candidate.example"
        interview = interviews.book(owner.organization, flow.id, email=email, first_name=name)
        for name, value in columns.items():
            setattr(interview, name, value)
        if interviewed:
            assert interview.candidate
            interview.candidate.interviewed_at = clock.now()
        db.session.commit()
        return interview

    return make


@pytest.fixture
def busy(owner: Person, make_flow: Made, book: Book) -> InterviewFlow:
    """Five invited, three of them started, two completed, one of those to review."""
    flow: InterviewFlow = make_flow(title="Busy", interview_type=InterviewType.RECRUITMENT)
    done = {"stage": Stage.COMPLETED, "status": InterviewStatus.COMPLETED}
    book(flow)
    book(flow)
    book(flow, stage=Stage.RUNNING)
    book(flow, **done, interviewed=True)
    reviewed = book(flow, **done, interviewed=True).candidate
    book(flow, is_test=True)
    gone = book(flow, stage=Stage.SUBMITTED, quarantined_at=clock.now())
    assert reviewed
    assert gone.candidate
    reviewed.reviewed_at = gone.candidate.quarantined_at = clock.now()
    book(make_flow(title="Other", interview_type=InterviewType.RECRUITMENT))
    db.session.commit()
    return flow


def counted(page: str) -> dict[str, tuple[int, str]]:
    """Number and address of each count on a flow's page."""
    found = re.findall(r'class="flow-count" href="([^"]+)"><strong>(\d+)</strong> <span>([^<]+)<', page)
    return {label: (int(number), html.unescape(href)) for href, number, label in found}


def test_each_count_leads_to_as_many_as_it_says(owner: Person, busy: InterviewFlow) -> None:
    browser = owner.browser
    found = counted(browser.get(f"/flows/{busy.id}").text)
    assert [(label, number) for label, (number, _) in found.items()] == list(zip(NAMES, (5, 3, 2, 1), strict=True))
    for number, href in found.values():
        listed = browser.get(href)
        assert listed.status_code == 200
        assert len(set(re.findall(r"Mary\d+", listed.text))) == number, href


def test_the_list_of_flows_counts_each_row_and_invites(owner: Person, busy: InterviewFlow, make_flow: Made) -> None:
    make_flow(title="Shut", status=FlowStatus.CLOSED, interview_type=InterviewType.RECRUITMENT)
    make_flow(title="Survey", interview_type=InterviewType.GENERAL)
    rows = re.findall(r"<tr>.*?</tr>", owner.browser.get("/flows").text, re.DOTALL)[1:]
    told = {}
    for row in rows:
        title = re.search(r'data-label="Title"><a[^>]*>([^<]+)<', row)
        cells = [re.search(rf'data-label="{name}" class="number">(.*?)</td>', row, re.DOTALL) for name in NAMES]
        assert title
        assert all(cells)
        told[title[1]] = [re.sub(r"<[^>]+>|\s", "", cell[1]) for cell in cells if cell]
    assert told == {
        "Busy": ["5", "3", "2", "1"],
        "Other": ["1", "0", "0", "0"],
        "Shut": ["0"] * 4,
        "Survey": ["–"] * 4,
    }
    invite = {re.search(r">([^<]+)</a><br>", row)[1]: "/candidates/invite?flow=" in row for row in rows}  # type: ignore[index]
    assert invite == {"Busy": True, "Other": True, "Shut": False, "Survey": True}


def test_counts_of_a_page_of_flows_take_the_same_queries(owner: Person, busy: InterviewFlow, make_flow: Made) -> None:
    browser = owner.browser

    def queries() -> int:
        with sent() as asked:
            assert browser.get("/flows").status_code == 200
        return len(asked)

    few = queries()
    for number in range(10):
        make_flow(title=f"Flow {number}")
    assert queries() == few


def test_viewers_see_counts_and_no_invitation(viewer: Person, busy: InterviewFlow) -> None:
    assert counted(viewer.browser.get(f"/flows/{busy.id}").text)["Invited"][0] == 5
    for path in ("/flows", f"/flows/{busy.id}"):
        assert "/candidates/invite" not in viewer.browser.get(path).text


def test_the_page_begins_with_the_invitation_and_the_link(owner: Person, busy: InterviewFlow) -> None:
    browser = owner.browser
    page = browser.get(f"/flows/{busy.id}").text
    assert f'class="button button-primary" href="/candidates/invite?flow={busy.id}"' in page
    assert f'href="/flows/{busy.id}/preview"' in page
    assert "<svg" not in page[page.index('id="share"') : page.index("Script")], "no code before there is a link"
    page = browser.post(f"/flows/{busy.id}/link/on", follow_redirects=True).text
    assert page.index('class="flow-counts"') < page.index('id="share-link"') < page.index("<h2>Script</h2>")
    code = page[page.index('aria-label="QR code of the apply link"') :]
    assert code.index("<svg") < 80
    assert "viewBox" in code or "width=" in code


def test_a_closed_or_general_flow_offers_what_it_can(owner: Person, make_flow: Made) -> None:
    shut = make_flow(status=FlowStatus.CLOSED, interview_type=InterviewType.RECRUITMENT)
    page = owner.browser.get(f"/flows/{shut.id}").text
    assert "/candidates/invite" not in page
    assert counted(page)["Invited"][0] == 0
    general = make_flow(interview_type=InterviewType.GENERAL)
    page = owner.browser.get(f"/flows/{general.id}").text
    assert counted(page) == {}, "its interviews are in no list"
    assert 'id="figures"' in page
