"""The first steps of a new organization: what each member sees, what ticks them off, and how the list goes away."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from app.core.db import db
from app.flows.models import FlowStatus, InterviewFlow
from app.interviews import actions as interviews
from app.interviews.models import Interview, InterviewStatus, Stage
from tests.factories import Made
from tests.people import Person


@pytest.fixture
def book(owner: Person) -> Callable[..., Interview]:
    def make(flow: InterviewFlow, **columns: Any) -> Interview:
        interview = interviews.book(owner.organization, flow.id, email="mary@candidate.example", first_name="Mary")
        for name, value in columns.items():
            setattr(interview, name, value)
        db.session.commit()
        return interview

    return make


def steps(person: Person) -> list[bool] | None:
    """Which of the four are done; None without the list."""
    page = person.browser.get("/dashboard")
    assert page.status_code == 200
    if 'id="first-steps"' not in page.text:
        return None
    done = [found == " is-done" for found in re.findall(r'<li class="first-step( is-done)?">', page.text)]
    assert f"{sum(done)} of 4 steps done" in page.text
    return done


def test_a_new_organization_begins_with_a_flow(owner: Person) -> None:
    assert steps(owner) == [False] * 4
    page = owner.browser.get("/dashboard").text
    assert '<option value="team-leader">Team leader</option>' in page
    assert "Pflegefachkraft (German" in page
    assert 'action="/flows/templates"' in page
    assert 'href="/flows/new"' in page
    assert "/candidates/invite?flow" not in page, "there is nothing to invite to"


def test_a_flow_opens_the_next_steps(owner: Person) -> None:
    made = owner.browser.post("/flows/templates", data={"template": "team-leader"}).location
    assert steps(owner) == [True, False, False, False]
    page = owner.browser.get("/dashboard").text
    assert f'href="{made}/preview"' in page
    assert f'href="/candidates/invite?flow={made.split("/")[-1]}"' in page
    assert f'action="{made}/link/on"' in page


def test_a_preview_counts_once_it_begins(owner: Person, colleague: Person, outsider: Person, make_flow: Made) -> None:
    flow = make_flow()
    base = f"/flows/{flow.id}/preview"
    page = colleague.browser.get(base)
    assert steps(owner) == [True, False, False, False], "looking is not trying"
    base = re.search(r'data-base="([^"]+)"', page.text)[1]  # type: ignore[index]
    assert colleague.browser.post(f"{base}/start", json={"mode": "text", "consent": "yes"}).status_code == 200
    assert steps(owner) == [True, True, False, False]
    first = owner.organization.previewed_at
    assert colleague.browser.post(f"{base}/start", json={"mode": "text", "consent": "yes"}).status_code == 200
    db.session.refresh(owner.organization)
    assert owner.organization.previewed_at == first
    assert steps(outsider) == [False] * 4


def test_an_interview_or_an_apply_link_counts_as_an_invitation(
    owner: Person, make_flow: Made, book: Callable[..., Interview]
) -> None:
    flow = make_flow()
    owner.browser.post(f"/flows/{flow.id}/link/on")
    assert steps(owner) == [True, False, True, False]
    owner.browser.post(f"/flows/{flow.id}/link/off")
    assert steps(owner) == [True, False, False, False]
    book(flow, is_test=True)
    assert steps(owner) == [True, False, False, False]
    book(flow)
    assert steps(owner) == [True, False, True, False]


def test_the_first_result_ends_it_and_the_second_hides_it(
    owner: Person, make_flow: Made, book: Callable[..., Interview]
) -> None:
    flow = make_flow()
    ready = {"status": InterviewStatus.COMPLETED, "stage": Stage.COMPLETED}
    first = book(flow, **ready)
    assert steps(owner) == [True, False, True, True]
    assert f'href="/interviews/{first.id}"' in owner.browser.get("/dashboard").text
    book(flow, **ready)
    assert steps(owner) is None


def test_it_is_hidden_for_everyone_in_the_organization(owner: Person, colleague: Person, outsider: Person) -> None:
    assert steps(colleague) == [False] * 4
    answer = colleague.browser.post("/first-steps/hide")
    assert (answer.status_code, answer.location) == (303, "/dashboard")
    assert steps(owner) is None
    assert "No interview flows yet" in owner.browser.get("/dashboard").text
    assert steps(outsider) == [False] * 4


def test_viewers_have_no_steps(viewer: Person) -> None:
    assert steps(viewer) is None
    assert viewer.browser.post("/first-steps/hide").status_code == 403


def test_only_administrators_are_offered_a_key(owner: Person, colleague: Person) -> None:
    assert "create an API key" in owner.browser.get("/dashboard").text
    assert "create an API key" not in colleague.browser.get("/dashboard").text


def test_without_a_team_it_says_whom_to_ask(colleague: Person) -> None:
    colleague.member.teams.clear()
    db.session.commit()
    assert "ask an administrator to add you to one" in colleague.browser.get("/dashboard").text


def test_flows_that_a_member_cannot_use_offer_no_dead_ends(owner: Person, make_flow: Made) -> None:
    flow = make_flow(status=FlowStatus.CLOSED)
    assert steps(owner) == [True, False, False, False]
    assert f"/flows/{flow.id}/preview" not in owner.browser.get("/dashboard").text
