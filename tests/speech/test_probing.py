"""The probe of configured recognisers, against a local server."""

import json
import logging
from dataclasses import replace

import pytest

from app.gateways import speech_check

from .realtime_server import KEY, running

VERBOSE = {
    "task": "transcribe",
    "language": "en",
    "duration": 4.0,
    "text": "We finished.",
    "words": [{"word": "We", "start": 0.1, "end": 0.3}],
}


@pytest.fixture
def configured(settings, server):
    def made(**more):
        given = {"stt_provider": ("openai", "pocketsphinx"), "stt_base_url": f"{server.address}/v1", "stt_timeout": 5.0}
        return replace(settings, **{**given, **more})

    return made


def test_a_server_with_word_times_says_so(configured, server, reply):
    server.replies = [reply.of(VERBOSE)]
    (found,) = speech_check.probe(configured())
    assert (found.has_words, found.failure) == (True, "")
    assert found.words == "openai gives word times; openai hears answers when they end (STT_REALTIME_MODEL is not set)"
    assert b"RIFF" in server.asked[0].body, "a sentence of our own voice"


def test_a_server_without_word_times_is_named_and_not_helped_by_the_aligner(configured, server, reply, caplog):
    server.replies = [reply.of({"text": "We finished."})]
    (found,) = speech_check.probe(configured())
    assert not found.has_words
    assert "gives no word times; Parley measures them for English only" in found.words
    with caplog.at_level(logging.INFO):
        speech_check.report(configured())
    assert [one.levelname for one in caplog.records if "word times" in one.message] == ["WARNING"]


def test_a_server_that_understands_nothing_or_fails_is_named(configured, server, reply):
    server.replies = [reply.of({"text": ""})]
    assert "did not recognize" in speech_check.probe(configured())[0].words
    server.replies = [reply.of({"error": {"message": "x"}}, 401)]
    (found,) = speech_check.probe(configured())
    assert "could not be tested: the transcription server responded with 401: check its API key" in found.words
    assert "http" not in json.dumps(found.words)


@pytest.mark.parametrize("provider", ["openai", "elevenlabs"])
def test_a_server_that_hears_while_someone_speaks_says_so(settings, provider, caplog):
    with running() as server:
        live = replace(
            settings,
            stt_provider=(provider,),
            stt_base_url=f"{server.address}/v1",
            stt_api_key=KEY,
            stt_realtime_model="gpt-4o-transcribe",
            elevenlabs_base_url=server.address,
            elevenlabs_api_key=KEY,
        )
        (found,) = speech_check.probe(live)
        assert (found.has_words, found.is_live, found.live_failure) == (True, True, "")
        assert found.words == f"{provider} gives word times; {provider} hears answers while candidates speak"
        assert server.lines[0].samples / server.lines[0].settings["rate"] > 3
        server.does.status = 403
        with caplog.at_level(logging.INFO):
            speech_check.report(live)
    (said,) = [one for one in caplog.records if "word times" in one.message]
    assert said.levelname == "WARNING"
    assert f"{provider} does not hear answers while candidates speak: the " in said.message
    assert "server responded with 403: check its API key" in said.message
    assert KEY not in caplog.text


@pytest.mark.parametrize("providers", [("pocketsphinx",), ("none",)])
def test_without_a_server_nothing_is_asked(configured, server, providers):
    assert speech_check.probe(configured(stt_provider=providers)) == []
    assert server.asked == []


def test_the_sentence_is_always_the_same_and_can_be_understood(sphinx, wer):
    pcm = speech_check.sample()
    assert pcm == speech_check.sample()
    heard = sphinx.transcribe(pcm, rate=16_000, language="en-US")
    assert heard.words
    assert wer(speech_check.SENTENCE, heard.text) < 0.6
