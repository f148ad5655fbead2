"""Which models an installation should have, by language, cores and memory."""

from collections.abc import Iterable

from app.gateways.speech.engines import whisper_choice
from app.gateways.speech.engines.whisper_choice import Machine
from app.gateways.speech.model_files import manifest

DEFAULT_LANGUAGES = ("en-US",)
_CORES_FOR_KOKORO = 4


def defaults(languages: Iterable[str], machine: Machine) -> tuple[str, ...]:
    """Models to install for these languages, ears first; voices only with a licence for commercial use."""
    wished = list(dict.fromkeys(languages))
    ears = (whisper_choice.ideal(language, machine) for language in wished)
    names = [choice.model for choice in ears if choice is not None]
    for model in manifest.MODELS.values():
        many_cores = machine.cores >= _CORES_FOR_KOKORO and model.engine == "kokoro"
        if model.default & set(wished) or (many_cores and set(model.languages) & set(wished)):
            names += [*model.needs, model.name]
    return tuple(dict.fromkeys(name for name in names if name in manifest.MODELS))
