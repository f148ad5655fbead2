"""The part without a network: retries, time, pages, models, arguments."""

import contextlib
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import parley
import pytest
from hypothesis import given
from hypothesis import strategies as some
from parley import Parley, _models
from parley import _operations as ops
from parley._core import Answer, Call, Fault, Options, Send, Sleep, attempts, path_of, retry_after, time_of
from parley._paging import Page, Plan, Walk
from parley.testing import FakeParley

PONG = Answer(200, {}, b'{"message": "pong"}')


def outcome_of(*outcomes: Answer | Fault, options: Options | None = None) -> tuple[Any, list[float], int]:
    """Carry a ping out with these outcomes: its result or error, the pauses, and the number of attempts."""
    steps = attempts(ops.ping(), options or Options())
    left, slept, sent = list(outcomes), [], 0
    step = next(steps)
    while True:
        outcome = None
        if isinstance(step, Sleep):
            slept.append(step.seconds)
        else:
            outcome, sent = left.pop(0), sent + 1
        try:
            step = steps.send(outcome)
        except StopIteration as done:
            return done.value, slept, sent
        except parley.ParleyError as error:
            return error, slept, sent


def refused(code: int, **headers: str) -> Answer:
    return Answer(code, {name.replace("_", "-"): value for name, value in headers.items()}, b"")


def test_the_first_response_is_enough():
    assert outcome_of(PONG) == ("pong", [], 1)


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_pauses_grow(code):
    result, slept, sent = outcome_of(*[refused(code)] * 6, PONG, options=Options(max_retries=6))
    assert (result, sent) == ("pong", 7)
    for pause, whole in zip(slept, [0.5, 1, 2, 4, 8, 8], strict=True):
        assert 0.75 * whole <= pause <= whole


@pytest.mark.parametrize("code", [200, 300, 302, 400, 401, 403, 404, 405, 409, 410, 413, 415, 418, 422, 501])
def test_what_a_repeat_cannot_change_is_not_repeated(code):
    body = b"[]" if code == 200 else b""
    result, slept, sent = outcome_of(Answer(code, {}, body), PONG)
    assert isinstance(result, parley.ParleyError)
    assert (slept, sent) == ([], 1)


def test_a_call_that_still_runs_does_not_count_but_ends_with_the_deadline():
    running = refused(409, retry_after="2")
    result, slept, sent = outcome_of(*[running] * 9, refused(503), refused(503), PONG)
    assert (result, sent, slept[:9]) == ("pong", 12, [2.0] * 9)
    result, slept, sent = outcome_of(refused(409, retry_after="3"), PONG, options=Options(deadline=2))
    assert isinstance(result, parley.ConflictError)
    assert (slept, result.retry_after) == ([], 3)


def test_retries_end_with_the_last_error():
    result, _slept, sent = outcome_of(Fault(OSError("gone"), timed_out=False), refused(503), refused(502))
    assert (type(result), result.code, sent) == (parley.ServerError, 502, 3)
    result, _slept, _sent = outcome_of(*[Fault(TimeoutError(), timed_out=True)] * 3)
    assert type(result) is parley.APITimeoutError
    assert str(result) == "GET /v1/ping: TimeoutError"


@given(some.text(max_size=40))
def test_any_retry_after_is_read_or_ignored(told):
    seconds = retry_after({"retry-after": told})
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))


def test_retry_after_is_seconds_or_a_date():
    assert retry_after({"retry-after": " 7 "}) == 7
    assert retry_after({}) is retry_after({"retry-after": "-3"}) is retry_after({"retry-after": "1.5"}) is None
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    soon = datetime.now(UTC) + timedelta(seconds=90)
    assert 80 < (retry_after({"retry-after": soon.strftime("%a, %d %b %Y %H:%M:%S GMT")}) or 0) <= 90


@given(some.binary(max_size=60), some.sampled_from([200, 400, 422, 500]))
def test_no_response_breaks_the_client(body, code):
    result, _slept, _sent = outcome_of(*[Answer(code, {"x-parley-error": "x"}, body)] * 3)
    assert isinstance(result, parley.ParleyError | str)


@given(
    some.recursive(
        some.none() | some.text(max_size=5) | some.integers(),
        lambda v: some.lists(v) | some.dictionaries(some.text(max_size=5), v),
        max_leaves=8,
    )
)
def test_no_json_breaks_a_model(told):
    for build in (
        _models.InterviewFlow.of,
        ops.get_interview("x").parse,
        ops.list_teams().parse,
        _models.ChangesPage.of,
    ):
        with contextlib.suppress(parley.UnexpectedResponseError):
            assert build(told) is not None


def test_a_model_keeps_what_it_does_not_know():
    team = parley.Team.of({"id": "1", "name": "Hiring", "created_at": "now", "color": "red", "extra": 1})
    assert team.extra == {"color": "red", "extra": 1}
    assert team.to_dict() == {"id": "1", "name": "Hiring", "created_at": "now", "color": "red", "extra": 1}
    with pytest.raises(parley.UnexpectedResponseError, match=r"incomplete Team.*created_at"):
        parley.Team.of({"id": "1", "name": "Hiring"})


def listing(items: list[str], ignores: str = "", by: str = "offset") -> Any:
    """Ask a server that has these items; it may ignore the position."""
    asked: list[Mapping[str, Any]] = []

    def ask(where: Mapping[str, Any]) -> Call[Page[str]]:
        asked.append(where)
        at = 0 if ignores or where[by] is None else int(where[by])
        shown = items[at : at + where["limit"]]
        more = str(at + len(shown)) if at + len(shown) < len(items) else None
        return Call("", "GET", "", lambda _: Page(shown, more))

    def read(limit: int, max_items: int | None = None) -> list[str]:
        walk, found = Walk(Plan(ask, str, by, limit, max_items)), []
        while (call := walk.next_call()) is not None:
            found += walk.take(call.parse(None))
            assert len(asked) < 1000
        return found

    return read, asked


@pytest.mark.parametrize("by", ["offset", "after"])
@given(some.integers(0, 20), some.integers(1, 8), some.none() | some.integers(0, 25))
def test_pages_give_each_object_once(by, count, limit, max_items):
    items = [f"id-{number}" for number in range(count)]
    read, asked = listing(items, by=by)
    assert read(limit, max_items) == items[:max_items]
    assert all(1 <= where["limit"] <= limit for where in asked)


@pytest.mark.parametrize("by", ["offset", "after"])
def test_a_server_that_ignores_the_position_ends_the_list(by):
    items = [f"id-{number}" for number in range(9)]
    read, asked = listing(items, ignores="position", by=by)
    assert read(3) == items[:3]
    assert len(asked) == 2


@pytest.mark.parametrize("wrong", ["", ".", "..", None, 7])
def test_an_id_never_changes_the_path(wrong):
    with pytest.raises(ValueError, match="An id must be a string"):
        ops.get_interview(wrong)


def test_ids_are_escaped():
    assert path_of("interviews", "a/../b?c#d é") == "/v1/interviews/a%2F..%2Fb%3Fc%23d%20%C3%A9"


def test_times_have_a_zone():
    east = timezone(timedelta(hours=2))
    assert time_of(datetime(2026, 1, 2, 3, 4, tzinfo=east)) == "2026-01-02T01:04:00Z"
    assert time_of("2026-01-02T01:04:00Z") == "2026-01-02T01:04:00Z"
    with pytest.raises(ValueError, match="time zone"):
        ops.extend_interview("x", expires_at=datetime(2026, 1, 2))  # noqa: DTZ001


@pytest.mark.parametrize("wrong", ["Why?", b"Why?", None, 7])
def test_a_text_alone_is_not_a_list_of_questions(wrong):
    with pytest.raises(TypeError, match="questions is a list of texts"):
        ops.create_interview_flow(org_name="F", title="T", questions=wrong)
    with pytest.raises(TypeError, match="questions is a list of texts"):
        ops.update_interview_flow("x", questions=wrong)
    assert ops.update_interview_flow("x", questions=iter(["Why?"])).body == {"questions": ["Why?"]}


def test_arguments_of_another_kind_are_refused_in_words():
    with pytest.raises(TypeError, match=r"metadata is a dict of texts.*not None"):
        ops.set_interview_metadata("x", None)
    for wrong in (None, 1_700_000_000, date(2026, 1, 2)):
        with pytest.raises(TypeError, match="A time is a datetime with a time zone, or text"):
            ops.extend_interview("x", expires_at=wrong)


def test_arguments_that_do_not_fit_are_refused_in_the_name_of_the_method():
    client = FakeParley().client()
    with pytest.raises(TypeError) as refused:
        client.interviews.extend("x", "2026-01-02T01:04:00Z")
    assert str(refused.value) == (
        "extend(): too many positional arguments. Its arguments are (interview_id, *, expires_at)."
    )
    with pytest.raises(TypeError, match=r"^create\(\): missing a required .*'org_name'"):
        client.flows.create()
    with pytest.raises(TypeError, match=r"^list\(\): got an unexpected keyword argument 'state'"):
        client.candidates.list(state="x")


def test_a_flow_with_media_gets_the_time_to_fetch_them():
    given_media = ops.create_interview_flow(
        org_name="F", title="T", questions=[], preamble_video_url="https://x.example/v"
    )
    send = next(attempts(given_media, Options(timeout=5)))
    assert isinstance(send, Send)
    assert send.timeout == 120


@pytest.mark.parametrize(
    ("given_arguments", "told"),
    [
        ({"api_key": "", "base_url": "https://x.example"}, "api_key.*PARLEY_API_KEY"),
        ({"api_key": "a\nb", "base_url": "https://x.example"}, "printable"),
        ({"api_key": "k"}, "base_url.*PARLEY_BASE_URL"),
        ({"api_key": "k", "base_url": "parley.example.com"}, "https://parley.example.com, not 'parley.example.com'"),
    ],
)
def test_what_is_missing_is_said_by_name(given_arguments, told, monkeypatch):
    monkeypatch.delenv("PARLEY_API_KEY", raising=False)
    monkeypatch.delenv("PARLEY_BASE_URL", raising=False)
    with pytest.raises(parley.ParleyError, match=told):
        Parley(**given_arguments)


def test_the_environment_is_read_and_the_key_is_not_shown(monkeypatch):
    monkeypatch.setenv("PARLEY_API_KEY", "very-secret")
    monkeypatch.setenv("PARLEY_BASE_URL", "https://parley.example.com/sub/v1/")
    client = Parley()
    assert repr(client) == "<Parley https://parley.example.com/sub>"
    other = client.with_options(timeout=5, max_retries=0)
    assert (other._options, client._options) == (Options(5, 0, 120), Options())
    for wrong in ({"timeout": 0}, {"max_retries": -1}, {"deadline": 0}):
        with pytest.raises(ValueError, match="timeout and deadline are seconds"):
            client.with_options(**wrong)


def test_a_retry_is_in_the_log(caplog):
    caplog.set_level("INFO", logger="parley")
    outcome_of(refused(503), PONG)
    (told,) = caplog.messages
    assert told.startswith("Trying again in 0.")
    assert told.endswith(" s after: 503: The server responded with 503 and no message.")
