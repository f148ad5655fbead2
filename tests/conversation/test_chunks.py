"""Chunks: durable before acknowledged, the same again is fine, anything else is refused, and gaps are named."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
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
from tests.speech.pieces import PREROLL, opus_piece

from .conftest import Candidates, interview_of, path_of, sound
from .fakes import ScriptedSpeaker, ScriptedTranscriber

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


def test_recogniser_and_voice_are_loaded_when_the_recorder_starts(
    candidate: Candidate, segment: int, hears: ScriptedTranscriber, speaks: ScriptedSpeaker
) -> None:
    assert (segment, hears.prepared) == (1, ["en-US"])
    assert speaks.prepared == [("vendora-Kate", "en-US", "scripted:vendora-Kate")]


def coded(level: int) -> bytes:
    """A piece in Opus: a tone."""
    return opus_piece((level * np.sin(np.arange(PREROLL + 8_000 + 320) / 5)).astype("<i2"))


def test_a_piece_in_a_codec_is_stored_as_samples_and_may_come_twice(
    candidate: Candidate, segment: int, scripted: Flask, hears: ScriptedTranscriber
) -> None:
    piece = coded(9_000)
    answers = [put(candidate, f"/segments/{segment}/chunks/3?track=voice", piece).json() for _ in range(2)]
    assert [answer["duplicate"] for answer in answers] == [False, True]
    storage = scripted.extensions["parley.gateways"].storage
    row = db.session.query(Chunk).filter_by(track=Track.VOICE).one()
    size, sha256, key = row.size, row.sha256, row.storage_key
    db.session.rollback()
    samples = read(storage, key)
    assert (len(samples), size, sha256) == (16_000, 16_000, hashlib.sha256(samples).hexdigest())
    assert len(set(samples)) > 2
    assert [(number, size) for _, number, size in hears.fed] == [(3, 16_000)]


@pytest.mark.parametrize(
    ("piece", "field"),
    [
        (coded(9_000)[:-1], "body"),
        (b"PV\x01" + coded(9_000), "body"),
        (b"PV\x02\x01\x00\x00\x04\x00\xff\xff\xff\xff", "body"),
        (bytes(8_000), "body"),
        (bytes(15_999), "body"),
        (coded(9_000) + bytes(9_000), "body"),
    ],
)
def test_a_piece_that_makes_no_sound_is_refused_and_leaves_nothing(
    candidate: Candidate, segment: int, scripted: Flask, piece: bytes, field: str
) -> None:
    answer = put(candidate, f"/segments/{segment}/chunks/0?track=voice", piece)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert db.session.query(Chunk).count() == 0
    db.session.rollback()


def test_a_piece_that_was_damaged_on_the_way_is_named_as_such(candidate: Candidate, segment: int) -> None:
    piece = coded(9_000)
    headers = {"X-Content-SHA256": hashlib.sha256(piece).hexdigest()}
    answer = put(candidate, f"/segments/{segment}/chunks/0?track=voice", piece[:-1] + b"\x00", **headers)
    assert (answer.status_code, answer.json()["field"]) == (422, "X-Content-SHA256")
    assert put(candidate, f"/segments/{segment}/chunks/0?track=voice", piece).status_code == 200


def test_plain_and_coded_pieces_go_together_in_any_order(candidate: Candidate, segment: int) -> None:
    """As while a browser changes from one form to another, or an older page goes on after an upgrade."""
    pieces = {7: coded(9_000), 5: VOICE, 6: coded(8_000)}
    listed = ",".join(f"{n} {len(body)} {hashlib.sha256(body).hexdigest()}" for n, body in pieces.items())
    answer = put(
        candidate, f"/segments/{segment}/chunks?track=voice", b"".join(pieces.values()), **{"X-Chunks": listed}
    )
    assert (answer.status_code, answer.json()["refused"]) == (200, [])
    sizes = {row.number: row.size for row in db.session.query(Chunk).filter_by(track=Track.VOICE)}
    db.session.rollback()
    assert sizes == {5: 16_000, 6: 16_000, 7: 16_000}


def test_pieces_that_come_in_the_wrong_order_lie_where_they_were_said(
    candidate: Candidate, segment: int, scripted: Flask
) -> None:
    said = np.frombuffer(sound(1.1), "<i2")
    for place in (1, 0):
        piece = opus_piece(said[8_000 * place : 8_000 * place + PREROLL + 8_000 + 320])
        assert put(candidate, f"/segments/{segment}/chunks/{3 + place}?track=voice", piece).status_code == 200
    storage = scripted.extensions["parley.gateways"].storage
    keys = [row.storage_key for row in db.session.query(Chunk).filter_by(track=Track.VOICE).order_by(Chunk.number)]
    db.session.rollback()
    found = np.frombuffer(b"".join(read(storage, key) for key in keys), "<i2").astype(float)
    assert np.corrcoef(found, said[PREROLL : PREROLL + 16_000].astype(float))[0, 1] > 0.85
