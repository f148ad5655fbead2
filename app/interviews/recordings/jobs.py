"""Draws waveforms of recordings."""

import logging
from datetime import timedelta
from typing import Any

from app import gateways
from app.core import claims, queue
from app.core.db import db, for_one
from app.core.errors import GatewayError, NotFound
from app.interviews.recordings import DRAW_WAVEFORM, actions, media, queries
from app.interviews.recordings.models import Media, Waveform, WaveState

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=15)
"""Longer than drawing two hours may take."""


_DRAWING = claims.Work(
    Waveform.state, waits=WaveState.WAITING, works=WaveState.DRAWING, failed=WaveState.FAILED, lease=LEASE
)


@for_one(Waveform)
def draw_waveform(waveform_id: str) -> None:
    """Decode the recording and store its bars. May run twice; a missing row is ignored."""
    claims.run(_DRAWING, waveform_id, read=_sound, do=_drawn)


def sweep_waveforms() -> None:
    """Enqueue every recording that waits to be drawn; called by the worker's tick."""
    queue.enqueue_overdue(DRAW_WAVEFORM)


def sweep_replaced() -> None:
    """Delete files that others have replaced, once all downloads of them have ended; called by the worker's tick."""
    waiting, storage = queries.replaced(), gateways.current().storage
    db.session.rollback()
    for recording_id, key in waiting:
        try:
            storage.delete(key)
        except GatewayError as error:
            log.warning("recording %s: its replaced file is not deleted yet: %s", recording_id, error.message)
            continue
        actions.forget_replaced(recording_id, storage_key=key)
        db.session.commit()


def _sound(waveform: Waveform, _token: int) -> tuple[str, float] | None:
    """Key and seconds of the file that the waveform is drawn from."""
    recording = queries.recording_of(waveform.interview_id, Media.AUDIO) or queries.recording_of(
        waveform.interview_id, Media.VIDEO
    )
    return (recording.storage_key, recording.duration) if recording else None


def _drawn(sound: tuple[str, float] | None) -> dict[str, Any]:
    if sound is None:
        return {"state": WaveState.FAILED}
    key, seconds = sound
    try:
        peaks = media.peaks_of(key, seconds=seconds, storage=gateways.current().storage)
    except NotFound as error:  # another file has replaced it meanwhile
        raise GatewayError(error.message, retryable=True) from error
    return {"state": WaveState.DRAWN if peaks else WaveState.FAILED, "peaks": peaks or None}
