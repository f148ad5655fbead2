"""Engines from settings."""

from dataclasses import dataclass, field

import pytest

from app.gateways.engines import (
    build_analyst,
    build_interviewer,
    build_speaker,
    build_transcriber,
    make_remote,
    voices_in_order,
)
from app.gateways.speech.engines.cache import CachedSpeaker
from app.gateways.speech.engines.pocketsphinx import is_installed
from app.settings import Settings


@dataclass(frozen=True)
class Names:
    """What the settings offer to speech."""

    llm_base_url: str = ""
    llm_api_key: str = ""
    llm_model: str = "m"
    llm_json_mode: str = "schema"
    llm_timeout: float = 5
    stt_provider: tuple = ("pocketsphinx",)
    stt_base_url: str = "http://127.0.0.1:9/v1"
    stt_api_key: str = ""
    stt_model: str = ""
    stt_realtime_model: str = ""
    stt_words: str = "auto"
    stt_timeout: float = 5
    stt_processes: int = 1
    stt_overrides: dict = field(default_factory=dict)
    tts_provider: tuple = ("espeak",)
    tts_base_url: str = "http://127.0.0.1:9/v1"
    tts_api_key: str = ""
    tts_model: str = ""
    tts_voice_map: dict = field(default_factory=dict)
    tts_timeout: float = 5
    tts_overrides: dict = field(default_factory=dict)
    elevenlabs_base_url: str = "http://127.0.0.1:9"
    elevenlabs_api_key: str = "k"


@pytest.fixture
def built():
    made = []
    yield lambda part: made.append(part) or part
    for part in made:
        part.close()


def test_the_default_is_embedded_and_honest(built):
    settings = Names()
    assert built(build_transcriber(settings)).name == "pocketsphinx"
    assert built(build_speaker(settings)).name == "espeak"
    assert built(build_interviewer(settings)).name == "script"
    assert built(build_analyst(settings)).name == "script"


def test_the_order_of_engines_is_that_of_the_settings(built):
    settings = Names(
        stt_provider=("elevenlabs", "openai", "pocketsphinx"),
        tts_provider=("elevenlabs", "openai", "espeak"),
        llm_base_url="http://127.0.0.1:9/v1",
    )
    transcriber, speaker = built(build_transcriber(settings)), built(build_speaker(settings))
    assert transcriber.name == "elevenlabs,openai,pocketsphinx"
    assert transcriber.supports("th-TH")
    assert speaker.name == "elevenlabs,openai,espeak"
    assert speaker.supports("th-TH")
    assert built(build_interviewer(settings)).name == "chat:m"
    assert built(build_analyst(settings)).name.startswith("chat:m:")


@pytest.mark.parametrize("order", [("openai", "elevenlabs"), ("pocketsphinx", "elevenlabs", "openai")])
def test_the_first_server_hears_answers_while_they_are_spoken(built, order):
    live = Names(stt_provider=order, stt_realtime_model="m")
    heard = [name for name in ("openai", "elevenlabs") if built(make_remote(live, name)).hears_live]
    assert heard == [next(name for name in order if name != "pocketsphinx")]
    assert not built(make_remote(Names(stt_provider=order), heard[0])).hears_live


def test_when_the_preferred_voice_is_down_the_embedded_one_speaks(built):
    spoken = built(build_speaker(Names(tts_provider=("openai", "espeak")))).speak(
        "Guten Tag.", voice_id=None, language="de-DE"
    )
    assert (spoken.engine, spoken.fell_back) == ("espeak", True)


def test_none_leaves_every_language_without_a_recogniser(built):
    transcriber = built(build_transcriber(Names(stt_provider=("none",))))
    assert transcriber.name == "none"
    assert not transcriber.supports("en-US")


def test_with_a_store_speech_is_remembered(built):
    class Kept(dict):
        def put(self, key, data):
            self[key] = data

    store = Kept()
    speaker = built(build_speaker(Names(), store=store))
    assert isinstance(speaker, CachedSpeaker)
    spoken = speaker.speak("Hello.", voice_id=None, language="en-US", remember=True)
    assert len(store) == 1
    assert speaker.speak("Hello.", voice_id=None, language="en-US") == spoken


def test_kokoro_is_preferred_where_there_is_power_enough():
    default = Settings.from_env({"SECRET_KEY": "s" * 32}).tts_provider
    assert voices_in_order(default, cores=2) == default
    assert voices_in_order(default, cores=4) == ("kokoro", "piper", "espeak")
    assert voices_in_order(("espeak", "piper"), cores=8) == ("espeak", "piper")


def test_without_a_host_the_default_is_what_the_packages_carry(built, tmp_path):
    settings = Settings.from_env({"SECRET_KEY": "s" * 32, "DATA_DIR": str(tmp_path)})
    transcriber, speaker = built(build_transcriber(settings)), built(build_speaker(settings))
    hears_english = is_installed()
    assert [transcriber.supports(language) for language in ("en-US", "de-DE")] == [hears_english, False]
    assert transcriber.is_demonstration("en-US") is hears_english
    assert not transcriber.improves("en-US")
    assert speaker.speak("Hello.", voice_id=None, language="en-US").engine == "espeak"
