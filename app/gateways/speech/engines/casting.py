"""Which voice of which model speaks for a `voice_id` of the interface.

Eight of the interface's voices are women and eight are men. A language's models are taken in the order in which they
are offered, their voices in the order of the lists below; the first woman of the interface gets the first woman there,
and so on. Where there are fewer, they are shared, and where there are only men, they speak for all sixteen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.gateways.speech import catalogue
from app.gateways.speech.catalogue import Gender


@dataclass(frozen=True, slots=True)
class Actor:
    """One voice of a model. `speaker` is the model's name for it, empty for the first of a Piper model; `gender` is
    None where no one says."""

    model: str
    speaker: str
    gender: Gender | None
    accent: str = ""

    @property
    def key(self) -> str:
        """Names the voice among those of an engine."""
        return f"{self.model}:{self.speaker}"


KOKORO = "kokoro"
KOKORO_VOICES: dict[str, tuple[str, ...]] = {
    "en-US": (
        "af_sarah af_nova af_heart bf_emma af_bella bf_isabella af_kore bf_lily",
        "am_onyx am_echo am_michael bm_george am_adam am_puck bm_fable am_eric",
    ),
    "es-419": ("ef_dora", "em_alex em_santa"),
    "fr-FR": ("ff_siwis", ""),
    "hi-IN": ("hf_alpha hf_beta", "hm_omega hm_psi"),
    "ja-JP": ("jf_alpha jf_gongitsune jf_nezumi jf_tebukuro", "jm_kumo"),
    "pt-BR": ("pf_dora", "pm_alex pm_santa"),
}
"""Kokoro's voices by language, women then men. The model `kokoro` brings the Japanese ones, `kokoro-voices` all; its
Chinese is read by a library that Parley does not have. The second letter of a name is the gender, and of English ones
the first is the accent."""
KOKORO_ACCENTS = {"a": "American", "b": "British"}

PIPER_VOICES: dict[str, tuple[Gender, str]] = {
    "en_US-kristin-medium": ("woman", "American"),
    "en_US-norman-medium": ("man", "American"),
    "en_US-bryce-medium": ("man", "American"),
    "en_US-ljspeech-medium": ("woman", "American"),
    "en_US-joe-medium": ("man", "American"),
    "en_GB-cori-medium": ("woman", "British"),
    "en_GB-alba-medium": ("woman", "Scottish"),
    "es_ES-davefx-medium": ("man", "Spain"),
    "fr_FR-siwis-medium": ("woman", ""),
    "de_DE-thorsten-medium": ("man", ""),
    "pt_BR-faber-medium": ("man", ""),
    "pt_BR-cadu-medium": ("man", ""),
    "vi_VN-vais1000-medium": ("woman", ""),
}
"""Piper's voices by model, as far as their cards say who speaks. Of a model with many voices the first one speaks."""


def cast(voice_id: str | None, language: str, models: Sequence[str]) -> Actor | None:
    """Who speaks for this voice with these models; None where they have no voice for the language."""
    actors = _all_actors(models, language)
    if not actors:
        return None
    wanted = catalogue.voice(voice_id)
    place = [one.voice_id for one in catalogue.VOICES.values() if one.gender == wanted.gender].index(wanted.voice_id)
    suited = [actor for actor in actors if actor.gender == wanted.gender] or actors
    return suited[place % len(suited)]


def recall(key: str, language: str, models: Sequence[str]) -> Actor | None:
    """The actor with this key, if the models still have it."""
    return next((actor for actor in _all_actors(models, language) if actor.key == key), None)


def described(identity: str) -> tuple[Gender | None, str]:
    """Gender and accent of the voice with this identity, as far as they are known."""
    _, model, speaker = (*identity.split(":", 2), "", "")[:3]
    for language in KOKORO_VOICES if model.startswith(KOKORO) else ("",):
        for actor in _actors(model, language):
            if actor.speaker == speaker:
                return actor.gender, actor.accent
    return None, ""


def _all_actors(models: Sequence[str], language: str) -> list[Actor]:
    """Those of all models; Kokoro's Japanese voices, which come with two models, once."""
    actors = [actor for model in models for actor in _actors(model, language)]
    seen = {actor.speaker or actor.key: actor for actor in reversed(actors)}
    return [actor for actor in actors if seen[actor.speaker or actor.key] is actor]


def _actors(model: str, language: str) -> Iterator[Actor]:
    kind, _, name = model.partition("-")
    if kind == KOKORO:
        speakers = KOKORO_VOICES.get(language, ()) if name or language == "ja-JP" else ()
        for speaker in " ".join(speakers).split():
            accent = KOKORO_ACCENTS.get(speaker[0], "") if language == "en-US" else ""
            yield Actor(model, speaker, "woman" if speaker[1] == "f" else "man", accent)
        return
    gender, accent = PIPER_VOICES.get(name, (None, ""))
    yield Actor(model, "", gender, accent)
