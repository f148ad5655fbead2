"""DELETE of an interview that was not taken ends its link; a talk that runs goes on, and is never heard again."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.conversation import actions as voice
from app.conversation.actions import Agreed
from app.conversation.models import Agreement, Mode, Sitting
from app.conversation.queries import sitting_of
from app.core.db import db
from app.interviews.jobs import processing, revocation
from app.interviews.models import Interview, Stage
from app.interviews.recordings.queries import prefix_of
from app.legal_holds import actions as legal_holds
from app.legal_holds.models import Held
from app.operations.demo.candidate import Candidate
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Browser, Person

from .conftest import Candidates, interview_of, path_of, sound
from .fakes import ScriptedTranscriber

Deleted = Callable[[Interview], Any]


@pytest.fixture
def delete(owner: Person) -> Deleted:
    """What an integrator does with the interview."""

    def call(interview: Interview) -> Any:
        answer = owner.api("DELETE", f"/v1/interviews/{interview.id}")
        db.session.expire_all()
        return answer

    return call


def stored(interview_id: str) -> list[str]:
    return list(gateways.current().storage.list(prefix_of(interview_id)))


def test_the_link_ends_with_a_clear_page(client: Browser, scripted: Flask, book: Made, delete: Deleted) -> None:
    interview = book()
    answer = delete(interview)
    assert (answer.status_code, answer.json) == (200, {"success": True})
    page = client.get(path_of(interview))
    assert page.status_code == 410
    assert "This interview is closed" in page.text
    assert "consent" not in page.text
    for path in ("/start", "/decline", "/different"):
        assert client.post(path_of(interview) + path, data={"consent": "yes", "mode": "voice"}).status_code == 410
    assert db.session.query(Agreement).count() == db.session.query(Sitting).count() == 0
    assert interview.stage is Stage.CREATED
    assert db.session.query(Delivery).count() == 0


def test_a_script_reads_that_it_is_closed(candidates: Candidates, book: Made, delete: Deleted) -> None:
    interview = book()
    somebody = candidates(interview)
    somebody.open()
    delete(interview)
    answer = somebody.ask("POST", "/start", json={"consent": "yes", "mode": "voice", "locale": "en"})
    assert (answer.status_code, answer.json()["reason"]) == (410, "closed")


def test_whoever_presses_start_at_that_moment_comes_too_late(scripted: Flask, book: Made, delete: Deleted) -> None:
    interview = book()
    assert interview.closed_at is None  # as the request that presses Start has read it
    delete(interview)
    assert not voice.claim(interview, token_hash="0" * 64, agreed=Agreed("1", "en", Mode.TEXT))
    db.session.commit()
    assert (interview.stage, sitting_of(interview.id)) == (Stage.CREATED, None)


def test_the_platform_says_so_and_offers_no_link(owner: Person, scripted: Flask, book: Made, delete: Deleted) -> None:
    interview = book()
    delete(interview)
    page = owner.browser.get(f"/interviews/{interview.id}").text
    assert "link was closed on" in page
    assert "Link closed" in page
    assert "Create a new interview if you still want to interview the candidate." in page
    assert "Copy the link" not in page
    assert interview.link("http://localhost") not in page
    assert "Link closed" in owner.browser.get("/interviews").text


def test_it_may_be_repeated_and_read(owner: Person, scripted: Flask, book: Made, delete: Deleted) -> None:
    interview = book()
    delete(interview)
    first = interview.closed_at
    assert delete(interview).json == {"success": True}
    assert interview.closed_at == first
    read = owner.api("GET", f"/v1/interviews/{interview.id}").json
    assert (read["status"], read["interview_data"]) == ("incomplete", None)


def test_a_legal_hold_keeps_the_link_open(
    owner: Person, client: Browser, scripted: Flask, book: Made, delete: Deleted
) -> None:
    interview = book()
    legal_holds.place(Held.INTERVIEW, interview.id, reason="Dispute", ends_at=None, by=owner.member)
    db.session.commit()
    assert delete(interview).status_code == 409
    assert client.get(path_of(interview)).status_code == 200


def test_a_talk_that_runs_goes_on_and_its_recording_is_never_served(
    owner: Person, candidate: Candidate, hears: ScriptedTranscriber, delete: Deleted
) -> None:
    interview = interview_of(candidate)
    candidate.open_segment("audio/webm")
    candidate.put_chunk(1, 0, b"before", track="mix")
    assert delete(interview).json == {"success": True}
    assert stored(interview.id), "the answer that is just being given is still needed"
    candidate.turn(1, "begin")
    for number in range(2):
        candidate.put_chunk(1, number, sound(0.5, seed=number), track="voice")
    assert candidate.open_segment("audio/webm") == 2, "a reload in the middle of the talk"
    candidate.turn(2, "answer", segment=1, first_chunk=0, last_chunk=1)
    candidate.turn(3, "text", text="We were five.")
    revocation.sweep()
    assert stored(interview.id)
    candidate.call("POST", "/finish", json={"segments": [{"segment": 1, "last_mix_chunk": 0}]})
    processing.process_interview(interview.id)
    db.session.expire_all()
    assert interview.stage is Stage.COMPLETED
    data = owner.api("GET", f"/v1/interviews/{interview.id}").json["interview_data"]
    assert (data["audio_url"], data["video_url"]) == (None, None)
    assert "We were five." in data["transcript"]
    revocation.sweep()
    assert stored(interview.id) == []


def test_who_left_for_good_cannot_come_back(candidate: Candidate, delete: Deleted) -> None:
    interview = interview_of(candidate)
    candidate.open_segment("audio/webm")
    candidate.put_chunk(1, 0, b"before", track="mix")
    db.session.execute(sa.update(Interview).values(stage=Stage.ABANDONED))
    db.session.commit()
    delete(interview)
    assert stored(interview.id) == []
    answer = candidate.ask("GET", "")
    assert answer.status_code == 410
