"""100 interviews end in the same minute: how often each job runs, and how long the last result takes.

    python bench/rush.py [--quick] [--interviews 100] [--spoken 20] [--tests 10]

One unchanged ``parley worker`` (one process per queue), with its sweep every five seconds, while all of them are
submitted at once: **written** ones with typed answers, **spoken** ones with 20 s of recording whose answer still has to
be recognized, and **test** interviews, which the worker plays first. It counts what the worker's log reports: runs of
each job by ids (drains of webhooks have none and are left out), and the seconds of the runs that lead to the results.

Two bounds, and the script fails if one does not hold: at most 1.2 runs of each job per interview, and the last result
after at most 1.3 times the sum of the runs' own seconds. The excess over 1 is RQ's fork for each run, and work that
finds nothing to do.

SQLite always; PostgreSQL as well if BENCH_POSTGRES_URL names a server. Last figures: docs/figures/scale.md.
"""

import argparse
import json
import os
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import _ground as ground
from processing import Sound, handed_in, redis, unfinished
from redis import Redis
from rq import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer

from app.core.db import db, reading
from app.core.queue import Queued, RedisWaker, connect
from app.flows.models import InterviewFlow, SpeechState
from app.interviews import PLAY_TEST, PROCESS_INTERVIEW, actions
from app.settings import Settings

MOST_RUNS, LONGEST = 1.2, 1.3
PATIENCE = 3_600
TO_THE_RESULT = {job.name for job in (PLAY_TEST, PROCESS_INTERVIEW)}


class Run(NamedTuple):
    """One run as the worker's log tells it."""

    job: str
    ids: str
    seconds: float


def rush(env: dict[str, str], directory: Path, given: argparse.Namespace) -> bool:
    """Hand everything in, wait for all results, print what it took; whether both bounds held."""
    with ground.application(env) as app:
        link = connect(env["REDIS_URL"])
        app.extensions["parley.bell"] = RedisWaker(link)
        owner = ground.customer(["How do you work with other people?"])
        sound = Sound(Settings.from_env(env), directory)
        log = directory / "worker.log"
        with log.open("w") as lines:
            worker = subprocess.Popen(ground.parley("worker"), env={**os.environ, **env}, cwd=ground.ROOT, stderr=lines)
        try:
            _until(lambda: _is_spoken(owner.flow.id))  # or the first test interview would wait for that
            before = len(_runs(log))
            began = time.perf_counter()
            written = given.interviews - given.spoken - given.tests
            ids = [handed_in(owner, None) for _ in range(written)]
            ids += [handed_in(owner, sound) for _ in range(given.spoken)]
            ids += [_booked_as_test(owner) for _ in range(given.tests)]
            handed = time.perf_counter() - began
            _until(lambda: not unfinished(ids))
            last = time.perf_counter() - began
            _until(lambda: _is_empty(link))
        finally:
            ground.stopped(worker)
    return _told(_runs(log)[before:], given, handed=handed, last=last)


def _booked_as_test(owner: ground.Customer) -> str:
    interview = actions.book(owner.organization, owner.flow.id, is_test=True)
    db.session.commit()
    return interview.id


def _is_spoken(flow_id: str) -> bool:
    with reading():
        flow = db.session.get_one(InterviewFlow, flow_id, populate_existing=True)
        is_ready = flow.speech_state in {SpeechState.READY, SpeechState.FAILED}
        db.session.rollback()
    return is_ready


def _is_empty(link: Redis) -> bool:
    lines = [Queue(name.value, connection=link, serializer=JSONSerializer) for name in Queued]
    return not any(line.count or StartedJobRegistry(queue=line).count for line in lines)


def _until(holds) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit("it did not end in an hour")
        time.sleep(0.25)


def _runs(log: Path) -> list[Run]:
    found = []
    for line in log.read_text().splitlines():
        told = json.loads(line) if line.startswith("{") else {}
        if told.get("ids"):
            found.append(Run(told["job"], told["ids"], told["ms"] / 1000))
    return found


def _told(runs: list[Run], given: argparse.Namespace, *, handed: float, last: float) -> bool:
    shares = {}
    for job in sorted({run.job for run in runs}):
        each = Counter(run.ids for run in runs if run.job == job)
        shares[job] = each.total() / len(each)
        mean = sum(run.seconds for run in runs if run.job == job) / each.total()
        print(
            f"  {job}: {each.total()} runs for {len(each)}, {shares[job]:.2f} each, at most {max(each.values())}; "
            f"{mean:.1f} s a run"
        )
    own = sum(run.seconds for run in runs if run.job in TO_THE_RESULT)
    print(
        f"  handed in within {handed:.0f} s; last result after {last:.0f} s, {last / own:.2f} of the {own:.0f} s of the runs "
        f"themselves; {given.spoken} spoken, {given.tests} tests of {given.interviews}",
        flush=True,
    )
    return max(shares.values()) <= MOST_RUNS and last <= LONGEST * own


def main() -> None:
    """Print the figures; exit status 1 when a bound does not hold."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="50 interviews, of which 5 are spoken and 5 tests")
    options.add_argument("--interviews", type=int, default=100)
    options.add_argument("--spoken", type=int, default=20)
    options.add_argument("--tests", type=int, default=10)
    given = options.parse_args()
    if given.quick:
        given.interviews, given.spoken, given.tests = 50, 5, 5
    print(ground.machine())
    held = []
    for kind in ground.KINDS:
        print(f"{kind}:", flush=True)
        with ground.folder() as directory, ground.database(kind) as url, redis(directory) as redis_url:
            logs = {"LOG_LEVEL": "info", "LOG_FORMAT": "json"}
            env = ground.env_for(url, directory, REDIS_URL=redis_url, STT_PROCESSES="1", **logs)
            held.append(rush(env, directory, given))
    if not all(held):
        raise SystemExit("a bound did not hold")


if __name__ == "__main__":
    main()
