"""Speech that is kept."""

import pytest

from app.gateways.speech.engines.cache import CachedSpeaker, key_of, pack, unpack
from app.gateways.speech.ports import Spoken, Word

SPOKEN = Spoken(b"\1\2\n\3", 22_050, (Word("Hæ", 0.0, 0.5, 0.25),), "espeak")


class Counting:
    name = "counting"

    def __init__(self, *, fell_back=False):
        self.spoken, self.closed, self.fell_back = [], False, fell_back

    def supports(self, language):
        return language == "en-US"

    def identity(self, voice_id, language):
        return f"engine:{voice_id}"

    def speak(self, text, *, voice_id, language, remember=False, steady=None):
        self.steady = steady
        self.spoken.append((text, voice_id))
        return Spoken(text.encode(), 8_000, (), self.name, self.fell_back)

    def close(self):
        self.closed = True


class Kept(dict):
    def put(self, key, data):
        self[key] = data


@pytest.fixture
def store():
    return Kept()


def test_what_is_remembered_is_spoken_once(store):
    engine = Counting()
    speaker = CachedSpeaker(engine, store)
    first = speaker.speak("Hello", voice_id="a", language="en-US", remember=True)
    assert speaker.speak("Hello", voice_id="a", language="en-US", remember=True) == first
    assert speaker.speak("Hello", voice_id="a", language="en-US") == first
    assert len(engine.spoken) == 1


def test_what_is_not_to_be_remembered_is_not_kept(store):
    speaker = CachedSpeaker(Counting(), store)
    speaker.speak("You said: I was ill", voice_id="a", language="en-US")
    assert store == {}


def test_voice_language_text_and_engine_make_the_key():
    keys = {
        key_of("espeak:a", language="en-US", text="Hello"),
        key_of("espeak:b", language="en-US", text="Hello"),
        key_of("espeak:a", language="de-DE", text="Hello"),
        key_of("espeak:a", language="en-US", text="Hello!"),
    }
    assert len(keys) == 4


def test_a_stand_ins_voice_is_not_kept_in_the_place_of_the_preferred_one(store):
    engine = Counting(fell_back=True)
    CachedSpeaker(engine, store).speak("Hello", voice_id="a", language="en-US", remember=True)
    assert store == {}


@pytest.mark.parametrize("damaged", [b"", b"x", b"{}\n", b"[1]\n", b"null\nabcd", pack(SPOKEN)[:-1]])
def test_damaged_speech_is_made_anew(store, damaged):
    engine = Counting()
    speaker = CachedSpeaker(engine, store)
    store[key_of("engine:a", language="en-US", text="Hello")] = damaged
    assert speaker.speak("Hello", voice_id="a", language="en-US", remember=True).pcm == b"Hello"
    assert speaker.speak("Hello", voice_id="a", language="en-US").pcm == b"Hello"
    assert len(engine.spoken) == 1


def test_kept_speech_is_the_same_as_before():
    assert unpack(pack(SPOKEN)) == SPOKEN


def test_the_engine_behind_it_is_asked_and_closed(store):
    engine = Counting()
    speaker = CachedSpeaker(engine, store)
    assert speaker.supports("en-US")
    assert not speaker.supports("th-TH")
    assert speaker.name == "counting"
    speaker.close()
    assert engine.closed


def test_a_talk_s_voice_has_its_own_entry(store):
    speaker = Counting()
    cached = CachedSpeaker(speaker, store)
    assert cached.identity("v", "en-US") == "engine:v"
    cached.speak("Hi", voice_id="v", language="en-US", remember=True)
    cached.speak("Hi", voice_id="v", language="en-US", remember=True, steady="engine:v")
    assert len(speaker.spoken) == 1  # the same voice as now: what was spoken beforehand is used
    cached.speak("Hi", voice_id="v", language="en-US", remember=True, steady="engine:older")
    assert (len(speaker.spoken), speaker.steady, len(store)) == (2, "engine:older", 2)
