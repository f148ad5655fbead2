"""What the page is told about a silence: patience from the words so far, and whether a call over the agent counts."""

import base64
from typing import Any

import numpy as np
import pytest

from app.conversation.script.patience import COMPLETE, UNFINISHED, UNKNOWN
from app.core.errors import GatewayError
from app.operations.demo.candidate import Candidate, Refused, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made
from tests.speech.pieces import PREROLL, opus_piece

from .conftest import Candidates, hiss, sound
from .fakes import ScriptedTranscriber

SO_FAR = {"segment": 1, "first_chunk": 0, "last_chunk": 2}
WHOLE = "i have worked in a small team for three years and i like to help people"


@pytest.fixture
def talking(candidate: Candidate) -> Candidate:
    """At turn 2, with a few chunks of speech on their way."""
    candidate.turn(1, "begin")
    candidate.open_segment("audio/webm")
    for number in range(3):
        candidate.put_chunk(1, number, sound(0.5, number), track="voice")
    return candidate


def pause(candidate: Candidate, number: int = 2, **changes: Any) -> dict[str, Any]:
    return dict(candidate.call("POST", f"/turns/{number}/silence", json={**SO_FAR, **changes}))


def test_patience_follows_the_words_so_far(talking: Candidate, hears: ScriptedTranscriber) -> None:
    hears.peeks = ["I have worked in a small team and", WHOLE, None]
    assert pause(talking) == {
        "text": "I have worked in a small team and",
        "patience_ms": UNFINISHED,
        "at_rest_ms": UNFINISHED - 200,
        "in_the_air_ms": UNFINISHED,
        "counts": None,
    }
    assert pause(talking)["patience_ms"] == COMPLETE
    assert pause(talking) == dict.fromkeys(("text", "patience_ms", "at_rest_ms", "in_the_air_ms", "counts"))


def test_the_beginning_of_a_chunk_goes_to_the_recogniser(talking: Candidate, hears: ScriptedTranscriber) -> None:
    hears.peeks = [WHOLE]
    begun = sound(0.5, 3)[:4000]
    judged = pause(talking, last_chunk=3, begun=base64.b64encode(begun).decode())
    assert (judged["text"], hears.begun) == (WHOLE, [(3, begun)])


def test_the_beginning_of_a_chunk_comes_in_the_form_of_whole_chunks(
    talking: Candidate, hears: ScriptedTranscriber
) -> None:
    """Plain where the browser encodes nothing; else in a codec, as the recogniser gets the rest of the voice."""
    samples = (3000 * np.sin(np.arange(8000) / 9)).astype("<i2")
    samples[5000:] = 0
    for content in (samples.tobytes(), opus_piece(np.pad(samples, (PREROLL, 320)))):
        hears.peeks, hears.begun = [WHOLE], []
        judged = pause(talking, last_chunk=3, begun=base64.b64encode(content).decode(), begun_samples=5000)
        assert judged["text"] == WHOLE
        ((number, begun),) = hears.begun
        heard = np.frombuffer(begun, "<i2").astype(float)
        assert (number, len(heard)) == (3, 5000)
        assert np.corrcoef(heard, samples[:5000])[0, 1] > 0.9
    assert begun != samples[:5000].tobytes()


@pytest.mark.parametrize("content", [b"PV\x02", b"PV\x02" + bytes(400), bytes(15_998), bytes(16_002)])
def test_a_beginning_that_is_no_piece_is_refused(talking: Candidate, content: bytes) -> None:
    body = {**SO_FAR, "last_chunk": 3, "begun": base64.b64encode(content).decode(), "begun_samples": 5000}
    refused = talking.ask("POST", "/turns/2/silence", json=body)
    assert (refused.status_code, refused.json()["field"]) == (422, "begun")


@pytest.mark.parametrize("count", [0, 8000, "many", 1.5])
def test_a_count_that_no_beginning_has_is_refused(talking: Candidate, count: object) -> None:
    begun = base64.b64encode(bytes(16_000)).decode()
    for least_or_most in (1, 7999):
        assert pause(talking, last_chunk=3, begun=begun, begun_samples=least_or_most)["text"] is None
    refused = talking.ask("POST", "/turns/2/silence", json={**SO_FAR, "begun": begun, "begun_samples": count})
    assert (refused.status_code, refused.json()["field"]) == (422, "begun_samples")


@pytest.mark.parametrize(
    ("begun", "interrupts"),
    [
        ("", False),
        ("AAA", False),
        ("AA==", False),
        (3, False),
        ("no!", False),
        ("A" * 21336, False),
        ("AAAA" * 2, True),
    ],
    ids=["none", "no base64", "half a sample", "a number", "other letters", "a whole chunk", "over the agent"],
)
def test_a_beginning_that_is_none_is_refused(talking: Candidate, begun: object, interrupts: bool) -> None:
    refused = talking.ask("POST", "/turns/2/silence", json={**SO_FAR, "begun": begun, "interrupts": interrupts})
    assert (refused.status_code, refused.json()["field"]) == (422, "begun")


@pytest.mark.parametrize(
    ("text", "counts"),
    [("mm hm", False), ("", False), ("okay", False), ("i do not agree with that", True), ("next question", True)],
)
def test_a_call_over_the_agent_counts_when_it_holds_words(
    talking: Candidate, hears: ScriptedTranscriber, text: str, counts: bool
) -> None:
    hears.texts = [text]
    assert pause(talking, interrupts=True)["counts"] is counts
    assert hears.dropped == ([] if counts else hears.dropped[:1])
    assert bool(hears.dropped) is not counts


@pytest.mark.parametrize(("text", "counts"), [("put it on the table please", False), ("next question", True)])
def test_of_soft_words_over_the_agent_only_commands_are_meant_for_it(
    talking: Candidate, hears: ScriptedTranscriber, text: str, counts: bool
) -> None:
    hears.texts = [text]
    assert pause(talking, interrupts=True, softly=True)["counts"] is counts


def test_words_that_an_engine_invents_for_a_noise_do_not_count(talking: Candidate, hears: ScriptedTranscriber) -> None:
    for number in range(3, 6):
        talking.put_chunk(1, number, hiss(0.5, number), track="voice")
    hears.texts = ["thank you for watching this"]
    called = pause(talking, interrupts=True, first_chunk=3, last_chunk=5)
    assert called == {"text": "", "patience_ms": None, "at_rest_ms": None, "in_the_air_ms": None, "counts": False}


def test_nobody_knows_what_was_called_when_the_engine_fails_or_it_was_long(
    talking: Candidate, hears: ScriptedTranscriber
) -> None:
    hears.texts = [GatewayError("down", retryable=True)]
    assert pause(talking, interrupts=True)["counts"] is None
    assert pause(talking, interrupts=True, last_chunk=90)["counts"] is None
    assert pause(talking, interrupts=True, last_chunk=4)["counts"] is None  # chunks that have not arrived


def test_wrong_questions_are_refused(talking: Candidate) -> None:
    with pytest.raises(Refused) as refused:
        pause(talking, number=1)
    assert refused.value.status == 409
    for wrong in ({"first_chunk": 3}, {"segment": 0}, {"last_chunk": "x"}, {"softly": "very"}, {"other": 1}):
        with pytest.raises(Refused) as refused:
            pause(talking, **wrong)
        assert refused.value.status == 422


def spoken_turn(candidate: Candidate) -> dict[str, Any]:
    talk = Talk(candidate, Tape(video=False))
    played = talk.listen(candidate.turn(1, "begin"))
    return dict(candidate.turn(2, "answer", played=played, **talk.answer(sound(4))))


@pytest.mark.parametrize(
    ("text", "is_small", "wanted", "at_rest"),
    [
        (f"{WHOLE} and", True, UNFINISHED, 870),
        (f"{WHOLE} and", False, UNFINISHED, 2_700),
        (f"{WHOLE}, and", True, UNFINISHED, 2_700),
        (WHOLE, True, COMPLETE, 600),
        (WHOLE, False, COMPLETE, 650),
        ("next question", False, 0, 0),
        ("repeat that", False, 0, 0),
    ],
)
def test_the_reply_says_how_long_the_answer_must_have_been_over(
    candidate: Candidate, hears: ScriptedTranscriber, text: str, is_small: bool, wanted: int, at_rest: int
) -> None:
    hears.texts, hears.is_small = [text], is_small
    for prompt in (spoken_turn(candidate), candidate.call("GET", "/state")["prompt"]):
        assert (prompt["patience_ms"], prompt["at_rest_ms"]) == (wanted, at_rest)


def test_words_that_continue_an_answer_count_with_those_before(
    candidate: Candidate, hears: ScriptedTranscriber
) -> None:
    more = "And I told the others."
    hears.texts, hears.peeks = [f"{WHOLE.capitalize()}.", more], [more, more, "Could you repeat the question?"]
    talk = Talk(candidate, Tape(video=False))
    played = talk.listen(candidate.turn(1, "begin"))
    unheard = {**played, **talk.listen(candidate.turn(2, "answer", played=played, **talk.answer(sound(4))))}
    answer = talk.answer(sound(2))
    chunks = {name: answer[name] for name in SO_FAR}
    alone, together = (pause(candidate, 3, **chunks, continues=continues) for continues in (False, True))
    assert (alone["at_rest_ms"], together["at_rest_ms"]) == (2_400, 650)
    assert pause(candidate, 3, **chunks, continues=True)["in_the_air_ms"] == COMPLETE  # a request is no part of it
    nothing = {**unheard, "seconds": 0, "whole": False}
    assert candidate.turn(3, "answer", played=nothing, continues=True, **answer)["at_rest_ms"] == 650


def test_buttons_and_written_answers_need_no_patience(candidates: Candidates, book: Made) -> None:
    written = candidates(book())
    written.open()
    written.start("text")
    assert written.turn(1, "begin")["patience_ms"] == 0
    assert written.turn(2, "text", text="because")["patience_ms"] == 0
    assert written.turn(3, "repeat")["patience_ms"] == 0


def test_an_answer_that_nobody_could_read_is_waited_for(
    candidate: Candidate, hears: ScriptedTranscriber, real_speech: bytes
) -> None:
    hears.texts = [GatewayError("down", retryable=True)]
    talk = Talk(candidate, Tape(video=False))
    played = talk.listen(candidate.turn(1, "begin"))
    reply = candidate.turn(2, "answer", played=played, **talk.answer(real_speech))
    assert reply["patience_ms"] == UNKNOWN


@pytest.mark.parametrize(
    ("supports", "demonstrates", "well"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_page_learns_whether_last_words_are_worth_waiting_for(
    talking: Candidate,
    hears: ScriptedTranscriber,
    monkeypatch: pytest.MonkeyPatch,
    supports: bool,
    demonstrates: bool,
    well: bool,
) -> None:
    monkeypatch.setattr(hears, "supports", lambda _: supports)
    monkeypatch.setattr(hears, "is_demonstration", lambda _: demonstrates)
    opened = talking.ask("POST", "/segments", json={"mime_type": "audio/webm"}).json()
    assert opened == {"segment": 2, "is_heard_well": well}
