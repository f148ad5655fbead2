"""Read by the type checker, never run: what it has to know, and which mistakes it has to find."""

from typing import assert_type

import parley
from parley import AsyncParley, Parley, webhooks
from parley.testing import FakeParley


def results(client: Parley) -> None:
    whole = client.interviews.retrieve("id")
    assert_type(whole, parley.Interview[parley.InterviewData])
    text = client.interviews.retrieve("id", transcript="text")
    assert_type(text, parley.Interview[parley.InterviewDataTextOnly])
    none = client.interviews.wait("id", transcript="none")
    assert_type(none, parley.Interview[parley.InterviewDataNoTranscript])
    if whole.interview_data is not None and text.interview_data is not None and none.interview_data is not None:
        assert_type(whole.interview_data.transcript_with_timestamp[0].words[0].start, float)
        assert_type(text.interview_data.transcript, str)
        print(text.interview_data.transcript_with_timestamp)  # type: ignore[attr-defined]
        print(none.interview_data.transcript)  # type: ignore[attr-defined]
    print(whole.interview_data.summary)  # type: ignore[union-attr]
    for one in client.interviews.list(status="completed", transcript="text", max_items=3):
        assert_type(one, parley.Interview[parley.InterviewDataTextOnly])
    for other in client.interviews.list():
        assert_type(other, parley.Interview[parley.InterviewData])


def arguments(client: Parley) -> None:
    made = client.flows.create(org_name="F", title="T", questions=["Why?"], voice_id=None, language="a new one")
    assert_type(made, parley.InterviewFlowCreated)
    client.flows.create(org_name="F", title="T")  # type: ignore[call-arg]
    client.flows.create(org_name="F", title="T", questions=["Why?"], titel="T")  # type: ignore[call-arg]
    client.flows.update("id", is_video_enabled="yes")  # type: ignore[arg-type]
    client.interviews.create()  # type: ignore[call-arg]
    client.interviews.retrieve("id", transcript="all")  # type: ignore[call-overload]
    client.interviews.list(state="completed")  # type: ignore[call-overload]
    made.interview_flow_id = "another"  # type: ignore[misc]
    assert_type(client.candidates.move("id", "accepted", decided_by="m", reason_code="r"), parley.Candidate)
    assert_type(list(client.candidates.list(email="a@b.example")), list[parley.Candidate])
    assert_type(client.interviews.link("id"), parley.InterviewLink)
    client.interviews.list(interview_flow_id="id", created_after="2026-01-31T09:15:00Z")
    client.interviews.extend("id", "2026-01-31T09:15:00Z")  # type: ignore[call-arg]
    assert_type(client.webhook_deliveries.resend_all(since="a", until="b"), int)


async def awaited(client: AsyncParley) -> None:
    assert_type(await client.interviews.retrieve("id"), parley.Interview[parley.InterviewData])
    assert_type(await client.teams.list(), list[parley.Team])
    async for one in client.interviews.list(transcript="none"):
        assert_type(one, parley.Interview[parley.InterviewDataNoTranscript])
    async for change in client.changes():
        assert_type(change, parley.Change)
    async for page in client.changes().pages():
        assert_type(page, parley.ChangesPage)
    for flow in client.flows.list():  # type: ignore[attr-defined]
        print(flow)


def events(body: bytes, headers: dict[str, str]) -> None:
    event = webhooks.verify(body, headers, ["old", "new"])
    if isinstance(event, webhooks.CandidateStatusUpdated):
        assert_type(event.interviewee_email, str)
        print(event.interviewee_email_address)  # type: ignore[attr-defined]
    webhooks.verify("text", headers, "secret")  # type: ignore[arg-type]
    webhooks.verify(body, headers, "secret", signature="x-signature")  # type: ignore[arg-type]
    assert_type(FakeParley().client(timeout=3), Parley)
