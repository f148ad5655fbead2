"""The candidate's own page: who gets in, what is shown, what can be asked for, and what that does."""

import html
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import gateways
from app.accounts.models import AuditEntry
from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.models import CandidateRequest, RequestKind, RequestState
from app.candidates.models import Candidate
from app.core.db import db
from app.core.errors import NotFound
from app.interviews import actions as interviews
from app.interviews.archive import Closed
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Stage
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.media import keep
from app.interviews.recordings.models import Media
from tests.conversation.test_documents import CV
from tests.people import Person

from .conftest import ANSWERS, Taken, Takes

NOBODYS = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def audited(action: str) -> int:
    return db.session.query(AuditEntry).filter_by(action=action).count()


def test_the_browser_that_took_the_interview_reads_everything(taken: Taken) -> None:
    answer = taken.page()
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    shown = words_of(answer)
    for words in ("Your interview has been processed", "Nurse", *ANSWERS, "Why do you want this job?", "my cv.pdf"):
        assert words in shown, words
    assert "/own" in taken.browser.get(taken.own.removesuffix("/own")).text


def test_the_link_alone_shows_nothing_of_the_interview(taken: Taken, app: Flask, owner: Person) -> None:
    for browser in (app.test_client(), owner.browser):
        answer = taken.page(browser=browser)
        assert answer.status_code == 403
        for words in (*ANSWERS, "Why do you want", "my cv", "candidate@example.com", "Nurse"):
            assert words not in answer.text
        assert taken.post("/requests", {"kind": "deletion"}, browser).status_code == 403
        assert taken.post("/download", browser=browser).status_code == 403
        assert taken.page("/captions.vtt", browser).status_code == 403
    assert db.session.query(CandidateRequest).count() == 0
    assert "does not send email" in words_of(taken.page(browser=app.test_client()))


def test_an_unknown_link_is_no_page(taken: Taken, app: Flask) -> None:
    for path in (
        taken.own.replace(taken.interview_id, NOBODYS),
        "/interview/api/x/y/own",
    ):
        assert app.test_client().get(path).status_code == 404


def test_during_the_talk_the_page_leads_back_to_it(candidate_under_way: Taken) -> None:
    answer = candidate_under_way.page()
    assert (answer.status_code, answer.location) == (303, candidate_under_way.own.removesuffix("/own"))


@pytest.fixture
def candidate_under_way(candidates: Any, book: Any) -> Taken:
    interview = book()
    candidate = candidates(interview)
    candidate.open()
    candidate.start("text")
    return Taken(interview.id, candidate._session.browser, f"/interview/api/{interview.flow_id}/{interview.id}/own")


def test_before_the_result_the_page_says_what_goes_on(takes: Takes) -> None:
    waiting = takes(process=False)
    assert "has arrived" in words_of(waiting.page())
    waiting.interview.stage = Stage.PROCESSING_FAILED
    db.session.commit()
    assert "is being processed" in words_of(waiting.page())


def test_the_status_is_shown_only_where_the_organization_wants_it(taken: Taken, owner: Person) -> None:
    assert "Interviewed" not in words_of(taken.page())
    owner.organization.shows_status = True
    db.session.commit()
    assert "Your status: Interviewed" in words_of(taken.page())


def test_the_page_is_read_in_other_languages_from_right_to_left(taken: Taken) -> None:
    page = taken.page("?lang=ar-AE").text
    assert '<html lang="ar-AE" dir="rtl">' in page


# --- corrections ---------------------------------------------------------------------------------------------------


def number_of(taken: Taken, words: str) -> int:
    result = interviews.result_of(taken.interview)
    assert result is not None
    return next(n for n, one in enumerate(result["transcript_with_timestamp"]) if words in one["content"])


def test_a_wrong_word_is_flagged_seen_and_corrected(taken: Taken, owner: Person) -> None:
    number = number_of(taken, "We were five")
    form = taken.page(f"?flag={number}").text
    assert 'name="word" value="2"' in form
    sent = taken.post("/flags", {"segment": str(number), "word": ["2"], "suggestion": "nine", "text": "not 5"})
    assert (sent.status_code, sent.location.endswith(f"/own#segment-{number}")) == (303, True)
    candidate_request = db.session.query(CandidateRequest).one()
    assert (candidate_request.kind, candidate_request.state, candidate_request.text) == (
        RequestKind.CORRECTION,
        RequestState.OPEN,
        "not 5",
    )
    assert candidate_request.details == {
        "segment": number,
        "first": 2,
        "last": 2,
        "heard": "five.",
        "suggestion": "nine",
    }
    page = owner.browser.get(f"/interviews/{taken.interview_id}")
    assert re.search(r'<mark class="flagged">\s*five\.\s*</mark>', page.text)
    assert "the candidate says: “nine”" in words_of(page)
    owner.browser.post(
        f"/requests/{candidate_request.id}/answer", data={"state": "granted", "answer": "You are right."}
    )
    for shown in (owner.browser.get(f"/interviews/{taken.interview_id}"), taken.page()):
        assert re.search(r"<del>\s*five\.\s*</del>.*?<ins>nine</ins>", shown.text, re.DOTALL)
    assert "You are right." in words_of(taken.page())
    published = owner.api("GET", f"/v1/interviews/{taken.interview_id}").json["interview_data"]
    assert "We were five." in published["transcript"]


def test_a_declined_correction_leaves_no_mark(taken: Taken, owner: Person) -> None:
    number = number_of(taken, "We were five")
    taken.post("/flags", {"segment": str(number), "word": ["0", "2"], "suggestion": "They were nine"})
    candidate_request = db.session.query(CandidateRequest).one()
    assert candidate_request.details["heard"] == "We were five."
    candidate_requests.answer(candidate_request, state=RequestState.DECLINED, words="We hear five.", by=owner.member)
    db.session.commit()
    assert "flagged" not in owner.browser.get(f"/interviews/{taken.interview_id}").text
    assert "We hear five." in words_of(taken.page())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"word": []}, "choose the words"),
        ({"word": ["99"]}, "choose the words"),
        ({"word": ["x"]}, "choose the words"),
        ({"suggestion": " "}, "write what you said"),
        ({"suggestion": "a" * 301}, "too long"),
        ({"text": "a" * 2001}, "too long"),
        ({"suggestion": "a\x00"}, "cannot be stored"),
    ],
)
def test_a_flag_that_cannot_be_says_why_and_keeps_what_was_typed(
    taken: Taken, changes: dict[str, Any], words: str
) -> None:
    number = number_of(taken, "We were five")
    given = {"segment": str(number), "word": ["2"], "suggestion": "nine", "text": "kept as typed", **changes}
    answer = taken.post("/flags", given)
    assert answer.status_code == 422
    assert words in words_of(answer)
    assert "text" in changes or "kept as typed" in answer.text
    assert db.session.query(CandidateRequest).count() == 0


@pytest.mark.parametrize("segment", ["0", "99", "-1", "x"])
def test_only_ones_own_answers_are_corrected(taken: Taken, segment: str) -> None:
    answer = taken.post("/flags", {"segment": segment, "word": ["0"], "suggestion": "nine"})
    assert answer.status_code == 422
    assert db.session.query(CandidateRequest).count() == 0


# --- requests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["deletion", "review"])
def test_a_request_reaches_the_recruiters_and_its_answer_the_candidate(taken: Taken, owner: Person, kind: str) -> None:
    assert taken.post("/requests", {"kind": kind, "text": "Please <b>do</b>."}).status_code == 303
    taken.post("/requests", {"kind": kind, "text": "Please <b>do</b>."})
    candidate_request = db.session.query(CandidateRequest).one()
    assert candidate_request.due_at is not None
    shown = words_of(taken.page())
    assert "Waiting for an answer" in shown
    assert "Please <b>do</b>." in shown
    assert "<b>do</b>" not in taken.page().text
    assert candidate_request.interview.interviewee_email_address in words_of(owner.browser.get("/requests"))
    owner.browser.post(
        f"/requests/{candidate_request.id}/answer", data={"state": "declined", "answer": "The law makes us keep it."}
    )
    assert "Declined" in words_of(taken.page())
    assert "The law makes us keep it." in words_of(taken.page())
    assert audited("own_page.asked") == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "choose what you want to ask for"),
        ({"kind": "accommodation"}, "choose what"),
        ({"kind": "odd"}, "choose what"),
        ({"kind": "review", "text": "a" * 2001}, "too long"),
        ({"kind": "review", "text": "\x00"}, "cannot be stored"),
    ],
)
def test_a_request_that_cannot_be_says_why(taken: Taken, given: dict[str, str], words: str) -> None:
    answer = taken.post("/requests", given)
    assert answer.status_code == 422
    assert words in words_of(answer)
    assert db.session.query(CandidateRequest).count() == 0


def test_too_many_requests_are_refused_in_words(taken: Taken) -> None:
    for number in range(20):
        assert taken.post("/requests", {"kind": "review", "text": str(number)}).status_code == 303
    answer = taken.post("/requests", {"kind": "review", "text": "once more"})
    assert answer.status_code == 409
    assert "wait for the answers" in words_of(answer)


def test_no_request_comes_without_its_token_or_from_another_site(taken: Taken) -> None:
    path = f"{taken.own}/requests"
    assert taken.browser.post(path, data={"kind": "deletion"}, forged=True).status_code == 400
    answer = taken.browser.post(path, data={"kind": "deletion"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert db.session.query(CandidateRequest).count() == 0


# --- consent that is withdrawn -------------------------------------------------------------------------------------


def test_withdrawn_consent_hides_judgement_and_recordings_at_once(taken: Taken, owner: Person) -> None:
    interview = taken.interview
    assert interview.data is not None
    assert interview.candidate is not None
    interview.data.scores, interview.candidate.score = {"motivation": 4.0}, 4.0
    db.session.commit()
    before = owner.api("GET", f"/v1/interviews/{taken.interview_id}").json["interview_data"]
    assert before["scores"]["motivation"] == 4.0
    assert before["summary"]
    assert taken.post("/requests", {"kind": "withdrawal"}).status_code == 303
    assert [one.score for one in db.session.query(Candidate)] == [None]
    after = owner.api("GET", f"/v1/interviews/{taken.interview_id}").json
    assert (after["status"], after["interview_data"]["scores"], after["interview_data"]["summary"]) == (
        "completed",
        None,
        None,
    )
    listed = owner.api("GET", "/v1/interviews").json["interviews"][0]["interview_data"]
    assert (listed["scores"], listed["summary"], listed["audio_url"]) == (None, None, None)
    page = words_of(owner.browser.get(f"/interviews/{taken.interview_id}"))
    assert "withdrew their consent" in page
    assert before["summary"] not in page
    assert "You withdrew your consent" in words_of(taken.page())
    assert "Withdraw my consent" not in words_of(taken.page())
    assert db.session.query(CandidateRequest).one().state is RequestState.OPEN


def test_withdrawn_consent_stops_the_processing(takes: Takes, owner: Person) -> None:
    taken = takes(process=False)
    taken.post("/requests", {"kind": "withdrawal"})
    process_interview(taken.interview_id)
    assert (taken.interview.stage, taken.interview.data) == (Stage.SUBMITTED, None)
    owner.browser.post(f"/interviews/{taken.interview_id}/retry")
    process_interview(taken.interview_id)
    assert (taken.interview.stage, taken.interview.data) == (Stage.SUBMITTED, None)


def test_work_that_is_under_way_loses_its_claim(takes: Takes) -> None:
    from datetime import timedelta

    from app.core import claims
    from app.interviews.models import Interview

    taken = takes(process=False)
    token = claims.take(
        Interview.stage, taken.interview_id, expects=[Stage.SUBMITTED], becomes=Stage.PROCESSING, lease=timedelta(1)
    )
    db.session.commit()
    taken.post("/requests", {"kind": "withdrawal"})
    assert token is not None
    assert not claims.finish(Interview, taken.interview_id, token, stage=Stage.COMPLETED)


# --- everything to take away ---------------------------------------------------------------------------------------


def test_everything_can_be_taken_away(taken: Taken) -> None:
    taken.post("/requests", {"kind": "review", "text": "Please look."})
    answer = taken.post("/download")
    assert (answer.status_code, answer.mimetype) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.get_data())) as packed:
        assert packed.testzip() is None
        files = {name: packed.read(name) for name in packed.namelist()}
    assert set(files) == {"interview.json", "transcript.txt", "captions.vtt", "documents/1-my cv.pdf"}
    assert files["documents/1-my cv.pdf"] == CV
    told = json.loads(files["interview.json"])
    assert told["email_address"] == "candidate@example.com"
    assert [line["content"] for line in told["transcript"] if line["role"] == "user"] == ANSWERS
    assert told["consents"][0]["text_version"]
    assert told["requests"][0]["text"] == "Please look."
    assert "scores" not in told
    assert ANSWERS[0].encode() in files["transcript.txt"]
    assert files["captions.vtt"].startswith(b"WEBVTT")
    assert audited("own_page.downloaded") == 1
    answer.close()


@pytest.fixture
def recorded(taken: Taken, tmp_path: Path) -> bytes:
    """The interview with a published sound; returns its bytes."""
    content = bytes(range(256)) * 3000
    path = tmp_path / "sound"
    path.write_bytes(content)
    organization_id = taken.interview.organization_id
    db.session.rollback()
    storage = gateways.current().storage
    file = keep(path, Media.AUDIO, interview_id=taken.interview_id, duration=12.0, storage=storage)
    recordings.publish(taken.interview_id, organization_id=organization_id, file=file)
    db.session.commit()
    return content


def test_the_recording_is_played_from_a_signed_address_and_taken_away(taken: Taken, recorded: bytes) -> None:
    found = re.search(r'<audio src="(/recordings/[^"]+)"', taken.page().text)
    assert found is not None
    assert taken.browser.get(found[1]).get_data() == recorded
    answer = taken.post("/download")
    with zipfile.ZipFile(io.BytesIO(answer.get_data())) as packed:
        assert packed.testzip() is None
        assert packed.read("recording-audio.m4a") == recorded


def test_an_archive_is_made_in_pieces(taken: Taken, recorded: bytes) -> None:
    answer = taken.browser.post(f"{taken.own}/download", buffered=False)
    sizes = [len(piece) for piece in answer.response]
    answer.close()
    assert sum(sizes) > len(recorded)
    assert max(sizes) < len(recorded) / 2


def test_withdrawn_consent_takes_the_recording_from_recruiters_alone(
    taken: Taken, recorded: bytes, owner: Person
) -> None:
    assert "<audio" in owner.browser.get(f"/interviews/{taken.interview_id}").text
    taken.post("/requests", {"kind": "withdrawal"})
    assert "<audio" not in owner.browser.get(f"/interviews/{taken.interview_id}").text
    found = owner.api("GET", f"/v1/interviews/{taken.interview_id}").json["interview_data"]
    assert found["audio_url"] is None
    assert "<audio" in taken.page().text


def test_a_deleted_recording_is_said_to_be(taken: Taken, recorded: bytes, owner: Person) -> None:
    owner.browser.post(f"/interviews/{taken.interview_id}/revoke", data={"confirm": "delete"})
    page = taken.page().text
    assert "<audio" not in page
    assert "The recording was deleted." in page
    with zipfile.ZipFile(io.BytesIO(taken.post("/download").get_data())) as packed:
        assert not [name for name in packed.namelist() if name.startswith("recording")]


def test_an_erasure_ends_an_archive_that_is_being_sent(taken: Taken, recorded: bytes, owner: Person) -> None:
    answer = taken.browser.post(f"{taken.own}/download", buffered=False)
    pieces = iter(answer.response)
    next(pieces)
    owner.browser.post(f"/interviews/{taken.interview_id}/erase", data={"confirm": "erase"})
    with pytest.raises((Closed, NotFound)):
        for _piece in pieces:
            pass
    answer.close()


def test_recordings_that_are_deleted_end_an_archive_that_holds_them(
    taken: Taken, recorded: bytes, owner: Person
) -> None:
    answer = taken.browser.post(f"{taken.own}/download", buffered=False)
    pieces = iter(answer.response)
    next(pieces)
    owner.browser.post(f"/interviews/{taken.interview_id}/revoke", data={"confirm": "delete"})
    with pytest.raises((Closed, NotFound)):
        for _piece in pieces:
            pass
    with zipfile.ZipFile(io.BytesIO(taken.post("/download").get_data())) as packed:
        assert "interview.json" in packed.namelist()


def test_an_archive_that_was_read_to_its_end_holds_no_slot(taken: Taken, app: Flask) -> None:
    slots = app.extensions["parley.settings"].web_threads // 4
    answers = [taken.post("/download") for _ in range(slots)]
    assert taken.post("/download").status_code == 503
    assert all(answer.get_data().startswith(b"PK") for answer in answers)
    assert taken.post("/download").status_code == 200


def test_many_downloads_at_once_are_put_off_and_every_slot_is_given_back(taken: Taken, app: Flask) -> None:
    slots = app.extensions["parley.settings"].web_threads // 4
    for _ in range(slots + 1):
        answer = taken.post("/download")
        assert answer.status_code == 200
        answer.close()
    held = [taken.browser.post(f"{taken.own}/download", buffered=False) for _ in range(slots)]
    noted = audited("own_page.downloaded")
    refused = taken.post("/download?lang=de-DE")
    assert (refused.status_code, int(refused.headers["Retry-After"]) > 0) == (503, True)
    assert "gerade nicht erreichbar" in words_of(refused), "said on the candidate's own page, in their language"
    assert "/download" in refused.text
    assert audited("own_page.downloaded") == noted, "what was not sent is not written down as sent"
    for answer in held:
        answer.close()
    assert taken.post("/download").status_code == 200


def test_the_page_has_the_accent_color_of_the_flow(takes: Takes) -> None:
    assert '<link rel="stylesheet" href="/accent/7a1f5c.css">' in takes(accent="#7a1f5c").page().text
