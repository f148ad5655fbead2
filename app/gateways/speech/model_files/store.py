"""MODELS_DIR: one directory per model, complete once its marker says that every hash was right.

Machines may share the directory. A process that changes it holds its lock. Reading takes none: a file gets its name
only when it is whole, and the marker comes last.
"""

import fcntl
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.gateways.speech.model_files import manifest
from app.gateways.speech.model_files.manifest import Model, ModelFile

MARKER = ".complete"
PASSING = ".passing-"
"""Begins the names of directories that only live as long as the lock is held."""
_LOCK = ".lock"
_CHUNK = 1 << 20
_KEPT_FREE_BYTES, _KEPT_FREE_SHARE = 2 * 1024**3, 0.1
"""What has to stay free: with less, local storage lets no new interview start."""


class ModelError(Exception):
    """A model cannot be fetched, checked or removed; the message says why and what to do."""


class ModelStore:
    """The models below one directory. Cheap to make: it looks at the disk only when asked."""

    def __init__(self, folder: Path, models: Mapping[str, Model] | None = None) -> None:
        self.folder = folder
        self.models = manifest.MODELS if models is None else models

    def model(self, name: str) -> Model:
        """The manifest's entry. Raises ModelError for a name that is not there."""
        if name not in self.models:
            raise ModelError(f"There is no model {name}. The names are: {', '.join(self.models)}.")
        return self.models[name]

    def path(self, name: str) -> Path | None:
        """The directory of a complete model whose hashes were right; None if it is absent, incomplete or damaged."""
        model = self.models.get(name)
        if model is None:
            return None
        place = self.folder / name
        try:
            if (place / MARKER).read_text(encoding="ascii") != model.mark:
                return None
            whole = all((place / file.name).stat().st_size == file.bytes for file in model.files)
        except (OSError, ValueError):
            return None
        return place if whole else None

    def installed(self) -> tuple[str, ...]:
        """Names of the models that are complete, in the order of the manifest."""
        return tuple(name for name in self.models if self.path(name) is not None)

    def has(self, model: Model, file: ModelFile) -> bool:
        """Whether the file is there with the right content. Reads all of it."""
        return _hash_of(self.folder / model.name / file.name) == (file.bytes, file.sha256)

    def accept(self, model: Model, file: ModelFile, part: Path) -> bool:
        """Give ``part`` the file's name if its content is right; else leave it and answer False."""
        if _hash_of(part) != (file.bytes, file.sha256):
            return False
        with part.open("rb") as content:
            os.fsync(content.fileno())
        part.replace(self.folder / model.name / file.name)
        return True

    def verify(self, name: str) -> list[str]:
        """Read every file of a model. An empty list marks it as complete; else a sentence for each file.

        Also takes in a directory that was copied here by hand.
        """
        model = self.model(name)
        place = self.folder / name
        problems = []
        for file in model.files:
            size, digest = _hash_of(place / file.name)
            if size is None:
                problems.append(f"{name}/{file.name} is missing")
            elif size != file.bytes:
                problems.append(f"{name}/{file.name} has {size:,} bytes instead of {file.bytes:,}")
            elif digest != file.sha256:
                problems.append(f"{name}/{file.name} has the wrong content (sha256 does not match)")
        if problems:
            (place / MARKER).unlink(missing_ok=True)
        else:
            self.seal(model)
        return problems

    def seal(self, model: Model) -> None:
        """Mark the model as complete. For callers that have just compared every hash."""
        place = self.folder / model.name
        if self.path(model.name) == place:
            return
        draft = place / f"{MARKER}.{uuid.uuid4().hex}"
        draft.write_text(model.mark, encoding="ascii")
        draft.replace(place / MARKER)

    def is_present(self, name: str) -> bool:
        """Whether anything of the model is on the disk."""
        return (self.folder / self.model(name).name).is_dir()

    def remove(self, name: str) -> bool:
        """Delete the model's directory; False if there is none. An engine that has it loaded keeps it until it ends."""
        place = self.folder / self.model(name).name
        if not place.is_dir():
            return False
        aside = self.folder / f"{PASSING}{uuid.uuid4().hex}"
        place.rename(aside)
        shutil.rmtree(aside)
        return True

    def tidy(self) -> None:
        """Delete what a process that was killed left behind. For holders of the lock."""
        for left in self.folder.glob(f"{PASSING}*"):
            shutil.rmtree(left, ignore_errors=True)

    @contextmanager
    def lock(self, *, waiting: Callable[[], None] = lambda: None, pause: float = 1.0) -> Iterator[None]:
        """Change the directory alone, among all processes and machines that share it; ``waiting`` is called once.

        Raises ModelError where the directory cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / _LOCK).open("a+")
        except OSError as error:
            raise ModelError(
                f"MODELS_DIR {self.folder} cannot be written ({error.strerror}). Set MODELS_DIR to a directory that "
                "Parley's user may write."
            ) from None
        with file:
            first = True
            while not self._is_locked(file.fileno()):
                if first:
                    waiting()
                    first = False
                time.sleep(pause)
            yield

    def _is_locked(self, descriptor: int) -> bool:
        """Take the record lock, which ends with this process and works on NFS; False if another process has it."""
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError as error:
            raise ModelError(
                f"MODELS_DIR {self.folder} is on a file system without locks ({error.strerror}). Set MODELS_DIR to "
                "another directory."
            ) from None
        return True


def _hash_of(path: Path) -> tuple[int | None, str]:
    """Size and sha256 of a file; None and an empty text where there is none."""
    digest, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
    except OSError:
        return None, ""
    return size, digest.hexdigest()


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def spare_bytes(folder: Path) -> int:
    """Bytes that may still go onto the disk of ``folder`` before it is too full for new interviews; may be negative."""
    while not folder.exists():
        folder = folder.parent
    disk = shutil.disk_usage(folder)
    return disk.free - max(_KEPT_FREE_BYTES, int(disk.total * _KEPT_FREE_SHARE))
