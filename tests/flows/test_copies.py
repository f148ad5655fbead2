"""A flow once more: with everything it has, in files and a row of its own."""

from typing import Any

import pytest

from app.accounts.models import AuditEntry
from app.core import encryption
from app.core.db import db
from app.core.errors import GatewayError
from app.core.queue import SilentWaker
from app.flows import PREPARE_SPEECH
from app.flows.models import LONGEST, FlowStatus, InterviewFlow, InterviewType, SpeechState
from app.flows.queries import secret_context, secret_of
from app.gateways import Gateways
from tests.factories import Made
from tests.people import Person

from .test_pages import _typed

NOT_COPIED = {
    "id",
    "title",
    "created_at",
    "changed_at",
    "status",
    "webhook_secret_sealed",
    "logo_key",
    "preamble_video_key",
    "speech_state",
    "lease_until",
    "fence",
    "recoveries",
}
"""What differs on purpose; every other column, a new one too, has to be the same."""


def the_copy_of(flow: InterviewFlow) -> InterviewFlow:
    db.session.expire_all()
    return db.session.query(InterviewFlow).filter(InterviewFlow.id != flow.id).one()


@pytest.fixture
def full(owner: Person, make_flow: Made, engines: Gateways) -> InterviewFlow:
    engines.storage.delete_prefix("flow-media")  # other tests of this process keep files there too
    for key in ("flow-media/a.png", "flow-media/b.webm"):
        engines.storage.put(key, key.encode())
    flow: InterviewFlow = make_flow(
        title="Nurse",
        org_name="Willow",
        questions=["Why?", "How?"],
        interview_type=InterviewType.RECRUITMENT,
        language="de-DE",
        voice_id="vendora-Kate",
        intro="Hello",
        outro="Bye",
        additional_info="Two shifts",
        additional_instructions="Be kind",
        is_video_enabled=True,
        is_doc_upload_enabled=True,
        follow_up_limit=2,
        time_limit_minutes=30,
        assess_language=False,
        redirect_url="https://example.com/on",
        webhook_url="https://example.com/hook",
        company_logo_url="https://example.com/a.png",
        preamble_video_url="https://example.com/b",
        logo_key="flow-media/a.png",
        preamble_video_key="flow-media/b.webm",
        preamble_video_type="video/webm",
        alternative_text="Call us",
        alternative_contact="jobs@example.com",
        status=FlowStatus.CLOSED,
        speech_state=SpeechState.READY,
    )
    flow.webhook_secret_sealed = encryption.seal("secret", context=secret_context(flow.id))
    db.session.commit()
    return flow


def test_a_copy_has_everything_but_the_interviews(
    full: InterviewFlow, colleague: Person, engines: Gateways, waker: SilentWaker
) -> None:
    browser = colleague.browser
    seen = browser.post(f"/flows/{full.id}/duplicate")
    copy = the_copy_of(full)
    assert (seen.status_code, seen.location) == (303, f"/flows/{copy.id}/edit")
    for name in (attribute.key for attribute in InterviewFlow.__mapper__.column_attrs):
        assert (getattr(copy, name) == getattr(full, name)) or name in NOT_COPIED, name
    assert (copy.title, copy.status, copy.speech_state) == ("Copy of Nurse", FlowStatus.OPEN, SpeechState.PENDING)
    assert secret_of(copy) == "secret"
    assert (PREPARE_SPEECH, (copy.id,)) in waker.enqueued
    for mine, theirs in ((copy.logo_key, full.logo_key), (copy.preamble_video_key, full.preamble_video_key)):
        assert mine is not None
        assert mine != theirs
        assert mine.endswith(theirs[-4:])
        key = str(theirs)
        db.session.rollback()
        assert b"".join(engines.storage.open(mine)) == key.encode()
    entry = db.session.query(AuditEntry).filter_by(action="flow.duplicated").one()
    assert (entry.subject, entry.details, entry.member_id) == (copy.id, {"from": full.id}, colleague.member.id)
    assert "This is a copy of “Nurse”" in browser.get(f"/flows/{copy.id}/edit").text


def test_taking_the_copy_s_logo_away_leaves_the_other_s(full: InterviewFlow, owner: Person, engines: Gateways) -> None:
    owner.browser.post(f"/flows/{full.id}/duplicate")
    copy = the_copy_of(full)
    assert owner.browser.post(f"/flows/{copy.id}/edit", data=_typed(owner)).status_code == 303
    assert sorted(engines.storage.list("flow-media")) == ["flow-media/a.png", "flow-media/b.webm"]


def test_a_file_that_is_gone_is_left_out(owner: Person, make_flow: Made) -> None:
    flow = make_flow(logo_key="flow-media/gone.png", company_logo_url="https://example.com/a.png")
    owner.browser.post(f"/flows/{flow.id}/duplicate")
    assert (the_copy_of(flow).logo_key, the_copy_of(flow).company_logo_url) == (None, "https://example.com/a.png")


def test_a_storage_that_fails_leaves_nothing_behind(
    full: InterviewFlow, owner: Person, engines: Gateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = engines.storage.put

    def fails_for_videos(key: str, content: Any) -> Any:
        if key.endswith(".webm"):
            raise GatewayError("the disk is full", retryable=True)
        return put(key, content)

    monkeypatch.setattr(engines.storage, "put", fails_for_videos)
    answer = owner.browser.post(f"/flows/{full.id}/duplicate", follow_redirects=True)
    assert "Nothing was changed. Try again." in answer.text
    assert db.session.query(InterviewFlow).count() == 1
    db.session.rollback()
    assert sorted(engines.storage.list("flow-media")) == ["flow-media/a.png", "flow-media/b.webm"]


def test_an_archived_flow_is_a_start_for_a_new_one(owner: Person, make_flow: Made) -> None:
    flow = make_flow(status=FlowStatus.ARCHIVED, title="x" * LONGEST["title"])
    assert "Duplicate" in owner.browser.get(f"/flows/{flow.id}").text
    assert owner.browser.post(f"/flows/{flow.id}/duplicate").status_code == 303
    copy = the_copy_of(flow)
    assert (copy.status, len(copy.title)) == (FlowStatus.OPEN, LONGEST["title"])
