"""The clock of one web process and one worker jumps by a day and back by hours, beside others whose clock is right.

Under libfaketime a process's monotonic clock jumps along, which no machine's does: what it waits for itself may then
come at once or late. What counts is what it does to rows that all share.
"""

import threading
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import requests

from app.operations.demo.candidate import Candidate
from tests.faults.case import Lab, NotRun, Verdict, case, eventually
from tests.faults.cases_processes import Stage
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, PostgresServer, RedisServer, Web
from tests.faults.people import Answered, Customer, Recruiter, candidate_at, candidates_of
from tests.faults.processes import children, free_port
from tests.faults.receiver import OK, Wire, answer

JUMPS = (("+1d", 20.0), ("-2h", 15.0), ("+1d", 8.0), ("+0", 2.0))
"""What the false clock shows, and for how many seconds."""
SLOW = 12.0
LATER = ("%expires%", "%\\_until", "expires\\_%")
"""Columns that speak of the future by their nature; leases are looked at on their own."""
RETRY = 60.0
"""Seconds until an attempt that was answered 503 is repeated, at least."""
LONGEST_LEASE = 600


class FalseClock:
    """A file from which libfaketime reads how far the clock of a process is off."""

    def __init__(self, lab: Lab) -> None:
        found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        if not found:
            raise NotRun("libfaketime is not installed (Debian: libfaketime)")
        self._library, self._file = str(found[0]), lab.directory / "clock"
        self.set("+0")

    def set(self, offset: str) -> None:
        self._file.write_text(offset)

    @property
    def env(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": self._library,
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_RESET": "1",
        }

    def is_in(self, pid: int) -> bool:
        return self._library in Path(f"/proc/{pid}/maps").read_text()


class _Load:
    """A recruiter and a customer at each of two web processes, one of whose clocks is false; all is remembered."""

    def __init__(self, stage: Stage, webs: list[Web]) -> None:
        self._stage, self._webs, self._over = stage, webs, threading.Event()
        self.flow = stage.customer.flow(stage.receiver.url("/hook"))
        self.people = candidates_of(stage.installation, stage.customer, self.flow, 4)
        self.booked: list[tuple[str, Answered]] = []
        self.recruiters = [Recruiter(web.url) for web in webs]
        for one in self.recruiters:
            one.sign_in()
        held = stage.customer.book(self.flow, "held@example.com").body
        self.interview, link = str(held["interview_id"]), str(held["interview_link"])
        self.holder = candidate_at(link)
        self.rival = Candidate(link.replace(webs[0].url, webs[1].url))
        self.beats: list[int] = []
        self.rivals: list[int] = []
        self._threads = [
            threading.Thread(target=self._until_over, args=(work,))
            for work in (self._move, self._book, self._hold, self._rival)
        ]

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)

    def _until_over(self, work: Callable[[int], None]) -> None:
        number = 0
        while not self._over.wait(0.2):
            work(number)
            number += 1

    def _move(self, number: int) -> None:
        """Each recruiter has candidates of their own, so that what one moves is not undone by the other."""
        mine = number % 2
        one = self.people[mine * 2 + number // 2 % 2]
        self.recruiters[mine].move(one, self.recruiters[mine].next_status(one))

    def _book(self, number: int) -> None:
        email = f"f48-{number}@example.com"
        customer = Customer(self._stage.installation, self._webs[number % 2].url)
        self.booked.append((email, customer.book(self.flow, email, Idempotency_Key=email)))

    def _hold(self, _number: int) -> None:
        self.beats.append(self.holder.ask("POST", "/heartbeat").status_code)

    def _rival(self, _number: int) -> None:
        self.rival.open()
        body = {"consent": "yes", "mode": "text", "locale": "en"}
        self.rivals.append(self.rival.ask("POST", "/start", json=body).status_code)


def wrong_clock(lab: Lab, verdict: Verdict) -> None:
    """The clock part of F48: notes into ``verdict`` what a false clock changed of what it must not."""
    clock, server = FalseClock(lab), PostgresServer(lab)
    stage = Stage(lab, postgres=server)
    fence = stage.installation.one("select fence from interview where id = :i", i=stage.interview)
    began = stage.installation.one("select clock_timestamp()")
    stage.receiver.behaviours |= {"/slow": _slow, "/failing": _fails_once}
    false_web = stage.installation.web(port=free_port(), **clock.env)
    false_worker = stage.installation.worker(**clock.env)
    load = _Load(stage, [stage.web, false_web])
    load.begin()
    offsets: list[float] = []
    for number, (offset, seconds) in enumerate(JUMPS):
        clock.set(offset)
        eventually(lambda o=offset: abs(_off(false_web) - SECONDS[o]) < 60, seconds=10)
        offsets.append(_off(false_web))
        if not number:
            slow, failing = (_one_event(stage, load, path) for path in ("/slow", "/failing"))
        time.sleep(seconds)
        _check_leases(verdict, stage, offset)
    still = stage.installation.one("select fence from interview where id = :i", i=stage.interview)
    verdict.holds(still == fence, f"I3 the job of a living worker was taken: fence {fence} to {still}")
    load.end()
    stage.heal()
    completed = eventually(lambda: stage.is_completed, seconds=60)
    drained = wait_until_delivered(stage.installation, seconds=240)
    shown = all(abs(found - SECONDS[offset]) < 60 for found, (offset, _s) in zip(offsets, JUMPS, strict=True))
    loaded = all(clock.is_in(pid) for pid in [false_web.pid, *children(false_worker.pid)])
    verdict.fired = f"{verdict.fired}; clock off by {', '.join(o for o, _s in JUMPS)}" if shown and loaded else ""
    verdict.holds(completed, "I12 the interview was not completed")
    verdict.holds(drained is not None, "I12 events still wait")
    _check_load(verdict, stage, load)
    _check_sends(verdict, stage, slow, failing)
    _check_moments(verdict, stage, began)


SECONDS = {"+1d": 86_400.0, "+2d": 172_800.0, "-2h": -7_200.0, "-3h": -10_800.0, "+0": 0.0}


def _off(web: Web) -> float:
    """By how many seconds the process's clock is off, as its own answers say."""
    told = requests.get(f"{web.url}/healthz", timeout=10).headers["Date"]
    return parsedate_to_datetime(told).timestamp() - time.time()


async def _slow(wire: Wire) -> None:
    import asyncio

    await asyncio.sleep(SLOW)
    await wire.send(OK)


async def _fails_once(wire: Wire) -> None:
    await wire.send(OK if wire.number else answer(503))


def _one_event(stage: Stage, load: _Load, path: str) -> str:
    """A move whose event goes to ``path``; the id of its delivery."""
    one = candidates_of(stage.installation, stage.customer, stage.customer.flow(stage.receiver.url(path)), 1)[0]
    load.recruiters[0].move(one, "shortlisted")
    return str(stage.installation.one("select id from webhook_delivery where subject = :s", s=one))


def _check_load(verdict: Verdict, stage: Stage, load: _Load) -> None:
    installation = stage.installation
    everybody = Recruiter(stage.web.url)
    everybody.moved = [move for one in load.recruiters for move in one.moved]
    everybody.moved += installation.sql(
        "select candidate_id, new from status_change where new = 'interviewed' and"
        " candidate_id in (select candidate_id from interview where id = :i)",
        i=stage.interview,
    )
    everybody.refused = [refusal for one in load.recruiters for refusal in one.refused]
    check_events(verdict, installation, stage.receiver, everybody)
    rows = {str(row[0]) for row in installation.sql("select interviewee_email_address from interview")}
    lost = [email for email, answer in load.booked if answer.status == 200 and email not in rows]
    seen = {answer.status for _email, answer in load.booked} | {answer.status for answer in everybody.refused}
    moved = [len(one.moved) for one in load.recruiters]
    verdict.figure += (
        f"; false clock: {sum(moved)} moves, {len(load.booked)} bookings, {len(load.rivals)} tries to take over"
    )
    verdict.holds(all(moved) and load.rivals, f"too little load: {moved} moves, {len(load.rivals)} rivals")
    verdict.holds(not lost, f"I1 acknowledged and lost: {lost[:5]}")
    # A database's answer that is waited for in the moment of a jump is given up as late: 503, to be asked again.
    verdict.holds(all(200 <= status < 500 or status == 503 for status in seen), f"answers {sorted(seen)}")
    verdict.holds(set(load.beats) == {200} or set(load.beats) == {204}, f"the holder got {sorted(set(load.beats))}")
    fences = installation.sql("select fence from sitting where interview_id = :i", i=load.interview)
    verdict.holds(fences == [(1,)], f"I7 a living candidate's interview was taken over: {fences}")
    # A form that was fetched before a jump is refused as forged or too old (403), before anybody asks who holds what.
    verdict.holds(
        409 in load.rivals and set(load.rivals) <= {403, 409},
        f"I7 a rival at the false clock was answered {sorted(set(load.rivals))}",
    )


def _check_sends(verdict: Verdict, stage: Stage, slow: str, failing: str) -> None:
    """Nobody sends what another is still sending, and nothing is sent before it is due."""
    query = "select count(*) from webhook_attempt where delivery_id = :d"
    sends = len(stage.receiver.journal("/slow")), stage.installation.one(query, d=slow)
    verdict.holds(sends == (1, 1), f"I3 a send under way was taken over: {sends[0]} requests, {sends[1]} attempts")
    tries = [request.at for request in stage.receiver.journal("/failing")]
    attempts = stage.installation.one(query, d=failing)
    waited = tries[1] - tries[0] if len(tries) > 1 else 0.0
    verdict.figure += f"; repeated after {waited:.0f} s"
    verdict.holds(len(tries) == attempts == 2, f"I1 {len(tries)} requests, {attempts} attempts where two were due")
    verdict.holds(waited >= RETRY - 0.5, f"I1 repeated after {waited:.1f} s, before it was due")


def _check_leases(verdict: Verdict, stage: Stage, offset: str) -> None:
    """Nobody holds anything for a day, nor has held it since two hours ago."""
    tables = "select table_name from information_schema.columns where column_name = 'lease_until'"
    for (table,) in stage.installation.sql(f"{tables} and table_schema = 'public'"):
        outside = f"abs(extract(epoch from lease_until - clock_timestamp())) > {LONGEST_LEASE}"
        verdict.holds(stage.installation.count(table, outside) == 0, f"I3 a lease of {table} by the clock at {offset}")


def _check_moments(verdict: Verdict, stage: Stage, began: Any) -> None:
    """Every moment that was written since lies between the beginning and the end, by the database's clock."""
    installation = stage.installation
    columns = installation.sql(
        "select table_name, column_name from information_schema.columns where table_schema = 'public'"
        " and data_type like 'timestamp%' and not (column_name like any(:later))",
        later=list(LATER),
    )
    wrong: list[str] = []
    for table, column in columns:
        ahead = "interval '5 minutes'" if column in {"due_at", "not_before"} else "interval '0'"
        outside = (
            f"{column} > clock_timestamp() + {ahead} or {column} < cast(:began as timestamptz) - interval '1 hour'"
        )
        if count := installation.count(table, outside, began=began):
            found = installation.one(f"select {column} from {table} where {outside} limit 1", began=began)
            wrong.append(f"{count} of {table}.{column} ({found})")
    verdict.holds(not wrong, f"I3 moments by a false clock: {'; '.join(wrong)}")
    verdict.figure += f"; {len(columns)} columns of moments looked at"


@case("F52", "the clock of the one machine jumps in mid-talk, on SQLite", invariants="I6 I7", takes=90)
def clock_jumps_in_mid_talk(lab: Lab) -> Verdict:
    """Web and worker see the same jumps: days ahead, hours back, and the true time again. Somebody talks meanwhile."""
    verdict, clock, installation = (
        Verdict(),
        FalseClock(lab),
        Installation(lab, redis=RedisServer(lab), SWEEP_SECONDS="1"),
    )
    jumping = {**clock.env, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    web = installation.web(**jumping)
    worker = installation.worker(**jumping)
    customer = Customer(installation, web.url)
    flow = customer.flow(None, questions=[f"Question {number}?" for number in range(1, 6)])
    booked = customer.book(flow, "f52@example.com").body
    one, interview = candidate_at(booked["interview_link"]), str(booked["interview_id"])
    one.turn(1, "begin")
    prompt = one.turn(2, "text", text=TEXT)
    used, seen = [], []
    for offset, seconds in (("+2d", 6.0), ("-3h", 6.0), ("+0", 4.0)):
        one.ask("POST", "/heartbeat", json={})
        clock.set(offset)
        eventually(lambda o=offset: abs(_off(web) - SECONDS[o]) < 60, seconds=10)
        seen.append(_off(web))
        time.sleep(seconds)  # a page that writes gives a sign of life every half minute
        rival = Candidate(booked["interview_link"])
        answer = one.ask("POST", f"/turns/{prompt['turn'] + 1}", json={"kind": "text", "text": TEXT})
        told = f"the candidate at {offset}: {answer.status_code} {answer.content[:90]!r}"
        verdict.holds(answer.status_code == 200, told)
        if answer.status_code != 200:
            break
        prompt = answer.json()
        state = one.call("GET", "/state")
        used.append(state["elapsed_seconds"])
        rival.open()
        taken = rival.ask("POST", "/start", json={"consent": "yes", "mode": "text", "locale": "en"}).status_code
        verdict.holds(taken in {403, 409}, f"I7 a rival at {offset} was answered {taken}")
    while prompt["expects"] == "answer" and not verdict.flaws:
        prompt = one.turn(prompt["turn"] + 1, "text", text=TEXT)
    if not verdict.flaws:
        one.finish([])
    said = installation.count("utterance", "interview_id = :i and role = 'user'", i=interview)
    verdict.holds(said == 5, f"I6 {said} of 5 answers are written down")
    verdict.holds(all(0 <= seconds < 600 for seconds in used), f"seconds of the talk by its own clock: {used}")
    completed = eventually(
        lambda: installation.one("select stage from interview where id = :i", i=interview) == "completed", seconds=60
    )
    verdict.holds(completed, "I12 the interview was not completed")
    verdict.fired = "clock off by 2 days, -3 hours, 0" if len(seen) == 3 and clock.is_in(worker.pid) else ""
    spent = ", ".join(f"{seconds:.0f}" for seconds in used)
    verdict.figure = f"{said} of 5 answers; talk of {spent} s by its own clock"
    web.stop()
    return verdict


TEXT = "I have been a nurse for eleven years and I like the work very much."
