"""Many candidates at once: each uploads a chunk every second. Who falls behind, and how late are acknowledgements?

    .venv/bin/python bench/candidates.py [--candidates 100,500] [--seconds 20] [--media audio,video] [--processes 2] [--alone]

The chosen number of web processes share one database and one storage, each on its own port. The candidates are
distributed among them, as by a proxy. Each candidate has a chunk of its recorder's run every second, spread evenly, and
does what the page does: one request at a time, and chunks that had to wait for it are sent as a bundle (``--alone``:
chunk by chunk, as before there were bundles). Latency counts from the moment a chunk was due, so delays add up.
A candidate is behind by the chunks that are due and not acknowledged. Afterwards, every acknowledged chunk is looked up
in the database and read from the storage. A chunk that differs from what was sent, or is missing, is lost. The floor of
the same run is the same load, chunk by chunk, on a bare application in the same server, which writes the bytes to a
file, fsyncs it and responds. Between both is "least": a view of an empty Flask application in the same server, which
does what makes a chunk durable, by the bare drivers (file, its directory, one transaction of SQLite with three changes).
SQLite always; PostgreSQL as well if BENCH_POSTGRES_URL names a server. Last figures: docs/figures/scale.md.
"""

import argparse
import asyncio
import hashlib
import itertools
import json
import random
import sqlite3
import sys
import time
import urllib.request
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import _ground as ground
import sqlalchemy as sa

from app.conversation.access import new_token
from app.conversation.models import Sitting
from app.conversation.protocol.chunks import MOST_BUNDLED
from app.conversation.script.place import Place
from app.core import claims
from app.core.db import db
from app.gateways.storage import build_storage, read
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Chunk
from app.settings import Settings

GOAL = 500
percentile = ground.percentile
SIZES = {"audio": 8_000, "video": 120_500}
"""Bytes of a second, as the page's recorder is set: 64 kbit/s of sound, with 900 kbit/s of picture (480p) beside it."""
BARE = """
import os, sys, uuid
from pathlib import Path
from waitress import serve
folder = Path(sys.argv[2])
def app(environ, start_response):
    if environ["REQUEST_METHOD"] == "PUT":
        with (folder / uuid.uuid4().hex).open("xb", buffering=0) as file:
            file.write(environ["wsgi.input"].read())
            os.fsync(file.fileno())
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", "2")])
    return [b"{}"]
serve(app, host="127.0.0.1", port=int(sys.argv[1]), threads=16, connection_limit=2000, asyncore_use_poll=True, _quiet=True)
"""
LEAST = """
import itertools, os, sqlite3, sys, threading
from flask import Flask, jsonify, request
from waitress import serve
folder, base, line, local, numbers = sys.argv[2], sys.argv[3], threading.Lock(), threading.local(), itertools.count()
app = Flask("least")
@app.put("/<sitting>/<int:number>")
def put(sitting, number):
    if not hasattr(local, "link"):
        local.link = sqlite3.connect(base, isolation_level=None, timeout=60)
        local.link.execute("PRAGMA synchronous=full")
    name = f"{os.getpid()}-{next(numbers)}"
    content = request.get_data()
    with open(f"{base}-{name}", "xb", buffering=0) as file:
        file.write(content)
        os.fsync(file.fileno())
    os.replace(f"{base}-{name}", f"{folder}/{name}")
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    with line:
        local.link.execute("BEGIN IMMEDIATE")
        local.link.execute("UPDATE sitting SET seen = seen + 1 WHERE id = ?", (sitting,))
        local.link.execute("INSERT INTO chunk VALUES (?, ?)", (name, sitting))
        local.link.execute("UPDATE sitting SET bytes = bytes + ? WHERE id = ?", (len(content), sitting))
        local.link.execute("COMMIT")
    return jsonify(received=name)
@app.get("/healthz")
def healthz():
    return "ok"
serve(app, host="127.0.0.1", port=int(sys.argv[1]), threads=16, connection_limit=2000, asyncore_use_poll=True, _quiet=True)
"""
TABLES = """
PRAGMA journal_mode=wal;
CREATE TABLE sitting (id TEXT PRIMARY KEY, seen INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE chunk (name TEXT PRIMARY KEY, sitting_id TEXT NOT NULL) WITHOUT ROWID;
"""


@dataclass
class Candidate:
    """One browser: where it sends its chunks, and what was acknowledged (number to hash)."""

    path: str
    headers: str
    acknowledged: dict[int, str] = field(default_factory=dict)
    refused: list[bytes] = field(default_factory=list)
    answered: int = 0


class Server(NamedTuple):
    """A web process and where it listens."""

    port: int
    pid: int


@dataclass
class Load:
    """What the run showed: milliseconds from due to acknowledged, and what servers and load generator used."""

    latencies: list[float] = field(default_factory=list)
    requests: int = 0
    served: int = 0
    """Chunks that were answered in the second half of the recording."""
    behind: list[list[int]] = field(default_factory=list)
    """Chunks of each candidate that were due and not answered, in the middle and at the end of the recording."""
    cpu_seconds: float = 0.0
    own_cpu_seconds: float = 0.0
    seconds: float = 0.0
    """Until everything was answered."""
    rss_mb: float = 0.0
    grown_mb: float = 0.0
    refused: int = 0
    lost: int = 0

    @property
    def sent(self) -> int:
        return len(self.latencies)

    @property
    def keeps_up(self) -> bool:
        """Whether nothing was lost and no one was further behind at the end than in the middle (but for half a chunk)."""
        middle, end = (sum(one) / len(one) for one in self.behind)
        return self.lost == 0 and self.refused == 0 and end <= middle + 0.5


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--candidates", default="100,500", help="how many at once; several in turn")
    asked.add_argument("--seconds", type=int, default=20)
    asked.add_argument(
        "--media", default="audio,video", help="audio is 8,000 bytes a second, video 120,500 (480p with sound)"
    )
    asked.add_argument("--processes", type=int, default=2, help="web processes of each server")
    asked.add_argument("--alone", action="store_true", help="never more than one chunk in a request")
    given = asked.parse_args()
    print(f"{ground.machine()}; {given.processes} web processes, each candidate a chunk a second for {given.seconds} s")
    results: dict[tuple[str, str, int], Load] = {}
    for kind, media in itertools.product(ground.KINDS, given.media.split(",")):
        given.bytes = SIZES[media]
        for count in [int(one) for one in given.candidates.split(",")]:
            with ExitStack() as until_all_ran:
                folders = [until_all_ran.enter_context(ground.folder()) for _ in range(3)]
                floor = on_bare(folders[0], count, given, BARE)
                least = on_bare(folders[1], count, given, LEAST)
                with ground.database(kind) as url:
                    real = on_parley(ground.env_for(url, folders[2]), count, given)
            for name, load in (("floor", floor), ("least", least), ("parley", real)):
                show(f"{kind}, {media}, {count:4d} candidates, {name:6s}", load, count, given=given)
            shares = [percentile(real.latencies, of) / percentile(floor.latencies, of) for of in (50, 99)]
            print(
                f"     parley / floor: median {shares[0]:.1f}, p99 {shares[1]:.1f}, CPU {real.cpu_seconds / floor.cpu_seconds:.1f}, "
                f"memory {real.rss_mb / floor.rss_mb:.1f}; least / floor: CPU {least.cpu_seconds / floor.cpu_seconds:.1f}",
                flush=True,
            )
            results[kind, media, count] = real
    for kind, media in {key[:2]: None for key in results if key[1] == "audio"}:
        goal(f"{kind}, {media}", max((key[2], load) for key, load in results.items() if key[:2] == (kind, media)))


def goal(name: str, of: tuple[int, Load]) -> None:
    most, load = of
    prompt = load.keeps_up and percentile(load.latencies, 99) < 1000
    for reached, what in (
        (load.keeps_up, "no one falling behind"),
        (prompt, "p99 below the second until the next chunk"),
    ):
        print(
            f"{name}: goal of {GOAL} on two cores with nothing lost and {what}: "
            f"{'reached' if reached and most >= GOAL else 'not tried' if most < GOAL else 'MISSED'}"
        )


def show(name: str, load: Load, count: int, *, given: argparse.Namespace) -> None:
    seconds: int = given.seconds
    cores, own = load.cpu_seconds / load.seconds, load.own_cpu_seconds / load.seconds
    late = ", ".join(f"{sum(one) / len(one):.1f} (most {max(one)})" for one in load.behind)
    print(
        f"{name}: {load.sent} chunks in {load.requests} requests, {load.refused} refused, {load.lost} lost; "
        f"{2 * load.served / seconds:.0f} chunks/s served; behind in the middle and at the end {late} chunks; acknowledged after "
        f"p50 {percentile(load.latencies, 50):.0f}, p95 {percentile(load.latencies, 95):.0f}, "
        f"p99 {percentile(load.latencies, 99):.0f}, max {max(load.latencies):.0f} ms; "
        f"{cores:.2f} cores ({100 * cores / count:.3f} per 100), {load.rss_mb / given.processes:.0f} MB a process "
        f"(all grew by {1000 * load.grown_mb / count:.0f} kB a candidate; {1000 * load.cpu_seconds / load.sent:.2f} ms CPU a chunk); "
        f"load generator {own:.2f} cores"
    )


# --- the two servers ----------------------------------------------------------------------------------------------


def on_bare(folder: Path, count: int, given: argparse.Namespace, program: str) -> Load:
    files, base = folder / "floor", folder / "floor.db"
    files.mkdir()
    with closing(sqlite3.connect(base)) as made:
        made.executescript(TABLES)
        made.executemany("INSERT INTO sitting VALUES (?, 0, 0)", [(str(number),) for number in range(count)])
        made.commit()
    with ExitStack() as running:
        servers = []
        for _ in range(given.processes):
            port = ground.free_port()
            command = [sys.executable, "-c", program, str(port), str(files), str(base)]
            servers.append(Server(port, running.enter_context(ground.serving(command, port))))
        everyone = [Candidate(f"/{number}{{which}}", "") for number in range(count)]
        load = asyncio.run(pressed(everyone, servers, given=given, most=1))
    load.lost = load.sent - load.refused - len(list(files.iterdir()))
    return load


def on_parley(env: dict[str, str], count: int, given: argparse.Namespace) -> Load:
    ports = [ground.free_port() for _ in range(given.processes)]
    env |= {"PORT": str(ports[0]), "APP_URL": f"http://127.0.0.1:{ports[0]}"}
    settings = Settings.from_env(env)
    with ground.application(env):
        made, free = seated(count)
        db.session.remove()
        with ExitStack() as running:
            servers = []
            for port in ports:
                pid = running.enter_context(ground.serving(ground.parley("web"), port, env={**env, "PORT": str(port)}))
                servers.append(Server(port, pid))
            everyone = browsers(made, settings.app_url + free)
            most = 1 if given.alone else MOST_BUNDLED
            load = asyncio.run(pressed(everyone, servers, given=given, most=most))
        load.lost = sum(missing(made[number][0], one, settings) for number, one in enumerate(everyone))
    return load


def seated(count: int) -> tuple[list[tuple[str, str, str]], str]:
    """Interviews that have begun: ids, paths and the holders' secrets; and the path of one that is not held."""
    owner = ground.customer(["Why us?"])
    made: list[tuple[str, str, str]] = []
    for _ in range(count):
        interview: Interview = interviews.book(owner.organization, owner.flow.id)
        token, hashed = new_token()
        db.session.add(
            Sitting(
                interview_id=interview.id,
                token_hash=hashed,
                fence=1,
                place=Place().to_json(),
                heartbeat_at=claims.moment(),
            )
        )
        interviews.begin(interview)
        recordings.open_run(interview.id, mime_type="audio/webm")
        made.append((interview.id, f"/interview/api/{owner.flow.id}/{interview.id}", token))
    free = interviews.book(owner.organization, owner.flow.id)
    db.session.commit()
    return made, f"/interview/api/{owner.flow.id}/{free.id}"


def browsers(made: list[tuple[str, str, str]], url: str) -> list[Candidate]:
    """Candidates with their cookies; the page is loaded once, its CSRF token serves them all."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        page = answer.read().decode()
        session = answer.headers["Set-Cookie"].split(";")[0]
    csrf = page.split('name="csrf-token" content="')[1].split('"')[0]
    return [
        Candidate(
            f"{path}/segments/1/chunks{{which}}?track=mix",
            f"Cookie: {session}; parley-sitting-{interview_id[:8]}={token}\r\nX-CSRFToken: {csrf}\r\n",
        )
        for interview_id, path, token in made
    ]


def missing(interview_id: str, candidate: Candidate, settings: Settings) -> int:
    """Acknowledged chunks that are not kept as they were sent."""
    storage = build_storage(settings)
    rows = db.session.execute(sa.select(Chunk.number, Chunk.storage_key).where(Chunk.interview_id == interview_id))
    keys = {row[0]: row[1] for row in rows}
    kept = {number: hashlib.sha256(read(storage, key)).hexdigest() for number, key in keys.items()}
    return sum(kept.get(number) != sha for number, sha in candidate.acknowledged.items())


# --- the load -----------------------------------------------------------------------------------------------------


async def pressed(everyone: list[Candidate], servers: list[Server], *, given: argparse.Namespace, most: int) -> Load:
    """All of them at once, with up to ``most`` chunks in a request."""
    load, begins = Load(), time.monotonic() + 1.0
    before, own = sum(ground.cpu_of(server.pid) for server in servers), time.process_time()
    rss = sum(ground.memory_of(server.pid) for server in servers)
    starts = [begins + number / len(everyone) for number in range(len(everyone))]
    watching = asyncio.create_task(watched(everyone, starts, given=given, load=load))
    await asyncio.gather(
        *(
            talks(one, starts[number], port=servers[number % len(servers)].port, given=given, load=load, most=most)
            for number, one in enumerate(everyone)
        )
    )
    await watching
    load.seconds = max(float(given.seconds), time.monotonic() - begins)
    load.cpu_seconds = sum(ground.cpu_of(server.pid) for server in servers) - before
    load.own_cpu_seconds = time.process_time() - own
    load.rss_mb = sum(ground.memory_of(server.pid) for server in servers)
    load.grown_mb = load.rss_mb - rss
    load.refused = sum(len(one.refused) for one in everyone)
    for one in everyone:
        for answer in one.refused[:1]:
            print("refused:", answer[:200], file=sys.stderr)
    return load


async def watched(everyone: list[Candidate], starts: list[float], *, given: argparse.Namespace, load: Load) -> None:
    """Count who is behind, in the middle of the recording and when it ends."""
    for share in (0.5, 1.0):
        await asyncio.sleep(max(0.0, starts[0] + share * given.seconds - time.monotonic()))
        now = time.monotonic()
        load.behind.append([due(now, start, given) - one.answered for start, one in zip(starts, everyone, strict=True)])
        load.served = sum(one.answered for one in everyone) - load.served


def due(now: float, start: float, given: argparse.Namespace) -> int:
    """How many chunks a candidate has recorded by then."""
    return max(0, min(given.seconds, int(now - start) + 1)) if now >= start else 0


async def talks(one: Candidate, begins: float, *, port: int, given: argparse.Namespace, load: Load, most: int) -> None:
    """One candidate's second after second."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    chances = random.Random(one.path)
    while one.answered < given.seconds:
        await asyncio.sleep(max(0.0, begins + one.answered - time.monotonic()))
        waiting = max(1, due(time.monotonic(), begins, given) - one.answered)
        numbers = range(one.answered, one.answered + min(most, waiting))
        chunks = {number: chances.randbytes(given.bytes) for number in numbers}
        digests = {number: hashlib.sha256(content).hexdigest() for number, content in chunks.items()}
        writer.write(request_for(one, chunks, digests, port=port))
        status, body = await answered(reader)
        now = time.monotonic()
        load.requests += 1
        load.latencies += [(now - begins - number) * 1000 for number in numbers]
        one.answered += len(numbers)
        told = json.loads(body) if status == 200 else {}
        refused = {each["number"] for each in told.get("refused", [])} if status == 200 else set(numbers)
        one.acknowledged |= {number: digest for number, digest in digests.items() if number not in refused}
        one.refused += [body] * len(refused)
    writer.close()


def request_for(one: Candidate, chunks: dict[int, bytes], digests: dict[int, str], *, port: int) -> bytes:
    """A chunk alone, or several as the page bundles them."""
    content = b"".join(chunks.values())
    if len(chunks) == 1:
        [(number, digest)] = digests.items()
        which, named = f"/{number}", f"X-Content-SHA256: {digest}"
    else:
        listed = (f"{number} {len(chunk)} {digests[number]}" for number, chunk in chunks.items())
        which, named = "", f"X-Chunks: {', '.join(listed)}"
    return (
        f"PUT {one.path.format(which=which)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(content)}\r\n"
        f"Content-Type: audio/webm\r\n{named}\r\nAccept: application/json\r\n{one.headers}\r\n"
    ).encode() + content


async def answered(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.split("content-length: ")[1].split("\r\n")[0])
    return int(head.split(" ")[1]), await reader.readexactly(length)


if __name__ == "__main__":
    main()
