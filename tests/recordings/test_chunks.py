"""Chunks are kept once, whatever the network does, and the gaps are known."""

import threading

import pytest

from app import gateways
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.core.errors import Conflict, NotFound, Rejected
from app.gateways.storage import read
from app.interviews.recordings import actions, queries
from app.interviews.recordings.models import LARGEST_CHUNK, LARGEST_INTERVIEW, LAST_CHUNK, Chunk, RecorderRun, Track
from tests.people import person
from tests.recordings.conftest import an_interview, send

SHA = "a" * 64


def keep(interview, number=0, sha256=SHA, size=10, segment=1, track=Track.MIX):
    return actions.keep_chunk(
        interview.id,
        segment=segment,
        track=track,
        number=number,
        sha256=sha256,
        size=size,
        storage_key=f"r/{number}-{sha256[:8]}",
    )


def test_runs_are_numbered_from_one(interview, open_run):
    assert [open_run().number for _ in range(3)] == [1, 2, 3]
    assert [run.number for run in queries.runs_of(interview.id)] == [1, 2, 3]


@pytest.mark.parametrize(
    "mime_type",
    ["audio/webm;codecs=opus", "video/webm;codecs=h264,opus", "video/mp4", "Video/MP4; codecs=avc1,mp4a.40.2"],
)
def test_what_browsers_record_may_be_recorded(interview, mime_type):
    assert actions.open_run(interview.id, mime_type=mime_type).mime_type == mime_type


@pytest.mark.parametrize("mime_type", ["", "text/html", "video/webm2", "application/mp4", "video/webm" + " " * 100])
def test_other_kinds_are_refused_by_name(interview, mime_type):
    with pytest.raises(Rejected) as error:
        actions.open_run(interview.id, mime_type=mime_type)
    assert error.value.field == "mime_type"


def test_a_chunk_is_kept_and_its_bytes_are_found(interview, open_run):
    open_run()
    chunk = send(interview.id, b"some bytes", number=3)
    assert read(gateways.current().storage, chunk.storage_key) == b"some bytes"
    assert chunk.storage_key.startswith(f"{queries.prefix_of(interview.id)}/1/mix/3-")


def test_the_same_chunk_again_is_the_same_row(interview, open_run):
    open_run()
    first = keep(interview)
    assert keep(interview).id == first.id
    assert queries.run_for(interview.id, 1).size == 10


def test_the_same_number_with_other_bytes_is_a_conflict_that_names_it(interview, open_run):
    open_run()
    keep(interview, number=7)
    with pytest.raises(Conflict) as error:
        keep(interview, number=7, sha256="b" * 64)
    assert error.value.details == {"reason": "other hash", "number": 7}


def test_a_run_that_was_not_opened_takes_no_chunk(interview):
    with pytest.raises(NotFound, match="run 4"):
        keep(interview, segment=4)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"number": -1}, "number"),
        ({"number": LAST_CHUNK + 1}, "number"),
        ({"size": 0}, "size"),
        ({"size": LARGEST_CHUNK + 1}, "size"),
        ({"sha256": "A" * 64}, "sha256"),
        ({"sha256": "short"}, "sha256"),
    ],
)
def test_a_chunk_beyond_a_limit_is_refused_naming_the_field(interview, open_run, values, field):
    open_run()
    with pytest.raises(Rejected) as error:
        keep(interview, **values)
    assert error.value.field == field


def test_an_interview_holds_two_gibibytes_and_no_more(interview, open_run):
    open_run().size = LARGEST_INTERVIEW - 10
    keep(interview, size=10)
    db.session.commit()
    with pytest.raises(Rejected, match="limited to"):
        keep(interview, number=1, size=1)
    assert keep(interview, size=10).number == 0


def test_gaps_are_listed_and_the_start_without_gaps_is_known(interview, open_run):
    open_run()
    assert queries.contiguous(interview.id, 1, Track.MIX) == -1
    assert queries.arrived(interview.id, 1, Track.MIX) == (-1, -1)
    for number in (0, 1, 2, 4, 7):
        keep(interview, number=number)
    keep(interview, number=3, track=Track.VOICE)
    assert queries.contiguous(interview.id, 1, Track.MIX) == 2
    assert queries.arrived(interview.id, 1, Track.MIX) == (2, 7)
    assert queries.missing_chunks(interview.id, segment=1, track=Track.MIX, first=0, last=8) == [3, 5, 6, 8]
    assert queries.missing_chunks(interview.id, segment=1, track=Track.MIX, first=0, last=2) == []
    assert queries.contiguous(interview.id, 1, Track.VOICE) == -1
    keep(interview, number=3)
    assert queries.contiguous(interview.id, 1, Track.MIX) == 4


def test_keys_come_in_the_order_of_their_numbers(interview, open_run):
    open_run()
    for number in (10, 2, 9, 1):
        keep(interview, number=number)
    pieces = queries.pieces_of(interview.id, 1, Track.MIX, first=2, last=10)
    assert [piece.key for piece in pieces] == [f"r/{n}-aaaaaaaa" for n in (2, 9, 10)]


def test_a_run_is_sealed_only_when_everything_has_arrived(interview, open_run):
    open_run()
    for number in (0, 2):
        keep(interview, number=number)
    with pytest.raises(Conflict) as error:
        actions.seal(interview.id, segment=1, last_mix_chunk=3)
    assert error.value.details == {"missing": [1, 3]}
    keep(interview, number=1)
    assert actions.seal(interview.id, segment=1, last_mix_chunk=2).last_mix_chunk == 2
    with pytest.raises(Conflict) as error:
        keep(interview, number=3)
    assert error.value.details == {"reason": "finished"}
    with pytest.raises(Rejected) as refused:
        actions.seal(interview.id, segment=1, last_mix_chunk=-1)
    assert refused.value.field == "last_mix_chunk"


def test_takes_hold_what_can_be_played(interview, open_run):
    open_run()
    open_run("video/webm")
    for number in (0, 1, 3):
        keep(interview, number=number, segment=2)
    keep(interview, number=8, segment=2, track=Track.VOICE)
    [take] = queries.takes_of(interview.id)
    assert (take.number, take.mime_type) == (2, "video/webm")
    assert [piece.number for piece in take.mix] == [0, 1]
    assert [piece.number for piece in take.voice] == [8]


def test_twenty_senders_of_one_chunk_leave_one_row(own_app):
    with own_app.app_context():
        interview = an_interview(person(own_app, "owner@race.example", organization="Race Ltd", role="admin"))
        interview_id = interview.id
        actions.open_run(interview_id, mime_type="audio/webm")
        db.session.commit()
    kept, refused = [], []

    def one(sha256: str) -> None:
        with own_app.app_context():
            try:
                chunk = actions.keep_chunk(
                    interview_id, segment=1, track=Track.MIX, number=0, sha256=sha256, size=5, storage_key="r/x"
                )
                db.session.commit()
                kept.append(chunk.id)
            except Conflict:
                db.session.rollback()
                refused.append(sha256)

    senders = [threading.Thread(target=as_chosen(one), args=("ab"[number % 2] * 64,)) for number in range(20)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    with own_app.app_context():
        assert db.session.query(Chunk).count() == 1
        assert db.session.query(RecorderRun).one().size == 5
    assert len(set(kept)) == 1
    assert (len(kept), len(refused)) == (10, 10)
