"""What ``parley check`` says about speech: which models are missing, and per language what hears and what speaks."""

import platform
from collections.abc import Callable, Mapping

from app.gateways.speech import catalogue
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.engines.kokoro import KokoroSpeaker
from app.gateways.speech.engines.piper import PiperSpeaker
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber, is_installed
from app.gateways.speech.host.client import SpeechHost
from app.gateways.speech.host.installed import PACKAGES, installed_engines, offers
from app.gateways.speech.host.machine import this_machine
from app.gateways.speech.host.offers import Offers
from app.gateways.speech.model_files import ModelStore, wanted
from app.operations.processes.speech import has_host_engines
from app.settings import Settings

REMOTE = frozenset({"openai", "elevenlabs"})
HOST_SECONDS = 3.0
"""For the speech host to answer."""
DEMONSTRATION = " (a demonstration)"


def look_at_models(config: Settings) -> tuple[bool, str]:
    """Whether models of the default are missing; never a failure, because interviews use the engines that are there."""
    if not has_host_engines(config):
        return True, "not needed: no installed engine of STT_PROVIDER or TTS_PROVIDER uses them"
    store = ModelStore(config.models_dir)
    missing = [name for name in wanted.defaults(wanted.DEFAULT_LANGUAGES, this_machine()) if store.path(name) is None]
    here = ", ".join(store.installed()) or "none"
    words = f"{here} in {config.models_dir}"
    if config.speech_host:
        words += f"; the speech host at {config.speech_host} uses those of its machine"
    elif missing:
        way_on = "parley up fetches them, or run" if config.models == "auto" else "run"
        words += f"; missing: {', '.join(missing)}; {way_on} parley models install default"
    return True, words


def look_at_languages(config: Settings) -> tuple[bool, str]:
    """For each language, the first engine of each list that hears or speaks it now.

    Counts the models of SPEECH_HOST's machine if that is set, else those of this machine.
    """
    host = SpeechHost(config)
    offered = host.state(wait=HOST_SECONDS) if config.speech_host else offers(config, this_machine())
    speakers = (
        PiperSpeaker(host.engine("piper"), lambda: offered),
        KokoroSpeaker(host.engine("kokoro"), lambda: offered),
        EspeakSpeaker(),
    )
    try:
        embedded = {speaker.name: speaker.supports for speaker in speakers}
        lines = [
            f"{one}: hears {_ears(config, offered, one)}, speaks {_voice(config, offered, one, speaks=embedded)}"
            for one in catalogue.LANGUAGES
        ]
    finally:
        host.close()
    return True, "; ".join(lines)


def left_out(config: Settings) -> str:
    """A sentence about the engines of STT_PROVIDER and TTS_PROVIDER that are not installed; empty where all are."""
    here = installed_engines() | ({"pocketsphinx"} if is_installed() else set())
    elsewhere = set(PACKAGES) if config.speech_host else set()
    named = dict.fromkeys((*config.stt_provider, *config.tts_provider))
    missing = [name for name in named if name in {*PACKAGES, "pocketsphinx"} - here - elsewhere]
    if not missing:
        return ""
    python = f"Python {'.'.join(platform.python_version_tuple()[:2])} on {platform.system()} {platform.machine()}"
    return f"not installed, or without a package for {python}: {', '.join(missing)}"


def _ears(config: Settings, offered: Offers, language: str) -> str:
    for provider in config.stt_provider:
        if provider in REMOTE:
            return f"with {provider}"
        if provider == "whisper" and (served := offered.get("whisper", {}).get(language)):
            return f"with {served[0].model}" + (DEMONSTRATION if served[0].is_demonstration else "")
        if provider == "pocketsphinx" and PocketsphinxTranscriber().supports(language):
            return f"with pocketsphinx{DEMONSTRATION}"
    return f"nothing (parley models install default --language {language})"


def _voice(config: Settings, offered: Offers, language: str, *, speaks: Mapping[str, Callable[[str], bool]]) -> str:
    for provider in config.tts_provider:
        if provider in REMOTE:
            return f"with {provider}"
        if speaks[provider](language):
            models = ", ".join(one.model for one in offered.get(provider, {}).get(language, ()))
            return f"with {models or provider}"
    return "nothing: questions are shown"
