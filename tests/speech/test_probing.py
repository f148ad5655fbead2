"""The probe of configured recognisers, against a local server."""

import json
import logging
from dataclasses import replace

import pytest

from app.gateways import speech_check

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
    assert (found.has_words, found.failure, found.words) == (True, "", "openai gives word times")
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
