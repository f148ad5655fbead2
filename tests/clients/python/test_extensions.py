"""What ``/v1`` has beyond the contract.

Against the application, a test runs once all operations it needs are in the OpenAPI document; the Parley in memory has
most of them already.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import parley
import pytest
from parley import Parley, webhooks
from parley.testing import FakeParley

from .conftest import Served, World
from .test_drift import DOCUMENTED

SECRET = "at-least-32-characters-of-randomness"
Flow = Callable[..., str]


def needs(*operations: str) -> pytest.MarkDecorator:
    """A test of the application alone."""
    absent = [one for one in operations if one not in DOCUMENTED]
    return pytest.mark.skipif(bool(absent), reason=f"The server has no {', '.join(absent)} yet")


def both(*operations: str) -> pytest.MarkDecorator:
    """A test of the application, once it has these operations, and of the Parley in memory."""
    worlds = [pytest.param("served", marks=needs(*operations)), "fake"]
    return pytest.mark.parametrize("world", worlds, indirect=True)


@both("listCandidates", "getCandidate", "moveCandidate", "listStatuses")
def test_candidates_move_through_the_pipeline(client: Parley, a_flow: Flow) -> None:
    flow_id = a_flow()
    for name in ("robin", "kim", "alex"):
        client.interviews.create(flow_id, interviewee_email_address=f"{name}@example.com", interviewee_first_name=name)
    listed = list(client.candidates.list(interview_flow_id=flow_id, limit=2))
    assert [one.interviewee_first_name for one in listed] == ["alex", "kim", "robin"]
    (robin,) = client.candidates.list(email="robin@example.com", status="invited")
    assert client.candidates.retrieve(robin.candidate_id) == robin == listed[2]
    assert len(robin.interview_ids) == 1
    meanings = {one.name: one for one in client.statuses.list()}
    assert [one.position for one in meanings.values()] == sorted(one.position for one in meanings.values())
    rejected = next(one for one in meanings.values() if one.meaning == "rejected")
    with pytest.raises(parley.InvalidInputError) as refused:
        client.candidates.move(robin.candidate_id, rejected.name)
    assert refused.value.error == "decision_incomplete"
    with pytest.raises(parley.ConflictError) as changed:
        client.candidates.move(robin.candidate_id, "interviewed", previous_status="withdrawn")
    assert changed.value.error == "conflict"
    (member,) = client.team_members.list()
    reason = rejected.reason_codes[0].code
    moved = client.candidates.move(robin.candidate_id, rejected.name, decided_by=member.id, reason_code=reason)
    assert (moved.status, moved.candidate_id) == (rejected.name, robin.candidate_id)
    assert [one.candidate_id for one in client.candidates.list(status=rejected.name)] == [robin.candidate_id]
    with pytest.raises(parley.InvalidInputError) as missing:
        client.candidates.retrieve("00000000-0000-4000-8000-000000000000")
    assert missing.value.is_missing


@both("cancelInterview", "extendInterview")
def test_links_are_cancelled_and_extended(client: Parley, world: World, a_flow: Flow) -> None:
    flow_id = a_flow()
    made = client.interviews.create(flow_id)
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=60)
    extended = client.interviews.extend(made.interview_id, expires_at=until)
    assert (extended.interview_id, extended.interview_link) == (made.interview_id, made.interview_link)
    assert datetime.fromisoformat(extended.expires_at) == until
    assert client.interviews.cancel(made.interview_id).success
    other = client.interviews.create(flow_id)
    world.complete(other.interview_id)
    with pytest.raises(parley.ConflictError) as refused:
        client.interviews.cancel(other.interview_id)
    assert refused.value.error == "conflict"


@both("getInterviewLink", "cancelInterview")
def test_links_say_whether_candidates_can_still_come(client: Parley, world: World, a_flow: Flow) -> None:
    flow_id = a_flow()
    first, second, third = (client.interviews.create(flow_id).interview_id for _ in range(3))
    link = client.interviews.link(first)
    assert (link.interview_id, link.state, link.extra) == (first, "open", {})
    assert link.expires_at is not None
    assert datetime.fromisoformat(link.expires_at) > datetime.now(UTC)
    client.interviews.cancel(first)
    assert client.interviews.link(first).state == "closed"
    world.complete(second)
    assert client.interviews.link(second).state == "submitted"
    client.flows.archive(flow_id)
    closed = [client.interviews.link(one) for one in (second, third)]
    assert [(one.state, one.expires_at) for one in closed] == [("submitted", None), ("closed", None)]
    with pytest.raises(parley.InvalidInputError) as missing:
        client.interviews.link("00000000-0000-4000-8000-000000000000")
    assert missing.value.is_missing


@both("getInterviewLink", "cancelInterview")
def test_a_cancelled_interview_is_not_waited_for(client: Parley, world: World, a_flow: Flow) -> None:
    flow_id = a_flow()
    cancelled, waiting = (client.interviews.create(flow_id).interview_id for _ in range(2))
    client.interviews.cancel(cancelled)
    for timeout in (0, 3600):
        with pytest.raises(parley.LinkEndedError, match="its link is closed") as ended:
            client.interviews.wait(cancelled, timeout=timeout, poll=0.01)
        assert ended.value.state == "closed"
    with pytest.raises(parley.WaitTimeoutError, match="still incomplete"):
        client.interviews.wait(waiting, timeout=0.1, poll=0.01)

    async def wait() -> None:
        async with world.async_client() as other:
            await other.interviews.wait(cancelled, poll=0.01)

    with pytest.raises(parley.LinkEndedError):
        asyncio.run(wait())


def test_an_expired_link_ends_waiting_and_can_be_extended(fake: FakeParley) -> None:
    client = fake.client()
    flow_id = client.flows.create(org_name="F", title="T", questions=["Why?"]).interview_flow_id
    made = client.interviews.create(flow_id).interview_id
    fake.expire(made)
    with pytest.raises(ValueError, match="Its link is expired"):
        fake.complete(made)
    fake.requests.clear()
    with pytest.raises(parley.LinkEndedError) as ended:
        client.interviews.wait(made, poll=0.01)
    assert ended.value.state == "expired"
    paths = [path.removeprefix(f"/v1/interviews/{made}") for _method, path in fake.requests]
    assert paths == ["", "", "", "", "", "/link"]
    client.interviews.extend(made, expires_at=datetime.now(UTC) + timedelta(days=1))
    fake.complete(made)
    assert client.interviews.wait(made).status == "completed"


@both("getInterviewLink")
def test_interviews_are_listed_by_flow_and_time(client: Parley, a_flow: Flow) -> None:
    flows = [a_flow(), a_flow()]
    made = [client.interviews.create(flow_id).interview_id for flow_id in (*flows, flows[0])]
    found = client.interviews.list(interview_flow_id=flows[0], transcript="none", limit=1)
    assert [one.interview_id for one in found] == [made[2], made[0]]
    hour = timedelta(hours=1)
    since = {when: client.interviews.list(created_after=datetime.now(UTC) + when) for when in (-hour, hour)}
    assert [[one.interview_id for one in found] for found in since.values()] == [made[::-1], []]
    with pytest.raises(parley.InvalidInputError) as missing:
        list(client.interviews.list(interview_flow_id="00000000-0000-4000-8000-000000000000"))
    assert missing.value.is_missing
    with pytest.raises(parley.InvalidInputError) as wrong:
        list(client.interviews.list(created_after="2026-01-01T00:00:00"))
    assert list(wrong.value.errors["query"]) == ["created_after"]


@both("getInterviewMetadata", "setInterviewMetadata", "lookupInterviews")
def test_interviews_carry_your_own_data(client: Parley, a_flow: Flow) -> None:
    made = client.interviews.create(a_flow())
    assert client.interviews.metadata(made.interview_id) == {}
    mine = {"external_id": "application-4711", "source": "fair ü"}
    assert client.interviews.set_metadata(made.interview_id, mine) == mine
    assert client.interviews.metadata(made.interview_id) == mine
    (found,) = client.interviews.lookup("application-4711")
    assert (found.interview_id, found.external_id) == (made.interview_id, "application-4711")
    assert client.interviews.lookup("another") == []
    with pytest.raises(parley.InvalidInputError) as large:
        client.interviews.set_metadata(made.interview_id, {f"key_{number}": "x" * 400 for number in range(20)})
    assert large.value.error == "metadata_too_large"


@needs("listScoreVersions")
def test_score_versions_are_listed(served: Served) -> None:
    client = served.client()
    flow_id = client.flows.create(org_name="F", title="T", questions=["Why?", "And?"]).interview_flow_id
    made = client.interviews.create(flow_id)
    assert client.interviews.score_versions(made.interview_id) == []
    served.complete(made.interview_id)
    (version,) = client.interviews.score_versions(made.interview_id)
    assert (version.interview_id, version.is_current) == (made.interview_id, True)


@both("updateInterviewFlow", "closeInterviewFlow", "reopenInterviewFlow")
def test_flows_are_changed_closed_and_reopened(client: Parley, a_flow: Flow) -> None:
    flow_id = a_flow(webhook_url="https://receiver.example/hook")
    changed = client.flows.update(flow_id, title="Head nurse", webhook_url=None)
    assert (changed.title, changed.webhook_url, changed.questions) == ("Head nurse", None, ["Why?", "What next?"])
    assert client.flows.retrieve(flow_id) == changed
    assert client.flows.close(flow_id).status == "closed"
    with pytest.raises(parley.InvalidInputError):
        client.interviews.create(flow_id)
    assert client.flows.reopen(flow_id).status == "open"
    assert client.interviews.create(flow_id).interview_id
    client.flows.archive(flow_id)
    with pytest.raises(parley.ConflictError) as refused:
        client.flows.reopen(flow_id)
    assert refused.value.error == "conflict"


@needs("rotateWebhookSecret", "switchWebhookSecret")
def test_the_secret_of_a_flow_is_rotated(served: Served) -> None:
    client = served.client()
    made = client.flows.create(
        org_name="F", title="T", questions=["Why?"], webhook_url="https://receiver.example/x", webhook_secret_key=SECRET
    )
    rotated = client.flows.rotate_webhook_secret(made.interview_flow_id, overlap_hours=2)
    assert rotated.webhook_secret_key not in {SECRET, ""}
    assert rotated.webhook_secret_key not in repr(rotated)
    until = datetime.fromisoformat(str(rotated.old_secret_until))
    assert timedelta(hours=1) < until - datetime.now(UTC) < timedelta(hours=3)
    assert client.flows.switch_webhook_secret(made.interview_flow_id).success
    with pytest.raises(parley.ConflictError):
        client.flows.switch_webhook_secret(made.interview_flow_id)


@needs("createWebhookEndpoint", "listWebhookEndpoints", "getWebhookEndpoint", "deleteWebhookEndpoint")
@needs("enableWebhookEndpoint", "rotateWebhookEndpointSecret", "switchWebhookEndpointSecret")
def test_endpoints_of_the_organization(served: Served) -> None:
    client = served.client()
    made = client.webhook_endpoints.create("https://receiver.example/all", secret=SECRET)
    assert (made.secret, made.scope, made.enabled) == (SECRET, "organization", True)
    assert SECRET not in repr(made)
    (listed,) = client.webhook_endpoints.list()
    assert listed == client.webhook_endpoints.retrieve(made.webhook_endpoint_id)
    assert listed.url == "https://receiver.example/all"
    with pytest.raises(parley.ConflictError, match="already enabled"):
        client.webhook_endpoints.enable(made.webhook_endpoint_id)
    rotated = client.webhook_endpoints.rotate_secret(made.webhook_endpoint_id, secret=SECRET[::-1])
    assert (rotated.secret, SECRET[::-1] in repr(rotated)) == (SECRET[::-1], False)
    assert client.webhook_endpoints.switch_secret(made.webhook_endpoint_id).success
    assert client.webhook_endpoints.delete(made.webhook_endpoint_id).success
    assert client.webhook_endpoints.list() == []


@needs("listWebhookDeliveries", "getWebhookDelivery", "resendWebhookDelivery", "resendWebhookDeliveries")
def test_deliveries_are_listed_and_sent_again(served: Served) -> None:
    client = served.client()
    flow_id = client.flows.create(
        org_name="F", title="T", questions=["Why?", "And?"], webhook_url="https://receiver.example/x"
    ).interview_flow_id
    made = client.interviews.create(flow_id)
    served.complete(made.interview_id)
    since = datetime.now(UTC) - timedelta(days=1)
    (delivery,) = client.webhook_deliveries.list(interview_flow_id=flow_id, since=since, limit=1)
    assert (delivery.event_type, delivery.attempts) == ("interview_processed", 0)
    details = client.webhook_deliveries.retrieve(delivery.webhook_delivery_id)
    assert details.attempts_made == []
    assert (details.payload or {})["interview_id"] == made.interview_id
    assert list(client.webhook_deliveries.list(state="delivered")) == []
    resent = client.webhook_deliveries.resend_all(since=since, until=datetime.now(UTC), state="delivered")
    assert resent == 0


def test_the_fake_sends_webhooks_that_receivers_accept(fake: FakeParley) -> None:
    client = fake.client()
    flow_id = client.flows.create(
        org_name="F",
        title="Nurse",
        questions=["Why?"],
        interview_type="recruitment",
        is_video_enabled=True,
        webhook_url="https://receiver.example/hook",
        webhook_secret_key=SECRET,
    ).interview_flow_id
    made = client.interviews.create(flow_id, interviewee_email_address="robin@example.com")
    client.interviews.set_metadata(made.interview_id, {"external_id": "4711"})
    fake.complete(made.interview_id, answers=["Because."], scores={"skills": 4.0})
    told = [webhooks.verify(one.body, one.headers, SECRET) for one in fake.events]
    kinds = (webhooks.InterviewProcessed, webhooks.VideoProcessed, webhooks.CandidateStatusUpdated)
    assert tuple(map(type, told)) == kinds
    assert [one.external_id for one in told] == ["4711", "4711", None]
    data = client.interviews.retrieve(made.interview_id).interview_data
    assert data is not None
    assert data.scores == parley.Scores(skills=4.0)
    assert (data.transcript, data.video_url is not None) == ("agent: Why?\nuser: Because.", True)
    with pytest.raises(ValueError, match="completed already"):
        fake.complete(made.interview_id)
    other = client.interviews.create(flow_id)
    client.interviews.revoke_recordings(other.interview_id)
    with pytest.raises(ValueError, match="link is closed"):
        fake.complete(other.interview_id)
