"""The client for TypeScript, installed from its tarball, and the application on a socket that its tests call."""

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from app.core.db import db, row_security
from app.interviews import actions
from app.interviews.jobs import processing
from app.interviews.models import Interview
from tests.contract.test_openapi import GOLDEN
from tests.interviews.conftest import engines_of, say
from tests.interviews.fakes import ScriptedAnalyst, ScriptedTranscriber
from tests.people import person

HERE = Path(__file__).parent
TOOLS = HERE.parent / "node_modules"
ROOT = HERE.parents[2]
CLIENT = ROOT / "clients" / "typescript"
COMPILER = {
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "target": "es2022",
    "lib": ["es2022", "dom", "dom.iterable", "esnext.disposable"],
    "module": "nodenext",
    "types": ["node"],
    "outDir": "built",
    "rootDir": ".",
}


def run(*words: object, at: Path, **environment: str) -> str:
    """Standard output of a program that has to succeed."""
    path = f"{TOOLS / '.bin'}:{Path(str(shutil.which('node'))).parent}:/usr/bin:/bin"
    done = subprocess.run(
        [str(word) for word in words],
        cwd=at,
        env={"PATH": path, "HOME": str(at), "npm_config_cache": str(at / ".npm"), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tarball of the client, built as it is published."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "clients" / "typescript"
    shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns("dist", "node_modules", "*.tgz"))
    (folder / "tests" / "clients").mkdir(parents=True)
    (folder / "tests" / "clients" / "node_modules").symlink_to(TOOLS)
    (told,) = json.loads(run("npm", "pack", "--json", at=source))
    return source / str(told["filename"])


@pytest.fixture(scope="session")
def workshop(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has installed the tarball: tests, examples and the programs of README and guide, compiled."""
    folder = tmp_path_factory.mktemp("workshop")
    (folder / "package.json").write_text('{"type": "module"}')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", package, at=folder)
    for tool in ("express", "standardwebhooks", "@types"):
        (folder / "node_modules" / tool).symlink_to(TOOLS / tool)
    for source in HERE.glob("*.ts"):
        shutil.copy(source, folder)
    shutil.copytree(CLIENT / "examples", folder / "examples")
    (folder / "guides").mkdir()
    for name, document in {"readme": CLIENT / "README.md", "guide": ROOT / "docs" / "api.md"}.items():
        for number, block in enumerate(blocks_of(document)):
            (folder / "guides" / f"{name}-{number}.ts").write_text(block)
    run(TOOLS / ".bin" / "openapi-typescript", GOLDEN, "-o", "v1.ts", at=folder)
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": COMPILER}))
    run("tsc", at=folder)
    return folder


def blocks_of(document: Path) -> list[str]:
    """The programs in TypeScript of a document."""
    return re.findall(r"^```ts\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


class Control:
    """What tests in Node need beside ``/v1``: organizations of their own, and candidates."""

    def __init__(self, app: Flask) -> None:
        self.app, self.made = app, 0

    def organization(self) -> dict[str, str]:
        self.made += 1
        owner = person(self.app, f"owner@n{self.made}.example", organization=f"Number {self.made} Ltd", role="admin")
        return {"key": owner.key, "team_id": owner.team.id}

    def complete(self, interview_id: str) -> dict[str, str]:
        interview = db.session.get_one(Interview, interview_id)
        actions.begin(interview)
        say(interview)
        actions.submit(interview)
        db.session.commit()
        with engines_of(self.app, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst()):
            processing.process_interview(interview_id)
        return {}

    def __call__(self, environ: Any, start: Any) -> Any:
        """A WSGI application: ``POST /organization`` and ``POST /complete/<id>``."""
        name, *rest = Request(environ).path.strip("/").split("/")
        with self.app.app_context(), row_security.everyone():
            told = self.organization() if name == "organization" else self.complete(*rest)
            db.session.commit()
        return Response(json.dumps(told), mimetype="application/json")(environ, start)


def _on_a_socket(application: Any, stack: ExitStack) -> str:
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for end in (server.server_close, thread.join, server.shutdown):
        stack.callback(end)
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def environment(own_app: Flask) -> Iterator[dict[str, str]]:
    """The application on a socket, as the tests in Node find it."""
    with ExitStack() as stack:
        yield {
            "PARLEY_URL": _on_a_socket(own_app, stack),
            "PARLEY_CONTROL": _on_a_socket(Control(own_app), stack),
            "PARLEY_OPENAPI": str(GOLDEN),
            "PARLEY_VECTORS": str(ROOT / "clients" / "vectors.json"),
        }
