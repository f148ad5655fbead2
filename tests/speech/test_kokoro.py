"""Kokoro's process and adapter, with a model that hums, and the sounds that it is given."""

import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.errors import GatewayError
from app.gateways.speech.catalogue import VOICES
from app.gateways.speech.engines import casting, kokoro_child, kokoro_sounds
from app.gateways.speech.engines.children import Children
from app.gateways.speech.engines.kokoro import PROGRAM, KokoroSpeaker
from tests.speech.tiny_models import FRAMES, KOKORO_FRAME, served, write_kokoro, write_kokoro_voices

RATE = 24_000
ALL = tuple(" ".join(name for names in casting.KOKORO_VOICES.values() for name in names).split())


@pytest.fixture(scope="module")
def children():
    with closing(Children(PROGRAM)) as processes:
        yield processes


@pytest.fixture
def home(tmp_path):
    return write_kokoro(tmp_path / "kokoro", speakers=tuple(" ".join(casting.KOKORO_VOICES["ja-JP"]).split()))


@pytest.fixture
def voices(home):
    folder = home.with_name("kokoro-voices")
    write_kokoro_voices(folder / "voices-v1.0.bin", ALL)
    return folder


def speaker_with(children, *directories: Path):
    return KokoroSpeaker(children, lambda: {"kokoro": dict.fromkeys(casting.KOKORO_VOICES, served(directories))})


def test_a_sentence_has_the_times_of_its_words_without_the_silence_around_it(children, voices):
    spoken = speaker_with(children, voices).speak("Thank you, a project.", voice_id="vendora-Kate", language="en-US")
    assert (spoken.rate, spoken.engine) == (RATE, "kokoro")
    assert [word.word for word in spoken.words] == ["Thank", "you", "a", "project"]
    token = FRAMES * KOKORO_FRAME / RATE
    assert spoken.words[0].start == pytest.approx(0.05, abs=0.001)
    assert spoken.words[0].end - spoken.words[0].start == pytest.approx(5 * token, abs=0.001)  # θˈæŋk
    assert spoken.words[1].start - spoken.words[0].end >= token - 0.001  # the space between them
    assert spoken.duration == pytest.approx(spoken.words[-1].end + 0.12, abs=0.001)


@pytest.mark.parametrize(
    ("language", "text", "count"),
    [
        ("es-419", "¿Podría contarme más?", 3),
        ("fr-FR", "Pourriez-vous m'en dire plus ?", 4),
        ("hi-IN", "कृपया एक क्षण रुकिए।", 4),
        ("pt-BR", "Um momento, por favor.", 4),
    ],
)
def test_it_reads_the_languages_it_has_voices_for(children, voices, language, text, count):
    spoken = speaker_with(children, voices).speak(text, voice_id=None, language=language)
    assert len(spoken.words) == count
    assert all(one.end <= following.start for one, following in zip(spoken.words, spoken.words[1:], strict=False))


READ = {
    "少々お待ちください。": "少々 ショーショー -1, お待ち オマチ’ 0, ください クダサイ 1, 。 、 0",
    "2019年です。": "二 ニ 0, 千 セン 1, 十 ジュー 1, 九 キュー 0, 年 ネン 1, です デス’ 1, 。 、 0",
    "...": "． 、 -1, ． 、 0, ． 、 0",
}
"""What pyopenjtalk-plus 0.4.1.post10 reads: the written word, its sounds, and 1 where it joins the word before."""


@pytest.fixture
def reader(monkeypatch):
    """The child's code in this process, with these readings in the place of the extra "ja"."""

    def run_frontend(text):
        nodes = [node.split() for node in READ[text].split(", ")]
        return [{"string": word, "pron": sounds, "chain_flag": int(joined)} for word, sounds, joined in nodes]

    monkeypatch.setitem(sys.modules, "pyopenjtalk", SimpleNamespace(run_frontend=run_frontend))
    return kokoro_child.Kokoro()


def test_japanese_words_are_those_that_the_reader_finds(reader, home):
    pcm, rate, words = reader.speak((str(home), "jf_alpha"), "少々お待ちください。2019年です。", "ja-JP")
    said = [word for word, _, _ in words]
    assert said == ["少々", "お待ち", "ください", "二", "千", "十", "九", "年", "です"]
    assert all(one[2] <= following[1] for one, following in pairwise(words))
    assert words[-1][2] <= len(pcm) / 2 / rate


def test_a_text_without_sounds_is_a_sentence(reader, home):
    with pytest.raises(ValueError, match="nothing that can be spoken"):
        reader.speak((str(home), "jf_alpha"), "...", "ja-JP")


def test_without_its_reader_japanese_is_not_supported(children, home, monkeypatch):
    monkeypatch.setattr("app.gateways.speech.engines.kokoro.find_spec", lambda name: None)
    assert not speaker_with(children, home).supports("ja-JP")


def test_in_english_the_sixteen_voices_are_sixteen_different_ones_of_the_right_gender():
    actors = {voice_id: casting.cast(voice_id, "en-US", ["kokoro-voices"]) for voice_id in VOICES}
    assert len({actor.speaker for actor in actors.values()}) == 16
    assert all(actor.gender == VOICES[voice_id].gender for voice_id, actor in actors.items())
    assert actors["vendora-Kate"].speaker == "af_heart"
    assert {actor.accent for actor in actors.values()} == {"American", "British"}


def test_elsewhere_voices_are_shared_by_gender_first():
    spanish = {voice_id: casting.cast(voice_id, "es-419", ["kokoro-voices"]) for voice_id in VOICES}
    assert {actor.speaker for actor in spanish.values()} == {"ef_dora", "em_alex", "em_santa"}
    assert all(actor.gender == VOICES[voice_id].gender for voice_id, actor in spanish.items())
    french = {casting.cast(voice_id, "fr-FR", ["kokoro-voices"]).speaker for voice_id in VOICES}
    assert french == {"ff_siwis"}
    assert casting.cast(None, "en-US", ["kokoro"]) is None  # the model alone brings only Japanese voices
    assert casting.cast(None, "zh-CN", ["kokoro-voices"]) is None


def test_japanese_voices_that_come_with_two_models_count_once():
    both = {casting.cast(voice_id, "ja-JP", ["kokoro", "kokoro-voices"]).key for voice_id in VOICES}
    assert both == {f"kokoro:{name}" for name in " ".join(casting.KOKORO_VOICES["ja-JP"]).split()}


@pytest.mark.parametrize(
    ("identity", "who"),
    [
        ("kokoro:kokoro-voices:bf_emma", ("woman", "British")),
        ("kokoro:kokoro:jm_kumo", ("man", "")),
        ("piper:piper-en_US-joe-medium:", ("man", "American")),
        ("piper:piper-es_MX-claude-high:", (None, "")),
        ("espeak:en-us+f2:50:158", (None, "")),
        ("none", (None, "")),
    ],
)
def test_a_voice_is_described_by_its_identity(identity, who):
    assert casting.described(identity) == who


def test_a_voice_of_unknown_gender_speaks_only_where_no_other_does():
    unknown, known = "piper-es_MX-claude-high", "piper-es_ES-davefx-medium"
    assert casting.cast("vendora-Kate", "es-419", [unknown]).model == unknown
    assert casting.cast("vendorb-Onyx", "es-419", [unknown, known]).model == known


def test_a_long_text_without_an_end_is_spoken_in_halves(children, voices):
    text = " ".join(["extraordinarily"] * 26)
    spoken = speaker_with(children, voices).speak(text, voice_id=None, language="en-US")
    assert len(spoken.words) == 26


def test_bad_files_are_sentences(children, voices):
    speaker = speaker_with(children, voices)
    (voices / "voices-v1.0.bin").write_bytes(b"PK\3\4 cut off")
    with pytest.raises(GatewayError, match="kokoro-voices cannot be loaded; run parley models verify"):
        speaker.speak("Hello.", voice_id=None, language="en-US")
    write_kokoro_voices(voices / "voices-v1.0.bin", ("af_sky",))
    with pytest.raises(GatewayError, match="kokoro-voices has no voice af_heart"):
        speaker.speak("Hello.", voice_id="vendora-Kate", language="en-US")


def test_a_model_that_was_removed_is_a_sentence(children, voices):
    (voices.with_name("kokoro") / "kokoro.onnx").unlink()
    with pytest.raises(GatewayError, match="no longer exist"):
        speaker_with(children, voices).speak("Hello.", voice_id=None, language="en-US")


@pytest.mark.parametrize(
    ("reading", "sounds"),
    [
        ("ショーショー", "ɕoːɕoː"),
        ("オマチ", "omaʨi"),
        ("プロジェクト", "pɯɾoʥekɯto"),
        ("シンパイ", "ɕimpai"),
        ("ゲンキ", "ɡeŋkʲi"),
        ("オンナ", "onna"),
        ("ホン", "hoɴ"),
        ("ガッコー", "ɡaʔkoː"),
        ("パーティー", "paːtʲiː"),
        ("ウィキ", "βikʲi"),
        ("キュウリョウ", "kʲɨɯɾʲoɯ"),
        ("クァ", "kᵝa"),
        ("ズ", "zɨ"),
        ("", ""),
        ("、", ""),
    ],
)
def test_japanese_readings_become_sounds(reading, sounds):
    assert kokoro_sounds.japanese(reading) == sounds


@pytest.mark.parametrize(
    ("ipa", "voice", "sounds"),
    [
        ("ɡoʊ", "en-us", "ɡO"),
        ("ɡəʊ", "en-gb", "ɡQ"),
        ("lˈeɪt ɹaɪt", "en-us", "lˈAt ɹIt"),
        ("bˈʌʔn̩", "en-us", "bˈʌtᵊn"),
        ("dʒˈɑːb", "en-us", "ʤˈɑb"),
        ("t͡ʃˈaj (en)səks(fr)", "fr", "ʧˈaj səks"),
        ("nɔ\u0303", "fr", "nɔ\u0303"),
    ],
)
def test_espeak_s_sounds_become_kokoro_s(ipa, voice, sounds):
    assert kokoro_sounds.of_espeak(ipa, voice) == sounds
