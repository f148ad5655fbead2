"""When to try again, when to give up, and whose turn it is."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.webhooks.queries import Waiting
from app.webhooks.schedule import DELAYS, fair, is_given_up, next_delay, not_before, wanted_delay

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def never() -> float:
    return 0.0


def test_the_delays_are_those_that_were_promised():
    seconds = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    assert [delay.total_seconds() for delay in DELAYS] == seconds
    assert sum(DELAYS, timedelta()) == timedelta(hours=75, minutes=35, seconds=5)


@pytest.mark.parametrize("failures", range(1, 10))
def test_each_failure_has_its_delay_and_jitter_is_only_added(failures):
    assert next_delay(failures, throttled=False, chance=never) == DELAYS[failures]
    assert next_delay(failures, throttled=False, chance=lambda: 1.0) == DELAYS[failures] * 1.2


def test_the_tenth_failure_is_the_last():
    assert next_delay(10, throttled=True, wanted=timedelta(hours=1), chance=never) is None


def test_a_throttled_receiver_gets_at_least_a_minute():
    assert next_delay(1, throttled=True, chance=never) == timedelta(seconds=60)
    assert next_delay(2, throttled=True, chance=never) == timedelta(minutes=5)


@given(
    st.integers(1, 9),
    st.booleans(),
    st.floats(0, 1),
    st.none() | st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=9999)),
)
def test_the_delay_lies_between_one_and_two_planned_delays(failures, throttled, chance, wished):
    planned = next_delay(failures, throttled=throttled, chance=lambda: chance)
    found = next_delay(failures, throttled=throttled, wanted=wished, chance=lambda: chance)
    assert planned is not None
    assert planned >= DELAYS[failures]
    assert planned <= found <= (2 * planned if throttled else planned)


@pytest.mark.parametrize(
    ("header", "asked"),
    [
        ("120", timedelta(seconds=120)),
        (" 5 ", timedelta(seconds=5)),
        ("0", timedelta(0)),
        ("315360000", timedelta(days=3650)),
        ("9" * 400, timedelta(seconds=10**9)),
        ("Sun, 01 Mar 2026 12:10:00 GMT", timedelta(minutes=10)),
        ("Sunday, 01-Mar-26 12:10:00 GMT", timedelta(minutes=10)),
        ("Sun, 01 Mar 2026 11:00:00 GMT", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("１２", None),
        ("Sun, 99 Mar", None),
        ("Sun, 01 Mar 99999 12:10:00 GMT", None),
        ("\x00", None),
    ],
)
def test_retry_after_is_read_or_ignored(header, asked):
    assert wanted_delay(header, now=NOW) == asked


def test_after_three_time_outs_an_endpoint_is_probed_once_a_minute():
    assert not_before(2, now=NOW, paced_until=None) is None
    assert not_before(3, now=NOW, paced_until=None) == NOW + timedelta(seconds=60)
    assert not_before(9, now=NOW, paced_until=None) == NOW + timedelta(seconds=60)


def test_an_endpoint_that_catches_up_keeps_its_pace():
    assert not_before(0, now=NOW, paced_until=NOW + timedelta(seconds=1)) == NOW + timedelta(milliseconds=100)
    assert not_before(0, now=NOW, paced_until=NOW) is None


@dataclass
class Health:
    failing_since: datetime | None
    exhausted_at: datetime | None = NOW
    warned_at: datetime | None = NOW - timedelta(hours=24)


@pytest.mark.parametrize(
    ("health", "given_up"),
    [
        (Health(NOW - timedelta(hours=120)), True),
        (Health(NOW - timedelta(hours=119, minutes=59)), False),
        (Health(NOW - timedelta(hours=500), exhausted_at=None), False),
        (Health(NOW - timedelta(hours=500), warned_at=NOW - timedelta(hours=23)), False),
        (Health(NOW - timedelta(hours=500), warned_at=None), False),
        (Health(None), False),
    ],
)
def test_an_endpoint_is_given_up_by_the_rule(health, given_up):
    assert is_given_up(health, now=NOW) is given_up


def one(organization: int, endpoint: int, *, timeouts: int = 0, late: int = 0) -> Waiting:
    return Waiting(f"e{organization}-{endpoint}", f"o{organization}", timeouts, NOW - timedelta(seconds=late))


def test_organizations_take_turns():
    waiting = [one(1, n, late=1000) for n in range(20)] + [one(2, 0), one(3, 0)]
    chosen = fair(waiting, busy={}, slots=3)
    assert {name.split("-")[0] for name in chosen} == {"e1", "e2", "e3"}


def test_an_organization_has_at_most_eight_sends_under_way():
    waiting = [one(o, n) for o in range(3) for n in range(20)]
    chosen = fair(waiting, busy={"o1": 5, "o2": 8}, slots=500)
    assert Counter(name.split("-")[0] for name in chosen) == {"e0": 8, "e1": 3}


def test_the_oldest_event_of_an_organization_goes_first():
    waiting = [one(1, 1, late=5), one(1, 2, late=50), one(1, 3, late=20)]
    assert fair(waiting, busy={}, slots=2) == ["e1-2", "e1-3"]


def test_endpoints_that_timed_out_come_last():
    waiting = [one(n, 0, timeouts=2, late=900) for n in range(50)] + [one(99, 0)]
    assert fair(waiting, busy={}, slots=10)[0] == "e99-0"


def test_nobody_is_starved_however_many_wait():
    waiting = [one(o, e) for o in range(100) for e in range(8)]
    assert len(set(fair(waiting, busy={}, slots=500))) == 500
    assert fair(waiting, busy={}, slots=0) == []
