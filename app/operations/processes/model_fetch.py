"""What ``parley up`` does about speech models: fetch what the default needs, in its own process, and say so."""

from collections.abc import Callable

from app.gateways.speech.host.machine import this_machine
from app.gateways.speech.model_files import ModelStore, wanted
from app.gateways.speech.model_files.store import ModelError
from app.operations.processes.speech import has_host_engines
from app.settings import Settings

PAUSE = 10.0
"""Seconds between two sentences about a download that goes on."""

Say = Callable[[str], None]


def missing(settings: Settings) -> tuple[str, ...]:
    """Models of the default that are not here, and may be fetched. Looks at the disk only."""
    if settings.models == "off" or settings.speech_host or not has_host_engines(settings):
        return ()
    names = wanted.defaults(wanted.DEFAULT_LANGUAGES, this_machine())
    store = ModelStore(settings.models_dir)
    return tuple(name for name in names if store.path(name) is None)


def fetch(settings: Settings, names: tuple[str, ...], say: Say) -> None:
    """Fetch them, and say what happens. A failure is a sentence: interviews go on with the engines that are there."""
    from app.gateways.speech.model_files.fetching import Fetcher
    from app.gateways.speech.model_files.progress import Steps

    store = ModelStore(settings.models_dir)
    fetcher = Fetcher(store, mirror=settings.models_mirror, say=say, progress=Steps(say, pause=PAUSE))
    try:
        fetched = fetcher.install(names)
    except ModelError as error:
        say(f"Not all speech models could be fetched. Interviews use the engines that are available.\n{error}")
    else:
        if fetched:
            say(f"Speech models are ready: {', '.join(fetched)}.")
