"""Which models a machine should have."""

from app.gateways.speech import catalogue
from app.gateways.speech.engines.whisper_choice import Machine
from app.gateways.speech.model_files import manifest, wanted
from app.gateways.speech.model_files.progress import Steps

SMALL, LARGE = Machine(2, 16_000), Machine(4, 16_000)


def test_two_cores_get_ears_and_voices_for_english() -> None:
    names = wanted.defaults(["en-US"], SMALL)
    assert names == ("whisper-base", "piper-en_US-kristin-medium", "piper-en_US-norman-medium")


def test_four_cores_get_larger_ears_and_kokoro_too() -> None:
    names = wanted.defaults(["en-US"], LARGE)
    assert names[0] == "whisper-small"
    assert {"kokoro", "kokoro-voices"} <= set(names)


def test_japanese_is_spoken_by_kokoro_on_two_cores() -> None:
    assert wanted.defaults(["ja-JP"], SMALL) == ("whisper-large-v3-turbo", "kokoro")


def test_what_a_model_needs_comes_with_it() -> None:
    assert wanted.defaults(["pt-BR"], SMALL)[1:] == ("kokoro", "kokoro-voices")


def test_the_default_for_all_languages_is_in_the_manifest() -> None:
    assert set(wanted.defaults(catalogue.LANGUAGES, SMALL)) <= set(manifest.MODELS)


def test_progress_is_not_said_too_often_nor_twice() -> None:
    said: list[str] = []
    model = manifest.MODELS["whisper-base"]
    always, seldom = Steps(said.append, pause=0), Steps(said.append, pause=3600)
    for done in (63_000_000, 63_000_001, 64_000_000):
        always(model, done)
        seldom(model, done)
    assert said == ["Fetching ears: 63 of 148 MB", "Fetching ears: 64 of 148 MB"]
