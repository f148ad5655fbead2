"""Draws how loud a recording is."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app import gateways
from app.core import claims, queue
from app.core.db import db, for_one
from app.core.errors import GatewayError, NotFound
from app.interviews.recordings import DRAW_WAVEFORM, media, queries
from app.interviews.recordings.models import Media, Waveform, WaveState

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=15)
"""Longer than drawing two hours may take."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A claimed waveform, and the file that it is drawn from, as plain values."""

    token: int
    recoveries: int
    key: str
    seconds: float


@for_one(Waveform)
def draw_waveform(waveform_id: str) -> None:
    """Claim the waveform, listen through the recording, keep its bars. May run twice; an absent row is fine."""
    source = _claimed(waveform_id)
    db.session.commit()
    if source is None:
        return
    outcome: dict[str, Any]
    try:
        peaks = media.peaks_of(source.key, seconds=source.seconds, storage=gateways.current().storage)
        outcome = {"state": WaveState.DRAWN if peaks else WaveState.FAILED, "peaks": peaks or None}
    except (GatewayError, NotFound) as error:  # NotFound: another file has taken its place meanwhile
        log.warning("waveform %s not drawn: %s", waveform_id, type(error).__name__)
        outcome = claims.after_failure(
            Waveform.state,
            source.recoveries,
            retryable=isinstance(error, NotFound) or error.retryable,
            waits=WaveState.WAITING,
            parked=WaveState.FAILED,
        )
    claims.finish(Waveform, waveform_id, source.token, **outcome)
    db.session.commit()


def sweep_waveforms() -> None:
    """Ring again for every recording that waits to be drawn; called by the worker's tick."""
    queue.enqueue_overdue(DRAW_WAVEFORM)


def _claimed(waveform_id: str) -> _Source | None:
    taken = claims.take_row(
        Waveform.state,
        waveform_id,
        expects=WaveState.WAITING,
        becomes=WaveState.DRAWING,
        lease=LEASE,
        parked={"state": WaveState.FAILED},
    )
    if taken is None:
        return None
    token, waveform = taken
    sound = queries.recording_of(waveform.interview_id, Media.AUDIO) or queries.recording_of(
        waveform.interview_id, Media.VIDEO
    )
    if sound is None:
        claims.finish(Waveform, waveform_id, token, state=WaveState.FAILED)
        return None
    return _Source(token, waveform.recoveries, sound.storage_key, sound.duration)
