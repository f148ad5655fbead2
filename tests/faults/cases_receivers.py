"""Receivers that misbehave, and what becomes of their neighbours."""

import asyncio
import gzip
import socket
import ssl
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding

from tests.faults.case import Lab, Verdict, case, eventually, percentile
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, RedisServer, within
from tests.faults.people import Customer, Recruiter, candidate_at, candidates_of
from tests.faults.processes import Process, descendants
from tests.faults.receiver import Behaviour, Receiver, Wire, always, answer, healthy, silent
from tests.outbound.certificates import Authority


class Scene:
    """One installation with a journalling receiver; each case uses paths of its own."""

    def __init__(self, lab: Lab, **env: str) -> None:
        self.installation = Installation(lab, redis=RedisServer(lab), **env)
        web = self.installation.web()
        self.worker: Process = self.installation.worker()
        self.customer, self.recruiter = Customer(self.installation, web.url), Recruiter(web.url)
        self.recruiter.sign_in()
        self.receiver = lab.resources.enter_context(Receiver(lab.directory / "journal"))

    def send_to(self, path: str, behaviour: Behaviour) -> str:
        """One event to a path with this behaviour; the id of its delivery."""
        self.receiver.behaviours[path] = behaviour
        one = candidates_of(self.installation, self.customer, self.customer.flow(self.receiver.url(path)), 1)[0]
        self.recruiter.move(one, "shortlisted")
        return str(self.installation.one("select id from webhook_delivery where subject = :s", s=one))

    def attempts(self, delivery: str, *, at_least: int = 1, seconds: float = 40) -> list[Any]:
        """Rows (seconds, status, error, length of the answer, at) once there are enough."""
        columns = "seconds, status, error, length(answer), at"
        query = f"select {columns} from webhook_attempt where delivery_id = :d order by number"
        eventually(lambda: len(self.installation.sql(query, d=delivery)) >= at_least, seconds=seconds)
        return self.installation.sql(query, d=delivery)

    def memory(self) -> int:
        """Resident bytes of the worker's family."""
        total = 0
        for pid in descendants(self.worker.pid):
            with suppress(OSError, IndexError):
                line = next(t for t in Path(f"/proc/{pid}/status").read_text().splitlines() if t.startswith("VmRSS"))
                total += int(line.split()[1]) * 1024
        return total


def _scene(lab: Lab) -> Scene:
    authority: Authority = lab.shared("authority", lambda: Authority(lab.directory))
    trusted = lab.directory / "authority.pem"
    trusted.write_bytes(authority.certificate.public_bytes(Encoding.PEM))
    return lab.shared("receivers", lambda: Scene(lab, SSL_CERT_FILE=str(trusted)))


@case("F30", "receiver drips 1 byte per 0.5 s", invariants="I11", group="receivers", smoke=True, takes=39)
def dripping(lab: Lab) -> Verdict:
    verdict, scene, dripped = Verdict(), _scene(lab), []

    async def drip(wire: Wire) -> None:
        for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 500:
            await wire.send(bytes([byte]))
            dripped.append(byte)
            await asyncio.sleep(0.5)

    attempts = scene.attempts(scene.send_to("/f30", drip))
    took = float(attempts[0][0]) if attempts else 0.0
    verdict.fired = f"{len(dripped)} bytes dripped" if len(dripped) > 5 else ""
    verdict.figure = f"attempt ended after {took:.2f} s as {attempts[0][2] if attempts else '-'}"
    verdict.holds(bool(attempts) and 10 <= took <= 15.5, f"attempt took {took:.1f} s")
    verdict.holds(bool(attempts) and attempts[0][2] == "timeout", "the error class is not timeout")
    return verdict


async def _reset(wire: Wire) -> None:
    wire.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.writer.transport.abort()


async def _half_close(wire: Wire) -> None:
    wire.writer.write_eof()
    await asyncio.sleep(1)


async def _endless_headers(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await wire.send(b"X-More: " + b"y" * 4000 + b"\r\n")


async def _continues(wire: Wire) -> None:
    while True:
        await wire.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


@case(
    "F32",
    "reset, half close, garbage, endless headers, flood of 100",
    invariants="I1 I11",
    group="receivers",
    smoke=True,
)
def broken_protocol(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), _scene(lab)
    wrong: dict[str, Behaviour] = {
        "reset": _reset,
        "half": _half_close,
        "garbage": always(b"\0\xff\xfeno http at all\r\n\r\n"),
        "truncated": always(b"HTTP/1.1 200"),
        "headers": _endless_headers,
        "continue": _continues,
        "only100": always(b"HTTP/1.1 100 Continue\r\n\r\n"),
    }
    before = scene.memory()
    sent = {name: scene.send_to(f"/f32-{name}", behaviour) for name, behaviour in wrong.items()}
    classes = {}
    for name, delivery in sent.items():
        attempts = scene.attempts(delivery)
        verdict.holds(attempts, f"{name}: no attempt was recorded")
        classes[name] = attempts[0][2] if attempts else "-"
        verdict.holds(not attempts or (attempts[0][2] and float(attempts[0][0]) <= 15.5), f"{name}: {attempts[:1]}")
        state = scene.installation.one("select state from webhook_delivery where id = :d", d=delivery)
        verdict.holds(state in {"pending", "sending"}, f"I1 {name} is {state}")
    growth = (scene.memory() - before) / 1e6
    fired = [name for name in wrong if scene.receiver.journal(f"/f32-{name}")]
    verdict.fired = f"{len(fired)} kinds" if len(fired) == len(wrong) else ""
    verdict.figure = f"classes {sorted(set(classes.values()))}; memory {growth:+.1f} MB"
    verdict.holds(growth < 10, f"I11 memory grew by {growth:.0f} MB")
    return verdict


async def _flood(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
    with suppress(OSError):
        while True:
            await wire.send(b"z" * 65536)


@case("F33", "10 GB body, gzip bomb, wrong Content-Length", invariants="I11", group="receivers", smoke=True)
def large_answers(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), _scene(lab)
    bomb = gzip.compress(b"0" * 20_000_000)
    kinds: dict[str, Behaviour] = {
        "flood": _flood,
        "bomb": always(answer(200, headers="Content-Encoding: gzip\r\n", body=bomb)),
        "short": always(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\nok"),
        "long": always(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n" + b"more than told" * 9000),
    }
    sent = {name: scene.send_to(f"/f33-{name}", behaviour) for name, behaviour in kinds.items()}
    kept = []
    for name, delivery in sent.items():
        attempts = scene.attempts(delivery)
        # More bytes than Content-Length told is a malformed answer; a body that is cut or endless spoils no 2xx.
        expected = (None, "http") if name == "long" else (200, "too_large" if name != "short" else None)
        verdict.holds(attempts and tuple(attempts[0][1:3]) == expected, f"{name} was recorded as {attempts[:1]}")
        kept.append(int(attempts[0][3] or 0) if attempts else -1)
        if name == "bomb" and attempts:
            raw = scene.installation.one("select answer from webhook_attempt where delivery_id = :d", d=delivery)
            verdict.holds(bytes(raw) == bomb[: len(bytes(raw))], "the bomb was decoded")
    fired = [name for name in kinds if scene.receiver.journal(f"/f33-{name}")]
    verdict.fired = f"{len(fired)} kinds" if len(fired) == len(kinds) else ""
    verdict.figure = f"bytes kept: {kept}"
    verdict.holds(max(kept) <= 16_384, f"I11 {max(kept)} bytes of an answer were kept")
    return verdict


@case("F34", "redirects to 169.254.169.254, file:, itself", invariants="I13", group="receivers", smoke=True)
def redirects(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), _scene(lab)
    targets = {
        "meta": "http://169.254.169.254/latest/meta-data/",
        "file": "file:///etc/passwd",
        "self": scene.receiver.url("/f34-self"),
        "trap": scene.receiver.url("/f34-trap"),
    }
    sent = {}
    for number, (name, target) in enumerate(targets.items()):
        status = (301, 302, 307, 308)[number]
        sent[name] = scene.send_to(f"/f34-{name}x", always(answer(status, headers=f"Location: {target}\r\n")))
    for name, delivery in sent.items():
        attempts = scene.attempts(delivery)
        ended = attempts and attempts[0][1] in {301, 302, 307, 308} and attempts[0][2] == "http"
        verdict.holds(ended, f"{name}: {attempts[:1]}")
    followed = scene.receiver.journal("/f34-self") + scene.receiver.journal("/f34-trap")
    verdict.fired = f"{len(sent)} redirects answered"
    verdict.figure = f"{len(followed)} followed"
    verdict.holds(not followed, "I13 a redirect was followed")
    return verdict


@case("F37", "Retry-After: 5, a date, junk, -1, 10 years", invariants="I1", group="receivers", smoke=True)
def retry_after(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), _scene(lab)
    delays = {
        "five": "5",
        "date": "Wed, 21 Oct 2099 07:28:00 GMT",
        "junk": "soon",
        "minus": "-1",
        "years": "315360000",
    }
    sent = {
        name: scene.send_to(f"/f37-{name}", always(answer(status, headers=f"Retry-After: {delay}\r\n")))
        for (name, delay), status in zip(delays.items(), (429, 503, 429, 503, 502), strict=True)
    }
    delays = {}
    for name, delivery in sent.items():
        attempts = scene.attempts(delivery)
        row = scene.installation.sql("select due_at, changed_at from webhook_delivery where id = :d", d=delivery)[0]
        delays[name] = _moment(row[0]) - _moment(row[1])
        verdict.holds(attempts and attempts[0][2] == "http", f"{name}: {attempts[:1]}")
        verdict.holds(59.9 <= delays[name] <= 121, f"I1 {name}: next attempt after {delays[name]:.0f} s")
    verdict.fired = f"{len(sent)} kinds"
    verdict.figure = "delays " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in delays.items())
    return verdict


def _moment(value: Any) -> float:
    from datetime import datetime

    return (datetime.fromisoformat(value) if isinstance(value, str) else value).timestamp()


@case("F38", "410 Gone", invariants="I1", group="receivers", smoke=True)
def gone(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), _scene(lab)
    delivery = scene.send_to("/f38", always(answer(410)))
    attempts = scene.attempts(delivery)
    one, endpoint = scene.installation.sql(
        "select subject, endpoint_id from webhook_delivery where id = :d", d=delivery
    )[0]
    disabled = scene.installation.one("select disabled_by from webhook_endpoint where id = :e", e=endpoint)
    scene.recruiter.move(str(one), "accepted")
    states = [
        str(row[0])
        for row in scene.installation.sql(
            "select state from webhook_delivery where subject = :s order by sequence", s=one
        )
    ]
    before = len(scene.receiver.journal("/f38"))
    scene.receiver.behaviours["/f38"] = healthy
    page = scene.recruiter.post(f"/webhooks/endpoints/{endpoint}/enable", page="/webhooks")
    healed = within(lambda: len(scene.receiver.journal("/f38")) >= before + 2, seconds=30)
    verdict.fired = "410 answered" if attempts and attempts[0][1] == 410 else ""
    verdict.figure = f"disabled by {disabled}; states then {states}; enabled: both arrived after {healed or -1:.1f} s"
    verdict.holds(disabled == "gone", "the endpoint was not disabled")
    verdict.holds(before == 1, f"{before} sends to an endpoint that is gone")
    verdict.holds(all(state in {"held", "pending"} for state in states) and states[-1] == "held", f"I1 {states}")
    verdict.holds(page.status == 303 and healed is not None, "I1 events did not go out after enabling")
    return verdict


@case("F31", "100 receivers accept and never answer, 1 is healthy", invariants="I11", smoke=True, takes=85)
def hanging_neighbours(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), Scene(lab)
    hanging = lab.amount(smoke=100, full=100)
    ids = _organizations(scene, hanging)
    flow = scene.customer.flow(scene.receiver.url("/healthy"))
    people = candidates_of(scene.installation, scene.customer, flow, 5)
    delays, until = [], time.monotonic() + lab.amount(smoke=45, full=240)
    while time.monotonic() < until:
        for one in people:
            scene.recruiter.move(one, scene.recruiter.next_status(one))
            time.sleep(0.3)
    last = wait_until_healthy(scene, flow)
    rows = scene.installation.sql(
        "select d.created_at, min(a.at) from webhook_delivery d join webhook_attempt a on a.delivery_id = d.id"
        " where d.flow_id = :f group by d.id",
        f=flow,
    )
    delays = [_moment(row[1]) - _moment(row[0]) for row in rows]
    events = scene.installation.count("webhook_delivery", "flow_id = :f", f=flow)
    met = len({request.path for request in scene.receiver.journal() if request.path.startswith("/hang")})
    p95, p99 = percentile(delays, 0.95), percentile(delays, 0.99)
    verdict.fired = f"{met} receivers hang" if met >= hanging * 0.9 else ""
    verdict.figure = f"healthy: {len(delays)} of {events}, p95 {p95:.1f} s, p99 {p99:.1f} s"
    verdict.holds(len(ids) == hanging and last is not None, "the healthy receiver's events did not all arrive")
    verdict.holds(len(delays) == events, f"I1 {len(delays)} of {events} attempted")
    verdict.holds(p95 < 10 and p99 < 30, f"I11 p95 {p95:.1f} s, p99 {p99:.1f} s")
    return verdict


def wait_until_healthy(scene: Scene, flow: str) -> float | None:
    """Seconds until nothing of this flow waits."""
    waiting = "flow_id = :f and state <> 'delivered'"
    return within(lambda: scene.installation.count("webhook_delivery", waiting, f=flow) == 0, seconds=60)


def _organizations(scene: Scene, count: int) -> list[str]:
    """Organizations of other customers, each with one event for a receiver that never answers, made by its actions."""
    from app import create_app
    from app.accounts import actions as accounts
    from app.accounts.models import ApiKey  # noqa: F401 - the rows of the room
    from app.candidates import actions as candidates
    from app.candidates.queries import enrolled
    from app.core import queue
    from app.core.db import db
    from app.flows.models import InterviewFlow, InterviewType
    from app.interviews import actions as interviews
    from app.settings import Settings

    app = create_app(Settings.from_env(scene.installation.env), waker=queue.SilentWaker())
    made = []
    with app.app_context():
        for number in range(count):
            founded = accounts.create_organization(
                f"Other {number}", team_name="One", admin_email=f"o{number}@other.example", admin_hash="none"
            )
            path = f"/hang-{number}"
            scene.receiver.behaviours[path] = silent
            flow = InterviewFlow(
                organization_id=founded.organization.id,
                team_id=founded.team.id,
                org_name="Other",
                title="Other",
                questions=["Why us?"],
                interview_type=InterviewType.RECRUITMENT,
                webhook_url=scene.receiver.url(path),
            )
            db.session.add(flow)
            db.session.flush()
            email = f"h{number}@other.example"
            interviews.book(
                founded.organization, flow.id, email=email, first_name=None, last_name=None, recruiter_id=None
            )
            person = enrolled(flow.id, email)
            if person is None:
                raise RuntimeError("booking enrolled nobody")
            for status in ("shortlisted", "accepted", "interviewed"):
                candidates.move(person, status, by=None)
            made.append(flow.id)
            db.session.commit()
        db.engine.dispose()
    return made


@case("F40", "interview_processed keeps failing while the video is ready", invariants="I4", smoke=True, takes=36)
def video_waits(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), Scene(lab)

    async def fails_first(wire: Wire) -> None:
        await wire.send(answer(500) if wire.request.event["event_type"] == "interview_processed" else answer(200))

    scene.receiver.behaviours["/f40"] = fails_first
    flow = scene.customer.flow(scene.receiver.url("/f40"), is_video_enabled=True)
    booked = scene.customer.book(flow, "f40@example.com").body
    interview = booked["interview_id"]
    one = candidate_at(booked["interview_link"], mode="voice")
    one.take([], video=True)
    ready = within(
        lambda: scene.installation.one("select video_stage from interview where id = :i", i=interview) == "ready",
        seconds=120,
    )
    first = "select id from webhook_delivery where subject = :i and event_type = 'interview_processed'"
    delivery = str(scene.installation.one(first, i=interview))
    scene.attempts(delivery, at_least=2, seconds=30)
    video = "subject = :i and event_type = 'video_processed'"
    state = scene.installation.one(f"select state from webhook_delivery where {video}", i=interview)
    early = [r for r in scene.receiver.journal("/f40") if r.event["event_type"] == "video_processed"]
    failed = [r for r in scene.receiver.journal("/f40") if r.event["event_type"] == "interview_processed"]
    scene.receiver.behaviours["/f40"] = healthy
    replay = scene.recruiter.post(f"/webhooks/deliveries/{delivery}/resend", page="/webhooks")
    took = wait_until_delivered(scene.installation, seconds=30)
    check_events(verdict, scene.installation, scene.receiver, None)
    verdict.fired = f"{len(failed)} attempts answered 500, video ready after {ready:.0f} s" if ready and failed else ""
    verdict.figure = f"{len(early)} video attempts while {state}; both {took or -1:.1f} s after recovery"
    verdict.holds(not early and state == "held", f"I4 {len(early)} video attempts, state {state}")
    verdict.holds(replay.status == 303 and took is not None and took <= 10, f"I12 {took} s after recovery")
    return verdict


@case("F35", "TLS expired, self-signed, wrong name, hanging handshake", invariants="I11", group="receivers", smoke=True)
def broken_tls(lab: Lab) -> Verdict:
    verdict, scene = Verdict(), _scene(lab)
    authority: Authority = lab.shared("authority", lambda: Authority(lab.directory))
    servers = {
        "good": authority.server("127.0.0.1"),
        "expired": authority.server("127.0.0.1", days=-1),
        "wrong name": authority.server("other.example"),
        "self-signed": authority.server("127.0.0.1", self_signed=True),
    }
    ports = {name: _tls_port(lab, context) for name, context in servers.items()}
    ports["hanging"] = _silent_port(lab)
    sent = {}
    for name, (port, _met) in ports.items():
        url = f"https://127.0.0.1:{port}/f35"
        one = candidates_of(scene.installation, scene.customer, scene.customer.flow(url), 1)[0]
        scene.recruiter.move(one, "shortlisted")
        sent[name] = str(scene.installation.one("select id from webhook_delivery where subject = :s", s=one))
    classes = {}
    for name, delivery in sent.items():
        attempts = scene.attempts(delivery)
        classes[name] = attempts[0][2] if attempts else "-"
        took = float(attempts[0][0]) if attempts else 99.0
        # The good server shakes hands and hangs up: the way to it works, so the others fail for their certificates.
        expected = {"hanging": "timeout", "good": "connect"}.get(name, "tls")
        verdict.holds(classes[name] == expected, f"{name} is classed {classes[name]}")
        verdict.holds(took <= 5.5, f"{name} took {took:.1f} s")
    met = [name for name, (_port, met) in ports.items() if met]
    verdict.fired = f"{len(met)} handshakes" if len(met) == len(ports) else ""
    verdict.figure = ", ".join(f"{name}: {kind}" for name, kind in classes.items())
    return verdict


def _tls_port(lab: Lab, context: ssl.SSLContext) -> tuple[int, list[int]]:
    """A TLS server that ends each connection after the handshake; its port, and a list that grows with each one."""
    server, met = socket.create_server(("127.0.0.1", 0)), []
    lab.resources.callback(server.close)

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                met.append(1)
                with suppress(OSError, ssl.SSLError):
                    context.wrap_socket(connection, server_side=True).close()

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1], met


def _silent_port(lab: Lab) -> tuple[int, list[Any]]:
    """Accepts and never shakes hands."""
    server, met = socket.create_server(("127.0.0.1", 0)), []
    lab.resources.callback(server.close)

    def serve() -> None:
        with suppress(OSError):
            while True:
                met.append(server.accept())

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1], met
