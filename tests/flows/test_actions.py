"""What is done to flows, without HTTP."""

from typing import Any

import pytest

from app.core.db import db
from app.core.errors import Rejected
from app.core.queue import SilentWaker
from app.flows import PREPARE_SPEECH, actions
from app.flows.flow_script import FlowScript
from app.flows.media import StoredMedia
from app.flows.models import FlowStatus, InterviewFlow, SpeechState
from app.flows.queries import secret_of, unspoken
from tests.factories import Made
from tests.people import Person

VALUES: dict[str, Any] = {"title": "Nurse", "org_name": "First Ltd", "questions": ["Why?"]}


def test_a_new_flow_is_open_and_waits_to_be_spoken(owner: Person, waker: SilentWaker) -> None:
    flow = actions.create(owner.team, VALUES, files=StoredMedia())
    assert (flow.status, flow.speech_state) == (FlowStatus.OPEN, SpeechState.PENDING)
    assert waker.enqueued == []
    db.session.commit()
    assert waker.enqueued == [(PREPARE_SPEECH, (flow.id,))]


def test_a_rolled_back_flow_rings_for_nothing(owner: Person, waker: SilentWaker) -> None:
    actions.create(owner.team, VALUES, files=StoredMedia())
    db.session.rollback()
    db.session.commit()
    assert waker.enqueued == []


def test_a_changed_question_is_spoken_anew_and_outdates_whoever_speaks_the_old_one(
    make_flow: Made, waker: SilentWaker
) -> None:
    flow = make_flow(speech_state=SpeechState.PREPARING, fence=4, recoveries=2)
    actions.edit(flow, {"questions": ["Why not?"]}, files=StoredMedia())
    db.session.commit()
    assert (flow.speech_state, flow.fence, flow.recoveries, flow.lease_until) == (SpeechState.PENDING, 5, 0, None)
    assert waker.enqueued == [(PREPARE_SPEECH, (flow.id,))]


def test_a_changed_title_needs_no_new_speech(make_flow: Made, waker: SilentWaker) -> None:
    flow = make_flow(speech_state=SpeechState.READY)
    before = flow.changed_at
    actions.edit(flow, {"title": "Doctor"}, files=StoredMedia())
    db.session.commit()
    assert (flow.title, flow.speech_state, waker.enqueued) == ("Doctor", SpeechState.READY, [])
    assert flow.changed_at > before


def test_an_edit_names_the_files_it_replaced(make_flow: Made) -> None:
    flow = make_flow(
        logo_key="flow-media/old.png",
        company_logo_url="https://e.com/a",
        preamble_video_key="flow-media/v",
        preamble_video_url="https://e.com/v",
    )
    unchanged = actions.edit(flow, {"company_logo_url": "https://e.com/a"}, files=StoredMedia())
    replaced = actions.edit(
        flow, {"company_logo_url": "https://e.com/b"}, files=StoredMedia(logo_key="flow-media/new.png")
    )
    removed = actions.edit(flow, {"preamble_video_url": None, "company_logo_url": None}, files=StoredMedia())
    assert (unchanged, replaced) == ([], ["flow-media/old.png"])
    assert removed == ["flow-media/new.png", "flow-media/v"]
    assert (flow.logo_key, flow.preamble_video_key, flow.preamble_video_type) == (None, None, None)


def test_an_uploaded_file_stays_until_it_is_removed_or_replaced(make_flow: Made) -> None:
    flow = make_flow(logo_key="flow-media/old.png", preamble_video_key="flow-media/v")
    nothing = {"company_logo_url": None, "preamble_video_url": None}
    assert actions.edit(flow, nothing, files=StoredMedia()) == []
    assert actions.edit(flow, nothing, files=StoredMedia(), without=["video"]) == ["flow-media/v"]
    assert (flow.logo_key, flow.preamble_video_key) == ("flow-media/old.png", None)


@pytest.mark.parametrize("verb", [actions.close, actions.reopen, actions.prepare_anew])
def test_an_archived_flow_is_not_changed(make_flow: Made, verb: Any) -> None:
    flow = make_flow(status=FlowStatus.ARCHIVED)
    with pytest.raises(Rejected):
        verb(flow)
    with pytest.raises(Rejected):
        actions.edit(flow, {"title": "x"}, files=StoredMedia())
    assert (flow.status, flow.title) == (FlowStatus.ARCHIVED, "Nurse")


def test_a_flow_closes_and_opens_again(make_flow: Made) -> None:
    flow = make_flow()
    actions.close(flow)
    assert flow.status is FlowStatus.CLOSED
    actions.close(flow)
    actions.reopen(flow)
    assert flow.status is FlowStatus.OPEN


def test_archiving_twice_changes_nothing_the_second_time(make_flow: Made) -> None:
    flow = make_flow()
    actions.archive(flow)
    changed = flow.changed_at
    actions.archive(flow)
    assert flow.changed_at == changed


def test_the_secret_can_be_changed_and_taken_away(make_flow: Made) -> None:
    flow = make_flow()
    actions.edit(flow, {"webhook_secret_key": "first"}, files=StoredMedia())
    sealed = flow.webhook_secret_sealed
    actions.edit(flow, {"webhook_secret_key": "first"}, files=StoredMedia())
    assert flow.webhook_secret_sealed == sealed
    actions.edit(flow, {"webhook_secret_key": "second"}, files=StoredMedia())
    assert secret_of(flow) == "second"
    actions.edit(flow, {"webhook_secret_key": None}, files=StoredMedia())
    assert secret_of(flow) is None


def test_a_secret_moved_to_another_row_does_not_open(make_flow: Made) -> None:
    from app.core.encryption import SealBroken

    flow, other = make_flow(), make_flow()
    actions.edit(flow, {"webhook_secret_key": "first"}, files=StoredMedia())
    other.webhook_secret_sealed = flow.webhook_secret_sealed
    with pytest.raises(SealBroken):
        secret_of(other)


def test_the_script_settles_what_may_be_null(make_flow: Made, owner: Person) -> None:
    flow = make_flow(
        language=None, voice_id=None, is_video_enabled=None, is_doc_upload_enabled=None, interview_type=None
    )
    script = FlowScript.of(flow)
    assert script.to_json() == {
        "title": "Nurse",
        "org_name": "First Ltd",
        "questions": flow.questions,
        "intro": None,
        "outro": None,
        "language": "en-US",
        "voice_id": None,
        "voice": None,
        "additional_info": None,
        "additional_instructions": None,
        "follow_up_limit": 1,
        "time_limit_minutes": None,
        "is_video_enabled": False,
        "is_doc_upload_enabled": False,
        "redirect_url": None,
        "interview_type": None,
        "assess_language": True,
        "may_say_again": False,
        "is_background_private": False,
        "cv": None,
    }
    owner.organization.assess_language = False
    assert FlowScript.of(flow).assess_language is False
    flow.assess_language = True
    assert FlowScript.of(flow).assess_language is True


def test_the_script_is_a_copy_that_later_edits_do_not_reach(make_flow: Made) -> None:
    flow = make_flow()
    script = FlowScript.of(flow)
    flow.questions = ["Another one?"]
    assert len(script.questions) == 2


def test_a_script_is_read_as_it_was_stored_by_any_release(make_flow: Made) -> None:
    script = FlowScript.of(make_flow())
    assert FlowScript.from_json(script.to_json()) == script
    older = FlowScript.from_json({"questions": ["Why?"], "language": None, "a_field_of_before": 1})
    assert (older.questions, older.language, older.title) == (("Why?",), "en-US", "")


def test_the_sweep_finds_what_is_not_spoken_yet(make_flow: Made) -> None:
    waiting, _ready = make_flow(), make_flow(speech_state=SpeechState.READY)
    make_flow(speech_state=SpeechState.FAILED)
    assert unspoken(10) == [waiting.id]
    assert db.session.query(InterviewFlow).count() == 3
