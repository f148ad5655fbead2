"""Audio and video of interviews."""

from app.core.rooms import Job, Room

DRAW_WAVEFORM = Job(
    "recordings.jobs.draw_waveform",
    "app.interviews.recordings.jobs.draw_waveform",
    "speech",
    600,
    overdue="app.interviews.recordings.queries.undrawn",
)

ROOM = Room(
    blueprints=("app.interviews.recordings.pages.pages",),
    tables="app.interviews.recordings.models",
    jobs=(DRAW_WAVEFORM,),
    sweeps=(
        "app.interviews.recordings.jobs.sweep_waveforms",
        "app.interviews.recordings.jobs.sweep_replaced",
    ),
)
