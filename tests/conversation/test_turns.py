"""Turns: one reply each, however often they are posted; what is written down; what is refused."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.conversation.models import Sitting, Turn, TurnState
from app.core import claims, clock
from app.core.db import db
from app.core.errors import GatewayError
from app.gateways.speech.ports import FollowUp
from app.interviews.documents.models import Document, TextState
from app.interviews.models import Role, Utterance
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Refused, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made

from .around import into_question, script_rows, script_text
from .conftest import Candidates, hiss, interview_of, sound
from .fakes import ScriptedInterviewer, ScriptedSpeaker, ScriptedTranscriber

SHOWN = {"offset": 0, "seconds": 0, "words": []}
QUESTION = "Why do you want this job?"


@pytest.fixture
def talk(candidate: Candidate) -> Talk:
    return Talk(candidate, Tape(video=False))


def said(candidate: Candidate) -> list[Utterance]:
    """What was said, without what the agent says around the script."""
    rows: list[Utterance] = script_rows(utterances_of(interview_of(candidate).id))
    return rows


def test_the_first_turn_is_the_intro_and_the_first_question(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book(intro="Hello there."))
    candidate.start()
    prompt = candidate.turn(1, "begin")
    base = candidate.link.removeprefix("http://localhost")
    assert prompt == {
        "turn": 1,
        "kind": "intro",
        "text": "Hello there.\n\nWhy do you want this job?",
        "seconds": prompt["seconds"],
        "audio_url": f"{base}/turns/1/audio",
        "audio_urls": [f"{base}/turns/1/audio"],
        "question_index": 0,
        "question_count": 2,
        "expects": "answer",
        "question": QUESTION,
        "script_question": QUESTION,
        "heard": None,
        "patience_ms": 0,
        "last_answer": None,
        "at_rest_ms": 0,
        "in_the_air_ms": 0,
        "minutes_left": 5,
        "parts": [
            {"kind": "intro", "text": "Hello there.", "question_index": None, "offset": 0.0, "seconds": 0.5},
            {"kind": "question", "text": QUESTION, "question_index": 0, "offset": 0.85, "seconds": 1.5},
        ],
    }
    [(pcm, rate)] = candidate.sounds_of(prompt)
    assert len(pcm) / 2 / rate == pytest.approx(prompt["seconds"])


def test_what_the_script_says_is_stored_once_and_a_follow_up_with_its_interview(
    app: Flask, candidates: Candidates, book: Made, asks: ScriptedInterviewer
) -> None:
    storage = app.extensions["parley.gateways"].storage
    asks.follow_ups = [FollowUp("How much do you like it?"), FollowUp("How much do you like it?")]
    before = set(storage.list("speech/replies"))  # other tests' talks
    for _ in range(2):
        # The fake voice sounds by length alone, so only a long text has a sound that no other test has stored.
        candidate = candidates(book(intro="Words of this one test alone. " * 23))
        candidate.start()
        prompt = candidate.turn(1, "begin")
        assert len(set(storage.list("speech/replies")) - before) == 1
        assert candidate.sounds_of(prompt)
        reply = candidate.turn(2, "text", text="I like it.")
        assert candidate.sounds_of(reply)
        assert reply["kind"] == "follow_up"
        assert len(set(storage.list("speech/replies")) - before) == 1


def test_a_whole_talk_is_written_down_on_the_recordings_clock(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber, asks: ScriptedInterviewer
) -> None:
    hears.texts = ["because i like it", "very much so indeed", "we were eight nurses there"]
    asks.follow_ups = [FollowUp("How much do you like it?")]
    prompt = candidate.turn(1, "begin")
    asked_after = into_question(prompt, 0)
    reports = []
    while prompt["expects"] == "answer":
        played = talk.listen(prompt)
        body = talk.answer(sound(1))
        reports.append((played, body))
        prompt = candidate.turn(prompt["turn"] + 1, "answer", played=played, **body)
    last = talk.listen(prompt)
    candidate.finish([talk.end()], played=last)
    rows = said(candidate)
    assert [(row.role, row.question_index, row.content) for row in rows] == [
        (Role.AGENT, 0, "Why do you want this job?"),
        (Role.USER, 0, "because i like it"),
        (Role.AGENT, 0, "How much do you like it?"),
        (Role.USER, 0, "very much so indeed"),
        (Role.AGENT, 1, "Tell me about your last team."),
        (Role.USER, 1, "we were eight nurses there"),
        (Role.AGENT, None, "That was all. Thank you for your time, and goodbye."),
    ]
    every = utterances_of(interview_of(candidate).id)
    assert [row.number for row in every] == list(range(1, len(every) + 1))
    first_played, first_answer = reports[0]
    asked_at = first_played["started"] + asked_after
    assert rows[0].start == pytest.approx(asked_at)
    assert rows[0].words is not None
    assert rows[0].words[0] == ["Why", pytest.approx(asked_at), pytest.approx(asked_at + 0.25)]
    begins = first_answer["first_chunk"] * 0.5
    assert (rows[1].segment, rows[1].start, rows[1].end) == (1, begins, pytest.approx(begins + 1.1))
    assert rows[1].words is not None
    assert rows[1].words[1] == ["i", pytest.approx(begins + 0.3), pytest.approx(begins + 0.5)]


def test_a_reply_that_was_cut_off_leaves_only_the_words_heard(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber
) -> None:
    prompt = candidate.turn(1, "begin")
    played = talk.listen(prompt, until=into_question(prompt, 0.6))
    candidate.turn(2, "answer", played=played, **talk.answer(sound(1)))
    row = said(candidate)[0]
    assert (row.content, row.played) == ("Why do you", 0.6)
    assert [word[0] for word in row.words or []] == ["Why", "do", "you"]
    assert row.end == pytest.approx((row.start or 0) + 0.6)


def test_a_voice_without_word_times_is_cut_by_its_share(
    candidate: Candidate, talk: Talk, speaks: ScriptedSpeaker
) -> None:
    speaks.with_words = False
    prompt = candidate.turn(1, "begin")
    candidate.turn(2, "skip", played=talk.listen(prompt, until=into_question(prompt, 0.75)))
    assert [(row.content, row.words) for row in said(candidate)] == [("Why do you", None)]


def test_words_nobody_heard_are_not_the_agents(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book(intro="Hello there."))
    candidate.start()
    talk = Talk(candidate, Tape(video=False))
    candidate.turn(2, "skip", played=talk.listen(candidate.turn(1, "begin"), until=0.3))
    assert [row.content for row in said(candidate)] == ["Hello there."]


def test_without_a_report_the_whole_line_counts(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="I like it.")
    first, second = said(candidate)
    assert (first.content, first.start, first.played) == ("Why do you want this job?", None, None)
    assert (second.content, second.typed, second.question_index, second.words) == ("I like it.", True, 0, None)


def test_the_same_turn_again_gets_the_same_reply_and_costs_nothing(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber, speaks: ScriptedSpeaker
) -> None:
    candidate.turn(1, "begin")
    body = talk.answer(sound(1))
    first = candidate.turn(2, "answer", **body)
    spoken, rows = len(speaks.spoken), len(said(candidate))
    assert [candidate.turn(2, "answer", **body) for _ in range(3)] == [first] * 3
    assert candidate.turn(2, "skip") == first, "the stored reply stands, whatever is posted later"
    assert (len(speaks.spoken), len(said(candidate)), len(hears.finished)) == (spoken, rows, 1)
    assert candidate.call("GET", "/state")["turn"] == 3


@pytest.mark.parametrize("number", [2, 3, 14_000])
def test_a_turn_out_of_order_names_the_one_that_comes_next(candidate: Candidate, number: int) -> None:
    with pytest.raises(Refused) as refused:
        candidate.turn(number, "skip")
    assert (refused.value.status, refused.value.body["reason"], refused.value.body["expected"]) == (
        409,
        "wrong turn",
        1,
    )


def test_chunks_of_the_answer_that_are_missing_are_named(candidate: Candidate, talk: Talk) -> None:
    candidate.turn(1, "begin")
    candidate.put_chunk(talk.segment, 4, sound(0.5), track="voice")
    with pytest.raises(Refused) as refused:
        candidate.turn(2, "answer", segment=talk.segment, first_chunk=3, last_chunk=5)
    assert (refused.value.status, refused.value.body["reason"]) == (409, "missing")
    assert refused.value.body["missing"] == [3, 5]
    for number in (3, 5):
        candidate.put_chunk(talk.segment, number, sound(0.5), track="voice")
    assert candidate.turn(2, "answer", segment=talk.segment, first_chunk=3, last_chunk=5)["turn"] == 2


PLAYED = {"segment": 1, "started": 1.0, "seconds": 2.0, "whole": True}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "dance"}, "kind"),
        ({}, "kind"),
        ({"kind": "begin"}, "kind"),
        ({"kind": "answer"}, "segment"),
        ({"kind": "answer", "segment": 1, "first_chunk": 5, "last_chunk": 3}, "last_chunk"),
        ({"kind": "answer", "segment": 1, "first_chunk": 0, "last_chunk": 14_000}, "last_chunk"),
        ({"kind": "answer", "segment": 1, "first_chunk": -1, "last_chunk": 3}, "first_chunk"),
        ({"kind": "answer", "segment": "1", "first_chunk": 0, "last_chunk": 3}, "segment"),
        ({"kind": "text"}, "text"),
        ({"kind": "text", "text": "  "}, "text"),
        ({"kind": "text", "text": "a\x00b"}, "text"),
        ({"kind": "text", "text": "x" * 20_001}, "text"),
        ({"kind": "skip", "played": {**PLAYED, "seconds": -1}}, "played"),
        ({"kind": "skip", "played": {**PLAYED, "started": "now"}}, "played"),
        ({"kind": "skip", "played": {"whole": True}}, "played"),
        ({"kind": "skip", "timing": {"speech_end_ms": "x"}}, "timing"),
        ({"kind": "skip", "surprise": 1}, "surprise"),
    ],
)
def test_a_wrong_turn_names_the_field_and_costs_nothing(candidate: Candidate, body: dict[str, Any], field: str) -> None:
    candidate.turn(1, "begin")
    answer = candidate.ask("POST", "/turns/2", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert candidate.call("GET", "/state")["turn"] == 2
    assert candidate.turn(2, "skip")["question_index"] == 1


@pytest.mark.parametrize(
    ("content", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 422),
        (b"", "application/json", 400),
        (b'{"kind": "skip", "played": NaN}', "application/json", 400),
        (b"kind=skip", "text/plain", 415),
        (b"[" * 100_000, "application/json", 400),
        (b'{"text":"' + b"x" * 300_000 + b'"}', "application/json", 413),
    ],
)
def test_a_body_that_is_no_turn_at_all_is_refused(
    candidate: Candidate, content: bytes, content_type: str, status: int
) -> None:
    answer = candidate.ask("POST", "/turns/1", data=content, headers={"Content-Type": content_type})
    assert answer.status_code == status
    assert answer.json()["message"]


def test_turn_numbers_are_bounded(candidate: Candidate) -> None:
    for number in (0, 99_999_999_999_999_999_999):
        assert candidate.ask("POST", f"/turns/{number}", json={"kind": "skip"}).status_code == 422
    assert candidate.ask("GET", "/turns/99999999999999999999/audio").status_code == 404


def test_after_the_outro_only_finish_comes(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    assert candidate.turn(2, "end")["expects"] == "finish"
    assert candidate.call("GET", "/state")["stage"] == "outro"
    with pytest.raises(Refused) as refused:
        candidate.turn(3, "text", text="one more thing")
    assert (refused.value.status, refused.value.body["reason"]) == (409, "over")
    candidate.finish([])
    with pytest.raises(Refused) as refused:
        candidate.turn(3, "text", text="one more thing")
    assert (refused.value.status, refused.value.body["reason"]) == (409, "finished")


def test_repeat_says_the_question_again_in_a_new_turn(candidate: Candidate) -> None:
    first = candidate.turn(1, "begin")
    again = candidate.turn(2, "repeat")
    assert (again["kind"], again["text"], again["question_index"]) == ("repeat", script_text(first), 0)
    third = candidate.turn(3, "repeat")
    assert candidate.sounds_of(again) == candidate.sounds_of(third)


def test_a_silent_answer_is_asked_about_and_nothing_is_written_for_it(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber
) -> None:
    hears.texts = ["", "if"]
    candidate.turn(1, "begin")
    quiet = candidate.turn(2, "answer", **talk.answer(hiss(1)))
    assert (quiet["kind"], quiet["question_index"], quiet["heard"]) == ("not_heard", 0, None)
    waiting = candidate.turn(3, "answer", **talk.answer(hiss(1, seed=1)))
    assert (waiting["kind"], waiting["question"]) == ("wait", "Why do you want this job?")
    assert [row.role for row in said(candidate)] == [Role.AGENT] * 3


def test_an_answer_nobody_could_recognise_is_kept_for_later(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber, real_speech: bytes
) -> None:
    hears.texts = [GatewayError("away", retryable=True)]
    candidate.turn(1, "begin")
    onward = candidate.turn(2, "answer", **talk.answer(real_speech))
    assert (onward["question_index"], onward["heard"]) == (1, None)
    kept = said(candidate)[1]
    assert (kept.role, kept.content, kept.words, kept.segment) == (Role.USER, None, None, 1)


def test_a_language_that_is_only_shown_has_no_sound(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book(language="th-TH", questions=["ทำไม"], outro="ลาก่อน"))
    candidate.start()
    prompt = candidate.turn(1, "begin")
    assert (prompt["audio_url"], prompt["seconds"], script_text(prompt)) == (None, 0.0, "ทำไม")
    assert candidate.ask("GET", "/turns/1/audio").status_code == 404
    talk = Talk(candidate, Tape(video=False))
    candidate.turn(2, "text", text="เพราะ", played=talk.listen(prompt))
    rows = script_rows(said(candidate), "th-TH")
    assert [(row.content, row.segment, row.played) for row in rows] == [("ทำไม", 1, None), ("เพราะ", None, None)]


def test_the_time_limit_ends_the_talk_after_the_answer(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book(time_limit_minutes=10))
    candidate.start()
    candidate.turn(1, "begin")
    began = interview_of(candidate).started_at
    assert began is not None
    for minute in range(1, 11):
        with clock.replaced(lambda at=began + timedelta(seconds=29 * minute): at):
            candidate.call("POST", "/heartbeat", json={})
    db.session.query(Sitting).update({Sitting.heartbeat_at: began + timedelta(minutes=10, seconds=1)})
    db.session.commit()
    with clock.replaced(lambda: began + timedelta(minutes=10, seconds=2)):
        assert candidate.turn(2, "text", text="my last words")["kind"] == "outro"
    assert [row.content for row in said(candidate)][1] == "my last words"


def test_time_that_nobody_was_there_does_not_count(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    began = interview_of(candidate).started_at
    assert began is not None
    with clock.replaced(lambda: began + timedelta(hours=3)):
        candidate.call("POST", "/heartbeat", json={})
        candidate.call("POST", "/heartbeat", json={})
        assert candidate.call("GET", "/state")["elapsed_seconds"] < 5
        assert candidate.turn(2, "text", text="I am back")["kind"] == "question"


def test_a_reload_finds_the_same_question_and_goes_on(candidate: Candidate, talk: Talk) -> None:
    prompt = candidate.turn(1, "begin")
    state = candidate.call("GET", "/state")
    assert (state["prompt"], state["turn"], state["next_segment"]) == (prompt, 2, 2)
    assert "data-state" in candidate.open()
    again = Talk(candidate, Tape(video=False))
    assert again.segment == 2
    played = again.listen(state["prompt"])
    assert candidate.turn(2, "answer", played=played, **again.answer(sound(1)))["question_index"] == 1
    assert [row.segment for row in said(candidate)] == [2, 2]


def test_latencies_are_kept_with_the_turn(candidate: Candidate, talk: Talk) -> None:
    candidate.turn(1, "begin")
    body = talk.answer(sound(1))
    candidate.turn(2, "answer", **body)
    candidate.turn(3, "skip", played={**PLAYED, "latency_ms": 912.4})
    turn = db.session.query(Turn).filter_by(number=2).one()
    assert (turn.detected_ms, turn.heard_ms) == (700, 912)
    assert turn.answered_ms is not None
    assert turn.recognised_ms is not None


# --- who works on it -----------------------------------------------------------------------------------------------


def _turn(candidate: Candidate, number: int) -> Turn:
    db.session.expire_all()
    return db.session.query(Turn).filter_by(number=number).one()


def test_while_another_process_is_at_it_the_browser_is_told_to_ask_again(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    sitting = db.session.query(Sitting).one()
    db.session.add(Turn(sitting_id=sitting.id, number=2, kind="skip"))
    db.session.commit()
    free, lease = [TurnState.WAITING], timedelta(seconds=20)
    token = claims.take(Turn.state, _turn(candidate, 2).id, expects=free, becomes=TurnState.WORKING, lease=lease)
    db.session.commit()
    busy = candidate.ask("POST", "/turns/2", json={"kind": "skip"})
    assert (token, busy.status_code, busy.json()["retry_after_ms"] > 0) == (1, 202, True)
    later = clock.now() + timedelta(seconds=21)
    with clock.replaced(lambda: later):
        assert candidate.turn(2, "skip")["question_index"] == 1
    assert _turn(candidate, 2).recoveries == 1


def test_a_turn_that_keeps_crashing_its_process_goes_on_without_engines(
    candidate: Candidate, speaks: ScriptedSpeaker
) -> None:
    candidate.turn(1, "begin")
    sitting = db.session.query(Sitting).one()
    db.session.add(Turn(sitting_id=sitting.id, number=2, kind="skip", recoveries=3))
    db.session.commit()
    prompt = candidate.turn(2, "skip")
    assert (prompt["audio_url"], script_text(prompt)) == (None, "Tell me about your last team.")


class Breaks:
    """A speaker with a fault of its own, once."""

    name = "broken"

    def __init__(self, inner: ScriptedSpeaker) -> None:
        self.inner, self.left = inner, 1

    def supports(self, language: str) -> bool:
        return True

    def speak(self, text: str, **given: Any) -> Any:
        if self.left:
            self.left -= 1
            raise RuntimeError("a fault of the engine")
        return self.inner.speak(text, **given)

    def close(self) -> None:
        """Nothing is open."""


def test_a_fault_gives_the_turn_up_at_once_and_the_next_attempt_works(
    scripted: Flask, candidate: Candidate, speaks: ScriptedSpeaker
) -> None:
    from dataclasses import replace

    scripted.extensions["parley.gateways"] = replace(scripted.extensions["parley.gateways"], speaker=Breaks(speaks))
    assert candidate.ask("POST", "/turns/1", json={"kind": "begin"}).status_code == 500
    assert candidate.turn(1, "begin")["question_index"] == 0
    assert _turn(candidate, 1).fence == 2


def test_an_answer_that_was_overtaken_is_dropped_and_the_other_one_is_sent(
    scripted: Flask, candidate: Candidate, speaks: ScriptedSpeaker, asks: ScriptedInterviewer
) -> None:
    """Another process answers the turn while this one is still thinking."""
    candidate.turn(1, "begin")

    class Overtaken(ScriptedInterviewer):
        def decide(self, exchange: Any, **_: Any) -> FollowUp:
            db.session.query(Turn).filter_by(number=2).update(
                {
                    "fence": 9,
                    "state": TurnState.ANSWERED,
                    "reply_kind": "question",
                    "expects": "answer",
                    "parts": [{**SHOWN, "kind": "question", "text": "By the other", "question_index": 1}],
                }
            )
            db.session.commit()
            return FollowUp()

    from dataclasses import replace

    scripted.extensions["parley.gateways"] = replace(scripted.extensions["parley.gateways"], interviewer=Overtaken())
    assert candidate.turn(2, "text", text="because")["text"] == "By the other"
    assert said(candidate) == []


def test_a_takeover_in_mid_turn_drops_the_old_holders_reply(scripted: Flask, candidate: Candidate) -> None:
    candidate.turn(1, "begin")

    class Takeover(ScriptedInterviewer):
        def decide(self, exchange: Any, **_: Any) -> FollowUp:
            db.session.query(Sitting).update({"fence": 9})
            db.session.commit()
            return FollowUp()

    from dataclasses import replace

    scripted.extensions["parley.gateways"] = replace(scripted.extensions["parley.gateways"], interviewer=Takeover())
    with pytest.raises(Refused) as refused:
        candidate.turn(2, "text", text="because")
    assert (refused.value.status, refused.value.body["reason"]) == (409, "taken over")
    assert _turn(candidate, 2).state is TurnState.WAITING
    assert said(candidate) == []


def test_a_pause_for_breath_does_not_end_the_answer(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber, asks: ScriptedInterviewer
) -> None:
    hears.texts = ["we were eight people", "in my last team", "that is all then"]
    played = talk.listen(candidate.turn(1, "begin"))
    unheard = candidate.turn(2, "answer", played=played, **talk.answer(sound(1)))
    assert unheard["question_index"] == 1
    nothing = {**talk.listen(unheard), "seconds": 0, "whole": False}
    again = candidate.turn(3, "answer", played=nothing, continues=True, **talk.answer(sound(1)))
    assert (again["question_index"], asks.asked[-1].answer) == (1, "we were eight people\nin my last team")
    last = candidate.turn(4, "answer", played=talk.listen(again), **talk.answer(sound(1)))
    assert last["expects"] == "finish"
    assert [(row.role, row.question_index, row.content) for row in said(candidate)] == [
        (Role.AGENT, 0, QUESTION),
        (Role.USER, 0, "we were eight people"),
        (Role.USER, 0, "in my last team"),
        (Role.AGENT, 1, "Tell me about your last team."),
        (Role.USER, 1, "that is all then"),
    ]


def test_the_last_answer_may_go_on_into_the_goodbye(candidate: Candidate, talk: Talk) -> None:
    talk.listen(candidate.turn(1, "begin"))
    candidate.turn(2, "skip")
    candidate.turn(3, "answer", **talk.answer(sound(1)))
    with pytest.raises(Refused):
        candidate.turn(4, "answer", **talk.answer(sound(1)))
    over = candidate.turn(4, "answer", continues=True, **talk.answer(sound(1)))
    assert over["expects"] == "finish"
    assert [row.question_index for row in said(candidate) if row.role is Role.USER] == [1, 1]


def test_an_interrupted_reply_and_the_documents_reach_the_interviewer(
    candidates: Candidates, book: Made, asks: ScriptedInterviewer
) -> None:
    candidate = candidates(book(is_doc_upload_enabled=True))
    candidate.start()
    document = Document(
        interview_id=interview_of(candidate).id,
        name="cv.txt",
        content_type="text/plain",
        size=8,
        storage_key="k",
        text="A sailor.",
        text_state=TextState.EXTRACTED,
    )
    db.session.add(document)
    db.session.commit()
    talk = Talk(candidate, Tape(video=False))
    prompt = candidate.turn(1, "begin")
    played = talk.listen(prompt, until=into_question(prompt, 0.55))
    candidate.turn(2, "text", text="the sea", played=played)
    candidate.turn(3, "text", text="the boats", played={**played, "seconds": 9.0, "whole": True})
    first, second = asks.asked
    assert (first.cut.endswith("Let's begin. Why do you"), first.documents) == (True, "cv.txt\nA sailor.")
    assert (second.cut, second.latest) == ("", "the boats")
