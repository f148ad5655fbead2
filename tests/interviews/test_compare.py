"""Candidates side by side: the same question in one row, what is missing says so, nobody sees more than they may."""

import html
import re
from typing import Any
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from app.accounts.models import AuditEntry, Team
from app.candidates.models import Candidate, DecisionRecord
from app.core import clock
from app.core.db import db
from app.interviews.analysis.scores import NAMES
from app.interviews.comparison import (
    LABELS,
    NO_ANSWER,
    NO_RESULT,
    NOT_ASKED,
    NOT_REACHED,
    Answer,
    Compared,
    Quote,
    rows_of,
)
from app.interviews.models import Interview, InterviewData, Role
from tests.factories import Made, a_flow
from tests.interviews.conftest import SAID
from tests.people import Person


def segment(role: str, content: str, *times: float) -> dict[str, Any]:
    shown = [(word, at, at + 0.5) for word, at in zip(content.split(), times, strict=False)]
    return {"role": role, "content": content, "shown": shown}


def chapter(question: str, *places: int) -> dict[str, Any]:
    return {"script_question": question, "transcript_item_indices": list(places)}


MARY = Compared(
    [
        segment("agent", "Why?", 0.0),
        segment("user", "To help", 1.0, 1.5),
        segment("agent", "Whom?", 2.5),
        segment("user", "People", 3.0),
        segment("agent", "How?", 4.0),
        segment("agent", "Thanks.", 3.6),
    ],
    [chapter("Why?", 0, 1, 2, 3, 5), chapter("How?", 4), chapter("When?")],
    {"skills": 4.0, "motivation": None},
    {
        "skills": {"quotes": [{"segment_index": 3, "text": "People"}]},
        "motivation": {"quotes": [{"segment_index": 1, "text": "To help"}]},
    },
)
OLAF = Compared(
    [segment("agent", "WHY?"), segment("user", "Money")],
    [chapter("Where?", 0), chapter("why?  ", 0, 1)],
    {},
    {},
)


def test_words_to_the_agent_are_no_answer() -> None:
    asked = Compared(
        [segment("agent", "Why?"), segment("user", "Repeat that"), segment("agent", "Why?"), segment("user", "Money")],
        [chapter("Why?", 0, 1, 2, 3)],
        {},
        {},
        frozenset((1,)),
    )
    assert rows_of([asked])[0].cells == (Answer((("user", "Money"),), None, None, ()),)
    silent = Compared(asked.segments[:3], [chapter("Why?", 0, 1, 2)], {}, {}, frozenset((1,)))
    assert rows_of([silent])[0].cells == (NO_ANSWER,)


def test_the_same_question_stands_in_one_row_whatever_its_place() -> None:
    rows = rows_of([MARY, OLAF, None])
    assert [row.question for row in rows] == ["Why?", "How?", "When?", "Where?"]
    why, how, when, where = (row.cells for row in rows)
    quote = Quote("Skills", 4.0, "People")
    assert why == (
        Answer((("user", "To help"), ("agent", "Whom?"), ("user", "People")), 1.0, 3.5, (quote,)),
        Answer((("user", "Money"),), None, None, ()),
        NO_RESULT,
    )
    assert (how, when) == ((NO_ANSWER, NOT_ASKED, NO_RESULT), (NOT_REACHED, NOT_ASKED, NO_RESULT))
    assert where == (NOT_ASKED, NO_ANSWER, NO_RESULT)


def test_a_question_that_is_asked_twice_has_two_rows() -> None:
    twice = Compared([segment("user", "a"), segment("user", "b")], [chapter("Q", 0), chapter("q", 1)], {}, {})
    assert [row.cells[0].said[0][1] for row in rows_of([twice, None])] == ["a", "b"]  # type: ignore[union-attr]


def test_every_score_has_a_label() -> None:
    assert set(LABELS) == set(NAMES)


@pytest.fixture
def two(completed: Made, make_flow: Made) -> list[Interview]:
    flow = make_flow()
    said = [*SAID[:1], (Role.USER, 0, "Because of <b>money</b>.")]
    return [
        completed(flow, email="mary@candidate.example", first_name="Mary"),
        completed(flow, said=said, email="olaf@candidate.example", first_name="Olaf", last_name="Berg"),
    ]


def ids_of(interviews: list[Interview]) -> list[str]:
    return [one.candidate_id or "" for one in interviews]


def compared(who: Person, ids: list[str]) -> Any:
    return who.browser.get("/candidates/compare?" + urlencode([("id", one) for one in ids]))


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def test_ticked_rows_lead_to_a_page_that_shows_both(owner: Person, two: list[Interview]) -> None:
    browser = owner.browser
    assert 'formaction="/candidates/compare"' in browser.get("/candidates").text
    answer = browser.post("/candidates/compare", data={"id": ids_of(two)})
    assert answer.status_code == 303
    page = browser.get(answer.location)
    assert page.status_code == 200
    assert "Because I like to help people." in words_of(page)
    assert "Because of &lt;b&gt;money&lt;/b&gt;." in page.text
    assert "We were five" in words_of(page)
    assert NOT_REACHED in words_of(page)
    seen = db.session.scalars(sa.select(AuditEntry.subject).where(AuditEntry.action == "interview.seen"))
    assert {one.id for one in two} == set(seen)


def test_a_candidate_is_moved_from_the_comparison_and_stays_in_it(
    owner: Person, viewer: Person, two: list[Interview]
) -> None:
    mary, olaf = ids_of(two)
    assert f'action="/candidates/{mary}/move"' in compared(owner, [mary, olaf]).text
    assert "/move" not in compared(viewer, [mary, olaf]).text
    browser = owner.browser
    form = {"status": "rejected", "reason": "skills", "from": "interviewed", "compared": [mary, olaf]}
    answer = browser.post(f"/candidates/{mary}/move", data=form)
    assert (answer.status_code, answer.location) == (303, f"/candidates/compare?id={mary}&id={olaf}")
    page = browser.get(answer.location)
    assert "The status is now rejected." in page.text
    assert f'href="/candidates/message?id={mary}&amp;rejection=yes"' in page.text
    record = db.session.scalars(sa.select(DecisionRecord)).one()
    assert (record.source, record.reason_code) == ("compare", "skills")
    stale = browser.post(f"/candidates/{mary}/move", data=form, follow_redirects=True)
    assert "was moved to rejected in the meantime" in stale.text


def test_scores_and_quotes_stand_at_their_answers(owner: Person, two: list[Interview]) -> None:
    data = db.session.get_one(InterviewData, two[0].id)
    data.scores = {**dict.fromkeys(NAMES), "skills": 3.5}
    data.evidence = {"scores": {"skills": {"quotes": [{"segment_index": 3, "text": "laughed a lot"}]}}}
    db.session.commit()
    page = words_of(compared(owner, ids_of(two)))
    assert "Skills 3.5 laughed a lot" in page
    assert "Motivation Not assessed" in page


@pytest.mark.parametrize("count", [0, 1, 6])
def test_a_wrong_number_is_explained(owner: Person, two: list[Interview], count: int) -> None:
    ids = [*ids_of(two), *(f"{number}" * 8 + "-0000-4000-8000-000000000000" for number in range(4))][:count]
    page = compared(owner, ids)
    assert page.status_code == 422
    assert "Select 2 to 5 candidates" in words_of(page)
    answer = owner.browser.post("/candidates/compare", data={"id": ids})
    assert (answer.status_code, answer.location) == (303, "/candidates")


def test_the_same_candidate_twice_is_one(owner: Person, two: list[Interview]) -> None:
    assert compared(owner, [ids_of(two)[0]] * 2).status_code == 422


def test_candidates_of_others_and_of_another_flow_are_not_compared(
    owner: Person, outsider: Person, colleague: Person, two: list[Interview], completed: Made
) -> None:
    other = completed(a_flow(owner, title="Other"), email="third@candidate.example")
    page = compared(owner, [ids_of(two)[0], other.candidate_id or ""])
    assert (page.status_code, "belong to different flows" in words_of(page)) == (422, True)
    for wrong in (["nope", "\x00"], ids_of(two)):
        page = compared(outsider, wrong)
        assert page.status_code == 422
        assert "no longer exists, or you do not have access" in words_of(page)
        assert "help people" not in page.text
    team = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(team)
    colleague.member.teams = [team]
    db.session.commit()
    assert compared(colleague, ids_of(two)).status_code == 422


def test_withdrawn_and_erased_interviews_have_no_result(owner: Person, viewer: Person, two: list[Interview]) -> None:
    ids = ids_of(two)
    two[1].withdrawn_at = clock.now()
    db.session.commit()
    page = compared(viewer, ids)
    assert page.status_code == 200
    assert "money" not in page.text
    assert words_of(page).count("No result yet") >= 2
    owner.browser.post(f"/interviews/{two[0].id}/erase", data={"confirm": "erase"})
    gone = compared(viewer, ids)
    assert (gone.status_code, "help people" in gone.text) == (422, False)


def test_five_cost_no_more_reads_than_two(
    owner: Person, two: list[Interview], completed: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = two[0].flow
    more = [completed(flow, email=f"{number}@candidate.example") for number in range(3)]
    ids = ids_of([*two, *more])
    assert db.session.query(Candidate).count() == 5
    compared(owner, ids)  # what is written down once an hour is written
    browser, counts = owner.browser, []
    for some in (ids[:2], ids):
        statements: list[str] = []

        def count(*given: Any, into: list[str] = statements) -> None:
            into.append(given[2])

        sa.event.listen(Engine, "before_cursor_execute", count)
        browser.get("/candidates/compare?" + urlencode([("id", one) for one in some]))
        sa.event.remove(Engine, "before_cursor_execute", count)
        counts.append(len([one for one in statements if "audit_entry" not in one]))
    assert counts[1] <= counts[0] + 3, "only whether each was seen lately is asked for each"
