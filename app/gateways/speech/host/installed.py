"""The engines that a host runs, and what they can do with the models in MODELS_DIR."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from app.gateways.speech import catalogue
from app.gateways.speech.engines import whisper_choice
from app.gateways.speech.engines.whisper_choice import Machine
from app.gateways.speech.host.offers import Offers, Served
from app.gateways.speech.model_files.store import ModelStore

_ENGINES = Path(__file__).parents[1] / "engines"
PACKAGES = {
    "whisper": ("ctranslate2", "faster_whisper"),
    "piper": ("onnxruntime", "piper"),
    "kokoro": ("onnxruntime", "piper"),
}
"""What each engine imports. The image for web and worker processes has none of it, nor has a Python without wheels."""
PROGRAMS = {name: _ENGINES / f"{name}_child.py" for name in PACKAGES}


class ModelSettings(Protocol):
    """What decides on the models; names as in the environment, in small letters."""

    @property
    def models_dir(self) -> Path: ...
    @property
    def whisper_model(self) -> str: ...
    @property
    def whisper_overrides(self) -> Mapping[str, str]: ...


def installed_engines() -> frozenset[str]:
    """The engines whose packages are installed."""
    return frozenset(name for name, packages in PACKAGES.items() if all(map(find_spec, packages)))


def offers(settings: ModelSettings, machine: Machine) -> Offers:
    """By engine and language, what the complete models of MODELS_DIR and the installed engines serve here."""
    engines = installed_engines()
    store = ModelStore(settings.models_dir)
    paths = {name: str(store.path(name) or "") for name in store.installed()}
    offered: dict[str, dict[str, tuple[Served, ...]]] = {}
    for name, folder in paths.items():
        model = store.models[name]
        if model.kind == "voice" and model.engine in engines:
            languages = offered.setdefault(model.engine, {})
            for language in model.languages:
                languages[language] = (*languages.get(language, ()), Served(name, folder))
    heard = whisper_choice.understood(machine, tuple(paths), _wanted(settings))
    if heard and "whisper" in engines:
        offered["whisper"] = {
            language: (Served(choice.model, paths[choice.model], choice.demonstration),)
            for language, choice in heard.items()
        }
    return offered


def _wanted(settings: ModelSettings) -> dict[str, str]:
    """The operator's models: by language, and for all others under ""."""
    names = {f"MODEL_{language.replace('-', '_').upper()}": language for language in catalogue.LANGUAGES}
    by_language = {names[name]: model for name, model in settings.whisper_overrides.items() if name in names}
    return {"": settings.whisper_model, **by_language}
