"""Decisions that a language model writes bit by bit: what is known when, and streams that end badly."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from app.core.errors import GatewayError
from app.gateways.language_model import prompts, usage
from app.gateways.language_model.chat import Chat, ChatInterviewer
from app.gateways.speech.calls import Call, GivenUp
from app.gateways.speech.engines import remote
from app.gateways.speech.ports import Exchange, FollowUp
from tests.conversation.models import Gone, Written, decision, model

EXCHANGE = Exchange(
    question="Why?", answer="Boats.", limit=2, additional_info="The dock lies in Bergen. Work begins at 7."
)
ANSWER = decision("answer", "It lies in Bergen. Work begins at 7.", "The dock lies in Bergen.")

Asks = Callable[..., ChatInterviewer]


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asks]:
    """``asking(answers…)``: an interviewer whose model gives these in order, the last one again and again."""
    monkeypatch.setattr(remote, "PAUSE", 0.0)
    opened: list[tuple[Any, Chat]] = []

    def made(*answers: Any, timeout: float = 30.0, heard: list[bytes] | None = None, **how: Any) -> ChatInterviewer:
        left = list(answers)

        def played(_rules: str, _data: dict[str, Any]) -> Any:
            return left.pop(0) if len(left) > 1 else left[0]

        server = model(played, heard=heard, **how)
        opened.append((server, Chat(server.__enter__(), api_key="k", model="m", json_mode="schema", timeout=timeout)))
        return ChatInterviewer(opened[-1][1])

    yield made
    for server, chat in opened:
        chat.close()
        server.__exit__(None, None, None)


def asked(heard: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(one.partition(b"\r\n\r\n")[2] or one.partition(b"\n\n")[2]) for one in heard]


def test_words_are_known_as_they_are_written(asking: Asks) -> None:
    known: list[FollowUp] = []
    decided = asking(ANSWER).decide(EXCHANGE, listens=known.append)
    assert decided == known[-1] == FollowUp(reply="It lies in Bergen. Work begins at 7.")
    words = [one.reply or "" for one in known]
    assert len(set(words)) > 4
    assert all(whole.startswith(part) for part, whole in pairwise(words))


def test_a_stream_is_asked_for_with_its_usage_and_counted_once(asking: Asks) -> None:
    heard: list[bytes] = []
    with usage.counted() as used:
        asking(ANSWER, heard=heard).decide(EXCHANGE, listens=lambda _: None)
    (one,) = asked(heard)
    assert (one["stream"], one["stream_options"]) == (True, {"include_usage": True})
    assert list(one["response_format"]["json_schema"]["schema"]["properties"]) == ["action", "source", "text"]
    assert (used.calls, used.input_tokens, used.output_tokens) == (1, 100, 10)


def test_a_server_that_sends_no_usage_is_counted_as_a_call(asking: Asks) -> None:
    with usage.counted() as used:
        asking(Written([json.dumps(ANSWER)], ends="without usage")).decide(EXCHANGE, listens=lambda _: None)
    assert (used.calls, used.input_tokens, used.output_tokens) == (1, 0, 0)


def test_no_one_streams_to_no_one(asking: Asks) -> None:
    heard: list[bytes] = []
    asking(ANSWER, heard=heard).decide(EXCHANGE)
    assert "stream" not in asked(heard)[0]


EMPTY = '"source": "", "text": ""}'


@pytest.mark.parametrize(
    ("written", "rest", "expected"),
    [
        ('{"action": "next", ', EMPTY, FollowUp()),
        ('{"action": "wait", ', EMPTY, FollowUp(wait=True)),
        ('{"action": "repeat", ', EMPTY, FollowUp(repeat=True)),
        ('{"action": "unknown", ', EMPTY, FollowUp(unknown=True)),
        ('{"action": "answer", "source": "In Oslo.", "text": "In', ' Oslo."}', FollowUp(unknown=True)),
    ],
)
def test_what_needs_no_words_is_known_before_the_end(asking: Asks, written: str, rest: str, expected: FollowUp) -> None:
    known: queue.Queue[FollowUp] = queue.Queue()
    more = threading.Event()
    asks = asking(Written([written, more, rest]))
    with ThreadPoolExecutor() as pool:
        thinking = pool.submit(lambda: asks.decide(EXCHANGE, listens=known.put))
        assert known.get(timeout=20) == expected, "while the model has not finished"
        more.set()
        assert thinking.result() == expected
    assert known.empty()


@pytest.mark.parametrize(
    "text",
    [
        '{"action": "follow_up", "text": "Which boat was it that you had?", "source": ""}',
        '{"text": "Which boat was it that you had?", "source": "", "action": "follow_up"}',
    ],
)
def test_words_before_their_source_wait_for_the_end(asking: Asks, text: str) -> None:
    known: list[FollowUp] = []
    decided = asking(text).decide(EXCHANGE, listens=known.append)
    assert (decided.text, known) == ("Which boat was it that you had?", [])


def test_rules_that_are_recited_are_not_heard(asking: Asks) -> None:
    known: list[FollowUp] = []
    recited = decision("follow_up", prompts.INTERVIEWER.replace("\n", " ")[:200])
    assert asking(recited).decide(EXCHANGE, listens=known.append) == FollowUp()
    assert max(len((one.text or "").split()) for one in known) <= prompts.RECITED_WORDS, "the last one is half a word"


def test_thoughts_and_fences_are_passed_over(asking: Asks) -> None:
    known: list[FollowUp] = []
    thought = '<think>{"action": "wait"} or not?</think>```json\n' + json.dumps(ANSWER) + "\n```"
    assert asking(thought).decide(EXCHANGE, listens=known.append).reply == ANSWER["text"]
    assert all(one.reply for one in known)


def test_a_server_that_answers_at_once_is_read_whole(asking: Asks) -> None:
    known: list[FollowUp] = []
    with usage.counted() as used:
        decided = asking(ANSWER, streams="no").decide(EXCHANGE, listens=known.append)
    assert (decided.reply, known) == (ANSWER["text"], [])
    assert (used.calls, used.input_tokens, used.output_tokens) == (1, 100, 10)


def test_a_server_that_refuses_to_stream_is_asked_for_whole_answers_from_then_on(asking: Asks) -> None:
    heard: list[bytes] = []
    asks = asking(ANSWER, streams="refuses", heard=heard)
    assert [asks.decide(EXCHANGE, listens=lambda _: None).reply for _ in range(2)] == [ANSWER["text"]] * 2
    assert ["stream" in one for one in asked(heard)] == [True, False, False]


HALF = '{"action": "answer", "source": "The dock lies in Bergen.", "text": "It lies in Ber'


@pytest.mark.parametrize(
    "broken",
    [
        Written([HALF]),
        Written([HALF], ends="cut"),
        Written([HALF], ends="error"),
        Written([], ends="cut"),
        Written([json.dumps(ANSWER)], ends="error"),
        Written([""]),
        Written(["no json"]),
        Written(['{"action": "end", "source": "", "text": "Bye."}']),
    ],
    ids=["half", "half and cut", "half and error", "cut", "error", "nothing", "no json", "no action"],
)
def test_a_bad_stream_is_asked_for_once_more_and_then_fails_visibly(asking: Asks, broken: Written) -> None:
    heard: list[bytes] = []
    assert asking(broken, ANSWER).decide(EXCHANGE, listens=lambda _: None).reply == ANSWER["text"]
    with pytest.raises(GatewayError) as failure:
        asking(broken, heard=heard).decide(EXCHANGE, listens=lambda _: None)
    assert failure.value.retryable
    assert len(heard) == 2


def test_a_stream_that_stalls_is_not_waited_for_twice(asking: Asks) -> None:
    heard: list[bytes] = []
    more = threading.Event()
    try:
        with pytest.raises(GatewayError, match=r"within 0\.5 s"):
            asking(Written([HALF, more]), timeout=0.5, heard=heard).decide(EXCHANGE, listens=lambda _: None)
    finally:
        more.set()
    assert len(heard) == 1


def test_a_stream_that_only_drips_ends_as_well(asking: Asks) -> None:
    class Drop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            super().wait(0.2)
            return True

    drops = [part for letter in HALF * 3 for part in (letter, Drop())]
    with pytest.raises(GatewayError, match=r"within 1 s"):
        asking(Written(drops), timeout=1.0).decide(EXCHANGE, listens=lambda _: None)


@pytest.mark.parametrize("before", [[HALF], []], ids=["in mid-stream", "before the server answers"])
def test_a_call_that_is_given_up_ends_its_connection_and_is_counted(asking: Asks, before: list[str]) -> None:
    heard: list[bytes] = []
    gone, call, known = Gone(), Call(), queue.Queue[FollowUp]()
    asks = asking(Written([*before, gone]), heard=heard)

    def decide() -> int:
        with usage.counted() as used, pytest.raises(GivenUp):
            asks.decide(EXCHANGE, listens=known.put, call=call)
        return used.calls

    with ThreadPoolExecutor() as pool:
        thinking = pool.submit(decide)
        if before:
            known.get(timeout=20)
        while not heard:
            time.sleep(0.01)
        call.give_up()
        assert gone.seen.wait(20), "while the model still writes"
        assert thinking.result() == 1
    with pytest.raises(GivenUp):
        asks.decide(EXCHANGE, listens=known.put, call=call)
    assert len(heard) == 1, "nothing is asked for no one"
