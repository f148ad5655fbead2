"""What open tabs are told: only what is new, only what the member may see, and nothing that keeps a session alive."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from app.accounts.models import Login
from app.core import clock
from app.core.db import db, new_id
from app.interviews.models import Interview, Stage
from tests.factories import Made
from tests.people import Person, moved_away

MOST_STATEMENTS = 8


def url_on(who: Person, path: str) -> str:
    """The URL that the page at ``path`` asks."""
    found = re.search(r'data-live-url="([^"]+)"', who.browser.get(path).text)
    assert found, path
    return html.unescape(found[1])


def news(who: Person, url: str) -> str:
    answer = who.browser.get(url)
    assert answer.status_code == 200, answer.text
    said: str = answer.json["news"]
    return said


@pytest.mark.parametrize("path", ["/dashboard", "/candidates", "/flows/{flow}"])
def test_a_page_is_told_how_many_results_are_new(path: str, owner: Person, completed: Made, make_flow: Made) -> None:
    flow = make_flow()
    completed(flow)
    url = url_on(owner, path.format(flow=flow.id))
    assert news(owner, url) == ""
    completed(flow, email="second@candidate.example")
    assert news(owner, url) == "1 new result"
    completed(flow, email="third@candidate.example")
    assert news(owner, url) == "2 new results"
    assert news(owner, url_on(owner, path.format(flow=flow.id))) == ""


def test_a_flow_is_told_of_its_own_results(owner: Person, completed: Made, make_flow: Made) -> None:
    flow, other = make_flow(), make_flow()
    url = url_on(owner, f"/flows/{flow.id}")
    completed(other)
    assert news(owner, url) == ""


def test_results_of_others_of_tests_and_of_long_ago_are_no_news(
    owner: Person, colleague: Person, outsider: Person, completed: Made
) -> None:
    people = (owner, colleague, outsider)
    urls = [url_on(who, "/candidates") for who in people]
    hidden, old, plain = (completed(email=f"{number}@candidate.example") for number in range(3))
    hidden.is_test, old.completed_at = True, clock.now() - timedelta(hours=1)
    db.session.commit()
    assert plain.stage is Stage.COMPLETED
    moved_away(colleague)
    db.session.expire_all()
    assert [news(who, url) for who, url in zip(people, urls, strict=True)] == ["1 new result", "", ""]


def test_an_interview_says_that_its_result_is_ready(owner: Person, outsider: Person, submitted: Made) -> None:
    from app.interviews.jobs.processing import process_interview

    interview = submitted()
    url = url_on(owner, f"/interviews/{interview.id}")
    assert news(owner, url) == ""
    process_interview(interview.id)
    assert news(owner, url) == "The result is ready"
    url = url_on(owner, f"/interviews/{interview.id}")
    assert news(owner, url) == ""
    db.session.get_one(Interview, interview.id).data.version = 2  # type: ignore[union-attr]
    db.session.commit()
    assert news(owner, url) == "This interview has changed"
    assert outsider.browser.get(url).status_code == 403
    assert owner.browser.get(f"/live/interviews/{new_id()}").status_code == 404


def test_nothing_new_costs_a_few_statements_and_no_body(owner: Person, completed: Made) -> None:
    completed()
    url, browser = url_on(owner, "/candidates"), owner.browser
    tag = browser.get(url).headers["ETag"]
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    try:
        answer = browser.get(url, headers={"If-None-Match": tag})
    finally:
        event.remove(db.engine, "before_cursor_execute", note)
    assert (answer.status_code, answer.data) == (304, b"")
    assert not [one for one in statements if not one.lstrip().startswith(("SELECT", "BEGIN", "SET"))], statements
    assert len(statements) <= MOST_STATEMENTS, statements
    completed(email="second@candidate.example")
    assert browser.get(url, headers={"If-None-Match": tag}).status_code == 200


def test_a_tab_that_asks_does_not_keep_its_session(owner: Person, completed: Made) -> None:
    completed()
    url, browser = url_on(owner, "/dashboard"), owner.browser
    before = clock.now() - timedelta(minutes=20)
    db.session.execute(sa.update(Login).values(seen_at=before))
    db.session.commit()
    for path in (url, "/candidates/board/counts"):
        assert browser.get(path).status_code == 200
        assert set(db.session.scalars(sa.select(Login.seen_at))) == {before}
        db.session.rollback()
    browser.get("/dashboard")
    assert max(db.session.scalars(sa.select(Login.seen_at))) > before


@pytest.mark.parametrize(
    "query",
    ["", "since=yesterday&seen=0", "since=2026-11-24T10:00:00Z&seen=-1", "since=2026-11-24T10:00:00Z&seen=" + "9" * 40],
)
def test_a_url_that_no_page_gives_gets_a_sentence(query: str, owner: Person) -> None:
    answer = owner.browser.get(f"/live/results?{query}")
    assert answer.status_code == 422
    assert "Reload the page" in answer.json["message"]


def test_odd_flows_and_states_find_nothing(owner: Person, completed: Made) -> None:
    interview = completed()
    for flow in ("x%00", "a" * 5000, new_id()):
        assert news(owner, f"/live/results?since=2020-01-01T00:00:00Z&seen=0&flow={flow}") in {"", "1 new result"}
    assert news(owner, f"/live/interviews/{interview.id}?seen=%00") == "The result is ready"
