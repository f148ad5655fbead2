"""The link: opening it changes nothing, Start claims it, and every other way it can stand has a page of its own."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.conversation.access import cookie_name
from app.conversation.models import Agreement, Mode, Sitting
from app.core import clock
from app.core.db import Base, db
from app.flows import actions as flows
from app.interviews.models import Interview, Stage
from app.operations.demo.candidate import Candidate, Refused
from tests.factories import Made
from tests.people import Browser

from .conftest import Candidates, interview_of, path_of, sound, started
from .fakes import ScriptedTranscriber


def counts() -> dict[str, int]:
    counted = {table.name: sa.select(sa.func.count()).select_from(table) for table in Base.metadata.sorted_tables}
    return {name: db.session.execute(statement).scalar_one() for name, statement in counted.items()}


def at(moment: datetime) -> Any:
    return clock.replaced(lambda: moment)


def test_opening_the_page_a_hundred_times_changes_nothing(scripted: Flask, book: Made) -> None:
    interview = book()
    before = counts()
    for n in range(100):
        answer = scripted.test_client().open(path_of(interview), method="HEAD" if n % 2 else "GET")
        assert answer.status_code == 200
    assert counts() == before
    db.session.expire_all()
    assert interview.stage is Stage.CREATED


def test_the_invitation_says_who_asks_and_asks_for_what_is_not_known(
    client: Browser, scripted: Flask, book: Made
) -> None:
    interview = book(email=None, org_name="Willow & Sons", title="Night nurse")
    page = client.get(path_of(interview)).get_data(as_text=True)
    assert "Willow &amp; Sons" in page
    assert "Night nurse" in page
    assert all(f'name="{name}"' in page for name in ("consent", "mode", "email_address", "first_name", "csrf_token"))
    known = client.get(path_of(book())).get_data(as_text=True)
    assert 'name="email_address"' not in known
    assert 'name="first_name"' in known


def test_the_recruiter_in_the_query_is_display_only(client: Browser, scripted: Flask, book: Made) -> None:
    assert client.get(path_of(book()) + "?assignedRecruiterId=whoever").status_code == 200


def test_the_page_may_use_the_microphone_and_leaks_no_address(client: Browser, scripted: Flask, book: Made) -> None:
    headers = client.get(path_of(book())).headers
    assert "microphone=(self)" in headers["Permissions-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "'wasm-unsafe-eval'" in headers["Content-Security-Policy"]
    assert "blob:" in headers["Content-Security-Policy"].split("worker-src")[1].split(";")[0]
    assert "no-store" in headers["Cache-Control"]


@pytest.mark.parametrize("path", ["", "/declined", "/check"])
def test_ids_that_do_not_fit_lead_to_one_clear_page(client: Browser, scripted: Flask, book: Made, path: str) -> None:
    one, other = book(), book()
    for link in (
        f"/interview/api/{other.flow_id}/{one.id}",
        f"/interview/api/{one.flow_id}/nothing",
        "/interview/api/a/b",
        f"/interview/api/{one.flow_id}/{'x' * 500}",
    ):
        answer = client.get(link + path)
        assert answer.status_code == 404
        assert "<h1" in answer.get_data(as_text=True)


def test_start_claims_the_link_and_keeps_what_was_agreed(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book(email=None))
    candidate.open()
    state = candidate.start("text", email="robin@example.com", first_name="Robin", last_name="Doe")
    assert (state["stage"], state["mode"], state["turn"], state["prompt"]) == ("live", "text", 1, None)
    interview = interview_of(candidate)
    assert (interview.stage, interview.script is not None) == (Stage.RUNNING, True)
    assert interview.interviewee_email_address == "robin@example.com"
    assert (interview.interviewee_first_name, interview.interviewee_last_name) == ("Robin", "Doe")
    assert interview.candidate is None, "an address collected here enrols nobody"
    agreement = db.session.query(Agreement).filter_by(interview_id=interview.id).one()
    assert (agreement.text_version, agreement.locale, agreement.mode, agreement.fence) == ("2", "en", Mode.TEXT, 1)


def test_a_start_whose_answer_was_lost_is_answered_again_to_the_same_browser_only(
    candidates: Candidates, book: Made, scripted: Flask
) -> None:
    interview = book()
    candidate = candidates(interview)
    candidate.open()
    first = candidate.start()
    browser = candidate._session.browser  # type: ignore[attr-defined]
    browser.delete_cookie(cookie_name(interview.id))  # the cookie came with the answer
    assert candidate.ask("POST", "/heartbeat").status_code == 403
    again = candidate.start()
    assert {**again, "elapsed_seconds": 0} == {**first, "elapsed_seconds": 0}
    assert candidate.ask("POST", "/heartbeat").status_code == 204
    assert db.session.query(Agreement).filter_by(interview_id=interview.id).count() == 1
    other = candidates(interview)
    other.open()
    with pytest.raises(Refused):
        other.start()


def test_a_start_after_a_take_over_does_not_get_the_interview_back(
    candidate: Candidate, candidates: Candidates
) -> None:
    interview = interview_of(candidate)
    with at(clock.now() + timedelta(seconds=121)):
        other = candidates(interview)
        other.open()
        other.start()
        candidate._session.browser.delete_cookie(cookie_name(interview.id))  # type: ignore[attr-defined]
        with pytest.raises(Refused):
            candidate.start()
        assert other.ask("POST", "/heartbeat").status_code == 204


def test_the_booked_address_is_not_replaced(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book(email="booked@example.com"))
    candidate.start(email="other@example.com")
    assert interview_of(candidate).interviewee_email_address == "booked@example.com"


def test_the_forms_answer_sets_a_cookie_that_scripts_cannot_read_and_leads_back(
    client: Browser, scripted: Flask, book: Made
) -> None:
    interview = book()
    answer = client.post(path_of(interview) + "/start", data={"consent": "yes", "mode": "voice", "locale": "en"})
    assert (answer.status_code, answer.headers["Location"]) == (303, path_of(interview))
    cookie = next(c for c in answer.headers.getlist("Set-Cookie") if c.startswith("parley-sitting-"))
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    token = cookie.split("=", 1)[1].split(";")[0]
    sitting = db.session.query(Sitting).filter_by(interview_id=interview.id).one()
    assert token not in (sitting.token_hash or "")
    assert "data-state" in client.get(path_of(interview)).get_data(as_text=True)
    again = client.post(path_of(interview) + "/start", data={"consent": "yes", "mode": "voice"})
    assert again.status_code == 303, "the same browser goes on"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "consent"),
        ({"consent": "no", "mode": "voice"}, "consent"),
        ({"consent": "yes", "mode": "dance"}, "mode"),
        ({"consent": "yes"}, "mode"),
        ({"consent": "yes", "mode": "text", "email_address": "nobody"}, "email_address"),
        ({"consent": "yes", "mode": "text", "first_name": "x" * 301}, "first_name"),
        ({"consent": "yes", "mode": "text", "last_name": "a\x00b"}, "last_name"),
        ({"consent": "yes", "mode": "text", "locale": "<script>"}, "locale"),
        ({"consent": ["yes"], "mode": 7}, "consent"),
    ],
)
def test_a_wrong_start_names_the_field_and_claims_nothing(
    client: Browser, scripted: Flask, book: Made, given: dict[str, Any], field: str
) -> None:
    interview = book(email=None)
    answer = client.post(path_of(interview) + "/start", json=given)
    assert (answer.status_code, answer.get_json()["field"]) == (422, field)
    if all(isinstance(value, str) for value in given.values()):
        page = client.post(path_of(interview) + "/start", data=given)
        assert page.status_code == 422
    assert db.session.query(Sitting).count() == 0


@pytest.mark.parametrize("body", [b"[]", b"7", b"{", b""])
def test_a_start_that_is_no_form_at_all_is_a_wrong_one(
    client: Browser, scripted: Flask, book: Made, body: bytes
) -> None:
    answer = client.post(path_of(book()) + "/start", data=body, content_type="application/json")
    assert (answer.status_code, answer.get_json()["field"]) == (422, "consent")


def test_a_start_without_the_pages_token_is_refused(client: Browser, scripted: Flask, book: Made) -> None:
    interview = book()
    answer = client.post(path_of(interview) + "/start", data={"consent": "yes", "mode": "voice"}, forged=True)
    assert answer.status_code == 400
    assert db.session.query(Sitting).count() == 0


def test_somebody_else_gets_one_clear_page_without_any_data(
    candidate: Candidate, client: Browser, candidates: Candidates
) -> None:
    interview = interview_of(candidate)
    page = client.get(path_of(interview))
    assert page.status_code == 409
    assert "Why do you want this job?" not in page.get_data(as_text=True)
    second = candidates(interview)
    with pytest.raises(Refused) as refused:
        second.start()
    assert (refused.value.status, refused.value.body["reason"]) == (409, "taken over")
    assert client.post(path_of(interview) + "/start", data={"consent": "yes", "mode": "voice"}).status_code == 409


def test_another_browser_may_take_over_after_120_seconds_of_silence(
    candidate: Candidate, candidates: Candidates
) -> None:
    interview = interview_of(candidate)
    heard = db.session.query(Sitting).filter_by(interview_id=interview.id).one().heartbeat_at
    assert heard is not None
    second = candidates(interview)
    with at(heard + timedelta(seconds=119)), pytest.raises(Refused):
        second.start()
    with at(heard + timedelta(seconds=121)):
        assert "<form" in second.open()
        assert second.start()["stage"] == "live"
        for method, path, body in (
            ("POST", "/heartbeat", {}),
            ("GET", "/state", None),
            ("POST", "/turns/1", {"kind": "begin"}),
            ("POST", "/segments", {"mime_type": "audio/webm"}),
            ("POST", "/finish", {"segments": []}),
        ):
            with pytest.raises(Refused) as refused:
                candidate.call(method, path, json=body)
            assert (refused.value.status, refused.value.body["reason"]) == (409, "taken over")
        second.call("POST", "/heartbeat", json={})
    assert db.session.query(Agreement).filter_by(interview_id=interview.id).count() == 2


def test_the_other_browser_sees_the_open_question_and_no_words_of_answers(candidates: Candidates, book: Made) -> None:
    interview = book(may_say_again=True, questions=["Why?", "Where?", "When?"])
    first, second = started(candidates(interview)), candidates(interview)
    first.turn(1, "begin")
    answered = first.turn(2, "text", text="Because of the sea.")
    assert (answered["heard"]["text"], answered["last_answer"]) == ("Because of the sea.",) * 2
    with at(clock.now() + timedelta(seconds=121)):
        second.open()
        seen = second.start()
        replayed = second.turn(2, "text", text="x")
        repeated = second.turn(3, "repeat")
        own = second.turn(4, "text", text="In Bergen.")
    assert seen["prompt"]["question"] == "Where?"
    for prompt in (seen["prompt"], replayed, repeated):
        assert (prompt["heard"], prompt["last_answer"]) == (None, "")
        assert "sea" not in str(prompt)
    assert (own["question"], own["heard"], own["last_answer"]) == ("When?", None, "")
    assert "In Bergen." not in str(second.turn(5, "repeat", again=True))


def test_the_other_browser_has_no_sound_of_the_first_one_read_to_it(
    candidate: Candidate, candidates: Candidates, hears: ScriptedTranscriber
) -> None:
    hears.texts, hears.peeks, hears.otherwise = ["because of the sea"] * 4, ["because of the sea"] * 4, "because"
    candidate.turn(1, "begin", segment=candidate.open_segment("audio/webm"))
    for number in range(4):
        assert candidate.put_chunk(1, number, sound(0.5, number), track="voice")["partial"]
    asked = {"segment": 1, "first_chunk": 0, "last_chunk": 3}
    assert candidate.call("POST", "/turns/2/silence", json=asked)["text"] == "because of the sea"
    second = candidates(interview_of(candidate))
    with at(clock.now() + timedelta(seconds=121)):
        second.open()
        second.start()
        for interrupts in (False, True):
            judged = second.call("POST", "/turns/2/silence", json={**asked, "interrupts": interrupts})
            assert judged["text"] == ""
        assert "partial" not in second.put_chunk(1, 4, sound(0.5, 4), track="voice")


def test_a_sign_of_life_keeps_others_away(candidate: Candidate, candidates: Candidates) -> None:
    interview = interview_of(candidate)
    began = clock.now()
    with at(began + timedelta(seconds=110)):
        candidate.call("POST", "/heartbeat", json={})
    with at(began + timedelta(seconds=200)), pytest.raises(Refused):
        candidates(interview).start()


def test_after_the_end_nobody_takes_over_ever(candidate: Candidate, candidates: Candidates) -> None:
    candidate.write(["a", "b"])
    interview = interview_of(candidate)
    other = candidates(interview)
    with at(clock.now() + timedelta(days=2)):
        assert 'method="post"' not in other.open()
        with pytest.raises(Refused) as refused:
            other.start()
    assert refused.value.status == 409
    assert "<h1" in candidate.open(), "the browser that took it sees that it is done"


def test_an_archived_flow_closes_its_links_but_not_a_running_talk(
    candidate: Candidate, client: Browser, book: Made, candidates: Candidates
) -> None:
    interview, running = book(), interview_of(candidate)
    for flow in (interview.flow, running.flow):
        flows.archive(flow)
    db.session.commit()
    assert client.get(path_of(interview)).status_code == 410
    assert client.post(path_of(interview) + "/start", data={"consent": "yes", "mode": "text"}).status_code == 410
    with pytest.raises(Refused) as refused:
        candidates(interview).start()
    assert (refused.value.status, refused.value.body["reason"]) == (410, "closed")
    assert candidate.turn(1, "begin")["expects"] == "answer"


def test_a_closed_flow_still_takes_interviews_that_were_booked_before(candidates: Candidates, book: Made) -> None:
    interview = book()
    flows.close(interview.flow)
    db.session.commit()
    assert candidates(interview).start()["stage"] == "live"


def test_a_link_expires_for_those_who_have_not_begun(candidates: Candidates, book: Made, client: Browser) -> None:
    interview = book()
    with at(interview.created_at + timedelta(days=31)):
        assert client.get(path_of(interview)).status_code == 410
        with pytest.raises(Refused):
            candidates(interview).start()
    with at(interview.created_at + timedelta(days=29)):
        assert candidates(interview).start()["stage"] == "live"


def test_an_interview_that_is_being_processed_shows_as_used(client: Browser, scripted: Flask, book: Made) -> None:
    interview = book()
    db.session.execute(sa.update(Interview).where(Interview.id == interview.id).values(stage=Stage.SUBMITTED))
    db.session.commit()
    assert client.get(path_of(interview)).status_code == 409


class FullStorage:
    """A disk without room for another interview."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def has_room(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)


def test_no_interview_begins_on_a_full_disk(scripted: Flask, client: Browser, book: Made) -> None:
    from dataclasses import replace

    before = scripted.extensions["parley.gateways"]
    interview = book()
    scripted.extensions["parley.gateways"] = replace(before, storage=FullStorage(before.storage))
    form = {"consent": "yes", "mode": "voice"}
    page = client.post(path_of(interview) + "/start", data=form)
    told = client.post(path_of(interview) + "/start", json=form)
    scripted.extensions["parley.gateways"] = before
    assert (page.status_code, told.status_code, told.headers["Retry-After"]) == (503, 503, "60")
    assert "try again" in page.get_data(as_text=True)
    assert db.session.query(Sitting).count() == 0
