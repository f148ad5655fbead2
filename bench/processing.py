"""How many submitted interviews a minute the workers turn into results, next to the queue alone and the work alone.

    python bench/processing.py [--quick] [--written 40] [--spoken 10] [--workers 1,2]

Submitted interviews wait in the database, then all of them are enqueued: RQ, Redis and ``parley worker`` unchanged, with
one and two worker processes. **Written** interviews have typed answers and no recording, so there is almost no work.
**Spoken** ones have 20 s of recording in which the embedded engine still has to recognize an answer, and their sound
becomes a file. Two floors of the same run: jobs of the same kind, queue and workers that find nothing to do (a fork and
one statement), and the same work in this process, one after the other, without queue and worker.

SQLite always; PostgreSQL as well if BENCH_POSTGRES_URL names a server. Last figures: docs/figures/scale.md.
"""

import argparse
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import _ground as ground
import numpy as np
import sqlalchemy as sa
from interviews import keep
from redis import Redis
from rq import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer

from app.core.db import db, new_id, reading
from app.core.queue import RedisWaker
from app.flows.flow_script import FlowScript
from app.gateways.redis import embedded
from app.interviews import PROCESS_INTERVIEW, actions
from app.interviews.jobs import processing
from app.interviews.models import Interview, Role, Stage, Utterance
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Track
from app.operations.demo.answers import spoken_answers
from app.settings import Settings
from tests.recordings import recorder

SECONDS, AT = 20.0, 4.0
ALONE = 3


class Sound:
    """One short talk: the recorder's bytes, and the candidate's own voice in half seconds."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        said = spoken_answers(settings)[2][: (14 * 32_000)]
        voice = np.frombuffer(said, dtype="<i2").astype(np.float32) / 32767
        self.end = AT + len(voice) / 16_000
        mix = (0.002 * np.random.default_rng(1).standard_normal(round(SECONDS * recorder.RATE))).astype(np.float32)
        loud, place = recorder.up_to_48k(voice), round((AT + 0.12) * recorder.RATE)
        mix[place : place + len(loud)] += loud[: len(mix) - place]
        raw = recorder.record(directory / "talk.webm", mix, layout="mono").read_bytes()
        self.pieces = {(Track.MIX, at // 6_000): raw[at : at + 6_000] for at in range(0, len(raw), 6_000)}
        for at in range(0, len(said), 16_000):
            self.pieces[Track.VOICE, round(AT * 2) + at // 16_000] = said[at : at + 16_000].ljust(16_000, b"\0")


def handed_in(owner: ground.Customer, sound: Sound | None) -> str:
    """An interview that waits for its result."""
    interview = actions.begin(actions.book(owner.organization, owner.flow.id))
    interview.script = FlowScript.of(owner.flow)
    found = interview.id
    if sound:
        recordings.open_run(found, mime_type="audio/webm;codecs=opus")
    db.session.commit()
    if sound:
        keep(found, sound.pieces)
    asked: dict[str, Any] = {"interview_id": found, "segment": 1 if sound else None, "typed": False}
    db.session.add(
        Utterance(
            **asked,
            number=1,
            role=Role.AGENT,
            question_index=0,
            content="How do you work with other people?",
            start=0.5 if sound else None,
            end=3.0 if sound else None,
        )
    )
    answer = (
        {"start": AT, "end": sound.end, "content": None}
        if sound
        else {"content": "I listen first. " * 20, "typed": True}
    )
    db.session.add(Utterance(**{**asked, **answer}, number=2, role=Role.USER, question_index=None))
    actions.submit(db.session.get_one(Interview, found))
    db.session.commit()
    return found


@contextmanager
def redis(directory: Path) -> Iterator[str]:
    """A Redis of its own."""
    port = ground.free_port()
    command = [str(embedded.binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(directory)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        ground.stopped(process)


def through_workers(env: dict[str, str], ids: list[str], *, workers: int) -> tuple[float, float, float]:
    """Seconds from the first ring until no job is left, CPU seconds and MB of all worker processes."""
    link = Redis.from_url(env["REDIS_URL"])
    queue = Queue(PROCESS_INTERVIEW.queue, connection=link, serializer=JSONSerializer)
    under_way = StartedJobRegistry(queue.name, connection=link, serializer=JSONSerializer)
    with ExitStack() as running:
        started = [ground.started(ground.parley("worker"), env=env) for _ in range(workers)]
        for process in started:
            running.callback(ground.stopped, process)
        while link.scard("rq:workers:interviews") < workers:
            time.sleep(0.1)
        time.sleep(2)  # what a worker does once, at its start
        pids = [process.pid for process in started]
        before, began, most = _cpu(pids), time.perf_counter(), 0.0
        waker = RedisWaker(link)
        for one in ids:
            waker.enqueue(PROCESS_INTERVIEW, (one,))
        while queue.count or under_way.count:
            most = max(most, sum(ground.memory_of(pid) for top in pids for pid in ground.family(top)))
            time.sleep(0.1)
        return time.perf_counter() - began, _cpu(pids) - before, most


def _cpu(pids: list[int]) -> float:
    """Of processes and all below them, those that have ended included."""
    return sum(ground.cpu_of(pid) for top in pids for pid in ground.family(top))


def unfinished(ids: list[str]) -> int:
    with reading():
        left = sa.select(sa.func.count()).where(Interview.id.in_(ids), Interview.stage != Stage.COMPLETED)
        found = db.session.scalar(left) or 0
        db.session.rollback()
    return found


def measure(kind: str, given: argparse.Namespace) -> None:
    """One database: both kinds of interview, all numbers of workers."""
    with ground.folder() as directory, ground.database(kind) as url, redis(directory) as redis_url:
        env = ground.env_for(url, directory, REDIS_URL=redis_url, STT_PROCESSES="1", SWEEP_SECONDS="600")
        with ground.application(env):
            owner = ground.customer(["How do you work with other people?"])
            sounds = {"written": None, "spoken": Sound(Settings.from_env(env), directory)}
            for name, sound in sounds.items():
                count: int = given.written if sound is None else given.spoken
                alone = [_alone(handed_in(owner, sound)) for _ in range(ALONE)]
                work = 60 / statistics.median(alone)
                print(f"{kind}, {name}: floor, the work alone in one process: {work:.0f} a minute")
                for workers in given.workers:
                    empty, _cpu_seconds, _mb = through_workers(env, [new_id() for _ in range(count)], workers=workers)
                    ids = [handed_in(owner, sound) for _ in range(count)]
                    seconds, cpu, most = through_workers(env, ids, workers=workers)
                    left, rate = unfinished(ids), 60 * count / seconds
                    print(
                        f"{kind}, {name}: {workers} x worker: {rate:.0f} a minute, {cpu / count:.2f} core-seconds each, {most:.0f} MB "
                        f"in all; {rate / work:.2f} of the work alone, {rate / (60 * count / empty):.2f} of the queue alone "
                        f"({60 * count / empty:.0f} a minute); {left} not finished",
                        flush=True,
                    )


def _alone(interview_id: str) -> float:
    began = time.perf_counter()
    processing.process_interview(interview_id)
    seconds = time.perf_counter() - began
    assert not unfinished([interview_id]), "an interview was not processed"
    return seconds


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="12 written and 4 spoken interviews")
    options.add_argument("--written", type=int, default=40)
    options.add_argument("--spoken", type=int, default=10)
    options.add_argument("--workers", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2])
    given = options.parse_args()
    if given.quick:
        given.written, given.spoken = 12, 4
    print(ground.machine())
    for kind in ground.KINDS:
        measure(kind, given)


if __name__ == "__main__":
    main()
