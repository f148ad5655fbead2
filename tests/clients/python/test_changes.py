"""The feed of changes: pages and cursors, single changes, stopping and resuming."""

import asyncio
import itertools
import threading
from collections.abc import Callable

import parley
import pytest
from parley import Parley
from parley.testing import FakeParley

from .conftest import World
from .test_extensions import both

Flow = Callable[..., str]


@both("listChanges")
def test_changes_are_followed_and_resumed(client: Parley, world: World, a_flow: Flow) -> None:
    flow_id = a_flow()
    made = client.interviews.create(flow_id)
    first = client.changes(follow=False)
    seen = {(one.kind, one.object_id) for one in first}
    assert {("interview_flow", flow_id), ("interview", made.interview_id)} <= seen
    assert list(client.changes(after=first.cursor, follow=False)) == []
    world.complete(made.interview_id)
    again = client.changes(after=first.cursor, follow=False, limit=1)
    latest = [one for one in again if one.kind == "interview"][-1]
    assert (latest.object_id, latest.change) == (made.interview_id, "upserted")
    assert latest.object is not None
    assert (latest.object["status"], again.cursor != first.cursor) == ("completed", True)
    with pytest.raises(parley.InvalidInputError) as wrong:
        list(client.changes(after="no cursor", follow=False))
    assert wrong.value.error == "cursor_invalid"


@both("listChanges")
def test_a_quiet_organization_has_a_cursor_to_keep(client: Parley, a_flow: Flow) -> None:
    a_flow()
    *_, last = client.changes(follow=False).pages()
    changes = client.changes(after=last.next, poll=0.01)
    first, second = itertools.islice(changes.pages(), 2)
    assert ([first.changes, second.changes], first.has_more, second.has_more) == ([[], []], False, False)
    flow_id = a_flow()
    (page,) = client.changes(after=second.next, follow=False).pages()
    assert [one.object_id for one in page.changes] == [flow_id]


@both("listChanges")
def test_a_program_that_is_stopped_after_any_page_misses_and_repeats_nothing(client: Parley, a_flow: Flow) -> None:
    for _ in range(5):
        client.interviews.create(a_flow())
    whole = [one.id for one in client.changes(follow=False)]
    pages = len(list(client.changes(follow=False, limit=2).pages()))
    assert pages == (len(whole) + 1) // 2 > 4
    for number in range(1, pages + 1):
        handled, kept = [], None
        for page in itertools.islice(client.changes(limit=2).pages(), number):
            handled += [one.id for one in page.changes]
            kept = page.next
        assert handled == whole[: 2 * number]
        handled += [one.id for one in client.changes(after=kept, follow=False)]
        assert handled == whole


def test_changes_wait_until_they_are_stopped(fake: FakeParley) -> None:
    client = fake.client()
    changes = client.changes(poll=0.01)
    found = []

    def follow() -> None:
        for change in changes:
            found.append(change)
            if len(found) == 5:
                changes.stop()

    thread = threading.Thread(target=follow)
    thread.start()
    for number in range(5):
        client.flows.create(org_name="F", title=str(number), questions=["Why?"])
    thread.join(30)
    assert not thread.is_alive()
    assert [(one.object or {})["title"] for one in found] == list("01234")
    waiting = client.changes(after="5", poll=3600)
    thread = threading.Thread(target=lambda: list(waiting))
    thread.start()
    waiting.stop()
    thread.join(30)
    assert not thread.is_alive()


def test_a_cursor_never_skips_what_was_not_read(fake: FakeParley) -> None:
    client = fake.client(max_retries=0)
    for number in range(6):
        client.flows.create(org_name="F", title=str(number), questions=["Why?"])
    changes = client.changes(limit=4)
    read = [(one.object or {})["title"] for one in itertools.islice(changes, 3)]
    assert (read, changes.cursor) == (list("012"), None)
    assert len(list(itertools.islice(changes, 5))) == 5
    assert changes.cursor == "4"
    fake.fail_next(503)
    with pytest.raises(parley.ServerError):
        list(changes)
    resumed = client.changes(after=changes.cursor, follow=False)
    assert [(one.object or {})["title"] for one in resumed] == list("45")


def test_changes_with_asyncio(fake: FakeParley) -> None:
    async def follow() -> list[str]:
        client = fake.async_client()
        found, changes = [], client.changes(poll=0.01, limit=2)
        for title in "abc":
            await client.flows.create(org_name="F", title=title, questions=["Why?"])
        async for change in changes:
            found.append((change.object or {})["title"])
            if len(found) == 3:
                await client.flows.create(org_name="F", title="d", questions=["Why?"])
            if len(found) == 4:
                asyncio.get_running_loop().call_later(0.05, changes.stop)
        assert [one.kind async for one in client.changes(follow=False)] == ["interview_flow"] * 4
        return found

    assert asyncio.run(follow()) == list("abcd")


def test_pages_with_asyncio(fake: FakeParley) -> None:
    async def follow() -> list[tuple[list[str], str]]:
        client = fake.async_client()
        found, changes = [], client.changes(poll=0.01, limit=2)
        for title in "abc":
            await client.flows.create(org_name="F", title=title, questions=["Why?"])
        async for page in changes.pages():
            found.append(([(one.object or {})["title"] for one in page.changes], page.next))
            if len(found) == 4:
                changes.stop()
        assert changes.cursor == "3"
        return found

    assert asyncio.run(follow()) == [(["a", "b"], "2"), (["c"], "3"), ([], "3"), ([], "3")]
