"""Files made to do harm: recordings, documents, and intro videos that never end."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from app.operations.demo.candidate import Candidate
from tests.faults.case import Lab, Verdict, case, eventually
from tests.faults.installation import Installation, RedisServer, Web
from tests.faults.people import Answered, Customer, candidate_at
from tests.faults.processes import Process, descendants, is_running
from tests.faults.receiver import Behaviour, Receiver, Wire, always, answer
from tests.recordings.recorder import record, sound
from tests.recordings.test_video import HOSTILE as NO_RECORDINGS
from tests.security.test_hostile_documents import REFUSED
from tests.security.test_hostile_media import EBML, ENDLESS, FTYP, HEADER, HOSTILE

GIGABYTE = 1024**3
CHUNK = 1_000_000
TICKS = 100
"""Per second: what /proc counts processor time in."""
PROMISED = 40


def _recordings(lab: Lab) -> dict[str, bytes]:
    """At least ``PROMISED`` different recordings that no recorder writes."""
    noise = lab.random.randbytes(80_000)
    more = {
        f"noise {number}": lab.random.choice([HEADER, FTYP, EBML]) + lab.random.randbytes(20_000 + 5_000 * number)
        for number in range(6)
    }
    more |= {
        "MP4 with a playlist": FTYP + b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n",
        "MP4 with a concat script": FTYP + b"ffconcat version 1.0\nfile http://127.0.0.1:9/x\n",
        "page and MP4": b"<html><script>1</script>" + FTYP + noise,
        "MP4 and page": FTYP + b"<html><script>alert(1)</script></html>" * 100,
        "a billion seconds": HEADER
        + b"\x18\x53\x80\x67"
        + ENDLESS
        + b"\x15\x49\xa9\x66\x8e\x44\x89\x88"
        + b"\x41\xcd\xcd\x65\x00\x00\x00\x00"
        + noise,
        "late clusters": HEADER
        + b"\x18\x53\x80\x67"
        + ENDLESS
        + b"\x1f\x43\xb6\x75"
        + ENDLESS
        + b"\xe7\x88"
        + b"\x7f" * 8
        + noise,
        "segment header alone": HEADER + b"\x18\x53\x80\x67" + ENDLESS,
    }
    others = {f"no recording: {name}": content for name, content in NO_RECORDINGS.items() if content}
    return {**HOSTILE, **others, **more, **_broken(lab, noise)}


def _broken(lab: Lab, noise: bytes) -> dict[str, bytes]:
    """What was a recording once."""
    honest = record(lab.directory / "honest.webm", sound(6, [1, 3, 5])).read_bytes()
    middle = len(honest) // 2
    return {
        "cut after the header": honest[:200],
        "cut in the middle": honest[:middle],
        "beginning lost": honest[middle:],
        "noise in the middle": honest[:middle] + noise + honest[middle:],
        "bytes turned round": honest[::-1],
        "nothing but zero bytes": bytes(len(honest)),
    }


class _Watch(threading.Thread):
    """The largest process below ``pid`` that decodes, and the processor seconds of each."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid, self.stop = pid, threading.Event()
        self.memory, self.seconds, self.seen = 0, 0.0, set()
        self.sockets = 0

    def run(self) -> None:
        while not self.stop.is_set():
            for pid in descendants(self._pid):
                with suppress(OSError, ValueError, IndexError):
                    self._look(pid)
            time.sleep(0.05)

    def _look(self, pid: int) -> None:
        if b"video.child" not in Path(f"/proc/{pid}/cmdline").read_bytes():
            return
        self.seen.add(pid)
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        self.seconds = max(self.seconds, (int(words[11]) + int(words[12])) / TICKS)
        self.memory = max(self.memory, int(words[21]) * 4096)
        here, there = (Path(f"/proc/{one}/ns/net").readlink() for one in (pid, self._pid))
        links = [str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()] if here == there else []
        self.sockets += sum(link.startswith("socket:") for link in links)


@case("F45", "40 hostile recordings", invariants="I11 I13")
def hostile_recordings(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab, redis=RedisServer(lab))
    web, worker = installation.web(), installation.worker()
    customer = Customer(installation, web.url)
    flow = customer.flow(None, is_video_enabled=True)
    kinds = _recordings(lab)
    chosen = kinds if not lab.is_smoke else dict(lab.random.sample(sorted(kinds.items()), 6))
    watch = _Watch(worker.pid)
    watch.start()
    ids = {name: _hand_in(customer, flow, content, number=n) for n, (name, content) in enumerate(chosen.items())}
    stages = "select stage, failure, video_stage from interview where id = :i"
    ended = {}
    for name, interview in ids.items():
        eventually(
            lambda i=interview: installation.one(stages, i=i) not in {"submitted", "processing"}, seconds=300, every=0.3
        )
        ended[name] = installation.sql(stages, i=interview)[0]
    honest = _hand_in(customer, flow, None, number=99)
    alive = eventually(lambda: installation.one(stages, i=honest) == "completed", seconds=120)
    watch.stop.set()
    hung = {name: row[0] for name, row in ended.items() if row[0] not in {"completed", "processing_failed"}}
    silent = [name for name, row in ended.items() if row[0] == "processing_failed" and not row[1]]
    failed = sum(row[0] == "processing_failed" for row in ended.values())
    different = len(set(chosen.values()))
    verdict.fired = f"{len(ended)} files, {len(watch.seen)} decoders" if watch.seen else ""
    verdict.figure = f"{failed} failed visibly; a decoder took at most {watch.seconds:.1f} s"
    verdict.figure += f" and {watch.memory / 1e6:.0f} MB"
    enough = lab.is_smoke or different >= PROMISED
    verdict.holds(enough and len(ended) == len(chosen), f"{different} different files, {len(ended)} handed in")
    verdict.holds(not hung, f"I11 not ended: {hung}")
    verdict.holds(not silent, f"I11 failed without a reason: {silent}")
    verdict.holds(watch.seconds <= 120 and watch.memory <= 2 * GIGABYTE, "I11 a decoder took too much")
    verdict.holds(watch.sockets == 0, f"I13 a decoder had {watch.sockets} sockets in the worker's network")
    verdict.holds(alive and worker.is_alive(), "I11 an honest interview behind them was not processed")
    return verdict


def _hand_in(customer: Customer, flow: str, content: bytes | None, *, number: int) -> str:
    """A whole interview by keyboard; beside it a recorder sends ``content`` chunk by chunk."""
    booked = customer.book(flow, f"f45-{number}@example.com").body
    one = candidate_at(booked["interview_link"])
    ends = []
    if content is not None:
        segment = one.open_segment("video/webm;codecs=vp8,opus")
        pieces = [content[at : at + CHUNK] for at in range(0, len(content), CHUNK)]
        for at, piece in enumerate(pieces):
            one.put_chunk(segment, at, piece, track="mix")
        ends = [{"segment": segment, "last_mix_chunk": len(pieces) - 1, "last_voice_chunk": -1}]
    prompt = one.turn(1, "begin")
    while prompt["expects"] == "answer":
        prompt = one.turn(prompt["turn"] + 1, "text", text="I help people every day and I like my work here.")
    one.finish(ends)
    return str(booked["interview_id"])


@case("F46", "zip and docx bombs, zip-slip, links, entities", invariants="I11")
def hostile_documents(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab)
    web = installation.web()
    customer = Customer(installation, web.url)
    booked = customer.book(customer.flow(None, is_doc_upload_enabled=True), "f46@example.com").body
    one = candidate_at(booked["interview_link"])
    _add(one, b"an honest first document, so that the way is known to be open")
    before, peak = _resident(web.pid), 0
    statuses, slowest = {}, 0.0
    for name, content in REFUSED.items():
        began = time.monotonic()
        statuses[name] = _add(one, content)
        slowest = max(slowest, time.monotonic() - began)
        peak = max(peak, _resident(web.pid) - before)
    kept = installation.count("document", "interview_id = :i", i=booked["interview_id"])
    files = [path for path in (installation.data_dir / "files" / "documents").rglob("*") if path.is_file()]
    ping = customer.call("GET", "/v1/ping")
    wrong = {name: status for name, status in statuses.items() if status not in {413, 415, 422}}
    verdict.fired = f"{len(statuses)} documents sent"
    verdict.figure = f"refused {len(statuses) - len(wrong)}, slowest {slowest:.2f} s, memory {peak / 1e6:+.0f} MB"
    verdict.holds(not wrong, f"not refused: {wrong}")
    verdict.holds(kept == 1 and len(files) == 1, f"{kept} documents and {len(files)} files were kept instead of 1")
    verdict.holds(peak < 150e6 and slowest < 5, f"I11 {peak / 1e6:.0f} MB, {slowest:.1f} s")
    verdict.holds(ping.status == 200 and web.is_alive(), "I11 the web process did not survive")
    return verdict


def _add(one: Candidate, content: bytes) -> int:
    return int(one.ask("POST", "/documents", files={"file": ("cv.docx", content)}).status_code)


def _resident(pid: int) -> int:
    line = next(text for text in Path(f"/proc/{pid}/status").read_text().splitlines() if text.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


MOST = 100_000_000
BUFFERS = 16_000_000
"""What kernel buffers on both ends may have taken beyond what was read."""


class _Sent:
    """Bytes that left the receiver, by path."""

    def __init__(self) -> None:
        self.by_path: dict[str, int] = {}

    def pour(self, head: bytes, *, total: float = float("inf"), per_second: int = 0) -> Behaviour:
        """Answer with ``head`` and then MP4-like bytes, fast or at ``per_second``."""

        async def behave(wire: Wire) -> None:
            path = wire.request.path
            await wire.send(head)
            sent = 0
            while sent < total:
                piece = (FTYP if not sent else b"") + bytes(min(65_536, per_second or 65_536))
                await wire.send(piece)
                sent += len(piece)
                self.by_path[path] = sent
                if per_second:
                    await asyncio.sleep(1)

        return behave


@case("F47", "intro videos: endless, lying, too large, slow, no video", invariants="I11")
def intro_videos(lab: Lab) -> Verdict:
    verdict, sent = Verdict(), _Sent()
    installation = Installation(lab)
    web = installation.web()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n"
    kinds: dict[str, Behaviour] = {
        "/endless": sent.pour(head + b"Connection: close\r\n\r\n"),
        "/lying": sent.pour(head + b"Content-Length: 5000000\r\nConnection: close\r\n\r\n", total=70_000),
        "/told": sent.pour(head + b"Content-Length: 100000001\r\nConnection: close\r\n\r\n", total=MOST + 1),
        "/slow": sent.pour(head + b"Content-Length: 5000000\r\nConnection: close\r\n\r\n", per_second=1024),
        "/page": always(answer(200, headers="Content-Type: video/mp4\r\n", body=b"<!doctype html><p>no video</p>")),
        "/exact": sent.pour(head + b"Connection: close\r\n\r\n", total=MOST + 1),
    }
    with Receiver(lab.directory / "journal") as receiver:
        receiver.behaviours |= kinds
        customer = Customer(installation, web.url)

        def ask(path: str) -> Answered:
            return _flow_with(customer, receiver.url(path))

        with ThreadPoolExecutor(3) as pool:
            answers = dict(zip(kinds, pool.map(ask, kinds), strict=True))
        met = {request.path for request in receiver.journal()}
        left = _unnamed_files(web)
    kept = [path for path in (installation.data_dir / "files").rglob("*") if path.is_file()]
    slowest = max(one.seconds for one in answers.values())
    statuses = {path: one.status for path, one in answers.items()}
    most = max(sent.by_path.values())
    verdict.fired = f"{len(met)} kinds; at most {most / 1e6:.0f} MB sent" if met == set(kinds) else ""
    verdict.figure = (
        f"answers {sorted(set(statuses.values()))} within {slowest:.1f} s; {len(left)} temporary files left"
    )
    verdict.holds(set(statuses.values()) == {422}, f"answers {statuses}")
    verdict.holds(slowest <= 62, f"I11 answered after {slowest:.0f} s")
    verdict.holds(most <= MOST + BUFFERS, f"I11 {most} bytes were taken")
    verdict.holds(not left and not kept, f"I11 left behind: {left[:3]} {kept[:3]}")
    verdict.holds(is_running(web.pid), "I11 the web process did not survive")
    return verdict


def _flow_with(customer: Customer, video: str) -> Answered:
    return customer.call(
        "POST",
        "/v1/interview-flows",
        {
            "org_name": "Faults",
            "title": "Video",
            "questions": ["Why us?"],
            "interview_type": "recruitment",
            "preamble_video_url": video,
        },
        timeout=120,
    )


def _unnamed_files(process: Process | Web) -> list[str]:
    """Temporary files without a name that the process still holds open."""
    found = []
    for fd in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(OSError):
            target = str(fd.readlink())
            if "/tmp" in target and "(deleted)" in target:
                found.append(target)
    return found
