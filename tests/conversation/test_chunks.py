"""Chunks: durable before acknowledged, the same again is fine, anything else is refused, and gaps are named."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.core.errors import GatewayError
from app.gateways.storage import read
from app.interviews import actions as interviews
from app.interviews.recordings.models import Chunk, Track
from app.operations.demo.candidate import Candidate, Refused
from tests.factories import Made
from tests.people import Browser

from .conftest import Candidates, interview_of, path_of, sound
from .fakes import ScriptedTranscriber

MIX = b"\x1a\x45\xdf\xa3 some webm"
VOICE = sound(0.5)


def put(candidate: Candidate, path: str, content: bytes, **headers: str) -> Any:
    given = {"X-Content-SHA256": hashlib.sha256(content).hexdigest(), "Content-Type": "application/octet-stream"}
    return candidate.ask("PUT", path, data=content, headers={**given, **headers})


@pytest.fixture
def segment(candidate: Candidate) -> int:
    return candidate.open_segment("audio/webm;codecs=opus")


def test_each_start_of_the_recorder_is_a_run_of_its_own(candidate: Candidate, segment: int) -> None:
    assert (segment, candidate.open_segment("video/mp4"), candidate.call("GET", "/state")["next_segment"]) == (1, 2, 3)


@pytest.mark.parametrize("mime_type", ["text/html", "", "audio/webm" + "x" * 200, None, 7])
def test_a_recorder_of_an_unknown_kind_is_refused(candidate: Candidate, mime_type: Any) -> None:
    answer = candidate.ask("POST", "/segments", json={"mime_type": mime_type})
    assert (answer.status_code, answer.json()["field"]) == (422, "mime_type")


def test_the_recorder_cannot_be_started_for_ever(candidate: Candidate) -> None:
    for _ in range(50):
        candidate.open_segment("audio/webm")
    assert candidate.ask("POST", "/segments", json={"mime_type": "audio/webm"}).status_code == 422


def test_chunks_in_any_order_are_all_kept_and_gaps_are_named(
    candidate: Candidate, segment: int, scripted: Flask
) -> None:
    sent = {n: MIX + bytes([n]) * (n + 1) for n in range(6)}
    seen = [candidate.put_chunk(segment, n, sent[n], track="mix") for n in (1, 4, 0, 5)]
    assert [one["received"] for one in seen] == [-1, -1, 1, 1]
    assert [one["missing"] for one in seen] == [[0], [0, 2, 3], [2, 3], [2, 3]]
    assert candidate.put_chunk(segment, 2, sent[2], track="mix") == {"received": 2, "missing": [3], "duplicate": False}
    assert candidate.put_chunk(segment, 3, sent[3], track="mix") == {"received": 5, "missing": [], "duplicate": False}
    storage = scripted.extensions["parley.gateways"].storage
    rows = db.session.query(Chunk).filter_by(track=Track.MIX).order_by(Chunk.number).all()
    kept = [(row.number, row.sha256, row.storage_key) for row in rows]
    db.session.rollback()
    for number, sha256, key in kept:
        assert read(storage, key) == sent[number]
        assert hashlib.sha256(sent[number]).hexdigest() == sha256


def test_the_same_chunk_again_is_fine_and_other_bytes_are_not(candidate: Candidate, segment: int) -> None:
    assert candidate.put_chunk(segment, 0, MIX, track="mix")["duplicate"] is False
    assert candidate.put_chunk(segment, 0, MIX, track="mix")["duplicate"] is True
    with pytest.raises(Refused) as refused:
        candidate.put_chunk(segment, 0, MIX + b"!", track="mix")
    assert (refused.value.status, refused.value.body["reason"], refused.value.body["number"]) == (409, "other hash", 0)
    assert db.session.query(Chunk).count() == 1


def test_the_tracks_are_counted_apart(candidate: Candidate, segment: int) -> None:
    candidate.put_chunk(segment, 0, MIX, track="mix")
    told = candidate.put_chunk(segment, 7, VOICE, track="voice")
    assert told == {"received": 7, "missing": [], "duplicate": False, "partial": "i"}


def test_voice_chunks_are_fed_to_the_recogniser_while_the_candidate_speaks(
    candidate: Candidate, segment: int, hears: ScriptedTranscriber
) -> None:
    candidate.turn(1, "begin")
    candidate.put_chunk(segment, 3, VOICE, track="voice")
    candidate.put_chunk(segment, 3, VOICE, track="voice")
    candidate.put_chunk(segment, 0, MIX, track="mix")
    assert hears.fed == [(f"{interview_of(candidate).id}/2/1", 3, 16_000)]


def test_a_language_without_a_recogniser_is_only_stored(
    candidates: Candidates, book: Made, hears: ScriptedTranscriber
) -> None:
    german = candidates(book(language="de-DE"))
    german.start()
    segment = german.open_segment("audio/webm")
    german.put_chunk(segment, 0, VOICE, track="voice")
    assert hears.fed == []


@pytest.mark.parametrize(
    ("path", "content", "headers", "status", "field"),
    [
        ("/segments/1/chunks/0?track=mix", MIX, {"X-Content-SHA256": "0" * 64}, 422, "X-Content-SHA256"),
        ("/segments/1/chunks/0?track=mix", MIX, {"X-Content-SHA256": "short"}, 422, "X-Content-SHA256"),
        ("/segments/1/chunks/0?track=voice", MIX, {}, 422, "body"),
        ("/segments/1/chunks/0?track=mix", b"", {}, 411, None),
        ("/segments/1/chunks/0?track=other", MIX, {}, 422, "track"),
        ("/segments/1/chunks/0", MIX, {}, 422, "track"),
        ("/segments/0/chunks/0?track=mix", MIX, {}, 422, "segment"),
        ("/segments/99999999999999999999/chunks/0?track=mix", MIX, {}, 422, "segment"),
        ("/segments/1/chunks/99999999999999999999?track=mix", MIX, {}, 422, "number"),
        ("/segments/9/chunks/0?track=mix", MIX, {}, 404, None),
        ("/segments/1/chunks/x?track=mix", MIX, {}, 404, None),
        ("/segments/1/chunks/0?track=mix", MIX, {"Content-Type": "text/html"}, 415, None),
        ("/segments/1/chunks/0?track=mix", b"x" * (4 * 1024 * 1024 + 1), {}, 413, None),
    ],
)
def test_a_wrong_chunk_is_refused_by_name_and_leaves_nothing(
    candidate: Candidate,
    segment: int,
    path: str,
    content: bytes,
    headers: dict[str, str],
    status: int,
    field: str | None,
) -> None:
    answer = put(candidate, path, content, **headers)
    assert answer.status_code == status
    if path.count("/") == 4 and "chunks/x" not in path:
        assert answer.json()["field"] == field
        assert answer.json()["message"]
    assert db.session.query(Chunk).count() == 0


def test_bytes_that_changed_on_the_way_leave_no_file(candidate: Candidate, segment: int, scripted: Flask) -> None:
    put(candidate, "/segments/1/chunks/0?track=mix", MIX, **{"X-Content-SHA256": "0" * 64})
    storage = scripted.extensions["parley.gateways"].storage
    assert list(storage.list(f"recordings/{candidate.link.rsplit('/', 1)[-1]}")) == []
    assert candidate.put_chunk(segment, 0, MIX, track="mix")["received"] == 0


class FailingStorage:
    """A disk that is full."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def put(self, key: str, content: Any) -> Any:
        raise GatewayError("the disk is full", retryable=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)


def test_nothing_is_acknowledged_that_could_not_be_stored(candidate: Candidate, segment: int, scripted: Flask) -> None:
    before = scripted.extensions["parley.gateways"]
    scripted.extensions["parley.gateways"] = replace(before, storage=FailingStorage(before.storage))
    answer = put(candidate, "/segments/1/chunks/0?track=mix", MIX)
    scripted.extensions["parley.gateways"] = before
    assert (answer.status_code, answer.json()["reason"]) == (503, "try again")
    assert answer.headers["Retry-After"]
    assert db.session.query(Chunk).count() == 0
    assert candidate.put_chunk(segment, 0, MIX, track="mix")["received"] == 0


def test_after_the_end_nothing_more_is_taken(candidate: Candidate, segment: int) -> None:
    candidate.put_chunk(segment, 0, MIX, track="mix")
    candidate.write(["a", "b"])
    for content in (MIX, MIX + b"!"):
        answer = put(candidate, "/segments/1/chunks/1?track=mix", content)
        assert (answer.status_code, answer.json()["reason"]) == (409, "finished")


def test_chunks_of_a_talk_whose_recordings_were_revoked_are_still_taken(candidate: Candidate, segment: int) -> None:
    interviews.revoke_recordings(interview_of(candidate))
    db.session.commit()
    assert put(candidate, "/segments/1/chunks/0?track=mix", MIX).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/state"),
        ("POST", "/segments"),
        ("PUT", "/segments/1/chunks/0?track=mix"),
        ("POST", "/turns/1"),
        ("GET", "/turns/1/audio"),
        ("POST", "/heartbeat"),
        ("POST", "/documents"),
        ("DELETE", "/documents/x"),
        ("POST", "/finish"),
    ],
)
def test_without_the_cookie_nothing_is_to_be_had(
    client: Browser, scripted: Flask, candidate: Candidate, method: str, path: str
) -> None:
    interview = interview_of(candidate)
    answer = client.open(path_of(interview) + path, method=method)
    assert (answer.status_code, answer.get_json()["reason"]) == (403, "no sitting")
    client.set_cookie(f"parley-sitting-{interview.id[:8]}", "guessed")
    answer = client.open(path_of(interview) + path, method=method)
    assert (answer.status_code, answer.get_json()["reason"]) == (409, "taken over")
    answer = client.open(f"/interview/api/{interview.id}/{interview.id}{path}", method=method)
    assert (answer.status_code, answer.get_json()["reason"]) == (404, "unknown")


def test_the_cookie_of_one_interview_opens_no_other(candidate: Candidate, candidates: Candidates, book: Made) -> None:
    other = book()
    stranger = Candidate(f"http://localhost{path_of(other)}", session=candidate._session)
    with pytest.raises(Refused) as refused:
        stranger.call("GET", "/state")
    assert refused.value.status == 403


def test_writing_needs_the_pages_token(candidate: Candidate, segment: int) -> None:
    browser: Browser = candidate._session.browser  # type: ignore[attr-defined]
    path = candidate.link.removeprefix("http://localhost")
    for method, end in (("POST", "/turns/1"), ("PUT", "/segments/1/chunks/0?track=mix"), ("POST", "/heartbeat")):
        answer = browser.open(path + end, method=method, forged=True)
        assert answer.status_code == 400
        assert answer.get_json()["message"]


def test_the_recogniser_is_loaded_when_the_recorder_starts(
    candidate: Candidate, segment: int, hears: ScriptedTranscriber
) -> None:
    assert (segment, hears.prepared) == (1, ["en-US"])
