"""Pauses that do not count, more time for whoever asks, and answers that come in parts."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from app.conversation.jobs import sweep_sittings
from app.conversation.queries import sitting_of
from app.conversation.time_limit import MOST_EXTENSIONS, extension_of
from app.core import clock
from app.interviews.models import Role, Stage
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Refused, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made

from .conftest import Candidates, interview_of, sound
from .fakes import ScriptedInterviewer, ScriptedTranscriber

LIMIT = 600.0


@pytest.fixture
def limited(candidates: Candidates, book: Made) -> Candidate:
    """Somebody in an interview of ten minutes."""
    candidate = candidates(book(time_limit_minutes=10))
    candidate.start("text")
    candidate.turn(1, "begin")
    return candidate


class Hands:
    """A clock that is moved by hand; the browser gives a sign of life every half minute, as the page does."""

    def __init__(self, candidate: Candidate) -> None:
        self.now: datetime = clock.now()
        self._candidate = candidate

    def __call__(self) -> datetime:
        return self.now

    def on(self, seconds: float) -> None:
        while seconds > 0:
            self.now += timedelta(seconds=min(25, seconds))
            seconds -= 25
            self._candidate.call("POST", "/heartbeat", json={})


def pause(candidate: Candidate, *, paused: bool) -> dict[str, Any]:
    told: dict[str, Any] = candidate.call("POST", "/pause", json={"paused": paused})
    return told


def test_a_pause_stops_the_clock_however_often_it_is_asked_for(limited: Candidate) -> None:
    hands = Hands(limited)
    with clock.replaced(hands):
        before = limited.call("GET", "/state")["elapsed_seconds"]
        for _ in range(3):
            assert pause(limited, paused=True)["paused"] is True
            hands.on(4 * LIMIT)
        assert limited.call("GET", "/state")["elapsed_seconds"] == pytest.approx(before, abs=1)
        for _ in range(3):
            assert pause(limited, paused=False)["paused"] is False
        assert limited.call("GET", "/state")["elapsed_seconds"] == pytest.approx(before, abs=1)
        assert limited.turn(2, "text", text="Still here.")["expects"] == "answer"
        hands.on(LIMIT + 1)
        assert limited.turn(3, "text", text="Too late.")["expects"] == "finish"


def test_a_turn_ends_a_pause_by_itself(limited: Candidate) -> None:
    pause(limited, paused=True)
    assert limited.turn(2, "text", text="Here I am.")["expects"] == "answer"
    assert limited.call("GET", "/state")["paused"] is False


def test_a_closed_tab_in_a_pause_is_counted_once_and_another_browser_may_take_over(
    limited: Candidate, candidates: Candidates
) -> None:
    pause(limited, paused=True)
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(hours=3)):
        other = candidates(interview_of(limited))
        state = other.start("text")
        assert (state["paused"], state["elapsed_seconds"]) == (False, pytest.approx(0, abs=5))
        with pytest.raises(Refused) as refused:
            pause(limited, paused=False)
    assert refused.value.body["reason"] == "taken over"


def test_who_has_paused_is_expected_until_the_link_expires(limited: Candidate) -> None:
    limited.turn(2, "text", text="An answer.")
    pause(limited, paused=True)
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(days=20)):
        assert sweep_sittings(watched_for=0) == 0
    with clock.replaced(lambda: now + timedelta(days=31)):
        assert sweep_sittings(watched_for=0) == 1
    assert interview_of(limited).stage is Stage.SUBMITTED


def test_more_time_is_given_ten_times_and_a_double_click_adds_it_once(limited: Candidate) -> None:
    step = extension_of(LIMIT)
    for number in range(1, MOST_EXTENSIONS + 1):
        for _ in range(2):
            state = limited.call("POST", "/time", json={"extension": number})
            assert state["time_limit_seconds"] == LIMIT + number * step
            assert state["extensions_left"] == MOST_EXTENSIONS - number
    with pytest.raises(Refused) as refused:
        limited.call("POST", "/time", json={"extension": MOST_EXTENSIONS + 1})
    assert (refused.value.status, refused.value.body["field"]) == (422, "extension")


def test_extensions_come_one_after_the_other(limited: Candidate) -> None:
    with pytest.raises(Refused) as refused:
        limited.call("POST", "/time", json={"extension": 3})
    assert (refused.value.status, refused.value.body["message"]) == (422, "Extension 1 comes next.")


def test_more_time_moves_the_end_of_the_talk(limited: Candidate) -> None:
    limited.call("POST", "/time", json={"extension": 1})
    hands = Hands(limited)
    with clock.replaced(hands):
        hands.on(LIMIT + extension_of(LIMIT) - 60)
        assert limited.turn(2, "text", text="In time.")["expects"] == "answer"
        hands.on(90)
        assert limited.turn(3, "text", text="Over.")["expects"] == "finish"


@pytest.mark.parametrize(("limit", "step"), [(60, 300), (1200, 300), (1800, 300), (3600, 600), (7200, 1200)])
def test_an_extension_is_a_sixth_of_the_limit_and_five_minutes_at_least(limit: float, step: int) -> None:
    assert extension_of(limit) == step


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/pause", {}, "paused"),
        ("/pause", {"paused": "yes"}, "paused"),
        ("/time", {"extension": 0}, "extension"),
        ("/time", {"extension": 1.5}, "extension"),
        ("/time", {"minutes": 90}, "extension"),
    ],
)
def test_a_wrong_request_names_the_field(limited: Candidate, path: str, body: dict[str, Any], field: str) -> None:
    answer = limited.ask("POST", path, json=body)
    assert answer.status_code == 422
    assert answer.json()["field"] in {field, next(iter(body), field)}
    assert answer.json()["message"]


def test_after_the_end_there_is_neither_pause_nor_time(limited: Candidate) -> None:
    limited.turn(2, "end")
    limited.finish([])
    for path, body in (("/pause", {"paused": True}), ("/time", {"extension": 1})):
        assert limited.ask("POST", path, json=body).json()["reason"] == "finished"


# --- answers in parts ----------------------------------------------------------------------------------------------


def spoken_part(candidate: Candidate, number: int) -> dict[str, Any]:
    talk = Talk(candidate, Tape(video=False))
    return candidate.turn(number, "answer", unfinished=True, **talk.answer(sound(2.0)))


def test_what_was_spoken_before_the_rest_was_typed_is_one_answer(
    candidate: Candidate, hears: ScriptedTranscriber, asks: ScriptedInterviewer
) -> None:
    hears.texts = ["i led a team of eight people"]
    candidate.turn(1, "begin")
    kept = spoken_part(candidate, 2)
    assert (kept["kind"], kept["text"], kept["audio_url"], kept["expects"]) == ("kept", "", None, "answer")
    assert (kept["question_index"], kept["heard"]["text"]) == (0, "i led a team of eight people")
    assert asks.asked == []  # nobody judges half an answer
    following = candidate.turn(3, "text", text="And we moved a whole warehouse.")
    assert following["question_index"] == 1
    assert asks.asked[0].answer == "i led a team of eight people\nAnd we moved a whole warehouse."
    rows = [row for row in utterances_of(interview_of(candidate).id) if row.role is Role.USER]
    assert [(row.question_index, row.typed) for row in rows] == [(0, False), (0, True)]


def test_a_draft_is_kept_when_the_rest_is_spoken(candidate: Candidate, asks: ScriptedInterviewer) -> None:
    candidate.turn(1, "begin")
    assert candidate.turn(2, "text", text="First,", unfinished=True)["kind"] == "kept"
    talk = Talk(candidate, Tape(video=False))
    assert candidate.turn(3, "answer", **talk.answer(sound(1.0)))["question_index"] == 1
    assert asks.asked[0].answer == "First,\ni like this work very much"


def test_silence_before_a_switch_is_nothing_said(candidate: Candidate, hears: ScriptedTranscriber) -> None:
    hears.texts = [""]
    candidate.turn(1, "begin")
    talk = Talk(candidate, Tape(video=False))
    kept = candidate.turn(2, "answer", unfinished=True, **talk.answer(bytes(32_000)))
    assert (kept["kind"], kept["heard"]) == ("kept", None)
    assert [row for row in utterances_of(interview_of(candidate).id) if row.role is Role.USER] == []


def test_a_part_is_enough_to_be_handed_in_when_the_candidate_leaves(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="Half of it", unfinished=True)
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(hours=25)):
        assert sweep_sittings(watched_for=0) == 1
    assert interview_of(candidate).stage is Stage.SUBMITTED


def test_after_a_reload_the_question_of_a_part_is_still_open(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="Half of it", unfinished=True)
    state = candidate.call("GET", "/state")
    assert state["prompt"]["question"] == "Why do you want this job?"
    assert state["turn"] == 3


def test_only_an_answer_can_be_unfinished(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    answer = candidate.ask("POST", "/turns/2", json={"kind": "skip", "unfinished": True})
    assert (answer.status_code, answer.json()["field"]) == (422, "unfinished")


def test_words_are_told_while_they_are_spoken(candidate: Candidate, hears: ScriptedTranscriber) -> None:
    hears.texts = ["we were eight people"]
    candidate.turn(1, "begin")
    segment = candidate.open_segment("audio/webm")
    piece = sound(0.5)
    told = [candidate.put_chunk(segment, number, piece, track="voice")["partial"] for number in range(3)]
    assert told == ["we", "we were", "we were eight"]
    assert "partial" not in candidate.put_chunk(segment, 0, b"mix", track="mix")


def test_a_text_only_talk_leaves_the_same_rows_as_a_spoken_one(candidates: Candidates, book: Made) -> None:
    written, spoken = candidates(book()), candidates(book())
    written.start("text")
    written.write(["I like to help.", "We were eight."])
    spoken.start()
    spoken.take([sound(1.0), sound(1.0, seed=1)])
    shapes = []
    for one in (written, spoken):
        interview = interview_of(one)
        rows = utterances_of(interview.id)
        shapes.append([(row.role, row.question_index) for row in rows])
        sitting = sitting_of(interview.id)
        assert sitting is not None
        assert sitting.answers == 2
    assert shapes[0] == shapes[1]


def test_a_part_that_is_posted_twice_is_kept_once(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    for _ in range(2):
        assert candidate.turn(2, "text", text="Half", unfinished=True)["kind"] == "kept"
    rows = [row.content for row in utterances_of(interview_of(candidate).id) if row.role is Role.USER]
    assert rows == ["Half"]
