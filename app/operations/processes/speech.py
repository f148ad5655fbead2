"""``parley speech``: the process that runs this machine's speech engines for all its web and worker processes."""

import logging
import os
import signal
import threading
from collections.abc import Callable
from functools import partial

from app.core.data_dir import close_to_others
from app.core.memory import share_arenas
from app.gateways.speech.host.installed import PROGRAMS, installed_engines, offers
from app.gateways.speech.host.machine import this_machine
from app.gateways.speech.host.server import host_for, only_host
from app.gateways.speech.host.wire import NotOurs, address_of
from app.settings import Settings

log = logging.getLogger(__name__)

NO_ENGINES = (
    "No speech engine is installed: Whisper needs ctranslate2 and faster-whisper, Piper and Kokoro need onnxruntime "
    "and piper-tts. In a container, use the image parley-speech. Elsewhere, install Parley with all its dependencies."
)


class CannotServe(Exception):
    """The speech host cannot listen at its address, or has no engine; the message says what to do."""


def has_host_engines(settings: Settings) -> bool:
    """Whether any engine that these settings name runs in the speech host of SPEECH_HOST, or can run in one here."""
    engines = set(PROGRAMS) if settings.speech_host else installed_engines()
    return not engines.isdisjoint({*settings.stt_provider, *settings.tts_provider})


def run_speech(settings: Settings, *, say: Callable[[str], None] = log.info, lingers: float = 0.0) -> None:
    """Serve until SIGTERM or SIGINT. While another host serves the same address, wait for its end.

    After the signal it goes on for ``lingers`` seconds at most while it has clients. Raises CannotServe.
    """
    if not installed_engines():
        raise CannotServe(NO_ENGINES)
    close_to_others(settings.data_dir)
    share_arenas()
    is_over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: is_over.set())
    address = address_of(settings)
    try:
        with only_host(address, is_over=is_over.is_set, say=say) as is_ours:
            if not is_ours:
                return
            host = host_for(settings, programs=PROGRAMS, look=partial(offers, settings, this_machine()))
            say(f"The speech host serves {address} (process {os.getpid()}).")
            try:
                is_over.wait()
                host.wait_for_clients(lingers)
            finally:
                host.close()
    except NotOurs as error:
        raise CannotServe(f"{error}. Change its owner or its permissions, or choose another DATA_DIR.") from error
    except OSError as error:
        raise CannotServe(
            f"The speech host cannot listen at {address}: {error.strerror}. Check SPEECH_HOST."
        ) from error
