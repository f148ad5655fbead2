"""Disks that fail, fill up, forget, or lie."""

import contextlib
import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import requests

from app.operations.demo.candidate import Candidate
from tests.faults.case import Lab, NotRun, Verdict, case, eventually
from tests.faults.installation import Installation, PostgresServer, Web
from tests.faults.people import Customer, candidate_at
from tests.faults.processes import Strace

PIECE = 20_000
ROOMY = 3 * 1024**3
"""Sparse; more than the watermark below which no interview begins."""


class Mount:
    """A filesystem of its own at ``place``; unmounted at the end, whatever happens."""

    def __init__(self, lab: Lab, *arguments: str, name: str, below: Path | None = None) -> None:
        if os.getuid() != 0:
            raise NotRun("mounting needs root")
        self.place = (below or lab.directory) / name
        self.place.mkdir()
        done = subprocess.run(["mount", *arguments, str(self.place)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotRun(f"mount is not allowed here: {done.stderr.strip()[:80]}")
        self._mounted = True
        lab.resources.callback(self.umount)

    def umount(self) -> None:
        if self._mounted:
            if subprocess.run(["umount", str(self.place)], capture_output=True, check=False).returncode:
                subprocess.run(["umount", "-l", str(self.place)], check=False)
            self._mounted = False


def made_disk(lab: Lab, kind: str, *arguments: str, size: int, name: str, below: Path | None = None) -> Mount:
    """A disk of ``size`` bytes at most, in a sparse file ``<name>.img`` of ``below``."""
    image = (below or lab.directory) / f"{name}.img"
    with image.open("wb") as disk:
        disk.truncate(size)
    force = "-f" if kind == "xfs" else "-F"
    made = [f"mkfs.{kind}", "-q", force, *arguments, str(image)]
    if not shutil.which(made[0]) or subprocess.run(made, capture_output=True, check=False).returncode:
        raise NotRun(f"{made[0]} is missing ({'xfsprogs' if kind == 'xfs' else 'e2fsprogs'})")
    return Mount(lab, "-o", "loop", str(image), name=name)


def tmpfs(lab: Lab, megabytes: int, name: str, below: Path | None = None) -> Mount:
    return Mount(lab, "-t", "tmpfs", "-o", f"size={megabytes}m", "none", name=name, below=below)


def put(one: Candidate, segment: int, number: int, content: bytes) -> int:
    """The status; 0 without an answer."""
    headers = {"X-Content-SHA256": hashlib.sha256(content).hexdigest(), "Content-Type": "application/octet-stream"}
    try:
        path = f"/segments/{segment}/chunks/{number}?track=mix"
        return int(one.ask("PUT", path, data=content, headers=headers).status_code)
    except requests.RequestException:
        return 0


def _speaking(lab: Lab, **env: str) -> tuple[Installation, Web, Customer, Candidate, int, str]:
    installation = Installation(lab, **env)
    web = installation.web()
    customer = Customer(installation, web.url)
    booked = customer.book(customer.flow(None), "disk@example.com").body
    one = candidate_at(booked["interview_link"])
    return installation, web, customer, one, one.open_segment("audio/webm"), booked["interview_id"]


def _check(verdict: Verdict, rows: list, files: Path, sent: dict[int, bytes], acked: set[int]) -> int:
    kept = {int(row[0]): row for row in rows}
    missing = acked - set(kept)
    for number in acked & set(kept):
        path = files / str(kept[number][2])
        if not path.exists() or path.read_bytes() != sent[number]:
            missing.add(number)
    verdict.holds(not missing, f"I6 acknowledged and lost: {sorted(missing)[:20]}")
    return len(missing)


VOICE = 16_000
"""Bytes of a voice chunk."""
CHUNK_OF_DISK = 16_384
TALK = 5_000
"""Chunks of one interview before the next begins: a talk has at most 14,400."""
SECOND = 8_000
"""Bytes of a second of sound."""
CHUNKS = "select number, sha256, storage_key from chunk where interview_id = :i"


@case("F26", "fsync answers EIO at the Nth call", invariants="I6", smoke=True)
def fsync_fails(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation, web, _customer, one, segment, interview = _speaking(lab, WEB_THREADS="1")
    sent, acked, statuses, injected = {}, set(), [], 0
    put(one, segment, 0, b"warm" * 100)
    for number in range(1, lab.amount(smoke=6, full=40)):
        sent[number] = lab.random.randbytes(PIECE)
        when = f"{lab.random.randint(1, 4)}+{lab.random.randint(1, 3)}" if number % 2 else str(1 + number % 4)
        trace = Strace(lab, web.pid, "-e", f"inject=fsync:error=EIO:when={when}", calls="fsync", name=f"eio-{number}")
        status = put(one, segment, number, sent[number])
        injected += trace.stop().count("EIO")
        statuses.append(status)
        if status == 200 or put(one, segment, number, sent[number]) == 200:
            acked.add(number)
    _check(verdict, installation.sql(CHUNKS, i=interview), installation.data_dir / "files", sent, acked)
    verdict.fired = f"EIO {injected} times" if injected else ""
    verdict.figure = f"answers {sorted(set(statuses))}; {len(acked)} of {len(sent)} kept in the end"
    verdict.holds(set(statuses) <= {200, 503, 507}, f"answers {statuses}")
    verdict.holds(len(acked) == len(sent), "I12 a repeat did not succeed")
    return verdict


@case("F25", "recordings disk full while uploading", invariants="I6 I11", smoke=True, root=True, takes=20)
def disk_full(lab: Lab) -> Verdict:
    verdict, mount = Verdict(), tmpfs(lab, 3000, "full")
    installation, web, customer, one, segment, interview = _speaking(lab, STORAGE_URL=str(mount.place / "files"))
    subprocess.run(["mount", "-o", "remount,size=3m", str(mount.place)], check=True)
    sent, acked, statuses = {}, set(), []
    for number in range(40):
        sent[number] = lab.random.randbytes(200_000)
        status = put(one, segment, number, sent[number])
        statuses.append(status)
        if status == 200:
            acked.add(number)
        if statuses.count(503) + statuses.count(507) >= 3:
            break
    free = shutil.disk_usage(mount.place).free
    _check(verdict, installation.sql(CHUNKS, i=interview), mount.place / "files", sent, acked)
    other = customer.book(customer.flow(None), "later@example.com").body
    fresh = Candidate(other["interview_link"])
    fresh.open()
    refused = fresh.ask("POST", "/start", json={"consent": "yes", "mode": "text", "locale": "en"})
    subprocess.run(["mount", "-o", "remount,size=64m", str(mount.place)], check=True)
    for number in sorted(set(sent) - acked):
        if put(one, segment, number, sent[number]) == 200:
            acked.add(number)
    lost = _check(verdict, installation.sql(CHUNKS, i=interview), mount.place / "files", sent, acked)
    verdict.fired = f"{free} bytes free" if free < 250_000 and any(s in {503, 507} for s in statuses) else ""
    verdict.figure = f"answers {sorted(set(statuses))}; start while full {refused.status_code}; {lost} acked lost"
    verdict.holds(set(statuses) <= {200, 503, 507}, f"answers {statuses}")
    verdict.holds(len(acked) == len(sent), "I12 after there was room again a chunk did not arrive")
    verdict.holds(refused.status_code in {503, 507}, f"a new interview began on a full disk: {refused.status_code}")
    web.stop()
    return verdict


@case("F51", "the one disk full in mid-talk, then room again", invariants="I6 I12", root=True)
def disk_full_in_mid_talk(lab: Lab) -> Verdict:
    """Database, chunks and the agent's sounds lie on one disk; it fills up while somebody speaks."""
    verdict, mount = Verdict(), tmpfs(lab, 3000, "one")
    installation = Installation(lab)
    shutil.copytree(installation.data_dir, mount.place / "data")
    installation.env |= {"DATA_DIR": str(mount.place / "data")}
    installation.use(mount.place / "data")
    web = installation.web()
    customer = Customer(installation, web.url)
    booked = customer.book(customer.flow(None), "f51@example.com").body
    one, interview = candidate_at(booked["interview_link"], mode="voice"), booked["interview_id"]
    segment = one.open_segment("audio/webm")
    prompt = one.turn(1, "begin", segment=segment)
    pieces = {number: lab.random.randbytes(VOICE) for number in range(2, 10)}
    early = [_voice(one, segment, number, pieces[number]) for number in (2, 3, 4)]
    filler = mount.place / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=64k"], capture_output=True, check=False)
    full = shutil.disk_usage(mount.place).free
    statuses = [_voice(one, segment, number, pieces[number]) for number in pieces if number > 4]
    named = {"segment": segment, "first_chunk": 2, "last_chunk": 4}
    statuses += [
        one.ask("POST", "/turns/2", json={"kind": "answer", **named}).status_code,
        one.ask("POST", "/heartbeat", json={}).status_code,
        one.ask("POST", "/segments", json={"mime_type": "audio/webm"}).status_code,
    ]
    read = one.ask("GET", "/state")
    filler.unlink()
    late = [_voice(one, segment, number, pieces[number]) for number in pieces]
    named["last_chunk"] = max(pieces)
    while prompt["expects"] == "answer":
        again = prompt.get("awaits") or (named if prompt["turn"] == 1 else None)
        prompt = one.turn(prompt["turn"] + 1, "answer" if again else "skip", **(again or {}))
    one.finish([])
    verdict.fired = f"{full} bytes free" if full < CHUNK_OF_DISK and 503 in statuses else ""
    verdict.figure = f"while full {sorted(set(statuses))}, state {read.status_code}; all {len(late)} chunks after"
    verdict.holds(set(early) == {200}, f"before: {early}")
    verdict.holds(set(statuses) <= {200, 202, 204, 503, 507}, f"while full: {statuses}")
    verdict.holds(set(late) == {200}, f"I12 after there was room again: {late}")
    rows = installation.sql(CHUNKS, i=interview)
    _check(verdict, rows, mount.place / "data" / "files", pieces, set(pieces))
    said = installation.one("select count(*) from utterance where role = 'user' and interview_id = :i", i=interview)
    verdict.holds(said in {0, 1}, f"the answer was written down {said} times")
    verdict.holds(installation.one("pragma integrity_check") == "ok", "the database is damaged")
    web.stop()
    return verdict


def _voice(one: Candidate, segment: int, number: int, content: bytes) -> int:
    headers = {"X-Content-SHA256": hashlib.sha256(content).hexdigest(), "Content-Type": "application/octet-stream"}
    path = f"/segments/{segment}/chunks/{number}?track=voice"
    return int(one.ask("PUT", path, data=content, headers=headers).status_code)


@case("F27", "power cut at random moments of an upload", invariants="I6", smoke=True, root=True)
def power_cut(lab: Lab) -> Verdict:
    return cut_power(lab, cuts=lab.amount(smoke=4, full=50), chunks=1500)


def cut_power(lab: Lab, *, cuts: int, chunks: int, spread: bool = False) -> Verdict:
    """Copy the disk's image ``cuts`` times while at most ``chunks`` chunks arrive; what is on each copy?

    With ``spread`` the cuts are spread over the whole upload, and it goes on to its end. The image lies on a file
    system that copies a file in one instant: a copy that is read block by block while the disk is written shows a
    state that no power cut leaves behind.
    """
    verdict, around = Verdict(), made_disk(lab, "xfs", size=3 * ROOMY, name="around")
    mount = made_disk(lab, "ext4", size=ROOMY, name="disk", below=around.place)
    image = around.place / "disk.img"
    installation = Installation(lab)
    shutil.copytree(installation.data_dir, mount.place / "data")
    installation.env |= {"DATA_DIR": str(mount.place / "data")}
    subprocess.run(["sync"], check=True)
    web = installation.web()
    customer = Customer(installation, web.url)
    flow, interviews = customer.flow(None), []
    sent: dict[int, bytes] = {}
    acked: set[int] = set()
    stop, random_bytes = threading.Event(), random.Random(lab.seed).randbytes

    def upload() -> None:
        for number in range(chunks):
            if number % TALK == 0:
                booked = customer.book(flow, f"f27-{number}@example.com").body
                one = candidate_at(booked["interview_link"])
                segment = one.open_segment("audio/webm")
                interviews.append(str(booked["interview_id"]))
            sent[number] = random_bytes(SECOND if spread else PIECE)
            if put(one, segment, number % TALK, sent[number]) == 200:
                acked.add(number)
            if stop.is_set():
                return

    thread = threading.Thread(target=upload)
    thread.start()
    eventually(lambda: len(acked) > 5, seconds=30)
    lost, checked = 0, 0
    for number in range(cuts):
        if spread:
            eventually(lambda n=number: len(acked) >= chunks * (n + 1) // (cuts + 1), seconds=600, every=0.01)
        time.sleep(lab.random.uniform(0.05, 0.6))
        before = set(acked)
        copy = around.place / "cut.img"
        copy.unlink(missing_ok=True)
        subprocess.run(["cp", "--reflink=always", str(image), str(copy)], check=True)
        lost += _on_the_copy(lab, verdict, copy, f"cut-{number}", interviews, sent, before)
        checked += len(before)
    if not spread:
        stop.set()
    thread.join(3600)
    web.stop()
    verdict.fired = f"{cuts} cuts during {len(acked)} chunks" if len(acked) > cuts else ""
    verdict.figure = f"{lost} lost of {len(acked)} acked chunks, looked at {checked} times"
    return verdict


def _on_the_copy(
    lab: Lab, verdict: Verdict, copy: Path, name: str, interviews: list[str], sent: dict[int, bytes], acked: set[int]
) -> int:
    mount = Mount(lab, "-o", "loop", str(copy), name=name)
    try:
        data = mount.place / "data"
        with contextlib.closing(sqlite3.connect(data / "parley.db")) as database:
            verdict.holds(database.execute("pragma integrity_check").fetchone() == ("ok",), "the database is damaged")
            rows = [
                (at * TALK + number, *kept)
                for at, interview in enumerate(list(interviews))
                for number, *kept in database.execute(CHUNKS.replace(":i", "?"), (interview,))
            ]
        return _check(verdict, rows, data / "files", sent, acked)
    finally:
        mount.umount()


@case("F28", "inodes used up", invariants="I6 I11", root=True)
def inodes_used_up(lab: Lab) -> Verdict:
    verdict, mount = Verdict(), made_disk(lab, "ext4", "-N", "48", size=ROOMY, name="inodes")
    installation, web, _customer, one, segment, interview = _speaking(lab, STORAGE_URL=str(mount.place / "files"))
    sent, acked, statuses = {}, set(), []
    for number in range(1500):
        sent[number] = lab.random.randbytes(500)
        statuses.append(put(one, segment, number, sent[number]))
        if statuses[-1] == 200:
            acked.add(number)
        if statuses.count(503) + statuses.count(507) >= 3:
            break
    left = os.statvfs(mount.place).f_favail
    lost = _check(verdict, installation.sql(CHUNKS, i=interview), mount.place / "files", sent, acked)
    verdict.fired = f"{left} inodes left after {len(acked)} chunks" if left < 3 else ""
    verdict.figure = f"answers {sorted(set(statuses))}; {lost} acked lost"
    verdict.holds(set(statuses) == {200, 503} or set(statuses) == {200, 507}, f"answers {sorted(set(statuses))}")
    web.stop()
    return verdict


@case("F19", "log disk of the database full", invariants="I1 I6", root=True)
def log_disk_full(lab: Lab) -> Verdict:
    verdict, below = Verdict(), Path(tempfile.mkdtemp(prefix="parley-faults-wal-"))
    lab.resources.callback(shutil.rmtree, below, ignore_errors=True)
    below.chmod(0o755)  # the server runs as somebody else
    mount = tmpfs(lab, 64, "wal", below)
    server = PostgresServer(lab, log=mount.place, wal_keep_size="1GB")
    installation = Installation(lab, postgres=server)
    web = installation.web()
    customer = Customer(installation, web.url)
    flow = customer.flow(None)
    booked = customer.book(flow, "f19@example.com").body
    one = candidate_at(booked["interview_link"])
    segment = one.open_segment("audio/webm")
    used = 64 * 1024**2 - shutil.disk_usage(mount.place).free
    subprocess.run(["mount", "-o", f"remount,size={used // 1024 + 8}k", str(mount.place)], check=True)
    sent: dict[int, bytes] = {}
    acked, statuses, bookings = set(), [], {}
    for number in range(lab.amount(smoke=1500, full=6000)):
        sent[number] = lab.random.randbytes(2000)
        statuses.append(put(one, segment, number, sent[number]))
        if statuses[-1] == 200:
            acked.add(number)
        if number % 10 == 0:
            _press(server)
            email = f"f19-{number}@example.com"
            bookings[email] = customer.book(flow, email, Idempotency_Key=email)
        if statuses[-5:].count(503) == 5:
            break
    full, down = shutil.disk_usage(mount.place).free, not server.answers()
    subprocess.run(["mount", "-o", "remount,size=256m", str(mount.place)], check=True)
    server.process.stop()
    server.start()
    again = eventually(lambda: put(one, segment, max(sent), sent[max(sent)]) == 200, seconds=15)
    lost = _check(
        verdict, installation.sql(CHUNKS, i=booked["interview_id"]), installation.data_dir / "files", sent, acked
    )
    rows = {str(row[0]) for row in installation.sql("select interviewee_email_address from interview")}
    gone = [email for email, answer in bookings.items() if answer.status == 200 and email not in rows]
    web.stop()
    refused = statuses.count(503) + sum(answer.status == 503 for answer in bookings.values())
    verdict.fired = f"{full} bytes left, {refused} calls refused" if full < 1024**2 and refused >= 5 else ""
    verdict.figure = f"{lost} of {len(acked)} acked chunks and {len(gone)} of {len(bookings)} bookings lost"
    verdict.figure += "; the server ended itself" if down else ""
    wrong = [a.status for a in bookings.values() if a.status != 200 and not a.is_honest_refusal]
    verdict.holds(set(statuses) <= {200, 503} and not wrong, f"answers {sorted(set(statuses))}, {wrong[:5]}")
    verdict.holds(not gone, f"I1 acknowledged and lost: {gone[:5]}")
    verdict.holds(again, "I12 not well within 15 s after there was room again")
    return verdict


def _press(server: PostgresServer) -> None:
    """What the rest of a busy platform writes into the log."""
    import psycopg

    with contextlib.suppress(psycopg.Error), psycopg.connect(server.url, connect_timeout=2) as connection:
        connection.execute("select pg_logical_emit_message(true, 'busy', repeat('x', 60000))")


@case("F29", "one bit flipped in a stored chunk", invariants="I6", smoke=True, takes=32)
def bit_flipped(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab)
    web = installation.web()
    customer = Customer(installation, web.url)
    booked = customer.book(customer.flow(None), "f29@example.com").body
    interview = booked["interview_id"]
    one = candidate_at(booked["interview_link"], mode="voice")
    one.take([])
    key = installation.one(
        "select storage_key from chunk where interview_id = :i and track = 'mix' order by number limit 1", i=interview
    )
    path = installation.data_dir / "files" / str(key)
    content = bytearray(path.read_bytes())
    content[lab.random.randrange(len(content))] ^= 1 << lab.random.randrange(8)
    path.write_bytes(content)
    installation.worker()
    stages = "select stage from interview where id = :i"
    eventually(lambda: installation.one(stages, i=interview) in {"processing_failed", "completed"}, seconds=90)
    stage = installation.one(stages, i=interview)
    reason = installation.one("select failure from interview where id = :i", i=interview)
    audio = installation.count("recording", "interview_id = :i", i=interview)
    web.stop()
    verdict.fired = f"1 bit of {len(content)} bytes"
    verdict.figure = f"stage {stage}, {audio} recordings published; reason: {str(reason)[:60]}"
    verdict.holds(stage == "processing_failed" and reason, f"I6 the flaw is not visible: {stage}")
    verdict.holds(audio == 0, "I6 a recording was published from damaged chunks")
    return verdict
