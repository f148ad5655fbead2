"""Candidates: hostile or clumsy browsers at the interview's protocol."""

import hashlib
import threading
import time
from typing import Any

import requests

from app.operations.demo.candidate import Candidate, Refused
from tests.faults.case import Lab, Verdict, case, eventually
from tests.faults.installation import Installation
from tests.faults.people import Customer, candidate_at, talk_in_writing

PIECE = 16_000


def _place(lab: Lab) -> tuple[Installation, Customer]:
    def make() -> tuple[Installation, Customer]:
        installation = Installation(lab)
        web = installation.web()
        return installation, Customer(installation, web.url)

    return lab.shared("candidate", make)


def _link(customer: Customer, flow: str, email: str) -> tuple[str, str]:
    booked = customer.book(flow, email)
    return str(booked.body["interview_link"]), str(booked.body["interview_id"])


@case(
    "F41",
    "chunks doubled, reordered, missing, wrong hash, late",
    invariants="I6",
    group="candidate",
    smoke=True,
    takes=16,
)
def chunks_in_disorder(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation, customer = _place(lab)
    link, interview = _link(customer, customer.flow(None), "f41@example.com")
    one = candidate_at(link)
    segment = one.open_segment("audio/webm")
    sent = {number: lab.random.randbytes(PIECE) for number in range(lab.amount(smoke=12, full=120))}
    order = list(sent) * 2
    lab.random.shuffle(order)
    held_back = lab.random.choice(sorted(sent)[1:-1])
    statuses = [_put(one, segment, number, sent[number]).status_code for number in order if number != held_back]
    other = _put(one, segment, 0, b"other bytes").status_code
    lying = _put(one, segment, max(sent) + 1, b"x" * 100, sha=hashlib.sha256(b"y").hexdigest()).status_code
    prompt = one.turn(1, "begin")
    while prompt["expects"] == "answer":
        prompt = one.turn(prompt["turn"] + 1, "skip")
    ends = [{"segment": segment, "last_mix_chunk": max(sent), "last_voice_chunk": -1}]
    gap = _refused(lambda: one.finish(ends))
    late_gap = _put(one, segment, held_back, sent[held_back]).status_code
    one.finish(ends)
    after = _put(one, segment, max(sent) + 1, b"after the end").status_code
    rows = installation.sql("select number, sha256, storage_key from chunk where interview_id = :i", i=interview)
    _stored_as_sent(verdict, installation, rows, sent)
    verdict.holds(set(statuses) == {200}, f"the same chunk twice, in any order: {sorted(set(statuses))}, not 200")
    verdict.holds(other == 409, f"other bytes under the same number: {other}, not 409")
    verdict.holds(lying == 422, f"a wrong hash: {lying}, not 422")
    verdict.holds(gap is not None and gap.status == 409, "finish with a gap was not refused with 409")
    verdict.holds(gap is not None and str(held_back) in str(gap.body.get("missing")), "the gap was not named")
    verdict.holds(late_gap == 200, f"the missing chunk: {late_gap}, not 200")
    verdict.holds(after == 409, f"a chunk after the end: {after}, not 409")
    verdict.fired = f"{len(order) - 2} chunks shuffled and doubled, 1 held back"
    verdict.figure = f"{len(rows)} of {len(sent)} kept as sent"
    return verdict


def _put(one: Candidate, segment: int, number: int, content: bytes, sha: str | None = None) -> Any:
    headers = {
        "X-Content-SHA256": sha or hashlib.sha256(content).hexdigest(),
        "Content-Type": "application/octet-stream",
    }
    return one.ask("PUT", f"/segments/{segment}/chunks/{number}?track=mix", data=content, headers=headers)


def _refused(work: Any) -> Refused | None:
    try:
        work()
    except Refused as refusal:
        return refusal
    return None


def _stored_as_sent(verdict: Verdict, installation: Installation, rows: list[Any], sent: dict[int, bytes]) -> None:
    verdict.holds(len(rows) == len(sent), f"I6 {len(rows)} rows for {len(sent)} chunks")
    for number, sha256, key in rows:
        kept = (installation.data_dir / "files" / str(key)).read_bytes()
        verdict.holds(kept == sent.get(number), f"I6 chunk {number} is not what was sent")
        verdict.holds(hashlib.sha256(kept).hexdigest() == sha256, f"I6 chunk {number} has another hash")


@case(
    "F43", "100 browsers start one link at once; take-overs", invariants="I7", group="candidate", smoke=True, takes=19
)
def one_winner(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation, customer = _place(lab)
    flow = customer.flow(None)
    rounds = lab.amount(smoke=2, full=50)
    winners = [race(verdict, _link(customer, flow, f"f43-{number}@example.com")[0]) for number in range(rounds)]
    link, interview = _link(customer, flow, "f43-takeover@example.com")
    old = candidate_at(link)
    early = _refused(lambda: candidate_at(link))
    installation.sql(
        "update sitting set heartbeat_at = :t where interview_id = :i", i=interview, t=_ago(installation, 121)
    )
    new = candidate_at(link)
    stale = old.ask("POST", "/heartbeat").status_code, old.ask("POST", "/turns/1", json={"kind": "begin"}).status_code
    new.write(["A long enough answer to the one question that was asked."])
    installation.sql(
        "update sitting set heartbeat_at = :t where interview_id = :i", i=interview, t=_ago(installation, 5000)
    )
    late = _refused(lambda: candidate_at(link))
    verdict.holds(early is not None and early.status in {403, 409}, "a take-over before 120 s of silence succeeded")
    verdict.holds(set(stale) == {409}, f"writes of the old holder: {stale}, not 409")
    verdict.holds(late is not None and late.status in {403, 404, 409, 410}, "a take-over after the end succeeded")
    verdict.fired = f"{rounds} rounds of 100 at once"
    verdict.figure = f"winners per round: {min(winners)} to {max(winners)}"
    verdict.holds(set(winners) == {1}, f"I7 winners per round: {winners}")
    return verdict


def _ago(installation: Installation, seconds: int) -> Any:
    from datetime import UTC, datetime, timedelta

    at = datetime.now(UTC) - timedelta(seconds=seconds)
    return at if installation.postgres else at.replace(tzinfo=None).isoformat(sep=" ")


def race(verdict: Verdict, link: str) -> int:
    """A hundred browsers press Start at once; how many may begin."""
    browsers = [Candidate(link) for _ in range(100)]
    browsers[0].open()
    for browser in browsers[1:]:
        browser.open()
    gate, results = threading.Barrier(100), []

    def start(browser: Candidate) -> None:
        gate.wait(30)
        answer = browser.ask("POST", "/start", json={"consent": "yes", "mode": "text", "locale": "en"})
        results.append((answer.status_code, answer.content))

    threads = [threading.Thread(target=start, args=(browser,)) for browser in browsers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    losers = [(status, body) for status, body in results if status != 200]
    verdict.holds(len(results) == 100, f"only {len(results)} of 100 were answered")
    verdict.holds({status for status, _ in losers} <= {403, 409}, f"losers got {sorted({s for s, _ in losers})}")
    verdict.holds(all(b"question" not in body.lower() for _, body in losers), "I7 a loser was shown data")
    return sum(status == 200 for status, _ in results)


@case("F44", "mail scanner: HEAD, GET, every form without a microphone", invariants="I7", group="candidate", smoke=True)
def mail_scanner(lab: Lab) -> Verdict:
    verdict = Verdict()
    installation, customer = _place(lab)
    link, interview = _link(customer, customer.flow(None), "f44@example.com")
    before = _rows(installation, interview)
    fetched = [requests.request(method, link, timeout=30).status_code for method in ("HEAD", "GET") for _ in range(3)]
    posted = [requests.post(link + path, timeout=30).status_code for path in ("", "/start", "/finish", "/segments")]
    after = _rows(installation, interview)
    finished = talk_in_writing(link)
    verdict.fired = f"{len(fetched)} fetches, {len(posted)} blind posts"
    verdict.figure = f"answers {sorted(set(fetched))} and {sorted(set(posted))}, then usable at once"
    verdict.holds(set(fetched) == {200}, f"fetching the link: {fetched}")
    verdict.holds(all(400 <= status < 500 for status in posted), f"blind posts: {posted}")
    verdict.holds(before == after, "I7 a scanner changed the interview")
    verdict.holds(finished.redirect_url is not None or _submitted(installation, interview), "the link was used up")
    return verdict


def _rows(installation: Installation, interview: str) -> list[Any]:
    return [
        installation.sql("select stage, started_at from interview where id = :i", i=interview),
        installation.sql("select fence, token_hash from sitting where interview_id = :i", i=interview),
    ]


def _submitted(installation: Installation, interview: str) -> bool:
    states = ("submitted", "processing", "completed")
    return eventually(
        lambda: installation.one("select stage from interview where id = :i", i=interview) in states, seconds=10
    )


def seconds_since(began: float) -> float:
    return round(time.monotonic() - began, 2)
