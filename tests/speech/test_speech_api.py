"""Speech over the OpenAI protocol against a local server."""

import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines.speech_api import SpeechApiSpeaker
from app.gateways.speech.sound import wav


@pytest.fixture
def speaks(server):
    made = []

    def make(**more):
        arguments = {"api_key": "k", "timeout": 5.0, "voice_map": {}, "model": "kokoro", **more}
        made.append(SpeechApiSpeaker(f"{server.address}/v1", **arguments))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_speech_is_asked_for_as_wav_and_read_at_its_own_rate(speaks, server, reply):
    pcm = b"\1\2" * 2400
    server.replies = [reply(wav(pcm, 24_000), content_type="audio/wav")]
    spoken = speaks().speak("Hei!", voice_id="vendorb-Onyx", language="no-NO")
    assert (spoken.pcm, spoken.rate, spoken.engine, spoken.words) == (pcm, 24_000, "openai", ())
    assert spoken.duration == 0.1
    asked = server.asked[0].json
    assert (asked["voice"], asked["input"], asked["response_format"]) == ("onyx", "Hei!", "wav")


def test_the_operators_voice_map_and_model_of_the_language_count(speaks, server, reply):
    server.replies = [reply(wav(b"\0\0", 8_000))]
    speaker = speaks(voice_map={"vendora-Kate": "af_sky"}, models={"MODEL_TH_TH": "thai"})
    speaker.speak("สวัสดี", voice_id=None, language="th-TH")
    assert (server.asked[0].json["voice"], server.asked[0].json["model"]) == ("af_sky", "thai")
    assert speaker.identity(None, "th-TH") == "openai:thai:af_sky"


def test_streamed_wav_with_unknown_length_is_read(speaks, server, reply):
    body = bytearray(wav(b"\5\6" * 100, 24_000))
    body[4:8] = body[40:44] = b"\xff\xff\xff\xff"
    server.replies = [reply(bytes(body))]
    assert len(speaks().speak("a", voice_id=None, language="de-DE").pcm) == 200


def test_english_word_times_come_from_alignment(speaks, server, reply, sphinx, samples):
    class Shared:
        align = sphinx.align

        def close(self):
            pass

    spoken = samples[0].spoken
    server.replies = [reply(wav(spoken.pcm, spoken.rate))]
    made = speaks(aligner=Shared()).speak(samples[0].text, voice_id=None, language="en-US")
    assert [word.word for word in made.words] == samples[0].text.split()


@pytest.mark.parametrize("body", [b"", b"RIFF", b"ID3 mp3", wav(b"\0\0", 24_000)[:36], b'{"error": 1}'])
def test_anything_else_than_wav_is_refused(speaks, server, reply, body):
    server.replies = [reply(body)]
    with pytest.raises(GatewayError, match="WAV"):
        speaks().speak("a", voice_id=None, language="de-DE")


@pytest.mark.parametrize(("status", "retryable"), [(400, False), (403, False), (502, True)])
def test_refusals_say_whether_another_try_helps(speaks, server, reply, status, retryable):
    server.replies = [reply.of({}, status)]
    with pytest.raises(GatewayError, match=str(status)) as failure:
        speaks().speak("a", voice_id=None, language="de-DE")
    assert failure.value.retryable == retryable


def test_a_slow_server_is_a_time_out(speaks, slow):
    slow()
    with pytest.raises(GatewayError, match="did not respond"):
        speaks(timeout=0.3).speak("a", voice_id=None, language="de-DE")
