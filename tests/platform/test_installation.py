"""`.ci/venv`: which Python it takes, and what it leaves behind when something goes wrong half-way."""

import hashlib
import http.server
import io
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "cat", "cksum", "rm", "df", "awk", "tail", "dirname", "mkdir")
BACKEND = """
import zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "parley-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        for file, text in FILES.items():
            wheel.writestr(f"parley-0.1.0.dist-info/{file}", text)
        wheel.writestr("_parley.pth", "/srv/\\u00dcber uns/parley\\n")
    return name
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "parley"
version = "0.1.0"
"""


def described(name: str, version: str) -> dict[str, str]:
    """The files that make an archive a wheel."""
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }


def a_wheel() -> bytes:
    """``oars 1.0``, large enough that half of it is no zip file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as wheel:
        wheel.writestr("oars.py", "# " + "o" * 200_000)
        for file, text in described("oars", "1.0").items():
            wheel.writestr(f"oars-1.0.dist-info/{file}", text)
    return made.getvalue()


@dataclass
class Index:
    """A package index with one wheel, which breaks off in the middle of it while ``is_broken``."""

    url: str
    wheel: bytes
    is_broken: bool = True
    asked: int = 0


@pytest.fixture
def index() -> Iterator[Index]:
    found = Index("", a_wheel())

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            if self.path.endswith(".whl"):
                found.asked += 1
                self.send_header("Content-Length", str(len(found.wheel)))
                self.end_headers()
                self.wfile.write(found.wheel[: len(found.wheel) // 2] if found.is_broken else found.wheel)
                return
            page = b'<!DOCTYPE html><a href="/oars-1.0-py3-none-any.whl">oars-1.0-py3-none-any.whl</a>'
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}/simple"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


@dataclass
class Tree:
    """What `.ci/venv` reads, below a path with a space and an umlaut, and a PATH with nothing but ``programs``."""

    place: Path
    programs: Path
    env: dict[str, str]

    def venv(self, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [".ci/venv"], cwd=self.place, env={**self.env, **env}, capture_output=True, text=True, check=False
        )

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def python(self, name: str, *, version: str = "", lacks: str = "") -> None:
        """This Python under another name: of another ``version``, or one that cannot import ``lacks``."""
        begin = f"import sys; sys.version_info = ({version}); " if version else ""
        begin += f"import sys; sys.modules['{lacks}'] = None; " if lacks else ""
        changed = f'[ "$1" != -c ] || {{ shift; set -- -c "{begin}$1"; }}'
        noted = f'[ "$2" != venv ] || echo {name} >> "{self.place}/taken"'
        self.program(name, f'{changed}\n{noted}\nexec {sys.executable} "$@"')

    @property
    def is_installed(self) -> bool:
        return (self.place / ".venv" / "installed-run").exists()


@pytest.fixture
def tree(tmp_path: Path, index: Index) -> Tree:
    place, programs = tmp_path / "Über uns" / "parley", tmp_path / "programs"
    (place / ".ci").mkdir(parents=True)
    programs.mkdir()
    shutil.copy(ROOT / ".ci" / "venv", place / ".ci" / "venv")
    (place / "requirements.lock").write_text(f"oars==1.0 --hash=sha256:{hashlib.sha256(index.wheel).hexdigest()}\n")
    (place / "pyproject.toml").write_text(PROJECT)
    (place / "backend.py").write_text(f"FILES = {described('parley', '0.1.0')!r}\n{BACKEND}")
    for tool in TOOLS:
        (programs / tool).symlink_to(str(shutil.which(tool)))
    env = {"PATH": str(programs), "PIP_INDEX_URL": index.url, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"}
    return Tree(place, programs, {**env, "PIP_NO_CACHE_DIR": "1", "HOME": str(tmp_path)})


def test_an_index_that_breaks_off_leaves_nothing_that_looks_whole(tree: Tree, index: Index) -> None:
    tree.python("python3.12")
    ended = tree.venv()
    assert ended.returncode == 1
    assert index.asked
    assert not tree.is_installed
    assert "run the same again when the package index answers" in ended.stderr
    index.is_broken = False
    assert tree.venv().returncode == 0
    assert tree.is_installed
    there = tree.place / ".venv" / "bin" / "python"
    assert subprocess.run([there, "-c", "import oars"], check=False).returncode == 0
    assert tree.venv().stdout == ""


def test_python_starts_below_a_path_that_the_locale_cannot_read(tree: Tree, index: Index) -> None:
    """Python 3.11 reads .pth files in the encoding of the locale, and ends at once where it cannot."""
    index.is_broken = False
    tree.python("python3.12")
    assert tree.venv().returncode == 0
    there = tree.place / ".venv" / "bin" / "python"
    asked = [there, "-c", "import sys; print(sys.path[-1])"]
    ended = subprocess.run(asked, env={"LC_ALL": "C"}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, f"{tree.place}\n"), ended.stderr


def test_an_environment_whose_making_was_interrupted_is_made_again(tree: Tree, index: Index) -> None:
    index.is_broken = False
    tree.python("python3.12")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tree.place / ".venv"], check=True)
    ended = tree.venv()
    assert ended.returncode == 0, ended.stderr
    assert "Making .venv" in ended.stdout
    assert tree.is_installed


def test_the_newest_supported_python_that_can_make_environments_is_taken(tree: Tree, index: Index) -> None:
    index.is_broken = False
    tree.python("python3.14", version="3, 14", lacks="ensurepip")
    tree.python("python3.13", version="3, 13")
    tree.python("python3.12", version="3, 12")
    tree.python("python3", version="3, 15")
    tree.program("uv", "exit 1")
    assert tree.venv().returncode == 0
    assert (tree.place / "taken").read_text().split() == ["python3.13"]


def test_a_newer_python_is_taken_where_it_is_named(tree: Tree, index: Index) -> None:
    index.is_broken = False
    tree.python("python3.15", version="3, 15")
    assert tree.venv(PYTHON="python3.15").returncode == 0
    assert (tree.place / "taken").read_text().split() == ["python3.15"]


@pytest.mark.parametrize("found", ["3, 10", "3, 15"])
def test_without_a_supported_python_a_sentence_says_what_to_do(tree: Tree, found: str) -> None:
    tree.python("python3", version=found)
    ended = tree.venv()
    assert ended.returncode == 1
    assert "Parley needs Python 3.11, 3.12, 3.13 or 3.14. Found: Python" in ended.stderr
    assert not (tree.place / ".venv").exists()


def test_a_python_without_the_module_venv_names_the_package(tree: Tree) -> None:
    tree.python("python3", lacks="ensurepip")
    ended = tree.venv()
    assert ended.returncode == 1
    assert "apt-get install python3-venv" in ended.stderr


def test_uv_brings_a_python_where_there_is_none(tree: Tree, index: Index) -> None:
    index.is_broken = False
    asked = tree.place / "asked"
    tree.program("uv", f'echo "$@" >> "{asked}"; [ "$2" != find ] || echo {sys.executable}')
    ended = tree.venv()
    assert ended.returncode == 0, ended.stderr
    assert "uv brings Python 3.14" in ended.stderr
    assert asked.read_text().splitlines() == ["python install 3.14", "python find --managed-python 3.14"]
    assert tree.is_installed


def test_where_uv_cannot_either_the_sentence_follows(tree: Tree) -> None:
    tree.program("uv", "echo no network >&2; exit 1")
    ended = tree.venv()
    assert ended.returncode == 1
    assert "no network" in ended.stderr
    assert "Install one of them, or name it" in ended.stderr
