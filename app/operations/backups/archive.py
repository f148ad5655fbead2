"""The archive: a tar file that is written and read front to back, with one piece in memory at a time.

``parley-backup.json`` comes first and describes the backup. ``manifest.jsonl`` comes last, so that a truncated archive
has none: its first line has totals, every other line names a member with its size and SHA-256.
"""

import hashlib
import io
import json
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from app.gateways.storage import vetted

FORMAT = 1
HEADER, MANIFEST, DATABASE, SECRET, FILES = (
    "parley-backup.json",
    "manifest.jsonl",
    "database.sqlite",
    "secret_key",
    "files/",
)
PIECE = 256 * 1024
LARGEST_WORDS = 64 * 1024
NO_ARCHIVE = "this is not an archive made by parley backup"


class Broken(Exception):
    """Not a Parley archive, or an incomplete one. The message says why."""


class _Hashed:
    """A file that is hashed while it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest, self.size = file, hashlib.sha256(), 0

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self.digest.update(piece)
        self.size += len(piece)
        return piece


class _Members:
    """The members with size and hash, in a temporary file: there may be a million."""

    def __init__(self, path: Path) -> None:
        self._rows = sqlite3.connect(path, isolation_level=None)
        self._rows.execute("PRAGMA synchronous=off")
        self._rows.execute("PRAGMA journal_mode=off")
        self._rows.execute("CREATE TABLE member (name TEXT PRIMARY KEY, size INTEGER, sha256 TEXT) WITHOUT ROWID")

    def __contains__(self, name: str) -> bool:
        return self._rows.execute("SELECT 1 FROM member WHERE name = ?", (name,)).fetchone() is not None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for name, size, sha256 in self._rows.execute("SELECT name, size, sha256 FROM member ORDER BY name"):
            yield {"name": name, "size": size, "sha256": sha256}

    def add(self, name: str, size: int, sha256: str) -> None:
        self._rows.execute("INSERT INTO member VALUES (?, ?, ?)", (name, size, sha256))

    def totals(self) -> tuple[int, int]:
        """The number of members, and their bytes in total."""
        number, size = self._rows.execute("SELECT count(*), coalesce(sum(size), 0) FROM member").fetchone()
        return int(number), int(size)

    def close(self) -> None:
        self._rows.close()


class Writer:
    """Writes an archive into ``target``; ``room`` is a directory for temporary files. Raises OSError."""

    def __init__(self, target: IO[bytes], room: Path, *, header: dict[str, Any]) -> None:
        self._room = room
        self._tar = tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT, bufsize=PIECE)  # noqa: SIM115 - closed by finish
        self._members = _Members(room / "written")
        self._add(HEADER, io.BytesIO(_line({"format": FORMAT, **header})))

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def totals(self) -> tuple[int, int]:
        """Members and bytes so far."""
        return self._members.totals()

    def file(self, name: str, path: Path) -> bool:
        """Add the file at ``path``; False when it has just been deleted."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return False
        with file:
            self._add(name, file)
        return True

    def words(self, name: str, content: bytes) -> None:
        """Add a small text."""
        self._add(name, io.BytesIO(content))

    def finish(self, **facts: Any) -> None:
        """Add the manifest, with ``facts`` in its first line, and the archive's end."""
        path = self._room / "manifest"
        number, size = self._members.totals()
        with path.open("wb") as manifest:
            manifest.write(_line({**facts, "members": number, "bytes": size}))
            for member in self._members:
                manifest.write(_line(member))
        with path.open("rb") as manifest:
            self._add(MANIFEST, manifest)
        self._tar.close()

    def close(self) -> None:
        """Release everything, even in the middle; ``target`` has to be open still."""
        self._members.close()
        with suppress(OSError):
            self._tar.close()

    def _add(self, name: str, file: IO[bytes]) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = file.seek(0, io.SEEK_END), 0o600
        file.seek(0)
        source = _Hashed(file)
        self._tar.addfile(info, source)
        self._tar.members.clear()  # type: ignore[attr-defined]  # tarfile would remember them all
        self._members.add(name, source.size, source.digest.hexdigest())


class Reader:
    """Reads an archive front to back; ``room`` is a directory for temporary files.

    Whatever its bytes are, files are written only where ``place`` says, and anything unexpected raises Broken.
    """

    def __init__(self, source: IO[bytes], room: Path) -> None:
        self._room = room
        self._members = _Members(room / "read")
        try:
            self._tar = tarfile.open(fileobj=source, mode="r|", bufsize=PIECE)  # noqa: SIM115 - it holds nothing itself
            self.header = self._first()
        except tarfile.TarError:
            self.close()
            raise Broken(NO_ARCHIVE) from None
        except Broken:
            self.close()
            raise

    def _first(self) -> dict[str, Any]:
        first = self._tar.next()
        if first is None or first.name != HEADER or not first.isreg() or first.size > LARGEST_WORDS:
            raise Broken(NO_ARCHIVE)
        content = io.BytesIO()
        self._copy(first, content)
        header = _object(content.getvalue())
        if header.get("format") != FORMAT:
            raise Broken(f"its format is {header.get('format')}; this Parley reads format {FORMAT}")
        return header

    def extract(self, place: Callable[[str], Path]) -> dict[str, Any]:
        """Write every member to where ``place`` says, check all against the manifest, and return its first line."""
        try:
            while (member := self._tar.next()) is not None:
                self._extract(member, place)
                self._tar.members.clear()  # type: ignore[attr-defined]  # tarfile would remember them all
        except tarfile.TarError as error:
            raise Broken(f"it is damaged or incomplete ({error})") from None
        if MANIFEST not in self._members:
            raise Broken("it is incomplete: it was cut off, or the disk was full when it was made")
        return self._compare(self._room / "manifest")

    def close(self) -> None:
        """Release the temporary files."""
        self._members.close()

    def _extract(self, member: tarfile.TarInfo, place: Callable[[str], Path]) -> None:
        name = member.name
        if member.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or member.issparse():
            raise Broken(f"{name!r} is not a regular file")
        if name in self._members or MANIFEST in self._members:
            raise Broken(f"{name!r} appears twice, or after the end")
        path = self._room / "manifest" if name == MANIFEST else place(_vetted(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            path.chmod(0o600)
            self._copy(member, file)

    def _copy(self, member: tarfile.TarInfo, target: IO[bytes]) -> None:
        content = self._tar.extractfile(member)
        if content is None:
            raise Broken(f"{member.name!r} is not a regular file")
        source = _Hashed(content)
        while piece := source.read(PIECE):
            target.write(piece)
        if source.size != member.size:
            raise Broken("it is incomplete")
        self._members.add(member.name, source.size, source.digest.hexdigest())

    def _compare(self, manifest: Path) -> dict[str, Any]:
        with manifest.open("rb") as lines:
            first = _object(lines.readline(LARGEST_WORDS))
            there = (member for member in self._members if member["name"] != MANIFEST)
            for member in there:
                listed = _object(lines.readline(LARGEST_WORDS))
                if listed != member:
                    raise Broken(f"{member['name']} does not match the manifest: it is damaged or was changed")
            if lines.read(1):
                raise Broken("files that the manifest lists are missing")
        return first


def _vetted(name: str) -> str:
    """The name, if a backup can have it: no name leads out of the directory. Raises Broken."""
    if name in {DATABASE, SECRET}:
        return name
    try:
        vetted(name.removeprefix(FILES) if name.startswith(FILES) else "")
    except ValueError:
        raise Broken(f"{name!r} is not the name of a file that Parley stores") from None
    return name


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _object(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise Broken("its manifest is unreadable")
    return record
