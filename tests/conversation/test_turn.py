"""One turn of the agent with scripted engines: what is understood, decided and said, and what a failure costs."""

import io
import wave
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from app.conversation import speaking
from app.conversation.script.machine import Event, Kind, Script
from app.conversation.script.place import Phase, Place
from app.conversation.speaking import GAP
from app.conversation.turn import Answer, Audio, Engines, respond
from app.core.errors import GatewayError
from app.gateways.speech import phrases, silence
from app.gateways.speech.ports import FollowUp
from app.gateways.speech.sound import silence_before

from .around import script_parts
from .conftest import hiss, sound
from .fakes import ScriptedInterviewer, ScriptedSpeaker, ScriptedTranscriber

SCRIPT = Script(questions=("Why this job?", "And then?"), seconds=600, intro="Hello there.", outro="Goodbye now.")
OPEN = Place(Phase.QUESTION, 0)
AWAY = GatewayError("away", retryable=True)


def audio(pcm: bytes = b"", error: Exception | None = None) -> Audio:
    def pieces() -> Iterator[bytes]:
        if error:
            raise error
        yield pcm or sound(1)

    return Audio("interview/2/1", 3, 4, pieces)


def spoken_answer(**given: object) -> Answer:
    return Answer("answer", audio=audio(**given))  # type: ignore[arg-type]


@pytest.fixture
def with_all(hears: ScriptedTranscriber, asks: ScriptedInterviewer, speaks: ScriptedSpeaker) -> Engines:
    return Engines(hears, asks, speaks)


@pytest.mark.parametrize(("silent", "heard_at"), [(0.0, 0.0), (0.06, 0.01), (0.004, 0.004)])
def test_a_reply_begins_with_its_first_sound(
    with_all: Engines, speaks: ScriptedSpeaker, silent: float, heard_at: float
) -> None:
    whole = respond(SCRIPT, OPEN, Answer("skip"), engines=with_all)
    speaks.silent = silent
    reply = respond(SCRIPT, OPEN, Answer("skip"), engines=with_all)
    assert (whole.wav, reply.wav) != (None, None)
    first = reply.parts[0]
    assert reply.seconds == pytest.approx(whole.seconds + heard_at + silent * (len(reply.parts) - 1))
    assert (first.offset, first.words[0].start) == (0.0, pytest.approx(heard_at))
    assert first.seconds == pytest.approx(whole.parts[0].seconds + heard_at)
    assert reply.parts[1].words[0].start == pytest.approx(silent)


def test_a_voice_that_says_nothing_stays_as_it_is() -> None:
    assert [silence_before(pcm, 16_000) for pcm in (b"", b"\0\0" * 99, b"\0\0" * 16_000)] == [0, 0, 0]


def test_the_beginning_is_one_sound_of_intro_and_question(with_all: Engines, speaks: ScriptedSpeaker) -> None:
    reply = respond(SCRIPT, Place(), Answer("begin"), engines=with_all)
    assert (reply.kind, reply.engine) == (Kind.INTRO, "scripted")
    assert [(part.kind, part.text, part.question_index) for part in reply.parts] == [
        (Kind.INTRO, "Hello there.", None),
        (Kind.QUESTION, "Why this job?", 0),
    ]
    assert [(part.offset, part.seconds) for part in reply.parts] == [
        (0.0, 0.5),
        (pytest.approx(0.5 + GAP), pytest.approx(0.75)),
    ]
    assert reply.seconds == pytest.approx(1.25 + GAP)
    assert reply.wav is not None
    with wave.open(io.BytesIO(reply.wav)) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(reply.seconds)
    assert speaks.spoken == [("Hello there.", True), ("Why this job?", True)]


def test_an_answer_is_recognised_and_leads_on(with_all: Engines, hears: ScriptedTranscriber) -> None:
    hears.texts = ["because i like it a lot"]
    reply = respond(SCRIPT, OPEN, spoken_answer(), engines=with_all)
    assert hears.finished == [("interview/2/1", 3, 4)]
    assert (reply.said.event, reply.said.content, reply.is_answer) == (Event.ANSWER, "because i like it a lot", True)
    assert reply.said.words[1].start == 0.3
    assert reply.step.place.question_index == 1


def test_the_interviewer_supplies_the_words_of_a_follow_up_only(
    with_all: Engines, asks: ScriptedInterviewer, speaks: ScriptedSpeaker
) -> None:
    asks.follow_ups = [FollowUp("What exactly do you like?"), FollowUp("Never asked")]
    reply = respond(SCRIPT, OPEN, spoken_answer(), engines=with_all)
    assert reply.kind is Kind.FOLLOW_UP
    assert reply.parts[0].text == "What exactly do you like?"
    assert speaks.spoken[-1][1] is False, "a follow-up may quote the candidate and is never remembered"
    assert asks.asked[0].question == "Why this job?"
    onward = respond(SCRIPT, reply.step.place, spoken_answer(), engines=with_all)
    assert onward.kind is Kind.QUESTION


def test_the_interviewer_sees_everything_that_was_said_to_the_question(
    with_all: Engines, asks: ScriptedInterviewer
) -> None:
    two = Script(questions=("Why?",), seconds=600, follow_up_limit=2)
    place = Place(Phase.QUESTION, 0, ("How so?",), "the first answer")
    respond(two, place, Answer("text", text="the second answer"), engines=with_all)
    assert asks.asked[0].answer == "the first answer\nthe second answer"
    assert (asks.asked[0].follow_ups, asks.asked[0].limit) == (("How so?",), 2)


def test_a_request_to_repeat_in_the_candidates_own_words_repeats(with_all: Engines, asks: ScriptedInterviewer) -> None:
    asks.follow_ups = [FollowUp(repeat=True)]
    reply = respond(SCRIPT, OPEN, spoken_answer(), engines=with_all)
    assert (reply.kind, reply.step.place.question_index, reply.is_answer) == ("repeat", 0, False)
    assert [part.text for part in reply.parts] == ["Why this job?"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("repeat the question please", "repeat"),
        ("skip this question please", Kind.QUESTION),
        ("let me think please", Kind.THINK),
        ("please stop the interview", Kind.SURE),
    ],
)
def test_spoken_commands_work(with_all: Engines, hears: ScriptedTranscriber, text: str, kind: str) -> None:
    hears.texts = [text]
    reply = respond(SCRIPT, OPEN, spoken_answer(), engines=with_all)
    assert (reply.kind, reply.is_answer, reply.said.content) == (kind, False, text)


@pytest.mark.parametrize(("text", "kind"), [("yes please", Kind.OUTRO), ("stop here", Kind.OUTRO), ("no", "repeat")])
@pytest.mark.parametrize("spoken", [True, False])
def test_stop_here_is_asked_about_once(
    with_all: Engines, hears: ScriptedTranscriber, real_speech: bytes, text: str, kind: str, spoken: bool
) -> None:
    def says(words: str) -> Answer:
        hears.texts = [words]
        return spoken_answer(pcm=real_speech) if spoken else Answer("text", text=words)

    sure = respond(SCRIPT, OPEN, says("stop here"), engines=with_all)
    assert (sure.kind, sure.parts[0].text, sure.is_answer) == (Kind.SURE, phrases.phrase("sure", "en-US"), False)
    assert respond(SCRIPT, sure.step.place, says(text), engines=with_all).kind == kind
    onward = respond(SCRIPT, sure.step.place, says("yes we did that for years in the harbour"), engines=with_all)
    assert (onward.kind, onward.step.place.question_index) == (Kind.QUESTION, 1)


def test_yes_is_an_answer_where_nobody_asked_about_the_end(with_all: Engines) -> None:
    reply = respond(SCRIPT, OPEN, Answer("text", text="yes"), engines=with_all)
    assert (reply.kind, reply.is_answer) == (Kind.QUESTION, True)


def test_a_question_of_the_candidate_is_answered_and_the_open_one_comes_back(
    with_all: Engines, asks: ScriptedInterviewer, speaks: ScriptedSpeaker
) -> None:
    informed = replace(SCRIPT, additional_info="The office is in Oslo.")
    asks.follow_ups = [
        FollowUp(reply="The office is in Oslo."),
        FollowUp(unknown=True),
        FollowUp(reply="You are hired."),
    ]
    reply = respond(informed, OPEN, Answer("text", text="Where is the office?"), engines=with_all)
    assert [(part.kind, part.text) for part in reply.parts] == [
        (Kind.REPLY, "The office is in Oslo."),
        (Kind.QUESTION, "Why this job?"),
    ]
    assert (reply.kind, reply.is_answer) == (Kind.REPLY, False)
    assert ("The office is in Oslo.", False) in speaks.spoken, "what a candidate asked is never remembered"
    for question in ("How high is the pay?", "Am I hired?"):
        unknown = respond(informed, OPEN, Answer("text", text=question), engines=with_all)
        assert [part.text for part in unknown.parts] == [phrases.phrase("pass_on", "en-US"), "Why this job?"]


def test_the_interviewer_may_give_a_moment(with_all: Engines, asks: ScriptedInterviewer) -> None:
    asks.follow_ups = [FollowUp(wait=True)]
    assert respond(SCRIPT, OPEN, Answer("text", text="hm, that was long ago"), engines=with_all).kind is Kind.THINK


def test_without_follow_ups_only_what_may_be_a_question_is_looked_at(
    with_all: Engines, asks: ScriptedInterviewer
) -> None:
    none = replace(SCRIPT, follow_up_limit=0)
    asks.follow_ups = [FollowUp("Why exactly?"), FollowUp("Why exactly?")]
    assert respond(none, OPEN, Answer("text", text="because of the sea"), engines=with_all).kind is Kind.QUESTION
    respond(none, OPEN, Answer("text", text="because of the sea " * 20), engines=with_all)
    assert len(asks.asked) == 1


def test_what_was_heard_and_what_the_documents_say_reaches_the_interviewer(
    with_all: Engines, asks: ScriptedInterviewer
) -> None:
    respond(SCRIPT, OPEN, Answer("text", text="the sea", cut="Why this", documents="Sailor."), engines=with_all)
    assert (asks.asked[0].cut, asks.asked[0].documents, asks.asked[0].latest) == ("Why this", "Sailor.", "the sea")


@pytest.mark.parametrize("kind", ["repeat", "skip", "end"])
def test_buttons_work_without_any_sound(with_all: Engines, hears: ScriptedTranscriber, kind: str) -> None:
    reply = respond(SCRIPT, OPEN, Answer(kind), engines=with_all)  # type: ignore[arg-type]
    assert (reply.said.content, reply.is_answer, hears.finished) == (None, False, [])


def test_noise_without_speech_is_asked_about_and_then_waited_for(with_all: Engines, hears: ScriptedTranscriber) -> None:
    hears.texts = ["if", ""]
    first = respond(SCRIPT, OPEN, spoken_answer(pcm=hiss()), engines=with_all)
    assert [part.kind for part in first.parts] == [Kind.NOT_HEARD, Kind.QUESTION]
    assert first.parts[0].text == phrases.phrase("not_heard", "en-US")
    second = respond(SCRIPT, first.step.place, spoken_answer(pcm=hiss()), engines=with_all)
    assert (second.kind, [part.kind for part in second.parts]) == (Kind.WAIT, [Kind.WAIT])
    assert second.step.place.question_index == 0


INVENTED = "Thank you for watching and please subscribe to the channel."


@pytest.mark.parametrize("text", [INVENTED, "Let us stop the interview."])
@pytest.mark.parametrize(
    "pcm", [bytes(64_000), hiss(2), hiss(1) + sound(0.4) + hiss(1)], ids=["silence", "hiss", "cough"]
)
def test_words_that_an_engine_invents_for_no_speech_are_not_believed(
    with_all: Engines, hears: ScriptedTranscriber, text: str, pcm: bytes
) -> None:
    hears.texts = [text]
    reply = respond(SCRIPT, OPEN, spoken_answer(pcm=pcm), engines=with_all)
    assert (reply.said.event, reply.said.content, reply.is_answer) == (Event.SILENCE, None, False)
    assert [part.kind for part in reply.parts] == [Kind.NOT_HEARD, Kind.QUESTION]


def test_an_answer_with_more_words_than_can_be_said_is_kept_for_later(
    with_all: Engines, hears: ScriptedTranscriber
) -> None:
    hears.texts = ["thank you very much " * 10]
    reply = respond(SCRIPT, OPEN, spoken_answer(pcm=sound(2)), engines=with_all)
    assert (reply.said.event, reply.said.content, reply.is_answer) == (Event.ANSWER, None, True)


@pytest.mark.parametrize(("spoken", "times"), [(2.0, 0), (0.1, 1), (None, 1)])
def test_an_engine_that_has_measured_enough_speech_is_not_measured_again(
    with_all: Engines,
    hears: ScriptedTranscriber,
    real_speech: bytes,
    spoken: float | None,
    times: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []
    has_speech = silence.has_speech
    monkeypatch.setattr(silence, "has_speech", lambda pieces: asked.append(True) or has_speech(pieces))
    hears.spoken = spoken
    reply = respond(SCRIPT, OPEN, spoken_answer(pcm=real_speech), engines=with_all)
    assert (reply.said.content, reply.is_answer, len(asked)) == (hears.otherwise, True, times)


def test_a_recogniser_that_fails_loses_no_answer(
    with_all: Engines, hears: ScriptedTranscriber, real_speech: bytes
) -> None:
    hears.texts = [AWAY]
    reply = respond(SCRIPT, OPEN, spoken_answer(pcm=real_speech), engines=with_all)
    assert (reply.said.event, reply.said.content, reply.is_answer) == (Event.ANSWER, None, True)
    assert reply.step.place.question_index == 1


def test_a_language_without_a_recogniser_keeps_the_answer_and_asks_nothing_more(
    hears: ScriptedTranscriber, asks: ScriptedInterviewer, speaks: ScriptedSpeaker, real_speech: bytes
) -> None:
    german = Script(questions=("Warum?", "Und dann?"), seconds=600, language="de-DE")
    reply = respond(german, OPEN, spoken_answer(pcm=real_speech), engines=Engines(hears, asks, speaks))
    assert (reply.said.content, reply.said.engine, asks.asked, hears.finished) == (None, None, [], [])
    assert reply.step.place.question_index == 1
    silent = respond(german, OPEN, spoken_answer(pcm=hiss()), engines=Engines(hears, asks, speaks))
    assert silent.kind is Kind.NOT_HEARD


def test_sound_that_cannot_be_read_is_no_silence(with_all: Engines, hears: ScriptedTranscriber) -> None:
    hears.texts = [AWAY]
    reply = respond(SCRIPT, OPEN, spoken_answer(error=AWAY), engines=with_all)
    assert (reply.said.event, reply.said.content) == (Event.ANSWER, None)


THIN, FULL = "because of the sea", "because i grew up by the sea and never wanted to leave it again"


@pytest.mark.parametrize(
    "judged",
    [
        AWAY,
        FollowUp("You are hired, are you not?"),
        FollowUp("Was haben Sie auf dem Schiff denn die ganze Zeit gemacht und wie war das?"),
    ],
    ids=["away", "a promise", "another language"],
)
def test_an_interviewer_that_fails_costs_its_own_follow_up_only(
    with_all: Engines, asks: ScriptedInterviewer, judged: FollowUp | GatewayError
) -> None:
    asks.follow_ups = [judged, judged, judged]
    thin = respond(SCRIPT, OPEN, Answer("text", text=THIN), engines=with_all)
    assert [part.text for part in thin.parts] == [phrases.tell_more("en-US")], "as without a language model"
    assert respond(SCRIPT, OPEN, Answer("text", text=FULL), engines=with_all).kind is Kind.QUESTION
    onward = respond(SCRIPT, thin.step.place, Answer("text", text=THIN), engines=with_all)
    assert onward.step.place.question_index == 1, "one follow-up, as the flow allows"
    none = replace(SCRIPT, follow_up_limit=0)
    asks.follow_ups = [judged]
    assert respond(none, OPEN, Answer("text", text=THIN), engines=with_all).kind is Kind.QUESTION


@pytest.mark.parametrize("judged", [FollowUp(repeat=True), FollowUp(wait=True), FollowUp(unknown=True)])
def test_a_long_answer_is_never_taken_for_words_to_the_agent(
    with_all: Engines, asks: ScriptedInterviewer, judged: FollowUp
) -> None:
    asks.follow_ups = [judged]
    reply = respond(SCRIPT, OPEN, Answer("text", text=f"{FULL} " * 4), engines=with_all)
    assert (reply.is_answer, reply.step.place.question_index) == (True, 1)


def test_a_voice_that_fails_leaves_the_text(with_all: Engines, speaks: ScriptedSpeaker) -> None:
    speaks.error = AWAY
    reply = respond(SCRIPT, Place(), Answer("begin"), engines=with_all)
    assert (reply.wav, reply.seconds, reply.engine) == (None, 0.0, None)
    assert [part.text for part in reply.parts] == ["Hello there.", "Why this job?"]


def test_a_language_without_a_voice_is_shown(with_all: Engines, speaks: ScriptedSpeaker) -> None:
    thai = Script(questions=("ทำไม",), seconds=600, language="th-TH")
    reply = respond(thai, Place(), Answer("begin"), engines=with_all)
    assert (reply.wav, [part.text for part in script_parts(reply.parts)], speaks.spoken) == (None, ["ทำไม"], [])


def test_another_voice_that_comes_at_once_excuses_nothing(with_all: Engines, speaks: ScriptedSpeaker) -> None:
    speaks.fell_back = True
    reply = respond(SCRIPT, OPEN, spoken_answer(), engines=with_all)
    assert [part.kind for part in script_parts(reply.parts)] == [Kind.QUESTION]


def test_another_voice_that_comes_late_asks_for_a_moment_first(
    with_all: Engines, speaks: ScriptedSpeaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaks.fell_back = True
    monkeypatch.setattr(speaking, "LATE", 0.0)
    reply = respond(SCRIPT, OPEN, spoken_answer(), engines=with_all)
    assert [part.kind for part in script_parts(reply.parts)] == [Kind.MOMENT, Kind.QUESTION]
    assert all(later.offset >= part.offset + part.seconds for part, later in pairwise(reply.parts))


def test_when_the_time_is_over_the_answer_counts_and_the_agent_says_goodbye(with_all: Engines) -> None:
    reply = respond(SCRIPT, OPEN, Answer("text", text="my last answer", time_over=True), engines=with_all)
    assert (reply.kind, reply.is_answer, reply.said.content) == (Kind.OUTRO, True, "my last answer")
    late = respond(SCRIPT, Place(), Answer("begin", time_over=True), engines=with_all)
    assert late.kind is Kind.INTRO


def test_a_cough_at_the_goodbye_is_told_it_again_also_when_the_time_is_over_by_then(
    with_all: Engines, hears: ScriptedTranscriber
) -> None:
    hears.texts = ["because i like it a lot", ""]
    goodbye = respond(SCRIPT, Place(Phase.QUESTION, 1), spoken_answer(), engines=with_all)
    assert goodbye.kind is Kind.OUTRO
    cough = Answer("answer", audio=audio(b"\0" * 32_000), continues=True, time_over=True)
    again = respond(SCRIPT, goodbye.step.place, cough, engines=with_all)
    assert [part.text for part in again.parts] == ["Goodbye now."]
    hears.texts = ["and my brother likes it too"]
    longer = respond(SCRIPT, goodbye.step.place, replace(cough, audio=audio()), engines=with_all)
    assert (longer.kind, longer.is_answer) == (Kind.OUTRO, True)


def test_without_any_engine_the_talk_still_goes_on() -> None:
    reply = respond(SCRIPT, OPEN, spoken_answer(), engines=Engines())
    assert (reply.said.content, reply.is_answer, reply.wav) == (None, True, None)
    assert [part.text for part in script_parts(reply.parts)] == ["And then?"]


def test_a_flow_without_an_outro_gets_one_in_its_language(with_all: Engines) -> None:
    bare = Script(questions=(), seconds=600, language="de-DE")
    parts = respond(bare, Place(), Answer("begin"), engines=with_all).parts
    assert [part.text for part in script_parts(parts)] == [phrases.phrase("outro", "de-DE")]
