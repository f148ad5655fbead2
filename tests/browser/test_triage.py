"""Thirty results are reviewed by keys alone, in triage and on candidates' pages, in Chromium, on the real platform."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa

from app import create_app
from app.accounts.models import Organization
from app.candidates.models import Candidate, DecisionRecord, StatusChange
from app.core.db import db, reading
from app.core.queue import SilentWaker
from app.flows.models import InterviewFlow
from app.interviews import actions
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Role, Utterance
from app.settings import Settings

from .conftest import Installation, assert_accessible, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]
PEOPLE = 30
MOST_KEYS = 6
"""For one candidate, without a note."""
FIRST_SCREEN = """() => ["h1", ".drop > summary", "[data-decide] button", "[data-tabs]", ".score",
    "#interview .summary, #interview .quoted"]
    .filter((one) => document.querySelector(one)?.getBoundingClientRect().bottom <= innerHeight)"""
"""Which of these are whole in the first screen."""
SAID = (
    (Role.AGENT, "Why do you want to drive for us?"),
    (Role.USER, "I have driven trucks for ten years, and I like to know that everything arrives in time."),
)


@pytest.fixture(scope="module")
def platform(installation: Installation) -> Iterator[Any]:
    """The application on the running installation's data, as another process of it."""
    given = {**os.environ, "DATA_DIR": str(installation.data), "DATABASE_URL": "", "REDIS_URL": ""}
    app = create_app(Settings.from_env(given), waker=SilentWaker())
    with app.app_context():
        yield app
        db.session.remove()
        db.engine.dispose()
    app.extensions["parley.gateways"].close()  # a speech host that stops waits for its clients


@pytest.fixture
def results(installation: Installation, platform: Any) -> Callable[[int], str]:
    """``results(people)``: the id of a new flow with so many candidates, each with a result that nobody has judged."""
    return partial(_judged_by_nobody, installation)


def _judged_by_nobody(installation: Installation, people: int) -> str:
    body = {
        "org_name": "Example Freight",
        "title": "Driver",
        "questions": [SAID[0][1]],
        "team_id": installation.team_id,
        "interview_type": "recruitment",
    }
    flow_id: str = installation.api("POST", "/interview-flows", json=body)["interview_flow_id"]
    for number in range(people):
        _handed_in(db.session.get_one(InterviewFlow, flow_id).organization, flow_id, number)
    wait_until(lambda: asked(_waiting(flow_id)) == [(people,)], seconds=120, what="as many results")
    return flow_id


def _handed_in(organization: Organization, flow_id: str, number: int) -> None:
    interview = actions.book(
        organization, flow_id, email=f"p{number}@example.com", first_name=f"Person{number:02}", last_name="Example"
    )
    actions.begin(interview)
    for place, (role, words) in enumerate(SAID, 1):
        said = {"question_index": 0, "content": words, "typed": role is Role.USER}
        db.session.add(Utterance(interview_id=interview.id, number=place, role=role, **said))
    actions.submit(interview)
    db.session.commit()
    process_interview(interview.id)


def _waiting(flow_id: str) -> Any:
    return sa.select(sa.func.count(Candidate.id)).where(
        Candidate.flow_id == flow_id, Candidate.interviewed_at.is_not(None), Candidate.reviewed_at.is_(None)
    )


def asked(query: Any) -> list[Any]:
    """All rows. An open transaction would keep the platform waiting, so none is left."""
    with reading():
        found = db.session.execute(query).all()
        db.session.rollback()
    return list(found)


@pytest.fixture
def triage(signed_in: Callable[..., Any]) -> Callable[..., Any]:
    """``triage(flow_id, viewport=…)``: the page, signed in."""

    def opened(flow_id: str, **options: Any) -> Any:
        page = signed_in(f"/candidates/triage?flow={flow_id}", **options)
        page.wait_for_selector("[data-keys]:visible")
        return page

    return opened


def name_of(page: Any) -> str:
    found: str = page.locator(".triage h2").first.inner_text()
    return found


def press(page: Any, key: str) -> str:
    """Press a key that leads on, and say who is shown then."""
    with page.expect_navigation():
        page.keyboard.press(key)
    page.wait_for_load_state()
    if not page.locator(".triage").count():
        return ""
    page.wait_for_selector("[data-keys]:visible")
    return name_of(page)


@pytest.mark.parametrize("width", [1280, 360])
def test_everyone_can_use_it(results: Callable[[int], str], triage: Callable[..., Any], width: int) -> None:
    page = triage(results(1), viewport={"width": width, "height": 800})
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("?")
    page.wait_for_selector("#keys:popover-open")
    assert_accessible(page)


def test_single_keys_can_be_turned_off(results: Callable[[int], str], triage: Callable[..., Any]) -> None:
    page = triage(results(2))
    page.keyboard.press("?")
    page.uncheck("#single-keys")
    page.keyboard.press("Escape")
    first = name_of(page)
    page.keyboard.press("n")
    page.keyboard.press("s")
    page.reload()
    page.wait_for_selector("[data-keys]:visible")
    page.keyboard.press("m")
    assert page.evaluate("document.activeElement.id") != "note"
    assert name_of(page) == first


def test_thirty_are_reviewed_without_a_mouse(results: Callable[[int], str], triage: Callable[..., Any]) -> None:
    flow_id = results(PEOPLE)
    page = triage(flow_id)
    assert press(page, "n") == "Person01 Example"
    page.goto(page.url.split("&after")[0])
    page.wait_for_selector("[data-keys]:visible")
    assert press(page, "s") == "Person01 Example"
    assert press(page, "u") == "Person00 Example"  # taken back
    reviewed = 0
    while page.locator(".triage").count():
        person = name_of(page)
        if reviewed % 3 == 0:
            page.keyboard.press("m")
            page.keyboard.type("no numbers, no shortcuts: sure")
            page.keyboard.press("Escape")
        key = "srd"[reviewed % 3]
        if key == "r":
            page.keyboard.press("r")
            page.wait_for_selector("#reason-dialog[open]")
            key = "1"
        following = press(page, key)
        assert following != person
        reviewed += 1
        assert reviewed <= PEOPLE
    assert reviewed == PEOPLE
    page.get_by_text("There are no results to review").wait_for()
    mine = Candidate.flow_id == flow_id
    stand = asked(sa.select(Candidate.status, sa.func.count(Candidate.id)).where(mine).group_by("status"))
    assert dict(map(tuple, stand)) == {"shortlisted": 10, "rejected": 10, "interviewed": 10}
    decided = sa.select(DecisionRecord.meaning, DecisionRecord.reason_code, DecisionRecord.source)
    stands = sa.select(*decided.selected_columns, sa.func.count()).join(Candidate).where(mine)
    stands = stands.where(DecisionRecord.withdrawn_at.is_(None)).group_by(*decided.selected_columns)
    assert sorted(map(tuple, asked(stands)), key=str) == [
        ("advanced", None, "triage", 10),
        ("rejected", "skills", "triage", 10),
    ]
    notes = sa.select(StatusChange.note).join(Candidate).where(mine, StatusChange.note.is_not(None))
    assert asked(notes) == [("no numbers, no shortcuts: sure",)] * 10


def candidate_of(page: Any) -> str:
    """Wait until the keys of a candidate's page work, and say who it is."""
    page.wait_for_selector(".candidate-page.has-keys")
    found: str = page.locator("h1").inner_text()
    return found


def press_there(page: Any, *keys: str) -> str:
    """Press keys on a candidate's page, of which the last leads on, and say who is shown then."""
    for key in keys[:-1]:
        page.keyboard.press(key)
        page.wait_for_selector("#reason-dialog[open]")
    with page.expect_navigation():
        page.keyboard.press(keys[-1])
    return candidate_of(page)


@pytest.mark.parametrize("rates_first", [False, True])
def test_thirty_are_decided_on_their_pages_by_keys_alone(
    results: Callable[[int], str], signed_in: Callable[..., Any], rates_first: bool
) -> None:
    flow_id, pressed = results(PEOPLE), 0
    if rates_first:
        db.session.execute(sa.update(InterviewFlow).where(InterviewFlow.id == flow_id).values(rates_first=True))
        db.session.commit()
    page = signed_in(f"/candidates?flow={flow_id}&order=oldest")
    page.wait_for_selector(".all:not(.waiting)", state="attached")
    page.keyboard.press("j")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    seen = [candidate_of(page)]
    for number in range(PEOPLE):
        person = seen[-1]
        keys = (("s",), ("r", "1"), ("r", "0"))[number % 3]
        if rates_first:
            assert page.locator(".rate-first").count()
            if number == 0:
                assert_accessible(page)
            assert press_there(page, str(number % 6)) == person
            assert not page.locator(".rate-first").count()
            pressed = max(pressed, len(keys) + 2)  # the rating, the decision, the next one
        assert press_there(page, *keys) == person  # who stays, with the way to undo it
        if number == 0:
            assert press_there(page, "u") == person
            assert press_there(page, "s") == person
        if number < PEOPLE - 1:
            seen.append(press_there(page, "."))
    assert seen == [f"Person{number:02} Example" for number in range(PEOPLE)]
    page.keyboard.press(".")  # the last of the list: nothing happens
    assert press_there(page, ",") == seen[-2]
    assert urlsplit(page.url).query == f"flow={flow_id}&order=oldest"
    assert pressed <= MOST_KEYS
    rated = sa.select(DecisionRecord.own_rating).where(DecisionRecord.flow_id == flow_id)
    assert [None] not in map(list, asked(rated)) or not rates_first
    mine = sa.select(DecisionRecord.meaning, DecisionRecord.reason_code, sa.func.count())
    mine = mine.where(DecisionRecord.flow_id == flow_id, DecisionRecord.withdrawn_at.is_(None))
    stand = asked(mine.group_by(DecisionRecord.meaning, DecisionRecord.reason_code))
    assert sorted(map(tuple, stand), key=str) == [
        ("advanced", None, 10),
        ("rejected", "skills", 10),
        ("rejected", None, 10),
    ]


@pytest.mark.parametrize("width", [1280, 360])
def test_a_candidates_page_holds_what_a_decision_needs(
    results: Callable[[int], str], signed_in: Callable[..., Any], width: int
) -> None:
    page = signed_in(f"/candidates?flow={results(1)}", viewport={"width": width, "height": 800})
    page.locator("a.name").click()
    candidate_of(page)
    first = page.evaluate(FIRST_SCREEN)
    wanted = {"h1", "#interview .summary, #interview .quoted", ".drop > summary", "[data-decide] button"}
    assert wanted | ({".score", "[data-tabs]"} if width == 1280 else set()) <= set(first)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_accessible(page)
    for part in ("files", "emails", "history", "data"):
        page.locator(f'[data-tabs] a[href="#{part}"]').click()
        assert page.evaluate("[...document.querySelectorAll('[data-tab]:not([hidden])')].map((one) => one.id)") == [
            part
        ]
        assert page.evaluate("scrollY") == 0
        assert_accessible(page)
    page.go_back()
    page.wait_for_selector("#history:not([hidden])")
    page.goto(page.url.split("#")[0] + "#notes")
    page.reload()  # an address that names something on a tab opens that tab
    page.wait_for_selector("#interview:not([hidden])")


def test_a_note_is_written_and_the_status_chosen_from_the_header(
    results: Callable[[int], str], signed_in: Callable[..., Any]
) -> None:
    page = signed_in(f"/candidates?flow={results(1)}", viewport={"width": 1280, "height": 800})
    page.locator("a.name").click()
    candidate_of(page)
    page.locator('[data-tabs] a[href="#data"]').click()
    page.keyboard.press("n")
    page.locator("#note-text:focus").wait_for()
    page.keyboard.type("s, r and u are letters here.")
    page.get_by_role("button", name="Add note").click()
    page.get_by_text("s, r and u are letters here.").wait_for()
    candidate_of(page)
    page.locator(".drop > summary").click()
    assert_accessible(page)
    page.keyboard.press("Escape")
    page.wait_for_selector(".drop:not([open])")
    page.keyboard.press("Enter")
    page.get_by_label("New status").select_option("accepted")
    page.get_by_role("button", name="Change status").click()
    page.get_by_text("The status is now accepted.").wait_for()


def test_without_scripts_every_part_of_a_candidates_page_follows_the_one_before(
    results: Callable[[int], str], signed_in: Callable[..., Any]
) -> None:
    page = signed_in(f"/candidates?flow={results(1)}", java_script_enabled=False)
    page.locator("a.name").click()
    for part in ("interview", "files", "emails", "history", "data"):
        page.locator(f"#{part}").wait_for()
    page.get_by_role("button", name="Shortlist").click()
    page.get_by_text("The status is now shortlisted.").wait_for()


def test_a_rejection_asks_for_its_reason_by_key_and_can_be_left(
    results: Callable[[int], str], triage: Callable[..., Any]
) -> None:
    page = triage(results(2), viewport={"width": 1280, "height": 800})
    first = name_of(page)
    page.keyboard.press("r")
    page.get_by_role("dialog", name=f"Move {first} to Rejected").wait_for()
    assert_accessible(page)
    page.keyboard.press("n")  # the keys of the page wait
    page.keyboard.press("Escape")
    page.wait_for_selector("#reason-dialog:not([open])", state="attached")
    assert name_of(page) == first
    page.keyboard.press("r")
    following = press(page, "0")
    assert following != first
    page.get_by_role("button", name=f"Undo: move {first}").wait_for()


def test_without_scripts_a_reason_is_chosen_beside_the_status(
    results: Callable[[int], str], signed_in: Callable[..., Any]
) -> None:
    flow_id = results(1)
    page = signed_in(f"/candidates/triage?flow={flow_id}", java_script_enabled=False)
    page.get_by_label("Reason").select_option("role_filled")
    page.get_by_role("button", name="Reject").click()
    page.get_by_text("There are no results to review").wait_for()
    reasons = sa.select(DecisionRecord.reason).where(DecisionRecord.flow_id == flow_id)
    assert asked(reasons) == [("Role filled",)]
