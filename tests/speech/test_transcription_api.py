"""Recognition over the OpenAI protocol against a local server."""

import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines.transcription_api import TranscriptionApiTranscriber
from app.gateways.speech.ports import SPEECH_RATE, Word

SECOND = b"\0\0" * SPEECH_RATE


@pytest.fixture
def hears(server):
    made = []

    def make(**more):
        arguments = {"api_key": "k", "timeout": 5.0, "model": "large", **more}
        made.append(TranscriptionApiTranscriber(f"{server.address}/v1", **arguments))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Aligner:
    def __init__(self):
        self.asked = []

    def align(self, text, pcm, *, rate):
        self.asked.append((text, len(pcm), rate))
        return (Word("aligned", 0.1, 0.2),)

    def close(self):
        pass


VERBOSE = {
    "task": "transcribe",
    "language": "en",
    "duration": 1.0,
    "text": " Hello there. ",
    "words": [{"word": " Hello", "start": 0.1, "end": 0.4}, {"word": " there.", "start": 0.5, "end": 0.9}],
}


def test_words_and_times_are_asked_for_and_read(hears, server, reply):
    server.replies = [reply.of(VERBOSE)]
    heard = hears().transcribe(SECOND, rate=SPEECH_RATE, language="no-NO")
    assert heard.text == "Hello there."
    assert heard.words == (Word("Hello", 0.1, 0.4), Word("there.", 0.5, 0.9))
    assert heard.engine == "openai"
    (asked,) = server.asked
    assert asked.path == "/v1/audio/transcriptions"
    assert asked.body.count(b"timestamp_granularities[]") == 2
    assert b"verbose_json" in asked.body
    assert b'name="language"\r\n\r\nno\r\n' in asked.body
    assert b"RIFF" in asked.body


def test_a_language_may_have_its_own_model(hears, server, reply):
    server.replies = [reply.of(VERBOSE)]
    transcriber = hears(models={"MODEL_JA_JP": "kotoba"})
    transcriber.transcribe(SECOND, rate=SPEECH_RATE, language="ja-JP")
    transcriber.transcribe(SECOND, rate=SPEECH_RATE, language="de-DE")
    assert b"kotoba" in server.asked[0].body
    assert b'name="model"\r\n\r\nlarge\r\n' in server.asked[1].body


def test_without_word_times_english_is_aligned_and_other_languages_keep_none(hears, server, reply):
    server.replies = [reply.of({"text": "Hello."})]
    aligner = Aligner()
    transcriber = hears(aligner=aligner)
    assert transcriber.transcribe(SECOND, rate=SPEECH_RATE, language="en-US").words == (Word("aligned", 0.1, 0.2),)
    assert transcriber.transcribe(SECOND, rate=SPEECH_RATE, language="de-DE").words == ()
    assert aligner.asked == [("Hello.", len(SECOND), SPEECH_RATE)]


def test_the_real_aligner_finds_the_words_in_the_sound(hears, server, reply, sphinx, samples):
    server.replies = [reply.of({"text": samples[0].text})]
    heard = hears(aligner=sphinx).transcribe(samples[0].pcm, rate=SPEECH_RATE, language="en-US")
    assert [word.word for word in heard.words] == samples[0].text.split()


def test_a_server_that_cannot_tell_times_is_not_asked_for_them(hears, server, reply):
    server.replies = [reply.of({"text": "Hallo"})]
    hears(words="never").transcribe(SECOND, rate=SPEECH_RATE, language="de-DE")
    assert b"granularities" not in server.asked[0].body


def test_streaming_keeps_nothing_and_reads_the_whole_answer(hears, server, reply):
    server.replies = [reply.of(VERBOSE)]
    transcriber = hears()
    transcriber.feed("k", 0, SECOND, language="en-US")
    assert server.asked == []
    heard = transcriber.finish("k", first=0, last=0, language="en-US", pcm=lambda: SECOND)
    assert heard.text == "Hello there."
    transcriber.drop("k")


@pytest.mark.parametrize(
    "body",
    [b"no json", b"[]", b"{}", b'{"text": 5}', b'{"text": "a", "words": [{"word": "a"}]}', b'{"text":"a","words":[1]}'],
)
def test_an_answer_in_another_shape_is_a_gateway_error(hears, server, reply, body):
    server.replies = [reply(body)]
    with pytest.raises(GatewayError) as failure:
        hears().transcribe(SECOND, rate=SPEECH_RATE, language="de-DE")
    assert failure.value.retryable


@pytest.mark.parametrize(("status", "retryable"), [(400, False), (401, False), (413, False), (429, True), (500, True)])
def test_refusals_say_whether_another_try_helps(hears, server, reply, status, retryable):
    server.replies = [reply.of({"error": {"message": "x"}}, status)]
    with pytest.raises(GatewayError, match=f"transcription server responded with {status}") as failure:
        hears().transcribe(SECOND, rate=SPEECH_RATE, language="de-DE")
    assert failure.value.retryable == retryable


def test_a_slow_server_is_a_time_out(hears, slow):
    slow()
    with pytest.raises(GatewayError, match="did not respond") as failure:
        hears(timeout=0.3).transcribe(SECOND, rate=SPEECH_RATE, language="de-DE")
    assert failure.value.retryable
