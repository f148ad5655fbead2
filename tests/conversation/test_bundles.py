"""Bundles of chunks: each chunk is judged as if it had come alone, and nothing is acknowledged that is not kept."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.conversation.protocol.chunks import LARGEST_BUNDLE, MOST_BUNDLED
from app.core.db import db
from app.core.errors import GatewayError
from app.gateways.storage import read
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import LAST_CHUNK, Chunk, RecorderRun
from app.operations.demo.candidate import Candidate

from .conftest import interview_of, sound
from .fakes import ScriptedTranscriber

PIECES = {n: b"\x1a\x45\xdf\xa3 webm" + bytes([n]) * (n + 1) for n in range(MOST_BUNDLED + 1)}
VOICES = {n: sound(0.5, seed=n) for n in range(3, 6)}


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def listed(chunks: dict[int, bytes]) -> str:
    return ", ".join(f"{number} {len(content)} {sha(content)}" for number, content in chunks.items())


def bundle(who: Candidate, chunks: dict[int, bytes], *, track: str = "mix", **headers: str) -> Any:
    given = {"X-Chunks": listed(chunks), "Content-Type": "application/octet-stream", **headers}
    return who.ask("PUT", f"/segments/1/chunks?track={track}", data=b"".join(chunks.values()), headers=given)


def pick(numbers: Sequence[int]) -> dict[int, bytes]:
    return {number: PIECES[number] for number in numbers}


@pytest.fixture
def writer(candidate: Candidate) -> Candidate:
    candidate.open_segment("audio/webm;codecs=opus")
    return candidate


def kept(app: Flask, who: Candidate) -> dict[int, bytes]:
    """What is there of the run, read from where its rows say it is; no file may be there without a row."""
    rows = db.session.query(Chunk.number, Chunk.storage_key, Chunk.sha256).all()
    size = db.session.query(RecorderRun.size).scalar()
    db.session.rollback()
    storage = app.extensions["parley.gateways"].storage
    found = {row[0]: read(storage, row[1]) for row in rows}
    assert {row[0]: row[2] for row in rows} == {number: sha(content) for number, content in found.items()}
    assert size == sum(map(len, found.values()))
    assert set(storage.list(f"recordings/{interview_of(who).id}")) == {row[1] for row in rows}
    return found


def test_a_bundle_is_kept_in_any_order_and_once(writer: Candidate, scripted: Flask) -> None:
    told = bundle(writer, pick([4, 1, 2])).json()
    assert told == {"received": -1, "missing": [0, 3], "duplicates": [], "refused": []}
    writer.put_chunk(1, 3, PIECES[3], track="mix")
    told = bundle(writer, pick([0, 1, 2, 3, 5])).json()
    assert told == {"received": 5, "missing": [], "duplicates": [1, 2, 3], "refused": []}
    assert bundle(writer, pick([0, 1, 2, 3, 5])).json()["duplicates"] == [0, 1, 2, 3, 5]
    assert kept(scripted, writer) == pick(range(6))


def test_one_bad_chunk_is_named_and_the_others_are_kept(writer: Candidate, scripted: Flask) -> None:
    writer.put_chunk(1, 0, PIECES[0], track="mix")
    sent = pick([1, 2]) | {0: b"other bytes", LAST_CHUNK + 1: b"x", 3: b"", 4: PIECES[4]}
    damaged = listed(sent).replace(sha(PIECES[2]), "0" * 64)
    answer = bundle(writer, sent, **{"X-Chunks": damaged})
    assert answer.status_code == 200, answer.content
    why = {one["number"]: (one["status"], one["reason"], one.get("field")) for one in answer.json()["refused"]}
    assert why == {
        2: (422, None, "X-Content-SHA256"),
        0: (409, "other hash", None),
        LAST_CHUNK + 1: (422, None, "number"),
        3: (422, None, "body"),
    }
    assert all(one["message"] for one in answer.json()["refused"])
    assert (answer.json()["received"], answer.json()["missing"]) == (1, [2, 3])
    assert kept(scripted, writer) == pick([0, 1, 4])


def test_a_bundle_of_which_nothing_can_be_kept_is_refused_as_its_first_chunk(
    writer: Candidate, scripted: Flask
) -> None:
    writer.put_chunk(1, 0, PIECES[0], track="mix")
    answer = bundle(writer, {0: b"other", LAST_CHUNK + 1: b"x"})
    assert (answer.status_code, answer.json()["reason"], answer.json()["number"]) == (409, "other hash", 0)
    recordings.seal(interview_of(writer).id, segment=1, last_mix_chunk=0)
    db.session.commit()
    answer = bundle(writer, pick([1, 2]))
    assert (answer.status_code, answer.json()["reason"]) == (409, "finished")
    assert kept(scripted, writer) == pick([0])


@pytest.mark.parametrize(
    ("chunks", "headers", "status"),
    [
        ({}, {}, 411),
        (pick([1, 2]), {"X-Chunks": ""}, 422),
        (pick([1, 2]), {"X-Chunks": listed(pick([1]))}, 422),
        (pick([1, 1, 2]), {"X-Chunks": listed(pick([1])) + ", " + listed(pick([1, 2]))}, 422),
        (pick([1, 2]), {"X-Chunks": listed(pick([1, 2])) + ","}, 422),
        (pick([1, 2]), {"Content-Type": "multipart/form-data; boundary=x"}, 415),
        (pick(range(MOST_BUNDLED + 1)), {}, 413),
        ({1: b"x", 2: b"x" * LARGEST_BUNDLE}, {}, 413),
    ],
)
def test_a_wrong_bundle_is_refused_as_a_whole(
    writer: Candidate, scripted: Flask, chunks: dict[int, bytes], headers: dict[str, str], status: int
) -> None:
    answer = bundle(writer, chunks, **headers)
    assert (answer.status_code, answer.json()["field"]) == (status, "X-Chunks" if status == 422 else None)
    assert answer.json()["message"]
    assert kept(scripted, writer) == {}


def test_the_voice_is_fed_once_and_in_order(writer: Candidate, hears: ScriptedTranscriber) -> None:
    writer.put_chunk(1, 4, VOICES[4], track="voice")
    told = bundle(writer, {5: VOICES[5], 3: VOICES[3], 4: VOICES[4], 6: b"short"}, track="voice").json()
    assert [one["number"] for one in told.pop("refused")] == [6]
    assert told == {"received": 5, "missing": [], "duplicates": [4], "partial": told["partial"]}
    assert [number for _key, number, _size in hears.fed] == [4, 3, 5]


class Dying:
    """A storage that takes so many files and then none."""

    def __init__(self, storage: Any, takes: int) -> None:
        self._storage, self._takes = storage, takes

    def put(self, key: str, content: Any) -> Any:
        if not self._takes:
            raise GatewayError("the disk is full", retryable=True)
        self._takes -= 1
        return self._storage.put(key, content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)


@pytest.fixture
def full_disk(scripted: Flask) -> Iterator[None]:
    before = scripted.extensions["parley.gateways"]
    scripted.extensions["parley.gateways"] = replace(before, storage=Dying(before.storage, takes=2))
    yield
    scripted.extensions["parley.gateways"] = before


def test_where_the_storage_ends_half_way_nothing_is_acknowledged(
    writer: Candidate, scripted: Flask, full_disk: None
) -> None:
    answer = bundle(writer, pick([0, 1, 2]))
    assert (answer.status_code, answer.json()["reason"]) == (503, "try again")
    assert answer.headers["Retry-After"]
    assert kept(scripted, writer) == {}


def test_a_process_that_dies_between_bytes_and_rows_costs_nothing(
    writer: Candidate, scripted: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_given: Any, **_named: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(recordings, "keep_chunks", dies)
        with pytest.raises(SystemExit):
            bundle(writer, pick([0, 1, 2]))
    db.session.rollback()
    assert db.session.query(Chunk).count() == 0
    db.session.rollback()
    assert bundle(writer, pick([0, 1, 2])).json()["received"] == 2
    storage = scripted.extensions["parley.gateways"].storage
    rows = db.session.query(Chunk.number, Chunk.storage_key).all()
    db.session.rollback()
    assert {number: read(storage, key) for number, key in rows} == pick([0, 1, 2])
