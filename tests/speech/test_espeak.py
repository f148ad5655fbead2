"""The embedded voice: languages, word times, refusals."""

import importlib.util

import numpy as np
import pytest

from app.core.errors import GatewayError
from app.gateways.speech.catalogue import LANGUAGES

QUESTIONS = {
    "en-US": "Please tell me about a project that you are proud of.",
    "de-DE": "Bitte erzählen Sie mir von einem Projekt, auf das Sie stolz sind.",
    "es-419": "Por favor, cuénteme sobre un proyecto del que esté orgulloso.",
    "hi-IN": "कृपया मुझे अपने किसी प्रोजेक्ट के बारे में बताइए।",
    "pt-BR": "Por favor, fale sobre um projeto do qual você se orgulha.",
    "fr-FR": "Parlez-moi d'un projet dont vous êtes fier, s'il vous plaît.",
    "zh-CN": "请介绍一个让您感到自豪的项目。",
    "ko-KR": "자랑스럽게 생각하는 프로젝트에 대해 말씀해 주세요.",
    "vi-VN": "Hãy kể cho tôi nghe về một dự án mà bạn tự hào.",
    "ar-AE": "من فضلك حدثني عن مشروع تفتخر به.",
    "no-NO": "Fortell meg om et prosjekt du er stolt av.",
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_each_usable_language_is_spoken_with_word_times_in_order(espeak, language):
    spoken = espeak.speak(QUESTIONS[language], voice_id=None, language=language)
    assert 1.5 < spoken.duration < 12
    assert np.abs(np.frombuffer(spoken.pcm, "<i2")).max() > 3000
    assert len(spoken.words) >= 4
    starts = [word.start for word in spoken.words]
    assert starts == sorted(starts)
    assert all(0 <= word.start < word.end <= spoken.duration for word in spoken.words)
    said = "".join(word.word for word in spoken.words)
    assert said.replace(" ", "") in "".join(c for c in QUESTIONS[language] if not c.isspace() and c not in ".,。।")


def test_word_times_end_before_a_pause(espeak):
    spoken = espeak.speak("Hello there, please go on.", voice_id=None, language="en-US")
    words = {word.word: word for word in spoken.words}
    assert words["please"].start - words["there"].end > 0.1


def test_thai_is_not_spoken_and_the_refusal_says_what_to_do(espeak):
    assert not espeak.supports("th-TH")
    with pytest.raises(GatewayError, match="TTS_PROVIDER") as refusal:
        espeak.speak("สวัสดี", voice_id=None, language="th-TH")
    assert not refusal.value.retryable


def test_japanese_needs_its_extra(espeak):
    installed = importlib.util.find_spec("pyopenjtalk") is not None
    assert espeak.supports("ja-JP") == installed
    if installed:
        spoken = espeak.speak("自己紹介をお願いします。", voice_id=None, language="ja-JP")
        assert spoken.words[0].word == "自己紹介を"
        assert spoken.duration < 5
    else:
        with pytest.raises(GatewayError, match="pyopenjtalk-plus"):
            espeak.speak("自己紹介をお願いします。", voice_id=None, language="ja-JP")


def test_every_language_of_the_interface_is_either_spoken_or_refused(espeak):
    assert {language for language in LANGUAGES if espeak.supports(language)} >= set(QUESTIONS)
    assert set(QUESTIONS) | {"ja-JP", "th-TH"} == set(LANGUAGES)


@pytest.mark.parametrize(
    "text", ["", "   ", "?!", "a\0b", "\N{GRINNING FACE}", "<speak><break/></speak>", "[[h@l'oU]]"]
)
def test_odd_texts_do_no_harm(espeak, text):
    spoken = espeak.speak(text, voice_id="vendorb-Onyx", language="en-US")
    assert spoken.rate == 22050
    assert spoken.duration < 10


def test_a_text_beyond_the_limit_is_refused(espeak):
    with pytest.raises(GatewayError, match="20000 characters"):
        espeak.speak("a " * 10_001, voice_id=None, language="en-US")


def test_the_wav_file_holds_the_same_samples(espeak):
    spoken = espeak.speak("Hello.", voice_id=None, language="en-US")
    from app.gateways.speech.sound import read_wav, wav

    assert read_wav(wav(spoken.pcm, spoken.rate)) == (spoken.pcm, spoken.rate)
