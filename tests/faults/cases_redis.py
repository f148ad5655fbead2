"""Redis dies, forgets, or is away: it is a bell and never the record."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import requests
from redis import Redis

from app.gateways.redis.embedded import found_alive
from tests.faults.case import Lab, Verdict, case, eventually, percentile
from tests.faults.cases_disk import tmpfs
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, RedisServer, within
from tests.faults.partition import THERE, Wire
from tests.faults.people import Customer, Recruiter, candidates_of, talk_in_writing
from tests.faults.processes import ROOT, parley
from tests.faults.receiver import Receiver

DRAINED = 60.0
_UNRUNG = re.compile(r"Redis accepts no wake-ups \((\w+)\)")


class Scene:
    """A recruiter who keeps moving candidates while something happens to Redis."""

    def __init__(self, lab: Lab, *, redis: RedisServer | None = None, **settings: str) -> None:
        self.redis = redis or RedisServer(lab)
        self.installation = Installation(lab, redis=self.redis, **settings)
        web = self.web = self.installation.web()
        self.worker = self.installation.worker()
        self.customer, self.recruiter = Customer(self.installation, web.url), Recruiter(web.url)
        self.recruiter.sign_in()
        self.receiver = lab.resources.enter_context(Receiver(lab.directory / "journal"))
        self.flow = self.customer.flow(self.receiver.url())
        self.people = candidates_of(self.installation, self.customer, self.flow, 8)
        self._stop = threading.Event()
        self.slowest, self.pause = 0.0, 0.0

    def begin(self) -> None:
        self._thread = threading.Thread(target=self._load)
        self._thread.start()
        eventually(lambda: len(self.recruiter.moved) >= 10, seconds=60)

    def end(self) -> None:
        self._stop.set()
        self._thread.join(60)

    def _load(self) -> None:
        while not self._stop.is_set():
            for one in self.people:
                began = time.monotonic()
                self.recruiter.move(one, self.recruiter.next_status(one))
                self.slowest = max(self.slowest, time.monotonic() - began)
                self._stop.wait(self.pause)

    def check(self, verdict: Verdict) -> float:
        """Everything arrived once the fault was over; returns the seconds it took."""
        took = wait_until_delivered(self.installation, seconds=DRAINED + 20)
        arrived = check_events(verdict, self.installation, self.receiver, self.recruiter)
        events = self.installation.count("webhook_delivery")
        verdict.holds(arrived == events, f"I1 {arrived} of {events} arrived")
        verdict.holds(took is not None and took <= DRAINED, f"I12 the backlog took {took} s")
        verdict.holds(not self.recruiter.refused, f"the platform refused moves: {self.recruiter.refused[:2]}")
        verdict.figure = (
            f"{arrived} of {events} events; backlog gone after {took or -1:.1f} s; slowest click {self.slowest:.1f} s"
        )
        return took or -1


@case("F12", "kill Redis, which keeps nothing", invariants="I1 I3", smoke=True, takes=33)
def redis_killed(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), Scene(lab)
    scene.begin()
    killed = scene.redis.process.kill()
    before = len(scene.recruiter.moved)
    eventually(lambda: len(scene.recruiter.moved) >= before + 10, seconds=60)
    time.sleep(lab.amount(smoke=5, full=30))
    during = len(scene.recruiter.moved) - before
    scene.redis.start()
    scene.end()
    scene.check(verdict)
    verdict.fired = f"SIGKILL; {during} moves without Redis" if killed and during else ""
    return verdict


@case("F13", "FLUSHALL in mid-run", invariants="I1 I3", smoke=True, takes=30)
def redis_emptied(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), Scene(lab)
    scene.begin()
    emptied = 0
    with scene.redis.client() as client:
        for _ in range(lab.amount(smoke=40, full=300)):
            emptied += client.dbsize()
            client.flushall()
            time.sleep(lab.random.uniform(0.01, 0.2))
    scene.end()
    scene.check(verdict)
    verdict.fired = f"{emptied} keys wiped" if emptied else ""
    return verdict


@case("F14", "Redis down for long", invariants="I1 I12")
def redis_away(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), Scene(lab)
    scene.begin()
    stopped = scene.redis.process.kill()
    seconds = lab.amount(smoke=20, full=1_800)
    time.sleep(20)
    scene.pause = 1.0  # half an hour of it is long enough at a slower pace
    time.sleep(seconds - 20)
    scene.end()
    took = wait_until_delivered(scene.installation, seconds=DRAINED)
    verdict.holds(took is not None, "I12 without Redis nothing is delivered within 60 s")
    guesses = [
        Customer(scene.installation, scene.recruiter.url).call("GET", "/v1/interview-flows").status for _ in range(3)
    ]
    throttled = _guess_passwords(scene.recruiter.url)
    scene.redis.start()
    scene.check(verdict)
    verdict.fired = f"down for {seconds} s" if stopped else ""
    verdict.holds(set(guesses) == {200}, f"/v1 without Redis: {guesses}")
    verdict.holds(throttled, "the login throttle did not hold without Redis")
    return verdict


def _guess_passwords(url: str) -> bool:
    guesser = Recruiter(url)
    for _ in range(30):
        answer = guesser.post("/sign-in", page="/sign-in", email="admin@faults.example", password="a wrong password")
        if answer.status == 429:
            return True
    return False


@case("F15", "Redis behind a network that swallows packets", invariants="I11", group="redis-partition", root=True)
def redis_silent(lab: Lab) -> Verdict:
    verdict, wire = Verdict(), Wire(lab)
    with wire.over_there():
        redis = RedisServer(lab, host=THERE)
    scene = Scene(lab, redis=redis)
    scene.begin()
    threads, before = _threads(scene.web.pid), len(scene.recruiter.moved)
    wire.cut()
    until, clicks, most = time.monotonic() + lab.amount(smoke=15, full=60), [], 0
    while time.monotonic() < until:
        clicks.append(scene.customer.call("GET", "/v1/interview-flows"))
        most = max(most, _threads(scene.web.pid))
        time.sleep(0.05)
    during = len(scene.recruiter.moved) - before
    swallowed = wire.heal()
    scene.end()
    scene.check(verdict)
    p99 = percentile([one.seconds for one in clicks], 0.99)
    verdict.fired = f"{swallowed} packets swallowed; {during} moves meanwhile" if swallowed and during else ""
    verdict.figure += f"; /v1 p99 {p99:.2f} s; threads {threads} to {most}"
    verdict.holds({one.status for one in clicks} == {200}, f"/v1: {sorted({one.status for one in clicks})}")
    verdict.holds(p99 < 2 and scene.slowest < 4, f"I11 p99 {p99:.1f} s, slowest click {scene.slowest:.1f} s")
    verdict.holds(most <= threads + 8, f"I11 threads grew from {threads} to {most}")
    return verdict


def _threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


@case("F16", "maxmemory with noeviction reached; append-file disk full", invariants="I1 I11", root=True)
def redis_full(lab: Lab) -> Verdict:
    verdict, mount = Verdict(), tmpfs(lab, 16, "append-file")
    scene = Scene(lab, redis=RedisServer(lab, "--appendonly", "yes", "--dir", str(mount.place)))
    scene.begin()
    calm = _alarms(scene)
    with scene.redis.client() as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "1")
        memory = _live_on(lab, scene, client)
        client.config_set("maxmemory", "0")
        eventually(lambda: BACK in scene.worker.log.read_text(), seconds=30)
        filler = mount.place / "filler"
        _fill(filler)
        room = _live_on(lab, scene, client)
        filler.unlink()
        well = eventually(lambda: not _write_is_refused(client), seconds=20)
    over = eventually(lambda: not _alarms(scene), seconds=30, every=1)
    scene.end()
    scene.check(verdict)
    fired = memory.refused and room.refused and memory.moves and room.moves
    verdict.fired = f"writes refused; {memory.moves} and {room.moves} moves meanwhile" if fired else ""
    verdict.figure += (
        f"; told by {' and '.join(sorted(memory.alarms & room.alarms))}; in the log {memory.log}, then {room.log}"
    )
    verdict.holds(well, "I12 with room again Redis takes nothing")
    verdict.holds("OutOfMemoryError" in memory.log, f"no alarm of the memory: the log tells of {memory.log}")
    verdict.holds(room.log, "no alarm of the append-file in the log")
    for what, found in (("memory", memory), ("append-file", room)):
        verdict.holds(
            found.alarms == {"/readyz", "/metrics", "parley check"}, f"of the {what} only {found.alarms} tell"
        )
    verdict.holds(not calm and over, f"a false alarm: {calm} before; silent again: {over}")
    return verdict


@dataclass
class _Without:
    """A while without a Redis that takes anything: what was done, and who told that something is wrong."""

    refused: bool
    moves: int
    log: list[str]
    alarms: set[str]


def _live_on(lab: Lab, scene: Scene, client: object) -> _Without:
    before, written = len(scene.recruiter.moved), len(scene.worker.log.read_text())
    refused = eventually(lambda: _write_is_refused(client), seconds=20)
    time.sleep(lab.amount(smoke=10, full=60))
    eventually(lambda: GONE in scene.worker.log.read_text()[written:], seconds=20)
    words = sorted(set(_UNRUNG.findall(scene.worker.log.read_text()[written:])))
    return _Without(refused, len(scene.recruiter.moved) - before, words, _alarms(scene))


def _alarms(scene: Scene) -> set[str]:
    """Which of the places where an operator looks say that Redis is ill."""
    told = requests.get(f"{scene.web.url}/readyz", timeout=30).json()
    figures = requests.get(f"{scene.web.url}/metrics", timeout=30).text
    checked = subprocess.run(
        parley("check", "--json"),
        env={**os.environ, **scene.installation.env},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    found = {
        "/readyz": "redis" in told["not_ready"],
        "/metrics": "parley_redis_takes 0.0" in figures,
        "parley check": not json.loads(checked.stdout)["parts"]["redis"]["ok"],
    }
    return {place for place, is_ill in found.items() if is_ill}


def _fill(path: Path) -> None:
    """Take all the room there is."""
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(4096))


def _write_is_refused(client: object) -> bool:
    from redis.exceptions import RedisError

    try:
        client.set("probe", "x")  # type: ignore[attr-defined]
    except RedisError:
        return True
    return False


# --- F49, F50: jobs, and not only webhooks, without Redis ------------------------------------------------------------

SOON = 30.0
GONE, BACK = "Redis accepts no wake-ups (", "Redis accepts wake-ups again"


def _interview_done(installation: Installation, customer: Customer, email: str) -> float | None:
    """Seconds from the end of a written interview to its result."""
    booked = customer.book(customer.flow(None), email).body
    talk_in_writing(booked["interview_link"])
    where = "interviewee_email_address = :e and stage = 'completed'"
    return within(lambda: installation.count("interview", where, e=email), seconds=SOON * 2)


@case("F49", "Redis down while interviews end", invariants="I11 I12", smoke=True, takes=40)
def jobs_without_redis(lab: Lab) -> Verdict:
    verdict, redis = Verdict(), RedisServer(lab)
    installation = Installation(lab, redis=redis)
    web, worker = installation.web(), installation.worker()
    customer = Customer(installation, web.url)
    killed = redis.process.kill()
    took = [
        _interview_done(installation, customer, f"away-{number}@example.com")
        for number in range(lab.amount(smoke=2, full=10))
    ]
    unspoken = eventually(
        lambda: not installation.count("interview_flow", "speech_state in ('pending', 'preparing')"), seconds=SOON
    )
    redis.start()
    eventually(lambda: BACK in worker.log.read_text(), seconds=20)
    again = _interview_done(installation, customer, "back@example.com")
    status = worker.stop()
    said = worker.log.read_text()
    slowest = max(one or SOON * 2 for one in took)
    verdict.fired = f"SIGKILL; {len(took)} interviews ended without Redis" if killed else ""
    verdict.figure = f"results after {slowest:.1f} s at most; after its return {again or -1:.1f} s"
    verdict.holds(all(one is not None and one <= SOON for one in took), f"I12 without Redis results took {took}")
    verdict.holds(unspoken, "I12 scripts were not spoken without Redis")
    verdict.holds(again is not None and again <= SOON, f"I12 after its return a result took {again}")
    verdict.holds(status == 0, f"the worker ended with {status}")
    verdict.holds((said.count(GONE), said.count(BACK)) == (1, 1), "the log does not tell once that it went and came")
    verdict.holds("Traceback" not in said and " ERROR " not in said, "the log has errors of a Redis that is away")
    return verdict


@case("F50", "the embedded Redis killed, with the damaged append-file of a former release", invariants="I12")
def append_file_damaged(lab: Lab) -> Verdict:
    verdict, installation = Verdict(), Installation(lab)
    folder = installation.data_dir / "redis" / "appendonlydir"
    folder.mkdir(parents=True)
    (folder / "appendonly.aof.manifest").write_text("file appendonly.aof.1.incr.aof seq 1 type i\n")
    whole = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n" * 200
    (folder / "appendonly.aof.1.incr.aof").write_bytes(whole[:2000] + lab.random.randbytes(200) + whole[2200:])
    worker = installation.worker()
    url = eventually(lambda: found_alive(installation.data_dir, ""), seconds=60)
    web = installation.web()
    customer = Customer(installation, web.url)
    first = _interview_done(installation, customer, "first@example.com")
    with Redis.from_url(url) as client:
        os.kill(int(client.info("server")["process_id"]), signal.SIGKILL)
    second = _interview_done(installation, customer, "second@example.com")
    back = eventually(lambda: found_alive(installation.data_dir, ""), seconds=20)
    verdict.fired = "200 bytes damaged; SIGKILL" if url else ""
    verdict.figure = f"results after {first or -1:.1f} s and, killed, {second or -1:.1f} s"
    verdict.holds(worker.is_alive() and back, "the worker or its Redis is gone")
    verdict.holds(first is not None and second is not None, f"I12 results took {first} and {second}")
    return verdict
