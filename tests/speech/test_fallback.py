"""An ordered list of engines."""

import numpy as np
import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines.exchange import TooLate
from app.gateways.speech.engines.fallback import FallbackSpeaker, FallbackTranscriber
from app.gateways.speech.loudness import loudness
from app.gateways.speech.ports import Heard, Sayings, Spoken


class Engine:
    """A scripted engine: fails with `problem` if there is one."""

    def __init__(self, name, languages=("en-US",), problem=None):
        self.name, self.languages, self.problem = name, languages, problem
        self.prepared, self.fed, self.dropped, self.steady, self.closed = [], [], [], [], 0

    def supports(self, language):
        return language in self.languages

    def identity(self, voice_id, language):
        return f"{self.name}:{voice_id}"

    def _or_fail(self, value):
        if self.problem:
            raise self.problem
        return value

    def speak(self, text, *, voice_id, language, steady=None):
        self.steady.append(steady)
        return self._or_fail(Spoken(text.encode(), 8000, (), self.name))

    def transcribe(self, pcm, *, rate, language):
        return self._or_fail(Heard("whole", (), self.name))

    def prepare(self, language):
        self.prepared.append(language)

    def feed(self, key, number, pcm, *, language):
        self.fed.append(number)

    def finish(self, key, *, first, last, language, pcm):
        return self._or_fail(Heard("streamed", (), self.name))

    def choose(self, heard, *, language, among, pcm):
        return Heard(f"chosen by {self.name}", (), self.name)

    def partial(self, key):
        return None

    def drop(self, key):
        self.dropped.append(key)

    def close(self):
        self.closed += 1


DOWN = GatewayError("first is down", retryable=True)
WRONG = GatewayError("second has no key", retryable=False)


def test_a_talk_keeps_the_voice_it_began_with_while_it_is_there():
    preferred, other = Engine("piper"), Engine("espeak")
    speaker = FallbackSpeaker((preferred, other))
    spoken = speaker.speak("Hi", voice_id=None, language="en-US", steady="espeak:en+f2")
    assert (spoken.engine, spoken.fell_back, other.steady) == ("espeak", False, ["espeak:en+f2"])
    other.problem = DOWN
    spoken = speaker.speak("Hi", voice_id=None, language="en-US", steady="espeak:en+f2")
    assert (spoken.engine, spoken.fell_back) == ("piper", True)
    assert speaker.speak("Hi", voice_id=None, language="en-US").fell_back is False


def test_a_voice_that_is_no_longer_there_is_replaced_and_the_result_says_so():
    speaker = FallbackSpeaker((Engine("piper", languages=()), Engine("espeak")))
    spoken = speaker.speak("Hi", voice_id=None, language="en-US", steady="piper:piper-en_US-joe-medium:")
    assert (spoken.engine, spoken.fell_back) == ("espeak", True)


def test_only_the_engine_that_will_speak_is_prepared():
    loaded = []

    class Loads(Engine):
        def prepare(self, *, voice_id, language, steady=None):
            loaded.append((self.name, voice_id, language, steady))

    speaker = FallbackSpeaker((Loads("piper"), Loads("espeak"), Loads("german", languages=("de-DE",))))
    speaker.prepare(voice_id="v", language="en-US")
    speaker.prepare(voice_id="v", language="en-US", steady="espeak:en+f2")
    speaker.prepare(voice_id=None, language="th-TH")
    assert loaded == [("piper", "v", "en-US", None), ("espeak", "v", "en-US", "espeak:en+f2")]


def test_what_every_engine_says_is_equally_loud():
    class Loud(Engine):
        def speak(self, text, *, voice_id, language, steady=None):
            wave = np.sin(np.arange(24_000) * 0.2) * 32_000 * float(text)
            return Spoken(wave.astype("<i2").tobytes(), 16_000, (), self.name)

    speaker = FallbackSpeaker((Loud("first"),))
    for volume in ("0.9", "0.05"):
        spoken = speaker.speak(volume, voice_id=None, language="en-US")
        assert loudness(spoken.pcm, spoken.rate) == pytest.approx(-16, abs=1)


def test_the_preferred_voice_serves_while_it_can():
    spoken = FallbackSpeaker((Engine("a"), Engine("b"))).speak("hi", voice_id=None, language="en-US")
    assert (spoken.engine, spoken.fell_back) == ("a", False)


def test_the_next_voice_serves_when_one_fails_and_the_result_says_so():
    spoken = FallbackSpeaker((Engine("a", problem=DOWN), Engine("b"))).speak("hi", voice_id=None, language="en-US")
    assert (spoken.engine, spoken.fell_back) == ("b", True)


def test_a_voice_that_does_not_know_the_language_is_no_failure():
    speaker = FallbackSpeaker((Engine("a"), Engine("b", languages=("de-DE",))))
    spoken = speaker.speak("hallo", voice_id="v", language="de-DE")
    assert (spoken.engine, spoken.fell_back) == ("b", False)
    assert speaker.identity("v", "de-DE") == "b:v"
    assert speaker.name == "a,b"


@pytest.mark.parametrize(("first", "retryable"), [(DOWN, True), (WRONG, False)])
def test_when_all_fail_the_error_names_them_and_is_retryable_if_any_is(first, retryable):
    engines = (Engine("a", problem=first), Engine("b", problem=WRONG))
    with pytest.raises(GatewayError, match=r"second has no key") as failure:
        FallbackSpeaker(engines).speak("hi", voice_id=None, language="en-US")
    assert failure.value.retryable == retryable
    with pytest.raises(GatewayError, match=first.message) as failure:
        FallbackTranscriber(engines).transcribe(b"", rate=16000, language="en-US")
    assert failure.value.retryable == retryable


def test_a_language_that_nobody_speaks_or_hears_is_refused():
    with pytest.raises(GatewayError, match="TTS_PROVIDER speaks th-TH"):
        FallbackSpeaker((Engine("a"), Engine("b"))).speak("hi", voice_id=None, language="th-TH")
    with pytest.raises(GatewayError, match="STT_PROVIDER recognizes th-TH") as failure:
        FallbackTranscriber((Engine("a"),)).transcribe(b"", rate=16000, language="th-TH")
    assert not failure.value.retryable
    assert not FallbackTranscriber(()).supports("en-US")
    assert FallbackTranscriber(()).name == "none"


def test_live_pieces_go_to_the_preferred_recogniser_and_the_next_one_gets_the_whole():
    first, second = Engine("a", problem=DOWN), Engine("b")
    transcriber = FallbackTranscriber((first, second))
    transcriber.feed("k", 3, b"", language="en-US")
    transcriber.feed("k", 4, b"", language="th-TH")
    assert (first.fed, second.fed) == ([3], [])
    assert transcriber.finish("k", first=3, last=3, language="en-US", pcm=lambda: b"").engine == "b"
    transcriber.drop("k")
    assert first.dropped == second.dropped == ["k"]


def test_no_other_engine_is_asked_for_what_is_only_late():
    transcriber = FallbackTranscriber((Engine("a", problem=TooLate("has too much to do")), Engine("b")))
    with pytest.raises(TooLate, match="too much"):
        transcriber.finish("k", first=0, last=0, language="en-US", pcm=lambda: b"")


def test_each_engine_is_closed_once():
    engine, other = Engine("a"), Engine("b")
    FallbackTranscriber((engine,), also_close=(engine, other)).close()
    assert (engine.closed, other.closed) == (1, 1)


def test_the_engine_that_has_heard_it_is_asked_what_it_was():
    transcriber = FallbackTranscriber((Engine("first"), Engine("second"), Engine("third", languages=("de-DE",))))

    def choice(engine):
        return transcriber.choose(Heard("a", (), engine), language="en-US", among=Sayings(("b",)), pcm=bytes)

    assert choice("second").text == "chosen by second"
    assert choice("third") is None


def test_only_the_engine_that_will_hear_it_is_prepared():
    first, second = Engine("a"), Engine("b")
    FallbackTranscriber((first, second)).prepare("en-US")
    assert (first.prepared, second.prepared) == (["en-US"], [])
