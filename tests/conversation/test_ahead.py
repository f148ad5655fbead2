"""The sound of the likely reply is made while the candidate speaks, and nothing depends on it."""

import base64
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.conversation.protocol import ahead
from app.conversation.script.machine import Script
from app.conversation.script.place import Phase, Place
from app.core.errors import GatewayError
from app.gateways.storage.local import LocalStorage
from app.operations.demo.candidate import Candidate, Talk
from app.operations.demo.tape import Tape

from .conftest import sound
from .fakes import ScriptedTranscriber

OPUS = {"X-Sound": "opus"}


class Codec:
    """Counts what is encoded; fails where it is told to."""

    def __init__(self) -> None:
        self.encoded: list[bytes] = []
        self.fails = False

    def encode(self, pcm: bytes, _rate: int, _form: str) -> bytes:
        if self.fails:
            raise GatewayError("no encoder", retryable=False)
        self.encoded.append(pcm)
        return b"sound " + str(len(pcm)).encode()


@pytest.fixture
def codec(scripted: Flask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Codec:
    """With a storage of its own: the sound of what a script says is stored once for all."""
    codec = Codec()
    parts = replace(scripted.extensions["parley.gateways"], codec=codec, storage=LocalStorage(tmp_path))
    monkeypatch.setitem(scripted.extensions, "parley.gateways", parts)
    return codec


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[threading.Thread | None]]:
    """Those that were begun, or None where there was nothing to make."""
    begun: list[threading.Thread | None] = []
    begin = ahead.begin
    monkeypatch.setattr(ahead, "begin", lambda *given, **more: begun.append(begin(*given, **more)))
    yield begun
    for thread in filter(None, begun):
        thread.join()


def begun(candidate: Candidate, threads: list[threading.Thread | None], headers: dict[str, str]) -> Any:
    """The first words of the agent, after which everything that is made ahead is there."""
    reply = candidate.call("POST", "/turns/1", json={"kind": "begin"}, headers=headers)
    for thread in filter(None, threads):
        thread.join()
    return reply


def answered(candidate: Candidate, prompt: Any, headers: dict[str, str] = OPUS) -> Any:
    talk = Talk(candidate, Tape(video=False))
    played = talk.listen(prompt)
    answer = {"kind": "answer", "played": played, **talk.answer(sound(2))}
    return candidate.call("POST", "/turns/2", json=answer, headers=headers)


def test_the_next_question_is_encoded_before_the_answer_ends(
    candidate: Candidate, codec: Codec, threads: list[threading.Thread | None], hears: ScriptedTranscriber
) -> None:
    prompt = begun(candidate, threads, OPUS)
    assert len(codec.encoded) == 2
    reply = answered(candidate, prompt)
    assert base64.b64decode(reply["sound"]) == b"sound " + str(len(codec.encoded[1])).encode()
    for thread in filter(None, threads):
        thread.join()
    assert len(codec.encoded) == 3  # the goodbye, after the reply to the answer


def likely(candidate: Candidate, number: int = 2, headers: dict[str, str] = OPUS) -> Any:
    return candidate.call("GET", f"/turns/{number}/likely", headers=headers)


def test_a_page_that_has_the_likely_reply_does_not_get_its_sound_again(
    candidate: Candidate, codec: Codec, threads: list[threading.Thread | None], hears: ScriptedTranscriber
) -> None:
    prompt = begun(candidate, threads, OPUS)
    got = likely(candidate)
    assert base64.b64decode(got["sound"]) == b"sound " + str(len(codec.encoded[1])).encode()
    assert len(codec.encoded) == 2
    reply = answered(candidate, prompt, OPUS | {"X-Sound-Ahead": got["sound_name"]})
    assert reply["sound_name"] == got["sound_name"]
    assert "sound" not in reply


def test_another_reply_comes_with_its_own_sound(
    candidate: Candidate, codec: Codec, threads: list[threading.Thread | None], hears: ScriptedTranscriber
) -> None:
    prompt = begun(candidate, threads, OPUS)
    got = likely(candidate)
    hears.texts = ["could you repeat the question please"]
    reply = answered(candidate, prompt, OPUS | {"X-Sound-Ahead": got["sound_name"]})
    assert reply["kind"] == "repeat"
    assert reply["sound"]
    assert reply["sound_name"] != got["sound_name"]


def test_the_likely_reply_is_made_where_it_is_missing(candidate: Candidate, codec: Codec) -> None:
    candidate.call("POST", "/turns/1", json={"kind": "begin"})
    assert likely(candidate)["sound"]
    assert len(codec.encoded) == 1


@pytest.mark.parametrize(("number", "headers"), [(1, OPUS), (3, OPUS), (2, {}), (2, {"X-Sound": "wav"})])
def test_no_likely_reply_for_another_turn_or_form(
    candidate: Candidate,
    codec: Codec,
    threads: list[threading.Thread | None],
    number: int,
    headers: dict[str, str],
) -> None:
    begun(candidate, threads, OPUS)
    assert likely(candidate, number, headers) == {}


def test_nothing_is_made_for_a_page_that_asks_for_the_sound_later(
    candidate: Candidate, codec: Codec, threads: list[threading.Thread | None]
) -> None:
    begun(candidate, threads, {})
    assert (threads, codec.encoded) == ([None], [])


def test_a_reply_that_could_not_be_made_ahead_is_made_when_it_is_needed(
    candidate: Candidate, codec: Codec, threads: list[threading.Thread | None]
) -> None:
    codec.fails = True
    prompt = begun(candidate, threads, OPUS)
    codec.fails = False
    assert answered(candidate, prompt)["sound"]


def test_what_fails_in_between_leaves_room_for_others(scripted: Flask, codec: Codec) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise GatewayError("the disk is full", retryable=True)

    built = replace(scripted.extensions["parley.gateways"], storage=Broken())
    script, place = Script(("Why?", "When?"), 600.0), Place(Phase.QUESTION)
    for _ in range(2 * ahead.MOST):
        thread = ahead.begin(built, script, place, form="opus")
        assert thread is not None
        thread.join()


def test_a_busy_process_makes_none(scripted: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_free", threading.BoundedSemaphore(1))
    built, script, place = (
        scripted.extensions["parley.gateways"],
        Script(("Why?", "When?"), 600.0),
        Place(Phase.QUESTION),
    )
    with ahead._free:
        assert ahead.begin(built, script, place, form="opus") is None
    thread = ahead.begin(built, script, place, form="opus")
    assert thread is not None
    thread.join()


@pytest.mark.parametrize("phase", [Phase.OUTRO, Phase.FINISHED])
def test_after_the_goodbye_there_is_nothing_to_make(scripted: Flask, phase: Phase) -> None:
    built = scripted.extensions["parley.gateways"]
    assert ahead.begin(built, Script(("Why?",), 600.0), Place(phase, 1), form="opus") is None
