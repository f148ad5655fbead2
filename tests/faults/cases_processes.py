"""Processes that die: the web process at every system call, workers between the receiver's answer and the mark."""

import contextlib
import hashlib
import json
import os
import re
import resource
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests

from app.operations.demo.candidate import Candidate
from tests.faults.case import Lab, Verdict, case, eventually
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, PostgresServer, RedisServer, Web, within
from tests.faults.people import Customer, Recruiter, candidate_at, candidates_of, talk_in_writing
from tests.faults.processes import Strace, children, descendants, holder_of_port, is_running
from tests.faults.proxy import Proxy
from tests.faults.receiver import Receiver

DISK_CALLS = "write,pwrite64,fsync,fdatasync,rename,openat,sendto,unlink,ftruncate,mkdir"
REDONE = 120.0
A_LITTLE = 6_000_000
"""Less than the stack of one more thread."""


# --- F01, F02: the web process dies at a chosen call -----------------------------------------------------------


def _calls_of(lab: Lab, web: Web, work: Any) -> list[tuple[str, int]]:
    """The calls of the busiest thread during ``work``, in their order: name, and the how manieth of this name."""
    trace = Strace(lab, web.pid, calls=DISK_CALLS, name="count")
    work()
    found: dict[str, list[str]] = {}
    for thread, name in re.findall(r"^(\d+) +(\w+)\(", trace.stop(), re.MULTILINE):
        found.setdefault(thread, []).append(name)
    names = max(found.values(), key=len, default=[])
    return [(name, names[: at + 1].count(name)) for at, name in enumerate(names)]


def _dies(lab: Lab, web: Web, call: tuple[str, int], work: Any) -> tuple[Any, bool]:
    """``work`` while the process is killed at this call; the answer, and whether it was killed.

    strace counts the calls of each name by themselves.
    """
    trace = Strace(lab, web.pid, "-e", f"inject={call[0]}:signal=KILL:when={call[1]}", calls=DISK_CALLS)
    answer = work()
    died = web.ended_by(seconds=1) == -signal.SIGKILL
    trace.stop()
    return answer, died


def _near_the_end(lab: Lab, total: int, *, smoke: int) -> list[int]:
    """Half of a smoke sweep lies in the last third, where commits and the answer are."""
    early = lab.sample(total, smoke=smoke // 2)
    last = range(total * 2 // 3, total + 1)
    return sorted({*early, *lab.random.sample(last, min(len(last), smoke - smoke // 2))})


@case("F01", "kill web during POST /v1/interviews", invariants="I3", smoke=True, takes=60)
def killed_while_booking(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab, WEB_THREADS="1")
    web = installation.web()
    customer = Customer(installation, web.url)
    flow = customer.flow(None)
    customer.book(flow, "warm@example.com", Idempotency_Key="warm")
    calls = _calls_of(lab, web, lambda: customer.book(flow, "count@example.com", Idempotency_Key="count"))
    killed, answered, made = 0, 0, {0: 0, 1: 0}
    for point in _near_the_end(lab, len(calls), smoke=8):
        email, key = f"f01-{point}@example.com", f"key-{point}"
        first, died = _dies(
            lab, web, calls[point - 1], lambda e=email, k=key: customer.book(flow, e, Idempotency_Key=k)
        )
        killed += died
        answered += first.status == 200
        if died:
            web = installation.web()
        _one_interview(
            verdict,
            installation,
            lambda e=email, k=key: customer.book(flow, e, Idempotency_Key=k),
            email=email,
            first=first,
            made=made,
            point=point,
        )
    verdict.fired = f"{killed} kills at {len(calls)} calls" if killed else ""
    verdict.figure = f"{made[0]} times 0, {made[1]} times 1 before the repeat, then 1; {answered} answered"
    return verdict


def _one_interview(
    verdict: Verdict,
    installation: Installation,
    again: Any,
    *,
    email: str,
    first: Any,
    made: dict[int, int],
    point: int,
) -> None:
    found = "interviewee_email_address = :e"
    before = installation.count("interview", found, e=email)
    made[min(before, 1)] += 1
    verdict.holds(before <= 1, f"I3 {before} interviews before the repeat at call {point}")
    repeat = again()
    if repeat.status == 409:  # "still running": 100 seconds pass
        verdict.holds(before == 0, f"call {point}: booked, but the repeat is told to wait")
        installation.sql(
            "update idempotent_call set started_at = :t where status is null", t="2020-01-01 00:00:00.000000"
        )
        repeat = again()
    ids = [str(row[0]) for row in installation.sql(f"select id from interview where {found}", e=email)]
    verdict.holds(len(ids) == 1, f"I3 {len(ids)} interviews after the repeat at call {point}")
    verdict.holds(repeat.status == 200, f"the repeat after call {point} was answered {repeat.status}")
    if repeat.status == 200:
        verdict.holds([repeat.body["interview_id"]] == ids, f"I3 the repeat at call {point} gave another id")
    if first.status == 200:
        verdict.holds(first.body == repeat.body, f"I3 other answer to the repeat at call {point}")


@case("F02", "kill web during a chunk PUT, alone and in a bundle", invariants="I6", smoke=True, takes=60)
def killed_while_storing(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab, WEB_THREADS="1")
    web = installation.web()
    customer = Customer(installation, web.url)
    booked = customer.book(customer.flow(None), "f02@example.com").body
    one = candidate_at(booked["interview_link"])
    kept = _Kept(installation, booked["interview_id"], one, one.open_segment("audio/webm"))
    killed, twice, calls = {1: 0, BUNDLED: 0}, 0, []
    for size, points in ((1, 9), (BUNDLED, 6)):
        kept.send(lab, size)
        calls.append(_calls_of(lab, web, lambda n=size: kept.send(lab, n)))
        for point in lab.sample(len(calls[-1]), smoke=points):
            before = len(kept.sent)
            status, died = _dies(lab, web, calls[-1][point - 1], lambda n=size: kept.send(lab, n))
            killed[size] += died
            if died:
                web = installation.web()
            _check_kept(verdict, installation, kept)
            again = kept.put(range(before, len(kept.sent)))
            twice += again == 200
            verdict.holds(again == 200, f"{size} at once: the repeat after call {point} was answered {again}")
            verdict.holds(died or status == 200, f"{size} at once: without a kill answered {status} at call {point}")
    _check_kept(verdict, installation, kept)
    verdict.holds(len(kept.acked) == len(kept.sent), "I12 repeats did not bring everything")
    verdict.fired = f"{killed[1]} kills at {len(calls[0])} calls, {killed[BUNDLED]} at {len(calls[1])} of a bundle"
    verdict.fired *= all(killed.values())
    verdict.figure = f"0 of {len(kept.acked)} acked missing; {twice} repeats answered 200"
    return verdict


BUNDLED = 4


class _Kept:
    """What one browser has sent of a run, and what of it was acknowledged; a bundle of one goes as a chunk alone."""

    def __init__(self, installation: Installation, interview: str, one: Candidate, segment: int) -> None:
        self.interview, self._one, self._segment = interview, one, segment
        self.files = installation.data_dir / "files"
        self.sent: dict[int, bytes] = {}
        self.acked: set[int] = set()

    def send(self, lab: Lab, count: int) -> int:
        """New chunks, ``count`` of them at once."""
        numbers = range(len(self.sent), len(self.sent) + count)
        self.sent |= {number: lab.random.randbytes(20_000) for number in numbers}
        return self.put(numbers)

    def put(self, numbers: range) -> int:
        """The status, 0 without an answer. Acknowledged is what a 200 does not name as refused."""
        path, headers = f"/segments/{self._segment}/chunks", {"Content-Type": "application/octet-stream"}
        hashes = {number: hashlib.sha256(self.sent[number]).hexdigest() for number in numbers}
        if len(numbers) == 1:
            path += f"/{numbers[0]}"
            headers["X-Content-SHA256"] = hashes[numbers[0]]
        else:
            headers["X-Chunks"] = ", ".join(f"{number} {len(self.sent[number])} {hashes[number]}" for number in numbers)
        content = b"".join(self.sent[number] for number in numbers)
        try:
            answer = self._one.ask("PUT", f"{path}?track=mix", data=content, headers=headers)
        except requests.RequestException:
            return 0
        if answer.status_code == 200:
            self.acked |= set(numbers) - {one["number"] for one in answer.json().get("refused", [])}
        return int(answer.status_code)


def _check_kept(verdict: Verdict, installation: Installation, kept: _Kept) -> None:
    rows = installation.sql("select number, sha256, storage_key from chunk where interview_id = :i", i=kept.interview)
    found = {int(row[0]) for row in rows}
    verdict.holds(kept.acked <= found, f"I6 acknowledged and not there: {sorted(kept.acked - found)}")
    verdict.holds(len(rows) == len(found), "I6 a chunk has two rows")
    for number, sha256, key in rows:
        path, sent = kept.files / str(key), kept.sent[int(number)]
        whole = path.exists() and path.read_bytes() == sent
        verdict.holds(whole and sha256 == hashlib.sha256(sent).hexdigest(), f"I6 chunk {number} is not whole")


# --- F03: the draining worker dies with a delivered event in its hands --------------------------------------------


@case(
    "F03", "kill the draining worker between the receiver's 200 and the mark", invariants="I1 I5", smoke=True, takes=90
)
def killed_before_the_mark(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab, redis=RedisServer(lab))
    web, worker = installation.web(), installation.worker()
    customer, recruiter = Customer(installation, web.url), Recruiter(web.url)
    recruiter.sign_in()
    with Receiver(lab.directory / "journal") as receiver, Proxy("127.0.0.1", receiver.port) as proxy:
        proxy.faults.hold_answers = True
        urls = f"http://127.0.0.1:{proxy.port}/held", receiver.url("/other")
        held, other = (candidates_of(installation, customer, customer.flow(url), 1)[0] for url in urls)
        recruiter.move(held, "shortlisted")
        eventually(lambda: proxy.counts.held, seconds=30)
        victim = holder_of_port(descendants(worker.pid), proxy.counts.clients[0][1]) if proxy.counts.clients else None
        if victim is not None:
            os.kill(victim, signal.SIGKILL)
        began = time.monotonic()
        dead = eventually(lambda: victim is not None and not is_running(victim), seconds=5)
        proxy.faults.hold_answers = False
        recruiter.move(held, "accepted")
        recruiter.move(other, "shortlisted")
        lone = within(lambda: receiver.journal("/other"), seconds=60)
        wait_until_delivered(installation, seconds=REDONE)
        took = time.monotonic() - began
        check_events(verdict, installation, receiver, recruiter)
        sends: dict[str, int] = {}
        for request in receiver.journal():
            sends[request.event_id] = sends.get(request.event_id, 0) + 1
        states = {str(row[0]) for row in installation.sql("select distinct state from webhook_delivery")}
    verdict.fired = f"SIGKILL with {proxy.counts.held} answer held" if dead and proxy.counts.held == 1 else ""
    verdict.figure = f"{sum(sends.values()) - len(sends)} duplicate of {len(sends)} events; redone after {took:.0f} s"
    verdict.holds(sum(sends.values()) - len(sends) == 1, f"not exactly one duplicate: {sorted(sends.values())}")
    verdict.holds(states == {"delivered"}, f"I1 states {states}")
    verdict.holds(lone is not None and lone < 60, "an endpoint not concerned had to wait")
    verdict.holds(took < REDONE, f"redone only after {took:.0f} s")
    return verdict


# --- F04 to F06, F08: the interview's processing dies -------------------------------------------------------------


class StuckModel:
    """An OpenAI-compatible server that hangs while ``stuck``, so that a job can be met in the middle; else fails."""

    def __init__(self, lab: Lab) -> None:
        self.stuck, self.waiting, self.calls = False, 0, 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._answering())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        lab.resources.callback(self._server.server_close)
        lab.resources.callback(self._server.shutdown)

    @property
    def env(self) -> dict[str, str]:
        return {
            "LLM_BASE_URL": f"http://127.0.0.1:{self._server.server_address[1]}/v1",
            "LLM_MODEL": "stuck",
            "LLM_TIMEOUT": "900",
        }

    def _answering(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.calls += 1
                model.waiting += 1
                while model.stuck:
                    time.sleep(0.02)
                model.waiting -= 1
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, told = _model_answer(asked)
                body = json.dumps(told).encode()
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        return Answering


def _model_answer(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    schema = asked.get("response_format", {}).get("json_schema", {})
    if schema.get("name") not in {"Summary", "Scores"}:
        return 400, {"error": {"message": "only summaries and scores"}}
    content: dict[str, Any] = {"summary": "Said what was asked."}
    if schema["name"] == "Scores":
        content = {
            name: {"value": None, "reason": "not judged", "quotes": []} for name in schema["schema"]["properties"]
        }
    message = {"role": "assistant", "content": json.dumps(content)}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return 200, {"id": "1", "object": "chat.completion", "created": 1, "model": "stuck", "choices": choices}


class Stage:
    """An interview whose processing hangs in the middle of its job."""

    def __init__(self, lab: Lab, *, postgres: PostgresServer | None = None) -> None:
        self.model = StuckModel(lab)
        self.installation = Installation(lab, redis=RedisServer(lab), postgres=postgres, **self.model.env)
        self.web, self.worker = self.installation.web(), self.installation.worker()
        self.customer = Customer(self.installation, self.web.url)
        self.receiver = lab.resources.enter_context(Receiver(lab.directory / "journal"))
        flow = self.customer.flow(self.receiver.url())
        booked = self.customer.book(flow, "stuck@example.com").body
        self.interview: str = booked["interview_id"]
        one = candidate_at(booked["interview_link"])
        prompt = one.turn(1, "begin")
        while prompt["expects"] == "answer":
            prompt = one.turn(prompt["turn"] + 1, "text", text="I help people every day and I like my work here.")
        self.model.stuck = True
        one.finish([])
        if not eventually(lambda: self.model.waiting, seconds=60, every=0.02):
            raise RuntimeError("the processing never called the model")
        self.parent, self.horse = self._pids()

    def _pids(self) -> tuple[int, int]:
        """The RQ worker and the child that it forked for the job: the one that talks to the model."""
        port = int(self.model.env["LLM_BASE_URL"].rsplit(":", 1)[1].split("/")[0])
        for parent in children(self.worker.pid):
            for horse in children(parent):
                if _talks_to(horse, port):
                    return parent, horse
        raise RuntimeError("no process of the worker is busy with the job")

    def heal(self) -> None:
        self.model.stuck = False

    @property
    def is_completed(self) -> bool:
        return self.installation.one("select stage from interview where id = :i", i=self.interview) == "completed"

    def check(self, verdict: Verdict, *, began: float) -> None:
        """Completed once, one result, one event of each kind, everything delivered."""
        done = within(lambda: self.is_completed, seconds=REDONE + 10)
        took = time.monotonic() - began
        installation = self.installation
        wait_until_delivered(installation, seconds=30)
        check_events(verdict, installation, self.receiver, None)
        results = installation.count("interview_data", "interview_id = :i", i=self.interview)
        events = installation.count("webhook_delivery", "event_type = 'interview_processed'")
        arrived = [r for r in self.receiver.journal() if r.event["event_type"] == "interview_processed"]
        verdict.holds(done is not None, "I12 never completed")
        verdict.holds((results, events) == (1, 1), f"I3 {results} results, {events} outbox rows")
        verdict.holds(len(arrived) == 1, f"I3 {len(arrived)} interview_processed arrived")
        verdict.holds(took <= REDONE, f"I12 redone only after {took:.0f} s")
        verdict.figure = f"redone after {took:.0f} s; {results} result, {events} outbox row"


def _talks_to(pid: int, port: int) -> bool:
    inodes = set()
    with open("/proc/net/tcp") as table:  # noqa: PTH123
        for line in list(table)[1:]:
            words = line.split()
            if int(words[2].split(":")[1], 16) == port:
                inodes.add(f"socket:[{words[9]}]")
    for fd in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{fd}") in inodes:  # noqa: PTH115
                return True
    return False


def _killed(lab: Lab, *, parent: bool, horse: bool) -> Verdict:
    verdict, stage = Verdict(), Stage(lab)
    victims = [pid for pid, chosen in ((stage.parent, parent), (stage.horse, horse)) if chosen]
    for pid in victims:
        os.kill(pid, signal.SIGSTOP)
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    gone = eventually(lambda: not any(map(is_running, victims)), seconds=5)
    orphan_ended = eventually(lambda: not is_running(stage.horse), seconds=5)
    stage.heal()
    stage.check(verdict, began=began)
    verdict.fired = f"SIGKILL to {' and '.join(map(str, victims))}" if gone else ""
    if parent and not horse:
        verdict.figure += "; the orphan ended with its parent" if orphan_ended else "; the orphan worked on"
    return verdict


@case("F04", "kill the RQ parent; its horse is orphaned", invariants="I3", smoke=True, takes=66)
def parent_killed(lab: Lab) -> Verdict:
    return _killed(lab, parent=True, horse=False)


@case("F05", "kill the RQ horse only", invariants="I3 I12", smoke=True, takes=67)
def horse_killed(lab: Lab) -> Verdict:
    return _killed(lab, parent=False, horse=True)


@case("F06", "kill RQ parent and horse", invariants="I12", smoke=True, takes=68)
def both_killed(lab: Lab) -> Verdict:
    return _killed(lab, parent=True, horse=True)


@case("F08", "worker stopped past its lease, then continued", invariants="I3")
def stopped_and_continued(lab: Lab) -> Verdict:
    verdict, stage = Verdict(), Stage(lab)
    family = [stage.parent, stage.horse]
    fence = stage.installation.one("select fence from interview where id = :i", i=stage.interview)
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    stage.heal()
    second = stage.installation.worker()
    took_over = within(lambda: stage.is_completed, seconds=REDONE)
    time.sleep(max(0.0, lab.amount(smoke=0, full=300) - (time.monotonic() - began)))
    for pid in family:
        os.kill(pid, signal.SIGCONT)
    stopped = second.is_alive()
    time.sleep(5)  # what the late one does, it does now
    still = time.monotonic() - began
    stage.check(verdict, began=time.monotonic())
    later = stage.installation.one("select fence from interview where id = :i", i=stage.interview)
    verdict.fired = f"SIGSTOP, SIGCONT after {still:.0f} s and a second worker's end" if took_over and stopped else ""
    verdict.figure = f"taken over after {took_over or -1:.0f} s; the late one wrote nothing"
    verdict.holds(took_over is not None and took_over <= REDONE, f"I12 taken over only after {took_over} s")
    verdict.holds(later > fence, "I3 nobody else claimed the interview while its worker stood still")
    return verdict


@case("F09", "memory limit reached in the horse; no spare memory at all", invariants="I11")
def out_of_memory(lab: Lab) -> Verdict:
    verdict, stage = Verdict(), Stage(lab)
    installation = stage.installation
    # The running horse gets nothing more; those that follow can open the database and not much else.
    tight = {stage.horse: _address_space(stage.horse), stage.parent: _address_space(stage.parent) + A_LITTLE}
    applied = [_limit(pid, size) for pid, size in tight.items()]
    began = time.monotonic()
    stage.heal()
    recruiter = Recruiter(stage.web.url)
    recruiter.sign_in()
    flow = stage.customer.flow(stage.receiver.url("/others"))
    other = candidates_of(installation, stage.customer, flow, 1)[0]
    recruiter.move(other, "shortlisted")
    others = within(lambda: stage.receiver.journal("/others"), seconds=30)
    where = "select stage, failure, recoveries, failures, fence from interview where id = :i"
    eventually(lambda: installation.one(where, i=stage.interview) in {"processing_failed", "completed"}, seconds=300)
    took = time.monotonic() - began
    ended, reason, recoveries, failures, fence = installation.sql(where, i=stage.interview)[0]
    _limit(stage.parent, resource.RLIM_INFINITY)
    verdict.fired = f"RLIMIT_AS of {min(tight.values()) / 1e6:.0f} MB on {len(tight)} processes" if all(applied) else ""
    verdict.figure = f"{ended} after {took:.0f} s and {fence} claims ({recoveries} recoveries, {failures} failures)"
    verdict.holds(ended == "processing_failed" and reason, f"I11 {ended}: {reason}")
    verdict.holds(fence >= 3, f"given up after {fence} claims")
    verdict.holds(others is not None, "I11 webhooks stood still meanwhile")
    _nothing_to_spare(verdict, stage, recruiter, flow)
    return verdict


def _nothing_to_spare(verdict: Verdict, stage: Stage, recruiter: Recruiter, flow: str) -> None:
    """Jobs that cannot even open the database, and so claim nothing, end visibly as well, and can be started again."""
    installation = stage.installation
    _limit(stage.parent, _address_space(stage.parent))
    booked = stage.customer.book(flow, "f09-after@example.com").body
    talk_in_writing(booked["interview_link"])
    time.sleep(5)
    moved = datetime.now(UTC) - timedelta(minutes=20)  # a quarter of an hour passes
    installation.sql(
        "update interview set due_at = :t where id = :i",
        i=booked["interview_id"],
        t=moved.replace(tzinfo=None).isoformat(sep=" "),
    )
    stages = "select stage from interview where id = :i"
    parked = within(
        lambda: installation.one(stages, i=booked["interview_id"]) in {"processing_failed", "completed"}, seconds=240
    )
    claims, ended = installation.sql("select fence, stage from interview where id = :i", i=booked["interview_id"])[0]
    _limit(stage.parent, resource.RLIM_INFINITY)
    page = f"/interviews/{booked['interview_id']}"
    again = recruiter.post(f"{page}/retry", page=page)
    healed = within(lambda: installation.one(stages, i=booked["interview_id"]) == "completed", seconds=60)
    verdict.figure += f"; without any memory {ended} after {parked or -1:.0f} s; tried again {again.status}"
    verdict.holds(ended == "processing_failed" and claims == 1, f"I11 without any memory {ended}, {claims} claims")
    verdict.holds(healed is not None, "I12 with memory the interview is not processed")


def _limit(pid: int, size: int) -> bool:
    """The most address space that the process may have; whether it is so, False for one that has ended."""
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
        return resource.prlimit(pid, resource.RLIMIT_AS)[0] == size
    return False


def _address_space(pid: int) -> int:
    line = next(text for text in Path(f"/proc/{pid}/status").read_text().splitlines() if text.startswith("VmSize"))
    return int(line.split()[1]) * 1024


@case("F07", "SIGTERM to all under load", invariants="I1-I6")
def asked_to_stop(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab, redis=RedisServer(lab))
    web, worker = installation.web(), installation.worker()
    customer, recruiter = Customer(installation, web.url), Recruiter(web.url)
    recruiter.sign_in()
    with Receiver(lab.directory / "journal") as receiver:
        flow = customer.flow(receiver.url())
        people = candidates_of(installation, customer, flow, 4)
        stop, moves = threading.Event(), []

        def load() -> None:
            while not stop.is_set():
                moves.extend([recruiter.move(one, recruiter.next_status(one), timeout=10) for one in people])

        thread = threading.Thread(target=load)
        thread.start()
        eventually(lambda: len(moves) > 20, seconds=60)
        began = time.monotonic()
        statuses = [web.stop(), worker.stop()]
        took = time.monotonic() - began
        stop.set()
        thread.join(60)
        refused = [one for one in recruiter.refused if one.status not in {0, 503}]
        web, worker = installation.web(), installation.worker()
        wait_until_delivered(installation, seconds=60)
        check_events(verdict, installation, receiver, recruiter)
        sent = [request.event_id for request in receiver.journal()]
    verdict.fired = f"SIGTERM after {len(recruiter.moved)} moves"
    verdict.figure = f"stopped after {took:.1f} s; {len(sent) - len(set(sent))} duplicates of {len(set(sent))}"
    verdict.holds(took <= 30 and -signal.SIGKILL not in statuses, f"no clean stop: {took:.0f} s, {statuses}")
    verdict.holds(not refused, f"answers other than 503: {[one.status for one in refused]}")
    verdict.holds(len(sent) == len(set(sent)), "a clean stop led to duplicates")
    return verdict
