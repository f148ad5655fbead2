"""The objects that talk to something slow or outside, built once per process from the settings."""

from dataclasses import dataclass

from flask import current_app

from app.core.counters import Counters
from app.core.errors import NotFound
from app.gateways.engines import build_analyst, build_interviewer, build_speaker, build_transcriber
from app.gateways.mail import Mailer, build_mailer
from app.gateways.outbound import Outbound
from app.gateways.speech.ports import Analyst, Interviewer, Speaker, Transcriber
from app.gateways.speech.watching import Part, Watch, unwatched
from app.gateways.storage import Storage, build_storage, read
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Gateways:
    """Hears, speaks, asks, judges, keeps files, calls customers, and sends mail."""

    transcriber: Transcriber
    speaker: Speaker
    interviewer: Interviewer
    analyst: Analyst
    storage: Storage
    http: Outbound
    mail: Mailer

    def close(self) -> None:
        """End the engines' own processes."""
        for part in (self.transcriber, self.speaker, self.interviewer, self.analyst):
            part.close()


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


def build(settings: Settings, *, counters: Counters | None = None) -> Gateways:
    """What the settings name; engines load their models when first used, and ``counters`` counts how they do."""
    storage = build_storage(settings)
    watch = unwatched if counters is None else _counting(counters)
    return Gateways(
        transcriber=build_transcriber(settings, watch=watch),
        speaker=build_speaker(settings, store=_SpeechShelf(storage), watch=watch),
        interviewer=build_interviewer(settings, watch=watch),
        analyst=build_analyst(settings, watch=watch),
        storage=storage,
        http=Outbound(settings),
        mail=build_mailer(settings),
    )


def _counting(counters: Counters) -> Watch:
    def watch(part: Part, engine: str, *, seconds: float, failed: bool) -> None:
        counters.time("engine", part, engine, "failed" if failed else "served", seconds=seconds)

    return watch


def current() -> Gateways:
    """The gateways of the running application: for pages, endpoints and jobs only."""
    gateways: Gateways = current_app.extensions["parley.gateways"]
    return gateways
