"""``parley up``: everything on one host, for a first start and for small installations."""

import logging
import time
import urllib.request  # nosemgrep: client-outside-its-room - asks its own web process whether it is there
from collections.abc import Callable
from dataclasses import replace
from urllib.error import URLError

from app.core.data_dir import held_alone, make_private
from app.gateways.redis import embedded
from app.operations.processes import model_fetch
from app.operations.processes.family import Family
from app.operations.processes.speech import has_host_engines, run_speech
from app.operations.processes.web import check_port, run_web
from app.operations.processes.worker import keeper_of, run_worker
from app.settings import Settings
from app.web import font

log = logging.getLogger(__name__)

READY_SECONDS = 60.0
LINGERS = 15.0
"""Seconds that the speech host goes on at most after it was asked to stop, for answers that are being recognised."""

Say = Callable[[str], None]


def run_up(
    settings: Settings,
    *,
    migrate: Callable[[str], None],
    set_up_address: Callable[[Settings], str | None],
    say: Say = print,
) -> None:
    """Migrate, start Redis, web and workers, say where they are, and keep them alive until SIGTERM or SIGINT.

    ``set_up_address`` gives the one-time address at which the first organization is founded, None when there is one.
    Raises InUse, PortTaken or NoServer, with a sentence that says what to do, before anything was started for good.
    """
    make_private(settings.data_dir)
    with held_alone(settings.data_dir):
        _run_all(settings, migrate, set_up_address, say=say)


def _run_all(
    settings: Settings, migrate: Callable[[str], None], set_up_address: Callable[[Settings], str | None], *, say: Say
) -> None:
    check_port(settings.host, settings.port)
    say(f"Preparing the database ({_kind_of(settings.database_url)}) …")
    migrate(settings.database_url)
    say("Using the Redis of REDIS_URL …" if settings.redis_url else "Starting the embedded Redis …")
    url, server = embedded.found_or_started(settings.data_dir, settings.redis_url)
    config = replace(settings, redis_url=url)
    say("Starting the web server and workers …")
    works = {"web": lambda: run_web(config), "worker": lambda: run_worker(config)}
    if not config.speech_host and has_host_engines(config):
        works["speech"] = lambda: run_speech(config, lingers=LINGERS)
    family = Family(works, patience=25.0)
    if names := model_fetch.missing(config):
        family.once("models", lambda: model_fetch.fetch(config, names, say))
    if not font.place().exists():
        family.once("font", make_font)
    watch = _Watch(config, set_up_address, say)
    keep = keeper_of(server) if server is not None else None

    def every_second() -> None:
        watch.look()
        if keep is not None:
            keep()

    try:
        family.run(every_second=every_second)
    finally:
        say("Stopping …")
        if server is not None:
            server.stop()
        say("Stopped.")


def make_font() -> None:
    """Make the font of members' pages. Without it they have the system's, so a failure is one line of the log."""
    try:
        font.make_subset()
    except (OSError, ImportError) as error:
        log.info("members' pages use the system's font, because Inter could not be made ready: %s", error)


class _Watch:
    """Waits for the web server to answer, then says where it is, once."""

    def __init__(self, settings: Settings, set_up_address: Callable[[Settings], str | None], say: Say) -> None:
        self._settings = settings
        self._set_up_address = set_up_address
        self._say = say
        self._began = time.monotonic()
        self._told = False
        self._warned = False

    def look(self) -> None:
        if self._told:
            return
        if is_healthy(self._settings):
            self._told = True
            self._tell()
        elif not self._warned and time.monotonic() - self._began > READY_SECONDS:
            self._warned = True
            self._say(f"The web server did not respond within {READY_SECONDS:.0f} s; see its messages above.")

    def _tell(self) -> None:
        address = self._set_up_address(self._settings)
        if address:
            self._say(f"Set up your organization in a browser (this link works once): {address}")
        self._say(f"Parley is ready: {self._settings.app_url}")
        self._say("Press Ctrl-C to stop.")


def is_healthy(settings: Settings) -> bool:
    """Whether the web server of these settings answers at ``/healthz``."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)  # noqa: S104 - compared, not bound
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{host}:{settings.port}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _kind_of(url: str) -> str:
    return "SQLite" if url.startswith("sqlite") else "PostgreSQL"
