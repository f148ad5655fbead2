"""Draws waveforms of recordings."""

from datetime import timedelta
from typing import Any

from app import gateways
from app.core import claims, queue
from app.core.db import for_one
from app.core.errors import GatewayError, NotFound
from app.interviews.recordings import DRAW_WAVEFORM, media, queries
from app.interviews.recordings.models import Media, Waveform, WaveState

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
