"""What the command palette finds: only what the member may open, best first, whatever is typed."""

from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.candidates import actions as candidates
from app.candidates.models import Candidate
from app.core.db import db
from app.flows.models import InterviewFlow, Right
from app.review.flow_access import actions as flow_access
from app.review.palette.pages import LONGEST, MOST, MOST_UNASKED
from tests.factories import Made
from tests.people import Person, moved_away


@pytest.fixture
def flow(make_flow: Made) -> InterviewFlow:
    return make_flow(title="Night shift driver")


def enrol(flow: InterviewFlow, *people: tuple[str, str, str]) -> list[Candidate]:
    made = [
        candidates.enrol(flow, email=email, first_name=first, last_name=last, recruiter=None)
        for first, last, email in people
    ]
    db.session.commit()
    return made


def found(who: Person, query: str = "", kind: str = "") -> list[dict[str, Any]]:
    answer = who.browser.get("/find", query_string={"q": query})
    assert answer.status_code == 200, answer.text
    return [entry for entry in answer.json["entries"] if not kind or entry["kind"] == kind]


def texts(who: Person, query: str, kind: str = "") -> list[str]:
    return [entry["text"] for entry in found(who, query, kind)]


def test_people_flows_pages_and_actions_are_one_list_best_first(owner: Person, flow: InterviewFlow) -> None:
    enrol(flow, ("Flora", "Berg", "berg@candidate.example"), ("Ada", "Flow", "ada@candidate.example"))
    entries = found(owner, "flo")
    assert [(entry["kind"], entry["text"]) for entry in entries][:2] == [("Candidate", "Flora Berg"), ("Page", "Flows")]
    assert {"Ada Flow", "Create a flow"} <= {entry["text"] for entry in entries}
    assert [entry["rank"] for entry in entries] == sorted(entry["rank"] for entry in entries)
    [driver] = found(owner, "SHIFT night")
    assert (driver["kind"], driver["text"], driver["href"]) == ("Flow", "Night shift driver", f"/flows/{flow.id}")


def test_a_person_is_found_by_address_and_shown_with_flow_and_address(owner: Person, flow: InterviewFlow) -> None:
    [ada] = enrol(flow, ("Ada", "Berg", "ada@candidate.example"))
    [entry] = found(owner, "ada@candidate", "Candidate")
    assert entry["href"] == f"/candidates/{ada.id}"
    assert entry["detail"] == "ada@candidate.example · Night shift driver"


@pytest.mark.parametrize("query", ["%", "_", "\\", "a%b", "'", '"; drop table candidate', "<b>"])
def test_signs_of_the_database_are_letters_like_others(owner: Person, flow: InterviewFlow, query: str) -> None:
    enrol(flow, ("Ada", "Berg", "ada@candidate.example"))
    assert found(owner, query, "Candidate") == []


def test_at_most_eight_of_each_and_four_while_nothing_is_typed(owner: Person, make_flow: Made) -> None:
    flows = [make_flow(title=f"Same {number}") for number in range(MOST + 2)]
    enrol(flows[0], *((f"Same{n}", "Person", f"same{n}@candidate.example") for n in range(MOST + 2)))
    for kind in ("Candidate", "Flow"):
        assert len(found(owner, "same", kind)) == MOST
        assert len(found(owner, "", kind)) == MOST_UNASKED


@pytest.mark.parametrize(
    ("query", "told"), [("a" * (LONGEST + 1), "at most 100 characters"), ("a\0b", "NUL character")]
)
def test_what_cannot_be_searched_is_refused_in_a_sentence(owner: Person, query: str, told: str) -> None:
    answer = owner.browser.get("/find", query_string={"q": query})
    assert answer.status_code == 422
    assert told in answer.json["message"]


def test_the_longest_query_is_answered_and_no_cache_keeps_it(owner: Person) -> None:
    answer = owner.browser.get("/find", query_string={"q": "a " * (LONGEST // 2 - 1) + "aa"})
    assert (answer.status_code, answer.json["entries"]) == (200, [])
    assert "no-store" in answer.headers["Cache-Control"]


def test_nobody_finds_another_organizations_or_teams_people_and_flows(
    owner: Person, colleague: Person, outsider: Person, flow: InterviewFlow
) -> None:
    enrol(flow, ("Ada", "Berg", "ada@candidate.example"))
    assert texts(owner, "berg", "Candidate") == texts(colleague, "berg", "Candidate") == ["Ada Berg"]
    for query in ("", "berg", "ada@candidate.example", "night"):
        assert not [entry for entry in found(outsider, query) if entry["kind"] in {"Candidate", "Flow"}]
    moved_away(colleague)
    for query in ("", "berg", "night"):
        assert not [entry for entry in found(colleague, query) if entry["kind"] in {"Candidate", "Flow"}]
    flow_access.give(flow, db.session.get_one(TeamMember, colleague.member.id), Right.VIEW, by=owner.member)
    db.session.commit()
    assert texts(colleague, "berg", "Candidate") == ["Ada Berg"]
    assert texts(colleague, "night", "Flow") == ["Night shift driver"]


def test_a_narrowed_flow_and_its_people_are_kept_from_the_team(
    owner: Person, colleague: Person, flow: InterviewFlow
) -> None:
    enrol(flow, ("Ada", "Berg", "ada@candidate.example"))
    db.session.execute(sa.update(InterviewFlow).values(is_narrowed=True))
    db.session.commit()
    assert texts(colleague, "berg", "Candidate") == texts(colleague, "night", "Flow") == []
    assert texts(owner, "berg", "Candidate") == ["Ada Berg"]


@pytest.mark.parametrize("name", ["owner", "colleague", "viewer"])
def test_everything_that_is_offered_opens(request, flow: InterviewFlow, name: str) -> None:
    who: Person = request.getfixturevalue(name)
    enrol(flow, ("Ada", "Berg", "ada@candidate.example"))
    browser = who.browser
    offered = [entry["href"] for entry in found(who) if not entry["href"].startswith("#")]
    assert len(offered) == len(set(offered))
    assert {href: browser.get(href).status_code for href in offered} == dict.fromkeys(offered, 200)
    assert ("Invite candidates" in texts(who, "invite")) == (name != "viewer")
    assert ("Audit log" in texts(who, "audit")) == (name == "owner")
