"""The pipeline as a board: columns, cards, moves from it, and what others do meanwhile."""

import html
import re

import pytest
import sqlalchemy as sa

from app.candidates import actions
from app.candidates.models import Candidate, StatusChange
from app.core.db import db
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person
from tests.statements import sent

JSON = {"Accept": "application/json"}


def lanes(person: Person, query: str = "") -> dict[str, tuple[int, list[str]]]:
    """Count and names of each column."""
    seen = person.browser.get(f"/candidates/board?{query}")
    assert seen.status_code == 200
    found = {}
    for lane in seen.text.split('<section class="lane"')[1:]:
        status = re.search(r'data-status="([^"]+)"', lane)
        count = re.search(r"data-count>(\d+)<", lane)
        assert status
        assert count
        found[status[1]] = (int(count[1]), re.findall(r'data-name="([^"]+)"', lane))
    return found


def test_every_status_is_a_column_in_order_with_its_candidates(owner: Person, make_candidate: Made) -> None:
    moved = make_candidate("eve@e.com", first_name="Eve")
    make_candidate("ada@e.com")
    actions.move(moved, "shortlisted", by=None)
    db.session.commit()
    found = lanes(owner)
    assert list(found) == ["invited", "interviewed", "shortlisted", "accepted", "rejected", "withdrawn"]
    assert found["invited"] == (1, ["Ada Byron"])
    assert found["shortlisted"] == (1, ["Eve Byron"])
    assert found["accepted"] == (0, [])


def test_one_flow_alone_can_be_shown(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    flow = make_flow()
    make_candidate("ada@e.com", flow=flow)
    make_candidate("bob@e.com")
    assert lanes(owner, f"flow={flow.id}")["invited"][0] == 1
    assert lanes(owner)["invited"][0] == 2
    assert lanes(owner, "flow=%00")["invited"][0] == 2


def test_the_board_has_the_filters_of_the_list_and_keeps_them(
    owner: Person, make_flow: Made, make_candidate: Made
) -> None:
    flow = make_flow()
    ada, bob = make_candidate("ada@e.com", flow=flow), make_candidate("bob@e.com", flow=flow, first_name="Bob")
    actions.tag(ada, "remote")
    ada.score = 4.0
    bob.score = 2.0
    ada.assigned_recruiter_id = owner.member.id
    db.session.commit()
    only_ada = ("text=ada", "tag=remote", "without_tag=x&score_from=3", f"recruiter={owner.member.id}")
    for query in only_ada:
        assert lanes(owner, query)["invited"] == (1, ["Ada Byron"])
        assert owner.browser.get(f"/candidates/board/counts?{query}").json == {"counts": {"invited": 1}}
    assert lanes(owner, "recruiter=nobody")["invited"] == (1, ["Bob Byron"])
    assert lanes(owner, "unreviewed=yes")["invited"] == (0, [])
    assert lanes(owner, "status=accepted&order=name")["invited"][0] == 2  # a column is a status
    page = html.unescape(owner.browser.get(f"/candidates/board?score_from=3&flow={flow.id}").text)
    kept = f"flow={flow.id}&score_from=3"
    for link in (
        f"/candidates?{kept}",
        f"/candidates/board/counts?{kept}",
        f"/candidates/{ada.id}?{kept}&status=invited&order=newest",
        f"/candidates/{ada.id}/move?{kept}",
    ):
        assert f'"{link}"' in page
    assert '<input type="hidden" name="score_from" value="3">' in page
    assert "1 other filter from the list also applies." in re.sub(r"\s+", " ", page)


def test_a_card_has_initials_and_the_filters_replace_the_lanes_alone(
    owner: Person, make_flow: Made, make_candidate: Made
) -> None:
    make_candidate(flow=make_flow())
    page = owner.browser.get("/candidates/board?text=ada").text
    assert '<span class="initials" aria-hidden="true">AB</span>' in page
    assert set(re.findall('data-live="([a-z]+)"', page)) == {"tabs", "filters", "count", "chips", "lanes"}
    assert '<span hidden data-counts="/candidates/board/counts?text=ada"></span>' in page
    assert 'data-live="count">1 candidate</p>' in page


def test_a_cards_links_keep_the_words_of_the_search(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    """The links of a column differ in one place alone, whatever is searched for."""
    candidate = make_candidate(flow=make_flow())
    candidate.email = "CARD@e.com"
    db.session.commit()
    page = html.unescape(owner.browser.get("/candidates/board?text=CARD").text)
    assert f'href="/candidates/{candidate.id}?text=CARD&status=invited&order=newest"' in page
    assert f'action="/candidates/{candidate.id}/move?text=CARD"' in page


def test_a_card_moved_to_rejected_is_offered_a_message(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    form = {"status": "rejected", "from": "invited", "board": ""}
    answer = owner.browser.post(f"/candidates/{candidate.id}/move", data=form, headers=JSON)
    assert answer.json["message"] == f"/candidates/message?id={candidate.id}&rejection=yes"


def test_a_full_column_leads_to_the_list(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    flow = make_flow()
    for number in range(52):
        make_candidate(f"c{number}@e.com", flow=flow)
    text = owner.browser.get("/candidates/board").text
    assert text.count('class="lane-card"') == 50
    assert "Show all 52 in the list" in text


def test_a_card_is_moved_once_and_told_once(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    candidate = make_candidate(flow=make_flow(webhook_url="https://customer.example/hook"))
    path, form = f"/candidates/{candidate.id}/move", {"status": "accepted", "from": "invited", "board": ""}
    answer = owner.browser.post(path, data=form, headers=JSON)
    assert (answer.status_code, answer.json) == (200, {"status": "accepted", "changed": True})
    again = owner.browser.post(path, data=form, headers=JSON)
    assert again.status_code == 409
    assert "moved to accepted in the meantime" in again.json["message"]
    same = owner.browser.post(path, data={"status": "accepted", "from": "accepted"}, headers=JSON)
    assert same.json == {"status": "accepted", "changed": False}
    assert db.session.scalar(sa.select(sa.func.count(StatusChange.id))) == 1
    assert db.session.scalar(sa.select(sa.func.count(Delivery.id))) == 1


def test_without_scripts_the_menu_leads_back_to_the_board(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    flow = make_flow()
    candidate = make_candidate(flow=flow)
    moved = owner.browser.post(
        f"/candidates/{candidate.id}/move?flow={flow.id}&tests=yes",
        data={"status": "rejected", "from": "invited", "board": "yes"},
    )
    assert (moved.status_code, moved.location) == (303, f"/candidates/board?flow={flow.id}&tests=yes")
    assert lanes(owner, f"flow={flow.id}")["rejected"] == (1, ["Ada Byron"])


def test_a_word_that_is_no_status_is_refused_by_name(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    answer = owner.browser.post(f"/candidates/{candidate.id}/move", data={"status": "hired"}, headers=JSON)
    assert answer.status_code == 422
    assert "hired" in answer.json["message"]


def test_viewers_see_the_board_and_move_nobody(viewer: Person, make_candidate: Made) -> None:
    make_candidate()
    text = viewer.browser.get("/candidates/board").text
    assert "Ada Byron" in text
    assert 'popovertarget="move-' not in text


def test_counts_tell_what_others_did(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    assert owner.browser.get("/candidates/board/counts").json == {"counts": {"invited": 1}}
    actions.move(candidate, "accepted", by=None)
    db.session.commit()
    assert owner.browser.get("/candidates/board/counts").json == {"counts": {"accepted": 1}}


@pytest.mark.parametrize("number", [1, 6])
def test_a_page_takes_the_same_number_of_queries_however_many_cards(
    owner: Person, make_flow: Made, make_candidate: Made, number: int
) -> None:
    flow = make_flow()
    for place in range(number):
        actions.move(make_candidate(f"c{place}@e.com", flow=flow), "accepted", by=None)
    db.session.commit()
    with sent() as asked:
        owner.browser.get("/candidates/board")
    assert sum("FROM candidate" in one for one in asked) <= 4
    assert db.session.scalar(sa.select(sa.func.count(Candidate.id))) == number
