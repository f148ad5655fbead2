"""A small file outside the database that records permanent deletions, so that no older backup brings data back.

One line per act: what, the interview's id, when. It holds ids and times only. Lines are only added, and a restore
reads them.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ERASED, REVOKED, WITHDRAWN = "erased", "revoked", "withdrawn"
ACTS = (ERASED, REVOKED, WITHDRAWN)
"""In the order in which a restore repeats them: an erased interview needs no other act."""

NAME = "erasures.jsonl"
_BEGINS = b'{"what"'


class BadJournal(Exception):
    """A line of the journal cannot be read. The message names the file and the byte."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One act: ``what`` (one of ``ACTS``), the interview's id, and when."""

    what: str
    interview: str
    at: datetime

    @property
    def line(self) -> str:
        """The act as a line of the file."""
        at = self.at.astimezone(UTC).isoformat(timespec="microseconds")
        return json.dumps({"what": self.what, "interview": self.interview, "at": at}) + "\n"


class Journal:
    """The file at ``path``. Remembers what it has read, so that reading again is cheap."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = 0
        self._read = 0
        self._known: dict[tuple[str, str], datetime] = {}

    @property
    def latest(self) -> datetime | None:
        """When the last act was done, as far as the file has been read. None before the first."""
        return max(self._known.values(), default=None)

    def read(self) -> list[Kept]:
        """All acts, in the order of ``ACTS``; empty without a file. Raises BadJournal."""
        if self.path.is_file():
            with self.path.open("rb") as file:
                self._catch_up(file.fileno())
        acts = [Kept(what, interview, at) for (what, interview), at in self._known.items()]
        return sorted(acts, key=lambda act: (ACTS.index(act.what), act.at))

    def add(self, acts: Iterable[Kept]) -> int:
        """Append the acts that it does not have yet, durably; creates the file. Returns how many were new."""
        with self._held() as descriptor:
            self._catch_up(descriptor)
            new = {(act.what, act.interview): act for act in acts if (act.what, act.interview) not in self._known}
            if new:
                # End a line that a power cut left unfinished, so that the new ones are lines of their own.
                size = os.fstat(descriptor).st_size
                begin = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
                left = memoryview(begin + "".join(act.line for act in new.values()).encode())
                while left:
                    left = left[os.write(descriptor, left) :]
                os.fsync(descriptor)
        return len(new)

    @contextmanager
    def _held(self) -> Iterator[int]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if is_new:
                _sync(self.path.parent)
            yield descriptor
        finally:
            os.close(descriptor)

    def _catch_up(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if status.st_ino != self._file or status.st_size < self._read:
            self._file, self._read, self._known = status.st_ino, 0, {}
        with os.fdopen(os.dup(descriptor), "rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):  # cut off by a power cut, or just being written
                    break
                self._take(line)
                self._read += len(line)

    def _take(self, line: bytes) -> None:
        if not line.strip() or _is_cut_off(line):
            return
        try:
            act = json.loads(line)
            key = (str(act["what"]), str(act["interview"]))
            at = datetime.fromisoformat(act["at"]).astimezone(UTC)
        except (ValueError, KeyError, TypeError):
            raise BadJournal(
                f"{self.path} cannot be read: the line at byte {self._read} was not written by Parley"
            ) from None
        if key[0] not in ACTS:
            raise BadJournal(f"{self.path} was written by a newer version of Parley: it contains “{key[0]}”")
        self._known.setdefault(key, at)


def _is_cut_off(line: bytes) -> bool:
    """Whether this is the beginning of a line that a power cut ended."""
    begun = line.strip()
    return b"}" not in begun and begun.startswith(_BEGINS[: len(begun)])


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
