"""ElevenLabs' protocol against a local server."""

import base64

import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines.elevenlabs import ElevenLabsSpeaker, ElevenLabsTranscriber
from app.gateways.speech.ports import SPEECH_RATE, Word


@pytest.fixture
def speaks(server):
    speaker = ElevenLabsSpeaker(server.address + "/", api_key="k", voice_map={}, timeout=1.0, models={})
    yield speaker
    speaker.close()


@pytest.fixture
def hears(server):
    transcriber = ElevenLabsTranscriber(server.address, api_key="k", timeout=1.0)
    yield transcriber
    transcriber.close()


def speech(**changes):
    text = "Hi  you"
    answer = {
        "audio_base64": base64.b64encode(b"\1\2" * 240).decode(),
        "alignment": {
            "characters": list(text),
            "character_start_times_seconds": [number / 10 for number in range(len(text))],
            "character_end_times_seconds": [number / 10 + 0.1 for number in range(len(text))],
        },
    }
    return answer | changes


def test_speech_comes_with_word_times_from_the_characters(speaks, server, reply):
    server.replies = [reply.of(speech())]
    spoken = speaks.speak("Hi  you", voice_id="xF681s0UeE04gsf0mVsJ", language="pt-BR")
    assert (spoken.rate, len(spoken.pcm), spoken.engine) == (24_000, 480, "elevenlabs")
    assert [(word.word, word.start, round(word.end, 3)) for word in spoken.words] == [
        ("Hi", 0.0, 0.2),
        ("you", 0.4, 0.7),
    ]
    asked = server.asked[0]
    assert asked.path == "/v1/text-to-speech/xF681s0UeE04gsf0mVsJ/with-timestamps?output_format=pcm_24000"
    assert asked.headers["xi-api-key"] == "k"
    assert asked.json["language_code"] == "pt"


def test_speech_without_alignment_has_no_word_times(speaks, server, reply):
    server.replies = [reply.of(speech(alignment=None))]
    assert speaks.speak("Hi", voice_id=None, language="en-US").words == ()


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        {"audio_base64": "***"},
        speech(alignment={"characters": []}),
        speech(alignment=[1]),
        speech(audio_base64=None),
        "x",
        None,
    ],
)
def test_speech_in_another_shape_is_a_gateway_error(speaks, server, reply, answer):
    server.replies = [reply.of(answer)]
    with pytest.raises(GatewayError, match="ElevenLabs"):
        speaks.speak("Hi", voice_id=None, language="en-US")


def test_recognition_keeps_words_and_drops_spaces_and_sounds(hears, server, reply):
    words = [
        {"text": "Hei", "start": 0.1, "end": 0.3, "type": "word"},
        {"text": " ", "start": 0.3, "end": 0.4, "type": "spacing"},
        {"text": "(laughs)", "start": 0.4, "end": 0.8, "type": "audio_event"},
        {"text": "du.", "start": 0.9, "end": 1.0, "type": "word"},
    ]
    server.replies = [reply.of({"text": "Hei du.", "words": words})]
    heard = hears.transcribe(b"\0\0" * 100, rate=SPEECH_RATE, language="no-NO")
    assert (heard.text, heard.words) == ("Hei du.", (Word("Hei", 0.1, 0.3), Word("du.", 0.9, 1.0)))
    body = server.asked[0].body
    assert server.asked[0].path == "/v1/speech-to-text"
    assert b"scribe_v2" in body
    assert b'name="timestamps_granularity"\r\n\r\nword' in body


def test_a_streamed_answer_is_read_whole_at_its_end(hears, server, reply):
    server.replies = [reply.of({"text": "", "words": []})]
    hears.feed("k", 0, b"\0\0", language="de-DE")
    assert hears.finish("k", first=0, last=0, language="de-DE", pcm=lambda: b"\0\0").text == ""
    hears.drop("k")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"text": "a"}', b'{"text": "a", "words": [{"type": "word"}]}'])
def test_a_transcript_in_another_shape_is_a_gateway_error(hears, server, reply, body):
    server.replies = [reply(body)]
    with pytest.raises(GatewayError) as failure:
        hears.transcribe(b"\0\0", rate=SPEECH_RATE, language="de-DE")
    assert failure.value.retryable


@pytest.mark.parametrize(
    ("status", "retryable", "calls"),
    [(401, False, 1), (422, False, 1), (301, False, 1), (429, True, 2), (500, True, 2)],
)
def test_refusals_say_whether_another_try_helps(speaks, server, reply, status, retryable, calls):
    server.replies = [reply.of({"detail": "secret words"}, status)]
    with pytest.raises(GatewayError, match=str(status)) as failure:
        speaks.speak("secret words", voice_id=None, language="en-US")
    assert failure.value.retryable == retryable
    assert "secret" not in failure.value.message
    assert len(server.asked) == calls


def test_a_slow_server_is_not_waited_for_twice(speaks, server, slow):
    slow()
    with pytest.raises(GatewayError, match="within 1 s"):
        speaks.speak("Hi", voice_id=None, language="en-US")
    assert len(server.asked) == 1


def test_a_dead_server_is_retryable():
    speaker = ElevenLabsSpeaker("http://127.0.0.1:9", api_key="k", voice_map={}, timeout=1, models={})
    with pytest.raises(GatewayError, match="cannot be reached") as failure:
        speaker.speak("Hi", voice_id=None, language="en-US")
    assert failure.value.retryable
    speaker.close()
