"""An answer that is said again: its question is open once more, both answers are kept, and the later one counts."""

from collections.abc import Callable
from typing import Any

import pytest

from app.conversation.queries import sitting_of, turn_of
from app.core.db import db
from app.flows.forms import form_of
from app.gateways.speech.ports import FollowUp
from app.interviews import actions as interviews
from app.interviews import quality
from app.interviews.jobs import processing
from app.interviews.models import Role, Utterance
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Refused, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made
from tests.people import Browser, Person

from .conftest import Candidates, interview_of, sound
from .fakes import ScriptedInterviewer, ScriptedTranscriber

FIRST, SECOND = "Why do you want this job?", "Tell me about your last team."
BAD, GOOD = "um that came out wrong because i lost my thread there", "because i have always wanted to work with people"
OTHER = "we were six people and looked after forty patients a day"

Writing = Callable[..., Candidate]


@pytest.fixture
def writing(candidates: Candidates, book: Made) -> Writing:
    """Somebody who writes, was asked the first question, and may say answers again."""

    def made(**columns: Any) -> Candidate:
        candidate = candidates(book(**{"may_say_again": True, **columns}))
        candidate.open()
        candidate.start("text")
        candidate.turn(1, "begin")
        return candidate

    return made


def users(candidate: Candidate) -> list[tuple[str | None, int | None, bool, str | None]]:
    """Words, question, whether it counts nowhere, and which of two answers it is."""
    rows: list[Utterance] = [row for row in utterances_of(interview_of(candidate).id) if row.role is Role.USER]
    return [(row.content, row.question_index, row.obeyed, row.retake) for row in rows]


def test_where_the_flow_does_not_allow_it_nothing_is_offered_and_the_question_is_repeated(writing: Writing) -> None:
    candidate = writing(may_say_again=False)
    assert candidate.turn(2, "text", text=BAD)["last_answer"] is None
    reply = candidate.turn(3, "repeat", again=True)
    assert (reply["question"], reply["last_answer"]) == (SECOND, None)
    candidate.turn(4, "text", text=OTHER)
    assert users(candidate) == [(BAD, 0, False, None), (OTHER, 1, False, None)]


def test_both_are_kept_and_the_later_one_counts(writing: Writing, asks: ScriptedInterviewer) -> None:
    candidate = writing()
    reply = candidate.turn(2, "text", text=BAD)
    assert (reply["question"], reply["last_answer"]) == (SECOND, BAD)
    back = candidate.turn(3, "repeat", again=True)
    assert (back["kind"], back["question"], back["question_index"], back["last_answer"]) == ("repeat", FIRST, 0, None)
    assert users(candidate) == [(BAD, 0, False, None)], "it counts until another one is given"
    reply = candidate.turn(4, "text", text=GOOD)
    assert (reply["question"], reply["last_answer"]) == (SECOND, None), "once for each question"
    assert users(candidate) == [(BAD, 0, True, "former"), (GOOD, 0, False, "later")]
    assert [exchange.answer for exchange in asks.asked] == [BAD, GOOD], "the model does not get the former one again"
    assert candidate.turn(5, "repeat", again=True)["question"] == SECOND
    assert candidate.turn(6, "text", text=OTHER)["last_answer"] == OTHER
    assert quality.report_of(interview_of(candidate))["recognition"]["answers"] == 2


def test_the_same_turn_again_gets_the_same_reply(writing: Writing) -> None:
    candidate = writing()
    candidate.turn(2, "text", text=BAD)
    back = candidate.turn(3, "repeat", again=True)
    assert candidate.turn(3, "repeat", again=True) == back
    assert candidate.call("GET", "/state")["prompt"] == back
    reply = candidate.turn(4, "text", text=GOOD)
    assert candidate.turn(4, "text", text=GOOD) == reply
    assert users(candidate) == [(BAD, 0, True, "former"), (GOOD, 0, False, "later")]


def test_a_reload_is_offered_the_same(writing: Writing) -> None:
    candidate = writing()
    candidate.turn(2, "text", text=BAD)
    assert candidate.call("GET", "/state")["prompt"]["last_answer"] == BAD
    candidate.turn(3, "repeat")
    assert candidate.call("GET", "/state")["prompt"]["last_answer"] == BAD, "the question was repeated, no more"


def test_whoever_has_answered_the_next_question_says_that_one_again(writing: Writing) -> None:
    candidate = writing(questions=[FIRST, SECOND, "And then?"])
    candidate.turn(2, "text", text=BAD)
    candidate.turn(3, "text", text=OTHER)
    assert candidate.turn(4, "repeat", again=True)["question"] == SECOND
    candidate.turn(5, "text", text=GOOD)
    assert users(candidate) == [(BAD, 0, False, None), (OTHER, 1, True, "former"), (GOOD, 1, False, "later")]


def test_a_follow_up_is_answered_again_without_the_answer_before_it(
    writing: Writing, asks: ScriptedInterviewer
) -> None:
    asks.follow_ups = [FollowUp("Which people?"), FollowUp(), FollowUp()]
    candidate = writing()
    assert candidate.turn(2, "text", text=GOOD)["question"] == "Which people?"
    assert candidate.turn(3, "text", text=BAD)["last_answer"] == BAD
    back = candidate.turn(4, "repeat", again=True)
    assert (back["question"], back["script_question"]) == ("Which people?", FIRST)
    assert candidate.turn(5, "text", text=OTHER)["question"] == SECOND
    assert users(candidate) == [(GOOD, 0, False, None), (BAD, 0, True, "former"), (OTHER, 0, False, "later")]


def test_a_follow_up_to_an_answer_that_is_said_again_is_asked_anew(writing: Writing, asks: ScriptedInterviewer) -> None:
    asks.follow_ups = [FollowUp("Which people?"), FollowUp("Which work?"), FollowUp()]
    candidate = writing()
    candidate.turn(2, "text", text=BAD)
    assert candidate.turn(3, "repeat", again=True)["question"] == FIRST
    assert candidate.turn(4, "text", text=GOOD)["question"] == "Which work?"
    assert candidate.turn(5, "text", text=OTHER)["last_answer"] is None
    assert users(candidate) == [(BAD, 0, True, "former"), (GOOD, 0, False, "later"), (OTHER, 0, False, None)]


def test_all_parts_of_the_former_answer_are_replaced_by_all_of_the_later_one(writing: Writing) -> None:
    candidate = writing()
    candidate.turn(2, "text", text="um", unfinished=True)
    assert candidate.turn(3, "text", text=BAD)["last_answer"] == f"um\n{BAD}"
    candidate.turn(4, "repeat", again=True)
    candidate.turn(5, "text", text="because", unfinished=True)
    assert users(candidate)[0][2:] == (False, None)
    candidate.turn(6, "text", text=GOOD)
    assert users(candidate) == [
        ("um", 0, True, "former"),
        (BAD, 0, True, "former"),
        ("because", 0, False, "later"),
        (GOOD, 0, False, "later"),
    ]


@pytest.mark.parametrize("instead", ["skip", "end"])
def test_without_a_new_answer_the_former_one_counts(writing: Writing, instead: str) -> None:
    candidate = writing()
    candidate.turn(2, "text", text=BAD)
    candidate.turn(3, "repeat", again=True)
    candidate.turn(4, "text", text="because", unfinished=True)
    candidate.turn(5, instead)
    assert users(candidate) == [(BAD, 0, False, None), ("because", 0, False, "later")]


def test_words_to_the_agent_are_no_new_answer(writing: Writing) -> None:
    candidate = writing()
    candidate.turn(2, "text", text=BAD)
    candidate.turn(3, "repeat", again=True)
    assert candidate.turn(4, "text", text="could you repeat the question please")["question"] == FIRST
    assert users(candidate)[0] == (BAD, 0, False, None)
    candidate.turn(5, "text", text=GOOD)
    assert [row[2:] for row in users(candidate)] == [(True, "former"), (True, None), (False, "later")]


def test_the_last_answer_is_said_again_over_the_goodbye(writing: Writing) -> None:
    candidate = writing(questions=[FIRST])
    goodbye = candidate.turn(2, "text", text=BAD)
    assert (goodbye["expects"], goodbye["last_answer"]) == ("finish", BAD)
    back = candidate.turn(3, "repeat", again=True)
    assert (back["expects"], back["question"]) == ("answer", FIRST)
    with pytest.raises(Refused) as refused:
        candidate.finish([])
    assert refused.value.status == 409
    goodbye = candidate.turn(4, "text", text=GOOD)
    assert (goodbye["expects"], goodbye["last_answer"]) == ("finish", None)
    with pytest.raises(Refused):
        candidate.turn(5, "text", text=OTHER)
    candidate.finish([])
    assert users(candidate) == [(BAD, 0, True, "former"), (GOOD, 0, False, "later")]


def test_a_spoken_answer_is_said_again(candidates: Candidates, book: Made, hears: ScriptedTranscriber) -> None:
    candidate = candidates(book(may_say_again=True))
    candidate.open()
    candidate.start()
    talk = Talk(candidate, Tape(video=False))
    hears.texts = [BAD, GOOD]
    played = talk.listen(candidate.turn(1, "begin"))
    reply = candidate.turn(2, "answer", played=played, **talk.answer(sound(4)))
    assert (reply["question"], reply["last_answer"]) == (SECOND, BAD)
    back = candidate.turn(3, "repeat", again=True, played={**talk.listen(reply), "seconds": 0.4, "whole": False})
    assert back["question"] == FIRST
    assert back["audio_url"], "the question is asked aloud"
    reply = candidate.turn(4, "answer", played=talk.listen(back), **talk.answer(sound(4)))
    assert reply["question"] == SECOND
    assert users(candidate) == [(BAD, 0, True, "former"), (GOOD, 0, False, "later")]
    sitting = sitting_of(interview_of(candidate).id)
    assert sitting is not None
    turn = turn_of(sitting.id, 2)
    assert turn is not None
    assert turn.heard_text == BAD


def test_silence_brings_no_new_answer(candidates: Candidates, book: Made, hears: ScriptedTranscriber) -> None:
    candidate = candidates(book(may_say_again=True))
    candidate.open()
    candidate.start()
    talk = Talk(candidate, Tape(video=False))
    hears.texts = [BAD]
    candidate.turn(2, "answer", played=talk.listen(candidate.turn(1, "begin")), **talk.answer(sound(4)))
    candidate.turn(3, "repeat", again=True)
    assert candidate.turn(4, "answer", **talk.answer(bytes(64_000)))["kind"] == "not_heard"
    assert users(candidate) == [(BAD, 0, False, None)]


def test_the_result_has_both_and_counts_the_later_one(writing: Writing, owner: Person) -> None:
    candidate = writing(interview_type="recruitment")
    candidate.turn(2, "text", text=BAD)
    candidate.turn(3, "repeat", again=True)
    candidate.turn(4, "text", text=GOOD)
    candidate.turn(5, "text", text=OTHER)
    candidate.finish([])
    interview = interview_of(candidate)
    processing.process_interview(interview.id)
    db.session.expire_all()
    result = interview_of(candidate).data
    assert result is not None
    details = interviews.result_of(interview_of(candidate))
    assert details is not None
    segments = details["transcript_with_timestamp"]
    said = {one["content"]: number for number, one in enumerate(segments) if one["role"] == "user"}
    assert list(said) == [BAD, GOOD, OTHER]
    first, second = (part["transcript_item_indices"] for part in details["questions_to_transcript_mapping"])
    assert {said[BAD], said[GOOD]} <= set(first)
    assert said[OTHER] in second
    assert BAD not in (result.summary or "")
    assert result.evidence["speech"]["retakes"] == {str(said[BAD]): "former", str(said[GOOD]): "later"}
    page = owner.browser.get(f"/interviews/{interview.id}").text
    former, later = (page.index(words, page.index('<ol class="transcript">')) for words in (BAD, GOOD))
    assert "does not count: said again later" in page[:former][-600:]
    assert ">said again<" in page[former:later]


@pytest.mark.parametrize("kind", ["skip", "end", "text"])
def test_only_a_repeat_goes_back(writing: Writing, kind: str) -> None:
    candidate = writing()
    with pytest.raises(Refused) as refused:
        candidate.turn(2, kind, again=True, text="x")
    assert refused.value.status == 422


def test_a_preview_offers_it_too(client: Browser, scripted: Any, owner: Person, make_flow: Made) -> None:
    flow = make_flow(may_say_again=True)
    page = owner.browser.get(f"/flows/{flow.id}/preview")
    base = page.text.split('data-base="')[1].split('"')[0]

    def post(path: str, **body: Any) -> Any:
        return owner.browser.post(f"{base}{path}", json=body).get_json()

    post("/start", consent="yes", mode="text", locale="en-US")
    post("/turns/1", kind="begin")
    assert post("/turns/2", kind="text", text=BAD)["last_answer"] == BAD
    assert post("/turns/3", kind="repeat", again=True)["question"] == FIRST
    assert post("/turns/4", kind="text", text=GOOD)["last_answer"] is None


def test_the_option_is_in_the_flows_form_and_off(owner: Person, make_flow: Made) -> None:
    page = owner.browser.get("/flows/new").text
    assert "Let candidates read their transcribed answer and answer again" in page
    flow = make_flow()
    assert form_of(flow)["may_say_again"] is False
    form = {
        **{name: value for name, value in form_of(flow).items() if isinstance(value, str)},
        "questions-0": FIRST,
        "may_say_again": "y",
    }
    assert owner.browser.post(f"/flows/{flow.id}/edit", data=form).status_code in {302, 303}
    db.session.expire_all()
    assert flow.may_say_again is True
    assert "allowed, once for each question" in owner.browser.get(f"/flows/{flow.id}").text
