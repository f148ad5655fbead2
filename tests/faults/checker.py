"""Compares what clients and receivers saw with what the database says, after the fault is healed."""

import base64
import binascii
import hashlib
import hmac
import time
from collections import Counter, defaultdict
from urllib.parse import quote

from tests.faults.case import Verdict, eventually
from tests.faults.installation import Installation
from tests.faults.people import WEBHOOK_SECRET, Recruiter
from tests.faults.receiver import Receiver, Request

OPEN = "state in ('pending', 'sending', 'held')"


def wait_until_delivered(installation: Installation, *, seconds: float) -> float | None:
    """Seconds until nothing waits any more."""
    began = time.monotonic()
    done = eventually(lambda: installation.count("webhook_delivery", OPEN) == 0, seconds=seconds)
    return time.monotonic() - began if done else None


def check_events(verdict: Verdict, installation: Installation, receiver: Receiver, recruiter: Recruiter | None) -> int:
    """I1 to I5 and I10 over everything that was announced; returns how many events arrived."""
    rows = installation.sql("select event_id, subject, sequence, state, body, event_type from webhook_delivery")
    journal = receiver.journal()
    by_event = {str(row[0]): row for row in rows}
    arrived = defaultdict(list)
    for request in journal:
        arrived[request.event_id].append(request)
    _nothing_lost(verdict, installation, by_event, arrived)
    for event_id, requests in arrived.items():
        row = by_event.get(event_id)
        if row is None:
            verdict.flaws.append(f"I2 a phantom: {event_id} was received and is not in the database")
            continue
        bodies = {request.body for request in requests}
        verdict.holds(bodies == {bytes(row[4])}, f"I5 other bytes than announced in {event_id}")
        verdict.holds(all(map(is_signed, requests)), f"I5 a signature of {event_id} does not verify")
    _in_order(verdict, rows, arrived)
    _no_secret(verdict, journal)
    if recruiter is not None:
        _moves(verdict, installation, recruiter)
    return len(arrived)


def _nothing_lost(
    verdict: Verdict, installation: Installation, by_event: dict[str, tuple], arrived: dict[str, list[Request]]
) -> None:
    for event_id, row in by_event.items():
        if row[3] == "delivered":
            verdict.holds(event_id in arrived, f"I1 {event_id} counts as delivered and never arrived")
    changes = installation.sql(
        "select c.candidate_id, c.number, d.id from status_change c left join webhook_delivery d"
        " on d.subject = c.candidate_id and d.sequence = c.number"
        " join candidate k on k.id = c.candidate_id join interview_flow f on f.id = k.flow_id"
        " where f.webhook_url is not null"
    )
    lost = [row for row in changes if row[2] is None]
    verdict.holds(not lost, f"I1 {len(lost)} committed moves have no event")
    phantoms = installation.count(
        "webhook_delivery d",
        "event_type = 'candidate_status_updated' and not exists"
        " (select 1 from status_change c where c.candidate_id = d.subject and c.number = d.sequence)",
    )
    verdict.holds(phantoms == 0, f"I2 {phantoms} events tell of moves that did not commit")


def _moves(verdict: Verdict, installation: Installation, recruiter: Recruiter) -> None:
    acked = Counter(recruiter.moved)
    rows = installation.sql("select candidate_id, new, count(*) from status_change group by candidate_id, new")
    kept = {(str(row[0]), str(row[1])): int(row[2]) for row in rows}
    for move, times in acked.items():
        verdict.holds(kept.get(move, 0) >= times, f"I1 an acknowledged move to {move[1]} is not in the history")
    more = sum(kept.values()) - sum(acked.values())
    verdict.holds(more <= len(recruiter.refused), f"I3 {more} moves were kept that nobody made")


def _in_order(verdict: Verdict, rows: list[tuple], arrived: dict[str, list[Request]]) -> None:
    subjects = defaultdict(list)
    for row in rows:
        if str(row[0]) in arrived:
            subjects[row[1]].append((row[2], arrived[str(row[0])][0].at))
    for found in subjects.values():
        times = [at for _sequence, at in sorted(found)]
        verdict.holds(times == sorted(times), "I4 events of one subject arrived out of order")


def is_signed(request: Request) -> bool:
    """Both signatures, computed here without the product's code."""
    key = WEBHOOK_SECRET.encode()
    plain = hmac.new(key, request.body, hashlib.sha256).hexdigest()
    told = f"{request.event_id}.{request.headers.get('webhook-timestamp')}.".encode() + request.body
    standard = "v1," + base64.b64encode(hmac.new(key, told, hashlib.sha256).digest()).decode()
    return plain == request.headers.get("x-service-signature") and standard == request.headers.get("webhook-signature")


def _no_secret(verdict: Verdict, journal: list[Request]) -> None:
    raw = WEBHOOK_SECRET.encode()
    forms = {
        raw,
        binascii.hexlify(raw),
        base64.b64encode(raw),
        base64.urlsafe_b64encode(raw),
        quote(WEBHOOK_SECRET).encode(),
    }
    for request in journal:
        told = request.body + b"\n".join(f"{k}: {v}".encode() for k, v in request.headers.items())
        verdict.holds(not any(form in told for form in forms), "I10 the secret was sent to the receiver")
