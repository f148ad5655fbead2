"""Every operation and every error of the contract, against the real application and against the Parley in memory."""

import asyncio
import uuid
from collections.abc import Callable

import httpx2
import parley
import pytest
from parley import AsyncParley, Parley
from parley.testing import FakeParley

from app.core.db import db
from app.interviews.models import Interview

from .conftest import Served, World

SECRET = "at-least-32-characters-of-randomness"
Flow = Callable[..., str]


def test_a_flow_from_its_creation_to_its_end(client: Parley) -> None:
    made = client.flows.create(
        org_name="First Ltd",
        title="Nurse",
        questions=["Why?"],
        language="de-DE",
        voice_id=None,
        interview_type="recruitment",
        webhook_url="https://receiver.example/hook",
        webhook_secret_key=SECRET,
    )
    flow = client.flows.retrieve(made.interview_flow_id)
    assert (flow.title, flow.questions, flow.status) == ("Nurse", ["Why?"], "open")
    assert (flow.language, flow.voice_id, flow.is_video_enabled) == ("de-DE", None, False)
    assert flow.extra == {}
    assert (flow.webhook_secret_key, SECRET in repr(flow)) == (SECRET, False)
    assert [one.interview_flow_id for one in client.flows.list()] == [made.interview_flow_id]
    archived = client.flows.archive(made.interview_flow_id)
    assert (archived.success, archived.status, archived.interview_flow_id) == (True, "archived", flow.interview_flow_id)
    assert client.flows.archive(made.interview_flow_id).success
    with pytest.raises(parley.InvalidInputError) as refused:
        client.interviews.create(made.interview_flow_id)
    assert not refused.value.is_missing
    assert refused.value.error == "flow_closed"


def test_the_organization(client: Parley) -> None:
    assert client.ping() == "pong"
    (team,) = client.teams.list()
    assert team.name == "Hiring"
    assert client.team_members.list() == client.team_members.list(team_id=team.id)
    (member,) = client.team_members.list()
    assert "@" in str(member.email)


def test_an_interview_from_its_link_to_its_result(client: Parley, world: World, a_flow: Flow) -> None:
    (member,) = client.team_members.list()
    made = client.interviews.create(
        a_flow(),
        interviewee_email_address="robin@example.com",
        interviewee_first_name="Robin",
        assigned_recruiter_id=member.id,
    )
    assert "/interview/api/" in made.interview_link
    assert client.interviews.retrieve(made.interview_id).interview_data is None
    world.complete(made.interview_id)
    whole = client.interviews.wait(made.interview_id, timeout=0)
    assert whole.status == "completed"
    assert whole.interview_data is not None
    assert whole.interview_data.interviewee_first_name == "Robin"
    segments = whole.interview_data.transcript_with_timestamp
    assert {one.role for one in segments} == {"agent", "user"}
    for mapped in whole.interview_data.questions_to_transcript_mapping:
        found = [segments[index].content for index in mapped.transcript_item_indices]
        assert found == [item.content for item in mapped.transcript_items]
    text = client.interviews.retrieve(made.interview_id, transcript="text").interview_data
    none = client.interviews.retrieve(made.interview_id, transcript="none").interview_data
    assert type(text) is parley.InterviewDataTextOnly
    assert type(none) is parley.InterviewDataNoTranscript
    assert text.transcript == whole.interview_data.transcript
    assert not any(one.extra for one in (whole, whole.interview_data, text, none, *segments))
    assert client.interviews.revoke_recordings(made.interview_id).success
    assert client.interviews.revoke_recordings(made.interview_id).success


def test_lists_are_read_to_their_end(client: Parley, world: World, a_flow: Flow) -> None:
    flow_id = a_flow()
    made = [client.interviews.create(flow_id).interview_id for _ in range(7)][::-1]
    for limit in (1, 3, 7, 100):
        assert [one.interview_id for one in client.interviews.list(limit=limit)] == made
    assert [len(page) for page in client.interviews.list(limit=3).pages()] == [3, 3, 1]
    assert [one.interview_id for one in client.interviews.list(limit=2, max_items=5)] == made[:5]
    assert [one.interview_id for one in client.interviews.list(limit=2, offset=4)] == made[4:]
    assert list(client.interviews.list(max_items=0)) == []
    world.complete(made[2])
    (completed,) = client.interviews.list(status="completed", transcript="none")
    assert type(completed.interview_data) is parley.InterviewDataNoTranscript
    (team,) = client.teams.list()
    assert len(list(client.interviews.list(status="incomplete", team_id=team.id, limit=2))) == 6
    assert len(list(client.flows.list(limit=1, team_id=team.id))) == 1


def test_the_same_with_asyncio(world: World) -> None:
    async def journey(client: AsyncParley) -> None:
        async with client:
            assert await client.ping() == "pong"
            (team,) = await client.teams.list()
            flow = await client.flows.create(org_name="First Ltd", title="Nurse", questions=["Why?", "And?"])
            many = [client.interviews.create(flow.interview_flow_id) for _ in range(3)]
            made = {one.interview_id for one in await asyncio.gather(*many)}
            listed = [one.interview_id async for one in client.interviews.list(limit=2, team_id=team.id)]
            assert (set(listed), len(listed)) == (made, 3)
            assert [len(page) async for page in client.interviews.list(limit=2).pages()] == [2, 1]
            world.complete(listed[0])
            whole = await client.interviews.wait(listed[0])
            assert whole.interview_data is not None
            assert whole.interview_data.transcript_with_timestamp
            text = await client.interviews.retrieve(listed[0], transcript="text")
            assert type(text.interview_data) is parley.InterviewDataTextOnly
            with pytest.raises(parley.InvalidInputError) as refused:
                await client.interviews.retrieve(str(uuid.uuid4()))
            assert refused.value.is_missing
            with pytest.raises(parley.WaitTimeoutError):
                await client.interviews.wait(listed[1], timeout=0.1, poll=0.02)

    asyncio.run(journey(world.async_client()))


def test_a_post_with_a_key_is_carried_out_once(client: Parley, a_flow: Flow) -> None:
    flow_id = a_flow()
    made = client.interviews.create(flow_id, idempotency_key="application-4711")
    assert client.interviews.create(flow_id, idempotency_key="application-4711") == made
    assert client.interviews.create(flow_id) != client.interviews.create(flow_id)
    with pytest.raises(parley.InvalidInputError) as refused:
        client.interviews.create(a_flow(), idempotency_key="application-4711")
    assert refused.value.error == "idempotency_key_reused"
    assert refused.value.idempotency_key == "application-4711"


def test_errors_say_what_is_wrong(client: Parley, world: World, a_flow: Flow) -> None:
    with pytest.raises(parley.InvalidInputError) as missing:
        client.interviews.retrieve(str(uuid.uuid4()))
    assert (missing.value.code, missing.value.error, missing.value.is_missing) == (422, "not_found", True)
    assert (missing.value.status, missing.value.errors) == ("Unprocessable Entity", {})
    for call in (client.flows.retrieve, client.flows.archive, client.interviews.revoke_recordings):
        with pytest.raises(parley.InvalidInputError) as missing:
            call("no such id")
        assert missing.value.is_missing, call
    with pytest.raises(parley.InvalidInputError) as wrong:
        client.flows.create(org_name="First Ltd", title="Nurse", questions=["Why?"] * 21)
    assert (wrong.value.error, list(wrong.value.errors["json"])) == ("invalid_input", ["questions"])
    with pytest.raises(parley.InvalidInputError) as wrong:
        list(client.interviews.list(limit=1001))
    assert list(wrong.value.errors["query"]) == ["limit"]
    with pytest.raises(parley.PermissionDeniedError) as strange:
        list(client.flows.list(team_id=str(uuid.uuid4())))
    assert strange.value.code == 403
    assert strange.value.error == "other_organization"
    with pytest.raises(parley.NotFoundError) as nothing:
        client.request("GET", "/v1/nothing")
    assert (nothing.value.error, nothing.value.is_missing) == ("no_such_url", False)
    assert str(nothing.value).startswith("404 no_such_url: ")


def test_a_wrong_key_is_said_at_once(served: Served, fake: FakeParley) -> None:
    with pytest.raises(parley.AuthenticationError) as refused:
        served.client(key=str(uuid.uuid4())).ping()
    assert (refused.value.code, refused.value.error) == (401, "unauthorized")
    assert refused.value.request_id
    fake.api_key = "another"
    strange = fake.client()
    fake.api_key = "mine"
    with pytest.raises(parley.AuthenticationError):
        strange.ping()


def test_objects_of_another_organization_are_forbidden(served: Served) -> None:
    key, _team_id = served.organization("Second Ltd")
    stranger, client = served.client(key), served.client()
    flow_id = client.flows.create(org_name="First", title="Nurse", questions=["Why?"]).interview_flow_id
    interview_id = client.interviews.create(flow_id).interview_id
    calls = [
        lambda: stranger.flows.retrieve(flow_id),
        lambda: stranger.flows.archive(flow_id),
        lambda: stranger.interviews.create(flow_id),
        lambda: stranger.interviews.retrieve(interview_id),
        lambda: stranger.interviews.revoke_recordings(interview_id),
        lambda: stranger.team_members.list(team_id=served.team_id),
        lambda: list(stranger.interviews.list(team_id=served.team_id)),
        lambda: stranger.flows.create(org_name="S", title="T", questions=["Why?"], team_id=served.team_id),
    ]
    for call in calls:
        with pytest.raises(parley.PermissionDeniedError) as refused:
            call()
        assert refused.value.error == "other_organization"


def test_bodies_that_the_server_cannot_take(served: Served) -> None:
    client = served.client()
    with pytest.raises(parley.BodyTooLargeError):
        client.flows.create(org_name="F", title="T", questions=["Why?"], additional_info="x" * 3_000_000)
    with pytest.raises(parley.InvalidInputError):
        client.request("POST", "/v1/interviews", body=["no", "object"])


def test_a_member_who_reads_sees_what_was_created(served: Served) -> None:
    """Through the rows, too: the client created exactly what it says."""
    client = served.client()
    flow_id = client.flows.create(org_name="F", title="T", questions=["Why?"], team_id=None).interview_flow_id
    made = client.interviews.create(flow_id, interviewee_email_address="robin@example.com", interviewee_last_name="Ü")
    row = db.session.get_one(Interview, made.interview_id)
    assert (row.flow_id, row.interviewee_last_name) == (flow_id, "Ü")


def test_a_test_key_chooses_the_outcome_and_a_live_key_may_not(served: Served) -> None:
    client = served.client()
    flow_id = client.flows.create(org_name="F", title="T", questions=["Why?"]).interview_flow_id
    with pytest.raises(parley.InvalidInputError) as refused:
        client.interviews.create(flow_id, scenario="scores")
    assert list(refused.value.errors["headers"]) == ["X-Parley-Scenario"]
    assert list(client.interviews.list(mode="test")) == []


def test_a_key_is_never_taken_along_to_another_place(fake: FakeParley) -> None:
    def moved(request: httpx2.Request) -> httpx2.Response:
        assert request.url.host == "parley.test"
        return httpx2.Response(307, headers={"Location": "https://elsewhere.example/"})

    http = httpx2.Client(transport=httpx2.MockTransport(moved), follow_redirects=True)
    client = Parley("key", "http://parley.test", http_client=http)
    with pytest.raises(parley.APIStatusError) as refused:
        client.ping()
    assert refused.value.code == 307
    client.close()
    assert not http.is_closed


def test_too_many_calls_are_refused_with_the_time_to_wait(fake: FakeParley) -> None:
    client = fake.client(max_retries=0)
    fake.fail_next(429, retry_after=7)
    with pytest.raises(parley.RateLimitError) as refused:
        client.ping()
    assert refused.value.retry_after == 7
    fake.fail_next(503)
    with pytest.raises(parley.ServerError):
        client.ping()
    assert client.ping() == "pong"
