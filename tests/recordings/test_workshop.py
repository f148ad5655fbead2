"""From acknowledged chunks to published files."""

import pytest

from app import gateways
from app.core.db import db
from app.gateways.storage import Damaged
from app.interviews.recordings import actions, queries
from app.interviews.recordings.models import Media, Track
from tests.recordings import recorder
from tests.recordings.conftest import send


@pytest.fixture
def recorded(interview, open_run, tmp_path):
    """Two runs in chunks of 5,000 bytes, with the candidate's own voice from the second half-second on."""
    speech = recorder.speech(6, seed=4)
    for segment in (1, 2):
        open_run("video/webm")
        path = recorder.record(tmp_path / f"{segment}.webm", recorder.up_to_48k(speech), video="libvpx")
        content = path.read_bytes()
        for number, start in enumerate(range(0, len(content), 5_000)):
            send(interview.id, content[start : start + 5_000], segment=segment, number=number)
    samples = (speech * 32767).astype("<i2").tobytes()
    for number in range(1, 12):
        chunk = samples[(number - 1) * 16_000 : number * 16_000].ljust(16_000, b"\0")  # half a second late
        send(interview.id, chunk, segment=2, track=Track.VOICE, number=number)
    return interview


def opened(interview):
    takes, interview_id = queries.takes_of(interview.id), interview.id
    db.session.commit()
    return actions.workshop(interview_id, takes, storage=gateways.current().storage)


def test_chunks_become_files_that_can_be_published(recorded):
    with opened(recorded) as workshop:
        timeline = workshop.timeline()
        done = workshop.finish(want_video=True)
    assert [run.number for run in timeline] == [1, 2]
    assert timeline == done.runs
    assert done.duration == pytest.approx(12, abs=0.1)
    for file in (done.audio, done.video):
        recording = actions.publish(recorded.id, organization_id=recorded.organization_id, file=file)
        assert recording.duration == done.duration
        assert len(recording.blocks) % 32 == 0
    db.session.commit()
    assert set(queries.urls_for(recorded.id)) == {Media.AUDIO, Media.VIDEO}


def test_the_candidates_words_are_found_on_the_recordings_clock(recorded):
    with opened(recorded) as workshop:
        assert workshop.shifts(2, [(1, 11), (3, 8)]) == pytest.approx([-0.5, -0.5], abs=0.015)
        assert workshop.shifts(1, []) == []
        assert workshop.shifts(2, [(40, 44)]) == [None]


def test_the_quick_file_comes_without_decoding(recorded):
    with opened(recorded) as workshop:
        quick = workshop.quick_audio()
    assert quick.content_type == "audio/mp4"
    assert quick.duration == pytest.approx(12, abs=0.1)


def test_a_damaged_chunk_stops_the_work_and_is_named(recorded):
    take = queries.takes_of(recorded.id)[0]
    db.session.commit()
    gateways.current().storage.put(take.mix[1].key, b"other bytes")
    with opened(recorded) as workshop, pytest.raises(Damaged) as error:
        workshop.finish()
    assert error.value.key == take.mix[1].key
