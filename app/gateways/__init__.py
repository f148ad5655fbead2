"""The objects that talk to something slow or outside, built once per process from the settings.

Engines and the client for customers' addresses are built when they are first used: numpy and aiohttp alone would double
what a process weighs before its first request.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from app.core.errors import NotFound
from app.gateways.language_model.drafts import Drafter
from app.gateways.mail import Mailer, build_mailer
from app.gateways.speech.coding import Codec
from app.gateways.speech.host.client import SpeechHost
from app.gateways.speech.ports import Analyst, Interviewer, Speaker, Transcriber
from app.gateways.speech.watching import Part, Watch, unwatched
from app.gateways.storage import Storage, build_storage, read
from app.settings import Settings

if TYPE_CHECKING:
    from app.core.counters import Counters
    from app.gateways.outbound import Outbound


@dataclass(frozen=True, slots=True)
class Gateways:
    """Hears, speaks, asks, judges, drafts, encodes speech, keeps files, calls customers, and sends mail."""

    transcriber: Transcriber
    speaker: Speaker
    interviewer: Interviewer
    analyst: Analyst
    drafter: Drafter
    codec: Codec
    storage: Storage
    http: "Outbound"
    mail: Mailer

    def close(self) -> None:
        """End the engines' own processes."""
        for part in (self.transcriber, self.speaker, self.interviewer, self.analyst, self.drafter, self.codec):
            part.close()


class _Lazy(Gateways):
    """Builds each part that it was not given when it is first used, once, whatever thread comes first."""

    _lock: Any
    _builders: Mapping[str, Callable[[], object]]
    _also_close: Callable[[], None] = staticmethod(lambda: None)
    """A copy with other parts closes its parts only."""

    @classmethod
    def of(cls, builders: Mapping[str, Callable[[], object]], *, also_close: Callable[[], None]) -> Self:
        """None of the parts is there yet; a part may use others while it is built."""
        gateways = cls.__new__(cls)
        object.__setattr__(gateways, "_also_close", also_close)
        object.__setattr__(gateways, "_lock", threading.RLock())
        object.__setattr__(gateways, "_builders", builders)
        return gateways

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there: the slots of parts that nothing has used yet."""
        builders = self.__dict__.get("_builders", {})
        if name not in builders:
            raise AttributeError(name)
        with self._lock:
            try:
                return object.__getattribute__(self, name)  # another thread was first
            except AttributeError:
                part = builders[name]()
                object.__setattr__(self, name, part)
                return part

    def close(self) -> None:
        """End the processes of the engines that were built."""
        for name in ("transcriber", "speaker", "interviewer", "analyst", "drafter", "codec"):
            try:
                part = object.__getattribute__(self, name)
            except AttributeError:
                continue
            part.close()
        self._also_close()


class _SpeechShelf:
    """Where spoken lines are remembered: the storage everyone shares, so that one process speaks for all."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def get(self, key: str) -> bytes | None:
        try:
            return read(self._storage, f"speech/{key}")
        except NotFound:
            return None

    def put(self, key: str, data: bytes) -> None:
        self._storage.put(f"speech/{key}", data)


def build(settings: Settings, *, counters: "Counters | None" = None) -> Gateways:
    """What the settings name; engines load their models when first used, and ``counters`` counts how they do."""
    storage, mail = build_storage(settings), build_mailer(settings)
    watch = unwatched if counters is None else _counting(counters)
    host = SpeechHost(settings)
    builders: dict[str, Callable[[], object]] = {
        name: partial(_engine, name, settings, host, storage=storage, watch=watch)
        for name in ("transcriber", "speaker", "interviewer", "analyst", "drafter")
    }
    builders |= {"http": partial(_client, settings), "storage": lambda: storage, "mail": lambda: mail, "codec": Codec}
    return _Lazy.of(builders, also_close=host.close)


def _engine(name: str, settings: Settings, host: SpeechHost, *, storage: Storage, watch: Watch) -> object:
    from app.gateways import engines

    if name == "speaker":
        return engines.build_speaker(settings, host=host, store=_SpeechShelf(storage), watch=watch)
    if name == "transcriber":
        return engines.build_transcriber(settings, host=host, watch=watch)
    builders = {
        "interviewer": engines.build_interviewer,
        "analyst": engines.build_analyst,
        "drafter": engines.build_drafter,
    }
    return builders[name](settings, watch=watch)


def _client(settings: Settings) -> object:
    from app.gateways.outbound.client import Outbound

    return Outbound(settings)


def _counting(counters: "Counters") -> Watch:
    def watch(part: Part, engine: str, *, seconds: float, failed: bool) -> None:
        counters.time("engine", part, engine, "failed" if failed else "served", seconds=seconds)

    return watch


def current() -> Gateways:
    """The gateways of the running application: for pages, endpoints and jobs only."""
    from flask import current_app

    gateways: Gateways = current_app.extensions["parley.gateways"]
    return gateways
