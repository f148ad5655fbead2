"""Before the talk: what the invitation says, what is agreed to, not agreeing, asking for something different."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import MOST_OPEN, CandidateRequest, RequestKind, RequestState
from app.candidate_requests.queries import requests_of
from app.conversation.consent import VERSION, words_shown
from app.conversation.models import Agreement, Sitting
from app.core import clock
from app.core.db import db
from app.flows.flow_script import FlowScript
from app.flows.length import likely_minutes, minutes_left
from app.interviews.models import Stage
from app.interviews.recordings.models import Chunk
from app.web.languages import LANGUAGES
from tests.factories import Made
from tests.people import Browser, Person

from .conftest import Candidates, interview_of, path_of

CONSENT = {"consent": "yes", "mode": "text", "locale": "en-US"}


def text_of(client: Browser, path: str) -> str:
    return client.get(path).get_data(as_text=True)


# --- the invitation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("questions", "most", "expected"), [(0, 30, 1), (2, 30, 5), (4, 30, 9), (5, 60, 10), (20, 60, 40), (20, 15, 15)]
)
def test_how_long_it_takes_is_guessed_from_the_questions(questions: int, most: int, expected: int) -> None:
    assert likely_minutes(questions, most=most) == expected


@pytest.mark.parametrize(
    ("questions", "most", "expected"),
    [(0, 30, 0), (1, 30, 0), (2, 30, 5), (4, 30, 10), (4, 8, 5), (4, 4, 0), (30, 90, 40), (30, 12, 10)],
)
def test_what_is_left_is_told_in_fives_and_never_beyond_the_limit(questions: int, most: float, expected: int) -> None:
    assert minutes_left(questions, most=most) == expected


def test_the_invitation_says_how_long_and_what_is_judged(client: Browser, scripted: Flask, book: Made) -> None:
    page = text_of(client, path_of(book(time_limit_minutes=45, org_name="Willow & Sons", assess_language=False)))
    for said in (
        "2 questions",
        "About 5 minutes",
        "At most 45 minutes",
        "An AI speaks with you",
        "from the text alone",
        "your voice and the AI’s voice; no picture",
        "How well you speak the language is not judged.",
        "The software decides nothing by itself.",
        "your face, your looks, the sound of your voice",
        "the people at Willow &amp; Sons",
    ):
        assert said in page, said


def test_the_invitation_says_when_language_is_judged(client: Browser, scripted: Flask, book: Made) -> None:
    page = text_of(client, path_of(book(assess_language=True, is_video_enabled=True)))
    assert "it also gives points for how you use the language" in page
    assert "the picture of your camera" in page
    assert "is not judged" not in page.split("What it does not judge")[0]


def test_without_a_logo_of_its_own_the_page_shows_parleys(client: Browser, scripted: Flask, book: Made) -> None:
    assert 'alt="Parley"' in text_of(client, path_of(book()))
    own = book(logo_key="logos/own.png", org_name="Willow")
    page = text_of(client, path_of(own))
    assert f'src="/flows/{own.flow_id}/logo"' in page
    assert 'alt="Willow"' in page


def test_an_intro_video_is_shown_with_its_controls(client: Browser, scripted: Flask, book: Made) -> None:
    shown = book(preamble_video_key="videos/a.mp4", preamble_video_type="video/mp4")
    page = text_of(client, path_of(shown))
    assert "<video controls" in page
    assert 'type="video/mp4"' in page
    assert "<video controls" not in text_of(client, path_of(book()))


# --- consent -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1", VERSION])
@pytest.mark.parametrize("locale", LANGUAGES)
def test_every_version_can_be_read_back_in_every_language(app: Flask, book: Made, version: str, locale: str) -> None:
    flow = FlowScript.of(book(org_name="Willow & Sons").flow)
    with app.test_request_context():
        text = words_shown(flow, version=version, locale=locale)
    assert "Willow & Sons" in text
    assert len(text.splitlines()) >= 4
    assert "<" not in text


def test_the_words_that_were_agreed_to_are_kept_in_the_language_they_were_read_in(
    client: Browser, scripted: Flask, book: Made, owner: Person
) -> None:
    interview = book(org_name="Willow & Sons")
    page = text_of(client, path_of(interview) + "?lang=de-DE")
    assert client.post(path_of(interview) + "/start", data={**CONSENT, "locale": "de-DE"}).status_code == 303
    kept = db.session.query(Agreement).filter_by(interview_id=interview.id).one()
    assert (kept.text_version, kept.locale) == (VERSION, "de-DE")
    assert kept.shown is not None
    first = kept.shown.splitlines()[0].split(".")[0]
    assert first in page, "what is kept is what stood on the page"
    recruiters = text_of(owner.browser, f"/interviews/{interview.id}")
    assert first in recruiters
    assert f"Consent text, version {VERSION}, language de-DE" in recruiters


def test_later_changes_of_the_flow_do_not_reach_what_was_agreed_to(
    client: Browser, scripted: Flask, book: Made
) -> None:
    interview = book(org_name="Before")
    client.post(path_of(interview) + "/start", data=CONSENT)
    interview.flow.org_name = "After"
    db.session.commit()
    kept = db.session.query(Agreement).filter_by(interview_id=interview.id).one()
    assert "Before" in (kept.shown or "")
    assert "After" not in (kept.shown or "")


def test_who_read_an_older_text_has_to_read_the_new_one(client: Browser, scripted: Flask, book: Made) -> None:
    interview = book()
    answer = client.post(path_of(interview) + "/start", json={**CONSENT, "consent_version": "1"})
    assert (answer.status_code, answer.get_json()["field"]) == (422, "consent_version")
    assert db.session.query(Sitting).count() == 0
    assert client.post(path_of(interview) + "/start", json={**CONSENT, "consent_version": VERSION}).status_code == 200


# --- not agreeing --------------------------------------------------------------------------------------------------


def test_declining_keeps_the_moment_and_nothing_else(
    client: Browser, scripted: Flask, book: Made, owner: Person
) -> None:
    interview = book()
    answer = client.post(path_of(interview) + "/decline")
    assert (answer.status_code, answer.headers["Location"]) == (303, path_of(interview) + "/declined")
    assert not answer.headers.getlist("Set-Cookie") or "sitting" not in str(answer.headers)
    db.session.expire_all()
    assert interview.declined_at is not None
    assert interview.stage is Stage.CREATED
    for rows in (Sitting, Agreement, Chunk, CandidateRequest):
        assert db.session.query(rows).count() == 0
    assert "Nothing was recorded." in text_of(client, path_of(interview) + "/declined")
    browser = owner.browser
    assert "declined the interview" in text_of(browser, f"/interviews/{interview.id}")
    assert "Declined" in text_of(browser, "/interviews")


def test_looking_at_the_page_for_those_who_decline_declines_nothing(
    client: Browser, scripted: Flask, book: Made
) -> None:
    interview = book()
    answer = client.get(path_of(interview) + "/declined")
    assert (answer.status_code, answer.headers["Location"]) == (302, path_of(interview))
    assert client.get(path_of(interview) + "/decline").status_code == 405
    assert client.post(path_of(interview) + "/decline", forged=True).status_code == 400
    db.session.expire_all()
    assert interview.declined_at is None


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("jobs@willow.example", "mailto:jobs@willow.example"),
        ("https://willow.example/apply?a=b", "https://willow.example/apply?a=b"),
        ("+49 (30) 123-45", "tel:+4930123-45"),
    ],
)
def test_the_flows_owner_offers_another_way(
    client: Browser, scripted: Flask, book: Made, contact: str, link: str
) -> None:
    interview = book(alternative_text="Come & see us\non Monday.", alternative_contact=contact)
    client.post(path_of(interview) + "/decline")
    page = text_of(client, path_of(interview) + "/declined")
    assert "Come &amp; see us" in page
    assert f'href="{link}"' in page


def test_who_declined_may_start_after_all(candidates: Candidates, book: Made, client: Browser, owner: Person) -> None:
    interview = book()
    client.post(path_of(interview) + "/decline")
    assert "If you have changed your mind" in text_of(client, path_of(interview))
    candidate = candidates(interview)
    candidate.open()
    assert candidate.start("text")["stage"] == "live"
    assert interview_of(candidate).declined_at is not None, "what happened stays"
    page = text_of(owner.browser, f"/interviews/{interview.id}")
    assert "declined the interview" not in page
    assert "Declined" in page


def test_nobody_declines_for_the_browser_that_holds_the_interview(
    candidates: Candidates, book: Made, client: Browser
) -> None:
    interview = book()
    candidate = candidates(interview)
    candidate.open()
    candidate.start("text")
    assert client.post(path_of(interview) + "/decline").status_code == 409
    candidate.call("POST", "/different", json={"choice": "person"})
    assert client.post(path_of(interview) + "/different", data={"choice": "person"}).status_code == 409
    assert interview_of(candidate).declined_at is None
    assert len(requests_of(interview.id)) == 1


def test_an_expired_link_can_be_neither_declined_nor_asked_on(client: Browser, scripted: Flask, book: Made) -> None:
    interview = book()
    later = interview.created_at + timedelta(days=31)
    with clock.replaced(lambda: later):
        assert client.post(path_of(interview) + "/decline").status_code == 410
        assert client.post(path_of(interview) + "/different", data={"choice": "writing"}).status_code == 410


# --- something different -------------------------------------------------------------------------------------------


def test_asking_before_the_talk_needs_no_script_and_shows_what_came_of_it(
    client: Browser, scripted: Flask, book: Made, owner: Person
) -> None:
    interview = book(org_name="Willow")
    form = {"choice": "person", "text": "I stammer.\r\nPlease call.", "contact": "robin@example.com"}
    answer = client.post(path_of(interview) + "/different", data=form)
    assert (answer.status_code, answer.headers["Location"]) == (303, path_of(interview) + "#asked")
    candidate_request = requests_of(interview.id)[0]
    assert (candidate_request.text, candidate_request.contact) == ("I stammer.\nPlease call.", "robin@example.com")
    assert candidate_request.details == {"choice": "person", "asked": "before"}
    page = text_of(client, path_of(interview))
    assert "Willow has your request" in page
    assert "I stammer" not in page, "the link is no secret: the candidate's words stay with the recruiter"
    assert "robin@example.com" not in page
    candidate_requests.answer(
        candidate_request, state=RequestState.GRANTED, words="We call on Monday.", by=owner.member
    )
    db.session.commit()
    page = text_of(client, path_of(interview))
    assert "Willow agrees." in page
    assert "We call on Monday." in page


def test_more_time_doubles_the_limit_at_once(client: Browser, scripted: Flask, book: Made) -> None:
    interview = book(time_limit_minutes=20)
    assert "At most 20 minutes" in text_of(client, path_of(interview))
    client.post(path_of(interview) + "/different", data={"choice": "more_time"})
    assert "At most 40 minutes" in text_of(client, path_of(interview))
    assert "You have twice the time." in text_of(client, path_of(interview))


def test_more_time_asked_before_or_during_the_talk_is_there_once(
    candidates: Candidates, book: Made, client: Browser
) -> None:
    interview = book(time_limit_minutes=20)
    client.post(path_of(interview) + "/different", data={"choice": "more_time"})
    early = candidates(interview)
    early.open()
    assert early.start("text")["time_limit_seconds"] == 2400
    again = early.call("POST", "/different", json={"choice": "more_time", "text": "and more"})
    assert again["time_limit_seconds"] == 2400
    late = candidates(book(time_limit_minutes=20))
    late.open()
    assert late.start("text")["time_limit_seconds"] == 1200
    assert late.call("POST", "/different", json={"choice": "more_time"})["time_limit_seconds"] == 2400
    assert late.call("GET", "/state")["time_limit_seconds"] == 2400


def test_who_asked_to_write_finds_writing_chosen(client: Browser, scripted: Flask, book: Made) -> None:
    interview = book()
    assert re.search(r'value="voice"\s+checked', text_of(client, path_of(interview)))
    client.post(path_of(interview) + "/different", data={"choice": "writing"})
    assert re.search(r'value="text"\s+checked', text_of(client, path_of(interview)))


def test_the_link_shows_no_requests_of_other_kinds(client: Browser, scripted: Flask, book: Made, owner: Person) -> None:
    interview = book()
    candidate_request = candidate_requests.ask(interview, NewRequest(RequestKind.DELETION))
    candidate_requests.answer(candidate_request, state=RequestState.GRANTED, words="All of it goes.", by=owner.member)
    db.session.commit()
    assert "All of it goes." not in text_of(client, path_of(interview))


def test_during_the_talk_the_holder_asks_as_a_script(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book())
    candidate.open()
    candidate.start("text")
    told = candidate.call("POST", "/different", json={"choice": "writing", "text": "", "contact": ""})
    assert [(one["choice"], one["state"]) for one in told["asked"]] == [("writing", "granted")]
    assert requests_of(interview_of(candidate).id)[0].details["asked"] == "during"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "choice"),
        ({"choice": "money"}, "choice"),
        ({"choice": "other"}, "text"),
        ({"choice": "other", "text": "   "}, "text"),
        ({"choice": "person", "text": "x" * 2001}, "text"),
        ({"choice": "person", "text": "a\x00b"}, "text"),
        ({"choice": "person", "contact": "x" * 321}, "contact"),
        ({"choice": "person", "contact": "\x00"}, "contact"),
    ],
)
def test_a_wrong_request_names_the_field_and_loses_nothing(
    client: Browser, scripted: Flask, book: Made, given: dict[str, Any], field: str
) -> None:
    interview = book()
    answer = client.post(path_of(interview) + "/different", json=given)
    assert (answer.status_code, answer.get_json()["field"]) == (422, field)
    page = client.post(
        path_of(interview) + "/different", data={**given, "contact": given.get("contact", "me@here.example")}
    )
    assert page.status_code == 422
    if "contact" not in given:
        assert 'value="me@here.example"' in page.get_data(as_text=True)
    assert requests_of(interview.id) == []


@pytest.mark.parametrize("body", [b"[]", b"7", b"{", b"", b'{"choice": ["person"]}'])
def test_a_request_that_is_no_form_at_all_is_a_wrong_one(
    client: Browser, scripted: Flask, book: Made, body: bytes
) -> None:
    answer = client.post(path_of(book()) + "/different", data=body, content_type="application/json")
    assert (answer.status_code, answer.get_json()["field"]) == (422, "choice")


def test_too_many_requests_are_told_on_the_page(client: Browser, scripted: Flask, book: Made) -> None:
    interview = book()
    for number in range(MOST_OPEN):
        client.post(path_of(interview) + "/different", data={"choice": "other", "text": str(number)})
    answer = client.post(path_of(interview) + "/different", data={"choice": "other", "text": "and more"})
    assert answer.status_code == 422
    assert "too many open requests" in answer.get_data(as_text=True)
    assert len(requests_of(interview.id)) == MOST_OPEN


# --- the check of the network --------------------------------------------------------------------------------------


def test_the_network_check_counts_and_keeps_nothing(client: Browser, scripted: Flask, book: Made) -> None:
    path = path_of(book()) + "/check"
    assert client.get(path).get_json() == {"received": 0}
    assert client.post(path, data=b"x" * 65536, content_type="application/octet-stream").get_json() == {
        "received": 65536
    }
    assert client.get(path).headers["Cache-Control"] == "no-store"
    assert client.post(path, data=b"x" * 300_000, content_type="application/octet-stream").status_code == 413
    assert client.post(path, data=b"x", forged=True).status_code == 400
    assert db.session.query(Sitting).count() == 0
