"""Interviews with a real recording: words on its clock, addresses that play, video, and revocation at every moment."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.accounts.models import AuditEntry
from app.conversation.protocol import chunks
from app.core.db import db
from app.core.errors import GatewayError
from app.core.queue import SilentWaker
from app.interviews import PROCESS_VIDEO, actions
from app.interviews.jobs import processing
from app.interviews.models import Interview, Role, Stage, Utterance, VideoStage
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Chunk, Recording, Track
from app.interviews.recordings.queries import chunk_key
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person
from tests.recordings import recorder
from tests.speech.pieces import PREROLL, opus_piece

from .conftest import engines_of
from .fakes import ScriptedAnalyst

LAG = 0.12
SPOKEN = recorder.speech(3.0, seed=7)
HOOK = "https://receiver.example/hook"


def record_run(interview: Interview, path: Path, *, form: str = "samples", **how: Any) -> None:
    """A run of 6 s in which the candidate speaks from 2 s on, but the recorder lags 0.12 s behind the voice's clock.

    ``form``: in which the page sends pieces of the answer; what the server makes of them is kept.
    """
    voice = as_arrived(form)
    mix = recorder.sound(6.0, [])
    start = round((2.0 + LAG) * recorder.RATE)
    spoken = recorder.up_to_48k(SPOKEN)
    mix[start : start + len(spoken)] += spoken
    recorder.record(path, mix, **how)
    mime = "video/webm;codecs=vp8,opus" if how.get("video") else "audio/webm;codecs=opus"
    run = recordings.open_run(interview.id, mime_type=mime)
    number = run.number
    db.session.commit()
    raw, size = path.read_bytes(), 20_000
    keep(interview.id, number, Track.MIX, {at // size: raw[at : at + size] for at in range(0, len(raw), size)})
    keep(interview.id, number, Track.VOICE, {4 + at: piece for at, piece in enumerate(voice)})


def as_arrived(form: str) -> list[bytes]:
    """The candidate's voice in pieces of half a second, as they are kept once they have come in this form."""
    spoken = (SPOKEN * 32767).astype("<i2")
    around = np.concatenate([np.zeros(PREROLL, "<i2"), spoken, np.zeros(320, "<i2")])
    pieces = []
    for first in range(0, len(spoken), 8_000):
        if form == "opus":
            coded = opus_piece(around[first : first + PREROLL + 8_000 + 320])
        else:
            coded = spoken[first : first + 8_000].tobytes()
        pieces.append(chunks.decoded(coded))
    return pieces


def keep(interview_id: str, segment: int, track: Track, chunks: dict[int, bytes]) -> None:
    for number, content in chunks.items():
        sha256 = hashlib.sha256(content).hexdigest()
        key = chunk_key(interview_id, segment=segment, track=track, number=number, sha256=sha256)
        db.session.rollback()  # storing is slow work, which no transaction waits for
        gateways.current().storage.put(key, content)
        recordings.keep_chunk(
            interview_id, segment=segment, track=track, number=number, sha256=sha256, size=len(content), storage_key=key
        )
        db.session.commit()


def say_it(interview: Interview) -> None:
    rows: list[dict[str, Any]] = [
        {
            "role": Role.AGENT,
            "question_index": 0,
            "content": "Why?",
            "words": [["Why?", 0.5, 0.9]],
            "start": 0.5,
            "end": 1.0,
            "played": 0.5,
            "segment": 1,
        },
        {
            "role": Role.USER,
            "question_index": None,
            "content": "hello there",
            "words": [["hello", 2.5, 2.9], ["there", 3.0, 3.4]],
            "start": 2.0,
            "end": 5.0,
            "segment": 1,
        },
    ]
    for number, row in enumerate(rows, 1):
        db.session.add(Utterance(interview_id=interview.id, number=number, typed=False, **row))


@pytest.fixture
def recorded(book: Made, make_flow: Made, tmp_path: Path, scripted: ScriptedAnalyst) -> Made:
    """``recorded(video=None, form="samples", **values)``: a spoken interview that has been handed in, booked with
    ``values``."""

    def make(video: str | None = None, form: str = "samples", **values: Any) -> Interview:
        flow = make_flow(is_video_enabled=video is not None, webhook_url=HOOK)
        interview: Interview = book(flow, **values)
        actions.begin(interview)
        db.session.commit()
        record_run(interview, tmp_path / "run.webm", form=form, **({"video": video} if video else {}))
        say_it(interview)
        actions.submit(interview)
        db.session.commit()
        return interview

    return make


def read(owner: Person, interview: Interview) -> dict[str, Any]:
    found: dict[str, Any] = owner.api("GET", f"/v1/interviews/{interview.id}").json["interview_data"]
    return found


def stage_of(interview: Interview) -> VideoStage:
    return db.session.get_one(Interview, interview.id, populate_existing=True).video_stage


def states(interview: Interview) -> dict[str, str]:
    rows = db.session.scalars(sa.select(Delivery).where(Delivery.subject == interview.id))
    return {row.event_type.value: row.state.value for row in rows}


def interview_now(interview: Interview) -> Interview:
    return db.session.get_one(Interview, interview.id, populate_existing=True)


def test_words_lie_on_the_recordings_own_clock(owner: Person, recorded: Made) -> None:
    interview = recorded()
    processing.process_interview(interview.id)
    agent, answer = read(owner, interview)["transcript_with_timestamp"]
    assert answer["words"][0]["start"] == pytest.approx(2.5 + LAG, abs=0.01)
    assert agent["words"][0]["start"] == pytest.approx(0.5 + LAG, abs=0.01)


def test_times_of_words_are_the_same_in_whatever_form_the_answer_came(owner: Person, recorded: Made) -> None:
    """At most 30 ms from those of plain samples."""
    begins: dict[str, list[float]] = {}
    for form in ("samples", "opus"):
        interview = recorded(form=form, email=f"{form}@candidate.example")
        processing.process_interview(interview.id)
        _agent, answer = read(owner, interview)["transcript_with_timestamp"]
        begins[form] = [word["start"] for word in answer["words"]]
    assert begins["samples"] == pytest.approx([2.5 + LAG, 3.0 + LAG], abs=0.01)
    assert begins["opus"] == pytest.approx(begins["samples"], abs=0.03)


def test_the_sound_is_there_with_the_result_and_plays_everywhere(app: Flask, owner: Person, recorded: Made) -> None:
    interview = recorded()
    processing.process_interview(interview.id)
    data = read(owner, interview)
    assert data["video_url"] is None
    answer = app.test_client().get(data["audio_url"], headers={"Range": "bytes=0-99"})
    assert (answer.status_code, answer.mimetype) == (206, "audio/mp4")
    row = db.session.scalars(sa.select(Recording).where(Recording.interview_id == interview.id)).one()
    assert row.duration == pytest.approx(6.0, abs=0.05)
    published = list(gateways.current().storage.list(f"recordings/{interview.id}/published"))
    # The copied packets, which may still be downloaded, have made way for the file that plays everywhere.
    assert sorted(published) == sorted([row.storage_key, str(row.replaced_key)])


def test_the_video_follows_in_a_job_of_its_own_and_is_announced_then(
    app: Flask, owner: Person, recorded: Made, waker: SilentWaker
) -> None:
    interview = recorded("libvpx")
    processing.process_interview(interview.id)
    assert stage_of(interview) is VideoStage.WAITING
    assert states(interview) == {"interview_processed": "pending"}
    assert (PROCESS_VIDEO, (interview.id,)) in waker.enqueued
    processing.process_video(interview.id)
    assert stage_of(interview) is VideoStage.READY
    assert states(interview) == {"interview_processed": "pending", "video_processed": "held"}
    assert app.test_client().get(read(owner, interview)["video_url"]).mimetype == "video/mp4"
    processing.process_video(interview.id)  # a second run finds nothing to do
    assert len(states(interview)) == 2


def test_a_flow_without_video_has_none_and_announces_none(recorded: Made) -> None:
    interview = recorded()
    processing.process_interview(interview.id)
    processing.process_video(interview.id)
    assert stage_of(interview) is VideoStage.NONE
    assert states(interview) == {"interview_processed": "pending"}


def test_deleting_ends_access_whatever_address_was_issued(app: Flask, owner: Person, recorded: Made) -> None:
    interview = recorded()
    processing.process_interview(interview.id)
    issued = read(owner, interview)["audio_url"]
    answer = owner.api("DELETE", f"/v1/interviews/{interview.id}")
    assert (answer.status_code, answer.json) == (200, {"success": True})
    assert app.test_client().get(issued).status_code == 410
    data = read(owner, interview)
    assert (data["audio_url"], data["video_url"]) == (None, None)
    assert data["transcript"]
    assert list(gateways.current().storage.list(f"recordings/{interview.id}")) == []
    assert owner.api("DELETE", f"/v1/interviews/{interview.id}").json == {"success": True}
    entries = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "recordings.revoked")).all()
    assert [(one.subject, one.member_id) for one in entries] == [(interview.id, None)] * 2


def test_revoked_before_the_video_is_ready_there_is_none_and_its_event_is_cancelled(
    owner: Person, recorded: Made
) -> None:
    interview = recorded("libvpx")
    processing.process_interview(interview.id)
    owner.api("DELETE", f"/v1/interviews/{interview.id}")
    processing.process_video(interview.id)
    assert stage_of(interview) is VideoStage.REVOKED
    assert states(interview) == {"interview_processed": "pending", "video_processed": "cancelled"}
    assert read(owner, interview)["video_url"] is None


def test_revoked_while_the_video_is_made_nothing_of_it_remains(owner: Person, recorded: Made) -> None:
    interview = recorded("libvpx")
    processing.process_interview(interview.id)
    token = processing._claimed(
        Interview.video_stage, interview.id, expects=VideoStage.WAITING, becomes=VideoStage.PROCESSING
    )
    assert token is not None
    owner.api("DELETE", f"/v1/interviews/{interview.id}")
    assert not actions.video_failed(interview.id, token=token, reason="late", retryable=True)
    assert stage_of(interview) is VideoStage.REVOKED


def test_revoked_before_processing_the_words_remain_without_times(owner: Person, recorded: Made) -> None:
    interview = recorded("libvpx")
    owner.api("DELETE", f"/v1/interviews/{interview.id}")
    processing.process_interview(interview.id)
    data = read(owner, interview)
    assert data["audio_url"] is None
    assert data["transcript"] == "agent: Why?\nuser: hello there"
    assert stage_of(interview) is VideoStage.NONE


def test_a_failing_deletion_is_a_500_access_stays_off_and_a_repeat_succeeds(
    app: Flask, owner: Person, recorded: Made
) -> None:
    interview = recorded()
    processing.process_interview(interview.id)
    issued = read(owner, interview)["audio_url"]

    class Broken:
        def delete_prefix(self, prefix: str) -> None:
            raise GatewayError("the disk is gone", retryable=True)

    with engines_of(app, storage=Broken()):
        answer = owner.api("DELETE", f"/v1/interviews/{interview.id}")
    assert answer.status_code == 500
    assert {"code", "message", "status"} <= set(answer.json)
    assert app.test_client().get(issued).status_code == 410
    assert owner.api("DELETE", f"/v1/interviews/{interview.id}").status_code == 200


def test_a_run_of_which_nothing_can_be_played_is_no_recording(
    owner: Person, book: Made, scripted: Any, tmp_path: Path
) -> None:
    interview = book()
    actions.begin(interview)
    db.session.commit()
    path = recorder.record(tmp_path / "a.webm", recorder.sound(1.0, []))
    head = path.read_bytes()[:120]
    run = recordings.open_run(interview.id, mime_type="audio/webm")
    number = run.number
    db.session.commit()
    keep(interview.id, number, Track.MIX, {0: head})
    say_it(interview)
    actions.submit(interview)
    db.session.commit()
    processing.process_interview(interview.id)
    data = read(owner, interview)
    assert data["audio_url"] is None
    assert data["transcript_with_timestamp"][1]["words"] == []


def test_a_damaged_recording_parks_the_interview_with_a_reason_for_people(
    owner: Person, recorded: Made, caplog: pytest.LogCaptureFixture
) -> None:
    interview = recorded()
    storage = gateways.current().storage
    key = next(key for key in storage.list(f"recordings/{interview.id}/1/mix"))
    db.session.rollback()
    storage.put(key, b"something else")
    processing.process_interview(interview.id)
    parked = db.session.get_one(Interview, interview.id, populate_existing=True)
    assert parked.stage.value == "processing_failed"
    for page in ("/dashboard", f"/interviews/{interview.id}", "/jobs"):
        text = owner.browser.get(page).text
        assert "stored file is damaged and no longer matches what was saved; ask your operator to restore it" in text, (
            page
        )
        assert "/mix" not in text, "the key is for the operator's log"
    assert f'href="/interviews/{interview.id}"' in owner.browser.get("/dashboard").text
    assert key in caplog.text


def test_a_recording_that_cannot_be_read_is_left_out_when_a_recruiter_says_so(owner: Person, recorded: Made) -> None:
    interview = recorded("libvpx")
    storage = gateways.current().storage
    keys = list(storage.list(f"recordings/{interview.id}/1/mix"))
    db.session.rollback()
    noise = bytes(range(256)) * 64
    storage.put(keys[0], noise)
    db.session.execute(
        sa.update(Chunk).where(Chunk.storage_key == keys[0]).values(sha256=hashlib.sha256(noise).hexdigest())
    )
    db.session.commit()
    processing.process_interview(interview.id)
    assert interview_now(interview).stage is Stage.PROCESSING_FAILED
    page = owner.browser.get(f"/interviews/{interview.id}").text
    assert "Processing failed: a recorded part is neither WebM nor MP4, or its beginning is missing." in page
    assert "Process without the recording" in page

    owner.browser.post(f"/interviews/{interview.id}/retry")
    processing.process_interview(interview.id)
    assert interview_now(interview).stage is Stage.PROCESSING_FAILED, "a further try mends nothing"
    assert not interview_now(interview).without_recording

    answer = owner.browser.post(f"/interviews/{interview.id}/retry", data={"without_recording": "yes"})
    assert answer.status_code == 303
    processing.process_interview(interview.id)
    data = read(owner, interview)
    assert (data["audio_url"], data["transcript"]) == (None, "agent: Why?\nuser: hello there")
    assert stage_of(interview) is VideoStage.NONE
    page = owner.browser.get(f"/interviews/{interview.id}").text
    assert "could not be read" in page
    assert "<audio" not in page
    assert list(storage.list(f"recordings/{interview.id}/1/mix")) == keys, "what arrived is kept"
    about = sa.select(AuditEntry).where(AuditEntry.subject == interview.id, AuditEntry.action != "interview.seen")
    (entry,) = db.session.scalars(about)
    assert (entry.action, entry.member_id) == ("interview.processed_without_recording", owner.member.id)


def test_nobody_leaves_out_a_recording_that_was_not_in_the_way(owner: Person, recorded: Made) -> None:
    interview = recorded()
    owner.browser.post(f"/interviews/{interview.id}/retry", data={"without_recording": "yes"})
    processing.process_interview(interview.id)
    assert read(owner, interview)["audio_url"]
    assert not interview_now(interview).without_recording
