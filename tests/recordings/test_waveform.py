"""How loud a recording is from beginning to end: listened to once by a job, kept, drawn, and gone with its sound."""

from pathlib import Path

import pytest

from app import gateways
from app.core import queue
from app.core.db import db
from app.core.errors import GatewayError
from app.interviews.models import Interview
from app.interviews.recordings import DRAW_WAVEFORM, actions, jobs
from app.interviews.recordings.media import keep
from app.interviews.recordings.models import BARS, Media, Waveform, WaveState
from app.interviews.recordings.queries import peaks_of, undrawn
from app.interviews.recordings.video import RunFile, assemble, peaks
from tests.interviews.conftest import later
from tests.recordings import recorder


@pytest.fixture(scope="module")
def beeps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six seconds with a beep at 1.0 and at 4.5, as they are published."""
    folder = tmp_path_factory.mktemp("beeps")
    path = recorder.record(folder / "a.webm", recorder.sound(6, [1.0, 4.5]))
    made = assemble([RunFile(number=1, path=path)], directory=folder)
    assert made.audio is not None
    return made.audio


@pytest.fixture
def published(interview: Interview, beeps: Path) -> Waveform:
    interview_id, organization_id = interview.id, interview.organization_id
    db.session.commit()
    storage = gateways.current().storage
    file = keep(beeps, Media.AUDIO, interview_id=interview_id, duration=6.0, storage=storage)
    actions.publish(interview_id, organization_id=organization_id, file=file)
    db.session.commit()
    return db.session.query(Waveform).one()


def state_of(waveform_id: str) -> WaveState:
    return db.session.get_one(Waveform, waveform_id, populate_existing=True).state


def test_bars_are_high_where_there_is_sound(beeps: Path) -> None:
    bars = peaks(beeps, seconds=6.0, count=60)
    assert len(bars) == 60
    assert max(bars) == 255
    loud = [at for at, bar in enumerate(bars) if bar > 100]
    assert set(loud) <= {9, 10, 11, 44, 45, 46}
    assert {10, 45} <= set(loud)


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"no sound at all")
    with pytest.raises(GatewayError) as refused:
        peaks(path, seconds=6.0, count=60)
    assert not refused.value.retryable


def test_a_published_recording_is_drawn_once(published: Waveform, waker: queue.SilentWaker) -> None:
    found, interview_id = published.id, published.interview_id
    assert (DRAW_WAVEFORM, (found,)) in waker.enqueued
    assert undrawn() == [found]
    db.session.commit()
    jobs.draw_waveform(found)
    drawn = peaks_of(interview_id)
    assert drawn is not None
    assert (len(drawn), state_of(found), undrawn()) == (BARS, WaveState.DRAWN, [])
    fence = db.session.get_one(Waveform, found).fence
    db.session.commit()
    jobs.draw_waveform(found)
    assert db.session.get_one(Waveform, found, populate_existing=True).fence == fence, "it is not listened to again"
    db.session.commit()
    jobs.draw_waveform("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")


def test_a_file_that_is_away_is_tried_again_and_given_up_in_the_end(
    published: Waveform, waker: queue.SilentWaker
) -> None:
    found, interview_id = published.id, published.interview_id
    db.session.commit()
    actions.destroy(interview_id, storage=gateways.current().storage)
    jobs.draw_waveform(found)
    assert state_of(found) is WaveState.WAITING
    assert undrawn() == [], "not before a while"
    for times in range(1, 10):
        with later(hours=times):
            waker.enqueued.clear()
            jobs.sweep_waveforms()
            for _job, ids in waker.enqueued:
                jobs.draw_waveform(*ids)
    assert state_of(found) is WaveState.FAILED
    assert peaks_of(interview_id) is None


def test_with_the_recordings_the_drawing_goes(published: Waveform) -> None:
    actions.revoke(published.interview_id)
    db.session.commit()
    assert db.session.query(Waveform).count() == 0
