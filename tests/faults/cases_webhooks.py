"""A receiver that is away for days, and comes back."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.faults.case import Lab, Verdict, case, eventually
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, RedisServer
from tests.faults.people import Customer, Recruiter, candidates_of
from tests.faults.proxy import Proxy
from tests.faults.receiver import Receiver

LEAST = timedelta(hours=75, minutes=35, seconds=5)
MOST_ATTEMPTS = 20


def _moment(value: Any) -> datetime:
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@case("F39", "receiver down for days, then up", invariants="I1 I4")
def down_for_days(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab, redis=RedisServer(lab), SWEEP_SECONDS="1")
    web = installation.web()
    installation.worker()
    customer, recruiter = Customer(installation, web.url), Recruiter(web.url)
    recruiter.sign_in()
    with Receiver(lab.directory / "journal") as receiver, Proxy("127.0.0.1", receiver.port) as proxy:
        proxy.faults.refuse = True
        flow = customer.flow(f"http://127.0.0.1:{proxy.port}/f39")
        one = candidates_of(installation, customer, flow, 1)[0]
        for status in ("shortlisted", "accepted", "interviewed"):
            recruiter.move(one, status)
        waited, attempts = _live_through(installation, one)
        states = _states(installation, one)
        refused, early = proxy.counts.refused, len(receiver.journal())
        proxy.faults.refuse = False
        installation.sql("update webhook_endpoint set not_before = null")
        first = installation.one("select id from webhook_delivery where subject = :s order by sequence limit 1", s=one)
        replay = recruiter.post(f"/webhooks/deliveries/{first}/resend", page="/webhooks")
        took = wait_until_delivered(installation, seconds=60)
        check_events(verdict, installation, receiver, recruiter)
        arrived = receiver.journal()
        after = _states(installation, one)
    verdict.fired = f"{refused} connections refused" if refused >= attempts and not early else ""
    verdict.figure = f"exhausted after {attempts} attempts in {waited}; then {states}; replay: {len(arrived)} in order"
    verdict.holds(waited >= LEAST, f"I1 exhausted after {waited} only")
    verdict.holds(states == ["exhausted", "held", "held"], f"I1 states {states}")
    verdict.holds(replay.status == 303 and took is not None, f"the replay: {replay.status}, {took}")
    verdict.holds(after == ["delivered"] * 3 and len(arrived) == 3, f"I1 after the replay {after}")
    return verdict


def _live_through(installation: Installation, subject: str) -> tuple[timedelta, int]:
    """Let each delay pass at once, in the database, until the first event is exhausted; what was to be waited."""
    columns = "select state, attempts, due_at, changed_at from webhook_delivery where subject = :s order by sequence"
    waited, attempts = timedelta(), 0
    for expected in range(1, MOST_ATTEMPTS):
        eventually(lambda n=expected: _settled(installation.sql(columns, s=subject)[0], n), seconds=40)
        state, attempts, due_at, changed_at = installation.sql(columns, s=subject)[0]
        if state != "pending" or attempts < expected:
            break
        waited += _moment(due_at) - _moment(changed_at)
        past = datetime.now(UTC) - timedelta(seconds=1)
        value = past if installation.postgres else past.replace(tzinfo=None).isoformat(sep=" ")
        installation.sql(
            "update webhook_delivery set due_at = :t where subject = :s and state = 'pending'", t=value, s=subject
        )
        installation.sql("update webhook_endpoint set not_before = null")
    return waited, attempts


def _settled(row: Any, attempts: int) -> bool:
    return row[0] == "exhausted" or (row[0] == "pending" and row[1] >= attempts)


def _states(installation: Installation, subject: str) -> list[str]:
    rows = installation.sql("select state from webhook_delivery where subject = :s order by sequence", s=subject)
    return [str(row[0]) for row in rows]
