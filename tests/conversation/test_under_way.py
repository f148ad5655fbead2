"""Slow connections: pieces under way when the page posts what depends on them, and sound that comes with a reply."""

import base64
from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from flask import Flask

from app.conversation.protocol import sound as protocol_sound
from app.conversation.protocol import under_way
from app.core.db import db
from app.operations.demo.candidate import Candidate
from tests.factories import Made
from tests.people import Person

from .conftest import Candidates, sound
from .fakes import ScriptedCodec, ScriptedTranscriber
from .test_preview import Trial

ANSWER = {"kind": "answer", "segment": 1, "first_chunk": 0, "last_chunk": 2}
SO_FAR = {"segment": 1, "first_chunk": 0, "last_chunk": 2}
WAITS = {"X-Wait": "1"}


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What happens while the server waits: the first time the first of these, and so on."""
    arrives: list[Callable[[], object]] = []

    class Scripted(Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout == under_way.EVERY
            if not arrives:
                return super().wait(timeout)
            arrives.pop(0)()
            return self.is_set()

    monkeypatch.setattr(under_way, "Event", Scripted)
    return arrives


@pytest.fixture
def talking(candidate: Candidate) -> Candidate:
    """At turn 2, without any chunk of the answer."""
    candidate.turn(1, "begin")
    candidate.open_segment("audio/webm")
    return candidate


def put(candidate: Candidate, number: int) -> Callable[[], object]:
    return lambda: candidate.put_chunk(1, number, sound(0.5, number), track="voice")


def test_an_answer_waits_for_its_last_pieces(
    talking: Candidate, hears: ScriptedTranscriber, late: list[Callable[[], object]]
) -> None:
    hears.texts = ["I am a nurse."]
    put(talking, 0)()
    late += [put(talking, 1), put(talking, 2)]
    reply = talking.call("POST", "/turns/2", json=ANSWER, headers=WAITS)
    assert late == []
    assert reply["heard"] == {"text": "I am a nurse."}


def test_a_page_that_says_nothing_is_told_at_once_what_is_missing(
    talking: Candidate, late: list[Callable[[], object]]
) -> None:
    put(talking, 0)()
    late += [put(talking, 1)]
    refused = talking.ask("POST", "/turns/2", json=ANSWER)
    assert (refused.status_code, refused.json()["missing"]) == (409, [1, 2])
    assert len(late) == 1


def test_one_request_of_an_interview_waits_at_a_time(
    talking: Candidate, hears: ScriptedTranscriber, late: list[Callable[[], object]]
) -> None:
    hears.texts = ["I am a nurse."]
    besides: list[Any] = []
    late.append(lambda: besides.append(talking.ask("POST", "/turns/2", json=ANSWER, headers=WAITS)))
    late += [put(talking, number) for number in range(3)]
    reply = talking.call("POST", "/turns/2", json=ANSWER, headers=WAITS)
    assert [one.status_code for one in besides] == [409]
    assert reply["heard"] == {"text": "I am a nurse."}


def test_few_requests_wait_so_that_the_pieces_get_a_thread(
    talking: Candidate, late: list[Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_way, "MOST_WAITING", 0)
    late.append(put(talking, 0))
    assert talking.ask("POST", "/turns/2", json=ANSWER, headers=WAITS).status_code == 409
    assert len(late) == 1


def test_what_never_comes_is_missing_in_the_end_and_the_turn_stays_open(
    talking: Candidate, hears: ScriptedTranscriber, late: list[Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_way, "LONGEST", 0.1)
    hears.texts = ["I am a nurse."]
    for number in (0, 2):
        put(talking, number)()
    refused = talking.ask("POST", "/turns/2", json=ANSWER, headers=WAITS)
    assert (refused.status_code, refused.json()["missing"]) == (409, [1])
    put(talking, 1)()
    assert talking.call("POST", "/turns/2", json=ANSWER)["heard"] == {"text": "I am a nurse."}


def test_only_a_piece_of_the_interview_ends_its_wait(
    talking: Candidate, hears: ScriptedTranscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    hears.texts = ["I am a nurse."]
    arrives = [lambda: under_way.has_come("another interview"), put(talking, 1), put(talking, 2)]
    put(talking, 0)()
    woken: list[bool] = []

    class Scripted(Event):
        def wait(self, timeout: float | None = None) -> bool:
            del timeout
            arrives.pop(0)()
            woken.append(self.is_set())
            return self.is_set()

    monkeypatch.setattr(under_way, "Event", Scripted)
    talking.call("POST", "/turns/2", json=ANSWER, headers=WAITS)
    assert woken == [False, True, True]


def test_a_silence_waits_for_its_pieces_too(
    talking: Candidate, hears: ScriptedTranscriber, late: list[Callable[[], object]]
) -> None:
    hears.peeks = ["I am"]
    late += [put(talking, 0), put(talking, 1), put(talking, 2)]
    judged = talking.call("POST", "/turns/2/silence", json=SO_FAR, headers=WAITS)
    assert late == []
    assert judged["text"] == "I am"


def test_a_preview_waits_as_well(
    scripted: Flask, owner: Person, make_flow: Made, late: list[Callable[[], object]]
) -> None:
    flow_id = make_flow().id
    db.session.rollback()
    trial = Trial(owner.browser, flow_id)
    trial.get("")
    trial.post("/start", mode="voice", consent="yes")
    trial.post("/turns/1", kind="begin")
    trial.post("/segments", mime_type="audio/webm")
    late.append(lambda: trial.send(sound(1.5)))
    told = trial.browser.post(f"{trial.base}/turns/2", json=ANSWER, headers=WAITS)
    assert told.status_code == 200, told.text
    assert late == []


def test_small_sound_comes_with_the_reply_where_the_page_asks_for_it(candidate: Candidate) -> None:
    reply = candidate.call("POST", "/turns/1", json={"kind": "begin"}, headers={"X-Sound": "opus"})
    fetched = candidate.ask("GET", "/turns/1/audio?as=opus")
    assert base64.b64decode(reply["sound"]) == fetched.content
    again = candidate.call("POST", "/turns/1", json={"kind": "begin"}, headers={"X-Sound": "opus"})
    assert again == {name: value for name, value in reply.items() if name not in {"sound", "sound_name"}}


@pytest.mark.parametrize("headers", [{}, {"X-Sound": "flac"}])
def test_other_pages_ask_for_it(candidate: Candidate, headers: dict[str, str]) -> None:
    assert "sound" not in candidate.call("POST", "/turns/1", json={"kind": "begin"}, headers=headers)


def test_a_reply_comes_without_its_sound_where_that_cannot_be_read_or_is_long(
    scripted: Flask, candidates: Candidates, book: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateways = scripted.extensions["parley.gateways"]
    for codec, largest in ((ScriptedCodec(), protocol_sound.LARGEST_ALONG), (ScriptedCodec(b"sound"), 100)):
        monkeypatch.setattr(protocol_sound, "LARGEST_ALONG", largest)
        candidate = candidates(book(intro=f"Nothing else has this intro, nor sound of {largest} bytes."))
        candidate.start()
        monkeypatch.setitem(scripted.extensions, "parley.gateways", replace(gateways, codec=codec))
        reply = candidate.call("POST", "/turns/1", json={"kind": "begin"}, headers={"X-Sound": "opus"})
        assert "sound" not in reply
        assert reply["audio_url"]
