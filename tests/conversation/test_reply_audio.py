"""A long reply comes sentence by sentence: the first is heard while others are made, each is written as heard."""

import io
import threading
import wave
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from flask import Flask

from app.conversation import reply_audio as pieces
from app.conversation import speaking
from app.conversation.models import Turn
from app.conversation.script.sentences import sentences
from app.core.db import db, is_reading
from app.core.errors import GatewayError
from app.gateways.speech.engines.speech_api import SpeechApiSpeaker
from app.gateways.speech.ports import FollowUp
from app.gateways.speech.sound import wav
from app.interviews.models import Utterance
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Refused, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made
from tests.guards import Guarded

from .conftest import Candidates, interview_of, sound, started
from .fakes import ScriptedCodec, ScriptedInterviewer, ScriptedSpeaker

FIRST = "Thank you, now I know more about the work."
SECOND = "You also told me about the mornings with your team."
THIRD = "Which of these tasks would you do in another way?"
LONG = f"{FIRST} {SECOND} {THIRD}"

Replies = Callable[[], dict[str, Any]]


def first_reply(candidate: Candidate) -> dict[str, Any]:
    """What the agent says to a typed answer to the first question."""
    candidate.turn(1, "begin")
    return candidate.turn(2, "text", text="I like it.")


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is ever ready soon enough but the first sentence."""
    monkeypatch.setattr(speaking, "SOON", 0.0)


@pytest.fixture
def talk(candidate: Candidate) -> Talk:
    return Talk(candidate, Tape(video=False))


@pytest.fixture
def long_reply(hurried: None, candidate: Candidate, asks: ScriptedInterviewer) -> Replies:
    """Answers the first question and gets a follow-up of three sentences."""

    def answered() -> dict[str, Any]:
        asks.follow_ups = [FollowUp(LONG)]
        return first_reply(candidate)

    return answered


def agent_said(candidate: Candidate) -> list[Utterance]:
    return [row for row in utterances_of(interview_of(candidate).id) if row.role == "agent"]


def test_only_the_first_sentence_is_spoken_before_the_answer(
    long_reply: Replies, speaks: ScriptedSpeaker, candidate: Candidate
) -> None:
    prompt = long_reply()
    base = f"{candidate.link.removeprefix('http://localhost')}/turns/2/audio"
    assert prompt["text"] == LONG
    assert prompt["audio_urls"] == [base, f"{base}/1", f"{base}/2"]
    assert prompt["audio_url"] == base
    assert [text for text, _ in speaks.spoken if text in LONG] == [FIRST]
    assert [round(len(pcm) / 2 / rate / 0.25) for pcm, rate in candidate.sounds_of(prompt)] == [
        len(sentence.split()) for sentence in (FIRST, SECOND, THIRD)
    ]
    assert all(not remembered for text, remembered in speaks.spoken if text in LONG)


def test_a_piece_is_made_once_and_outlives_the_process(
    long_reply: Replies, speaks: ScriptedSpeaker, candidate: Candidate
) -> None:
    prompt = long_reply()
    first = candidate.sounds_of(prompt)
    made = len(speaks.spoken)
    speaks.error = GatewayError("the voice is gone", retryable=True)
    assert candidate.sounds_of(candidate.call("GET", "/state")["prompt"]) == first
    assert len(speaks.spoken) == made


def test_a_piece_that_failed_half_way_is_made_anew(
    long_reply: Replies, speaks: ScriptedSpeaker, candidate: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = long_reply()
    speak = speaks.speak

    def dies(*_: object, **__: object) -> None:
        raise RuntimeError("the process is killed")

    monkeypatch.setattr(speaks, "speak", dies)
    with pytest.raises(Refused):
        candidate.sounds_of(prompt)
    monkeypatch.setattr(speaks, "speak", speak)
    assert len(candidate.sounds_of(prompt)) == 3


def test_a_reply_heard_whole_is_one_line_with_every_word_where_it_was_heard(
    long_reply: Replies, candidate: Candidate, talk: Talk
) -> None:
    played = talk.listen(long_reply())
    candidate.turn(3, "skip", played=played)
    row = agent_said(candidate)[-1]
    assert (row.content, row.question_index) == (LONG, 0)
    assert [word[0] for word in row.words or []] == LONG.split()
    pieces = played["pieces"]
    assert (row.start, row.end) == (pieces[0]["started"], pytest.approx(pieces[2]["started"] + pieces[2]["seconds"]))
    second = next(word for word in row.words or [] if word[0] == "You")
    assert second[1] == pieces[1]["started"]
    assert row.played == pytest.approx(played["seconds"])


def test_a_piece_that_came_late_keeps_its_own_time(long_reply: Replies, candidate: Candidate, talk: Talk) -> None:
    played = talk.listen(long_reply())
    for piece in played["pieces"][1:]:
        piece["started"] += 4
    candidate.turn(3, "skip", played=played)
    row = agent_said(candidate)[-1]
    second = next(word for word in row.words or [] if word[0] == "You")
    assert second[1] == pytest.approx(played["pieces"][1]["started"])
    assert row.end == pytest.approx(played["pieces"][2]["started"] + played["pieces"][2]["seconds"])


def test_a_reply_cut_in_its_second_sentence_leaves_the_words_heard(
    long_reply: Replies, candidate: Candidate, talk: Talk
) -> None:
    prompt = long_reply()
    first = len(FIRST.split()) * 0.25
    candidate.turn(3, "skip", played=talk.listen(prompt, until=first + 0.75))
    assert agent_said(candidate)[-1].content == f"{FIRST} You also told"


def test_pieces_that_nobody_asked_for_were_not_heard(long_reply: Replies, candidate: Candidate, talk: Talk) -> None:
    played = talk.listen(long_reply(), until=1.0)
    candidate.turn(3, "skip", played=played)
    assert agent_said(candidate)[-1].content == "Thank you, now I"


def test_a_sentence_that_no_voice_can_speak_was_read(
    long_reply: Replies, candidate: Candidate, talk: Talk, speaks: ScriptedSpeaker
) -> None:
    prompt = long_reply()
    speaks.error = GatewayError("the voice is gone", retryable=True)
    for _ in range(2):
        with pytest.raises(Refused) as no:
            candidate.sounds_of(prompt)
        assert no.value.status == 404
    speaks.error = None
    heard = {**prompt, "audio_urls": [prompt["audio_urls"][0], prompt["audio_urls"][2]]}
    played = talk.listen(heard)
    played["pieces"][1]["number"] = 2
    candidate.turn(3, "skip", played=played)
    row = agent_said(candidate)[-1]
    assert (row.content, len(row.words or [])) == (LONG, len(FIRST.split()) + len(THIRD.split()))


@pytest.mark.parametrize(
    "path", ["/turns/2/audio/3", "/turns/2/audio/99999999", "/turns/1/audio/4", "/turns/9/audio/1"]
)
def test_there_is_no_other_piece(long_reply: Replies, candidate: Candidate, path: str) -> None:
    long_reply()
    assert candidate.ask("GET", path).status_code == 404
    assert candidate.ask("GET", "/turns/2/audio/0").status_code == 200


def test_lines_of_the_script_that_are_owed_are_remembered_for_the_next_talk(
    hurried: None, candidates: Candidates, book: Made, speaks: ScriptedSpeaker
) -> None:
    candidate = candidates(book(intro="Hello there. I am glad that you found the time to talk with me today."))
    candidate.start()
    prompt = candidate.turn(1, "begin")
    assert len(candidate.sounds_of(prompt)) == 2
    assert speaks.spoken == [(part["text"], True) for part in prompt["parts"]]
    stored = db.session.query(Turn).filter(Turn.number == 1).order_by(Turn.created_at.desc()).first()
    assert stored is not None
    assert stored.parts is not None
    assert stored.parts[1]["stretches"][0]["key"].startswith("speech/replies/")


def test_a_piece_is_noted_by_a_writer(
    long_reply: Replies, candidate: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite refuses the first write of a transaction that began as a reader, once anyone else has written."""
    began_as_reader: list[bool] = []
    note = pieces.note

    def noted(*given: Any, **outcome: Any) -> str | None:
        began_as_reader.append(is_reading() or db.session().in_transaction())
        return note(*given, **outcome)

    monkeypatch.setattr(pieces, "note", noted)
    candidate.sounds_of(long_reply())
    assert began_as_reader == [False, False]


def test_a_report_about_too_many_pieces_is_refused(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    piece = {"number": 0, "started": 0, "seconds": 1}
    played = {"segment": None, "started": 0, "seconds": 1, "pieces": [piece] * 101}
    answer = candidate.ask("POST", "/turns/2", json={"kind": "skip", "played": played})
    assert (answer.status_code, answer.json()["field"]) == (422, "played")


class SlowVoice:
    """A speech server of OpenAI's protocol that keeps a sentence back until it is let go."""

    def __init__(self, held: str) -> None:
        outer = self
        self.held, self.gate, self.asked = held, threading.Event(), threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if outer.held in body:
                    outer.asked.set()
                    outer.gate.wait(60)
                content = wav(b"\1\2" * 8000, 16_000)
                self.send_response(200)
                self.send_header("Content-Type", "audio/wav")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


def test_the_first_sentence_is_heard_while_a_slow_server_still_speaks_the_last(
    long_reply: Replies, scripted: Flask, candidate: Candidate
) -> None:
    slow = SlowVoice(held=THIRD)
    voice = SpeechApiSpeaker(f"http://127.0.0.1:{slow.server.server_port}/v1", api_key="k", timeout=60, voice_map={})
    built = scripted.extensions["parley.gateways"]

    class Speaker:
        name = "openai"
        supports = staticmethod(voice.supports)

        def speak(self, text: str, *, remember: bool = False, **wanted: Any) -> Any:
            del remember
            return voice.speak(text, **wanted)

    scripted.extensions["parley.gateways"] = replace(built, speaker=Guarded(Speaker()))
    try:
        prompt = long_reply()
        one, two, three = prompt["audio_urls"]
        path = candidate.link.removeprefix("http://localhost")
        for address in (one, two):
            answer = candidate.ask("GET", address.removeprefix(path))
            with wave.open(io.BytesIO(answer.content)) as file:
                assert file.getnframes() == 8000
        assert not slow.asked.is_set()  # the last sentence is not even begun, and its text is on the page already
        assert THIRD in prompt["text"]
        slow.gate.set()
        assert candidate.ask("GET", three.removeprefix(path)).status_code == 200
        assert slow.asked.is_set()
    finally:
        scripted.extensions["parley.gateways"] = built
        voice.close()
        slow.close()


def test_an_answer_can_be_given_over_a_reply_in_pieces(long_reply: Replies, candidate: Candidate, talk: Talk) -> None:
    prompt = long_reply()
    played = talk.listen(prompt, until=0.5)
    reply = candidate.turn(3, "answer", played=played, **talk.answer(sound(1)))
    assert reply["turn"] == 3
    assert [row.content for row in agent_said(candidate)][-1] == "Thank you,"


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("One short line.", ["One short line."]),
        (f"{FIRST} {SECOND}", [FIRST, SECOND]),
        (f"Thank you. {SECOND}", [f"Thank you. {SECOND}"]),
        (f"{FIRST} Why?", [f"{FIRST} Why?"]),
        (
            "ありがとうございます。それはとても興味深いお話だと思いましたので質問します。その仕事でいちばん難しかったことは何でしたか、教えてください。",
            [
                "ありがとうございます。それはとても興味深いお話だと思いましたので質問します。",
                "その仕事でいちばん難しかったことは何でしたか、教えてください。",
            ],
        ),
        (
            "धन्यवाद, यह बहुत अच्छा उत्तर था। क्या आप हमें कुछ और बता सकते हैं?",
            ["धन्यवाद, यह बहुत अच्छा उत्तर था।", "क्या आप हमें कुछ और बता सकते हैं?"],
        ),
        ("No end at all and 3.5 is no end either", ["No end at all and 3.5 is no end either"]),
        ("", []),
    ],
)
def test_sentences_are_found_in_every_script(text: str, cut: list[str]) -> None:
    assert sentences(text) == cut


def test_before_a_sentence_that_takes_its_time_something_prepared_is_heard(
    candidates: Candidates, book: Made, speaks: ScriptedSpeaker, asks: ScriptedInterviewer
) -> None:
    speaks.name = "piper"
    candidate = started(candidates(book()))
    asks.follow_ups = [FollowUp("What was hard?")]
    prompt = first_reply(candidate)
    assert [part["text"] for part in prompt["parts"]] == ["Okay.", "What was hard?"]
    assert prompt["question"] == "What was hard?"
    assert len(prompt["audio_urls"]) == 2
    assert [text for text, _ in speaks.spoken][-1] == "Okay.", "the sentence is made when its sound is asked for"
    talk = Talk(candidate, Tape(video=False))
    candidate.turn(3, "text", text="The nights.", played=talk.listen(prompt))
    assert [text for text, _ in speaks.spoken].count("What was hard?") == 1
    said = [row.content for row in agent_said(candidate)]
    assert said[-2:] == ["Okay.", "What was hard?"]


def test_a_voice_that_speaks_at_once_needs_no_acknowledgement(
    candidates: Candidates, book: Made, speaks: ScriptedSpeaker, asks: ScriptedInterviewer
) -> None:
    speaks.name = "espeak"
    candidate = started(candidates(book()))
    asks.follow_ups = [FollowUp("What was hard?")]
    assert first_reply(candidate)["text"] == "What was hard?"


def sound_in(candidate: Candidate, query: str) -> Any:
    return candidate.ask("GET", f"/turns/1/audio{query}")


def test_a_page_that_decodes_a_codec_gets_a_tenth_of_the_bytes(app: Flask, candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    storage = app.extensions["parley.gateways"].storage
    plain = sound_in(candidate, "")
    assert plain.headers["Content-Type"] == "audio/wav"
    for form, content_type in (("opus", "audio/ogg"), ("aac", "audio/mp4")):
        coded = sound_in(candidate, f"?as={form}")
        assert coded.status_code == 200
        assert coded.headers["Content-Type"] == content_type
        assert len(coded.content) < len(plain.content) / 4
        assert coded.headers["ETag"] != plain.headers["ETag"]
        assert sound_in(candidate, f"?as={form}").content == coded.content
    endings = {key.rpartition(".")[2] for key in storage.list("speech/replies")}
    assert endings == {"wav", "opus", "m4a"}
    assert sound_in(candidate, "?as=flac").content == plain.content


def test_a_reply_that_cannot_be_encoded_is_sent_as_it_is(
    scripted: Flask, candidates: Candidates, book: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate = candidates(book(intro="Only this test has an intro of that length. " * 7))
    candidate.start()
    candidate.turn(1, "begin")
    gateways = scripted.extensions["parley.gateways"]
    monkeypatch.setitem(scripted.extensions, "parley.gateways", replace(gateways, codec=ScriptedCodec()))
    plain = sound_in(candidate, "")
    assert sound_in(candidate, "?as=aac").content == plain.content
