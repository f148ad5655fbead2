"""Commands that were misheard: chosen among the sayings where the recogniser is sure, else the answer stays one."""

import pytest

from app.conversation import turn
from app.conversation.script.command_phrases import sayings, spelt_out
from app.conversation.script.command_recheck import (
    COMMANDS,
    SURE,
    SURE_OF_NO,
    SURE_OF_YES,
    WHETHER_TO_END,
    second_look,
)
from app.conversation.script.commands import confirmed, is_compact, spoken_command
from app.conversation.script.machine import Event, Kind, Script
from app.conversation.script.place import Phase, Place
from app.conversation.turn import Answer, Audio, Engines, Reply, respond
from app.gateways import Gateways
from app.gateways.speech.catalogue import LANGUAGES
from app.gateways.speech.ports import SPEECH_RATE, Heard, Sayings, Word
from tests.short_sayings import Said, short_sayings

from .fakes import ScriptedSpeaker, ScriptedTranscriber

SCRIPT = Script(questions=("Why this job?", "And then?"), seconds=600)
OPEN, ASKED = Place(Phase.QUESTION, 0), Place(Phase.QUESTION, 0, stopping=True)


@pytest.fixture
def reply_to(hears: ScriptedTranscriber, speaks: ScriptedSpeaker, real_speech: bytes):  # type: ignore[no-untyped-def]
    def told(heard: str, chosen: Heard | None = None, *, place: Place = OPEN, chunks: int = 4, **more: bool) -> Reply:
        hears.texts, hears.choices = [heard], [chosen]
        audio = Audio("interview/2/1", 3, 2 + chunks, lambda: iter([real_speech]))
        return respond(SCRIPT, place, Answer("answer", audio=audio, **more), engines=Engines(hears, None, speaks))

    return told


def sure(text: str, confidence: float) -> Heard:
    return Heard(text, (Word(text.split(maxsplit=1)[0], 0.4, 0.9),), "scripted", confidence)


@pytest.mark.parametrize(
    ("saying", "event", "kind"),
    [
        ("can you repeat that", Event.REPEAT, "repeat"),
        ("next question please", Event.SKIP, Kind.QUESTION),
        ("let me think", Event.THINK, Kind.THINK),
        ("stop here", Event.STOP, Kind.SURE),
    ],
)
def test_a_misheard_command_counts_where_the_recogniser_is_sure(reply_to, saying: str, event: Event, kind: str) -> None:  # type: ignore[no-untyped-def]
    reply = reply_to("fiesta with half", sure(saying, SURE[event]))
    assert (reply.kind, reply.is_answer, reply.said.event) == (kind, False, event)
    assert (reply.said.content, reply.said.words[0].start, reply.said.confidence) == (saying, 0.4, SURE[event])


@pytest.mark.parametrize("event", SURE)
def test_where_it_is_less_sure_the_answer_stays_an_answer(reply_to, event: Event) -> None:  # type: ignore[no-untyped-def]
    saying = {"repeat": "repeat that", "skip": "next question", "think": "let me think", "stop": "stop here"}[event]
    reply = reply_to("three years", sure(saying, SURE[event] - 0.01))
    assert (reply.said.event, reply.said.content, reply.is_answer) == (Event.ANSWER, "three years", True)
    assert reply.step.place.question_index == 1


def test_nothing_like_a_command_and_no_command_at_all_stay_answers(reply_to) -> None:  # type: ignore[no-untyped-def]
    assert reply_to("three years", None).said.content == "three years"
    assert reply_to("three years", sure("i like the people", 1.0)).said.content == "three years"


def test_only_short_whole_utterances_that_were_no_command_are_looked_at_again(reply_to, hears) -> None:  # type: ignore[no-untyped-def]
    reply_to("repeat that please")
    reply_to("three years", chunks=turn.LONGEST_COMMAND + 1)
    reply_to("and then i went to the next town to see what they were doing there")
    reply_to("three years in the harbour", unfinished=True)
    reply_to("yes please", place=ASKED)
    assert hears.looked_at == []
    reply_to("three years", chunks=turn.LONGEST_COMMAND)
    ((heard, among, size),) = hears.looked_at
    assert (heard, among, size > SPEECH_RATE) == ("three years", sayings("en-US", *COMMANDS), True)


def test_yes_and_no_are_chosen_only_where_the_agent_has_asked_about_the_end(reply_to, hears) -> None:  # type: ignore[no-untyped-def]
    assert reply_to("fiesta the fife", sure("yes please", SURE_OF_YES), place=ASKED).kind == Kind.OUTRO
    assert hears.looked_at[-1][1] == sayings("en-US", *WHETHER_TO_END)
    assert reply_to("flo fed", sure("no thanks", SURE_OF_NO), place=ASKED).kind == "repeat"
    assert reply_to("flintoff payoff", sure("stop here", SURE[Event.STOP]), place=ASKED).kind == Kind.OUTRO
    kept = reply_to("twenty five", sure("yes", SURE_OF_YES - 0.01), place=ASKED)
    assert (kept.said.event, kept.is_answer) == (Event.ANSWER, True)
    assert reply_to("fiesta the fife", sure("yes please", 1.0)).said.event is Event.ANSWER


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_saying_is_what_it_is_meant_as(language: str) -> None:
    """One by one, as the patterns would have them: otherwise a choice would be no command."""
    for event in SURE:
        for said in sayings(language, event.value).whole:
            assert spoken_command(said, language) is event, said
    for name, answer in (("yes", True), ("no", False)):
        assert all(confirmed(said, language) is answer for said in sayings(language, name).whole)
    assert bool(sayings(language, *COMMANDS).whole) is not is_compact(language)


def test_sayings_are_spelt_out_as_dictionaries_have_them() -> None:
    assert spelt_out("(say|ask)( it)? again*") == [
        "say agai",
        "say again",
        "say it agai",
        "say it again",
        "ask agai",
        "ask again",
        "ask it agai",
        "ask it again",
    ]
    with pytest.raises(ValueError, match="no pattern"):
        spelt_out("a)b")
    english = sayings("en-US", *COMMANDS)
    assert {"i didn't hear you", "i'd like to skip this question", "stop here"} <= set(english.whole)
    assert {"let's", "i'm sorry"} <= set(english.before)
    assert "uh" not in english.before
    assert isinstance(sayings("xx-XX", "repeat"), Sayings)


@pytest.fixture(scope="module")
def sounds() -> list[Said]:
    """Twelve commands and twelve answers of one clear voice."""
    made = list(short_sayings(seed=3, voices=("vendora-Anthony",)))
    commands = [one for one in made if one.meaning in COMMANDS]
    return commands[::6] + [one for one in made if one.meaning == "answer"][::16]


@pytest.mark.pocketsphinx
def test_real_sounds_of_commands_are_understood_and_answers_stay_answers(sounds: list[Said], engines: Gateways) -> None:
    """Of the commands three quarters; of the answers none may be taken for one."""
    right, by_text, wrong = 0, 0, []
    for one in sounds:
        heard = engines.transcriber.transcribe(one.pcm, rate=SPEECH_RATE, language="en-US")
        again = second_look(heard, lambda one=one: one.pcm, OPEN, language="en-US", transcriber=engines.transcriber)
        command = spoken_command(again.text, "en-US")
        by_text += one.meaning != "answer" and spoken_command(heard.text, "en-US") is not None
        right += command is not None and command.value == one.meaning
        wrong += [(one.text, again.text)] if command and one.meaning == "answer" else []
        assert again.text == " ".join(word.word for word in again.words)
        assert all(0 <= word.start < word.end <= len(one.pcm) / 2 / SPEECH_RATE for word in again.words)
    commands = sum(one.meaning != "answer" for one in sounds)
    assert wrong == []
    assert by_text < right
    assert right >= 0.75 * commands, f"{right} of {commands}"
