"""Servers and processes of a real installation, each started by the test and ended by its own process id."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from app.gateways.redis import embedded
from tests import leftovers

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(sys.executable)
Start = Callable[..., subprocess.Popen[bytes]]


def a_free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until(holds: Callable[[], object], *, seconds: float, what: str) -> None:
    """Poll until ``holds()``; the time only bounds a hang, it decides nothing."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {what}")


def answers(url: str, status: int = 200) -> bool:
    try:
        return requests.get(url, timeout=2).status_code == status
    except requests.RequestException:
        return False


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """``start(*command, env={...}, name="…", cwd=…)``; output goes to a file in the test's directory."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(
        *command: str, env: dict[str, str] | None = None, name: str = "process", cwd: Path = ROOT
    ) -> subprocess.Popen[bytes]:
        with (tmp_path / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, env={**os.environ, **(env or {})}, stdout=log, stderr=log, cwd=cwd)
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in started:
        leftovers.end(process, seconds=30)


@pytest.fixture
def parley(start: Start) -> Start:
    """``parley("web", env=…)`` starts a command of the product."""
    return lambda *arguments, **options: start(str(PYTHON), "-m", "app.operations.cli", *arguments, **options)


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """A PostgreSQL server: the one of DATABASE_URL, or one of our own where the programs are installed."""
    from tests.conftest import GIVEN_URL, postgresql_database

    if GIVEN_URL:
        with postgresql_database() as url:
            yield url.replace("postgresql+psycopg://", "postgresql://")
        return
    if not Path("/usr/lib/postgresql").is_dir():
        pytest.skip("no PostgreSQL here: apt-get install postgresql, or set DATABASE_URL")
    directory = tempfile.mkdtemp(prefix="parley-pg-", dir="/tmp")
    Path(directory).chmod(0o755)
    port = a_free_port()
    subprocess.run([ROOT / ".ci" / "postgresql", "start", directory, str(port)], check=True)
    yield f"postgresql://parley@127.0.0.1:{port}/postgres"
    subprocess.run([ROOT / ".ci" / "postgresql", "stop", directory], check=True)
    subprocess.run(["rm", "-rf", directory], check=True)


@pytest.fixture
def redis_url(start: Start, tmp_path: Path) -> str:
    """A Redis server on a port of its own."""
    port = a_free_port()
    start(str(embedded.binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path), name="redis")
    wait_until(lambda: listens(port), seconds=20, what="Redis answers")
    return f"redis://127.0.0.1:{port}/0"


@pytest.fixture
def s3(start: Start) -> dict[str, str]:
    """Settings of an S3 endpoint with one bucket."""
    port = a_free_port()
    endpoint = f"http://127.0.0.1:{port}"
    start(str(PYTHON.with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port), name="s3")
    wait_until(lambda: answers(f"{endpoint}/moto-api/data.json"), seconds=60, what="the S3 endpoint answers")
    requests.put(f"{endpoint}/recordings", timeout=10).raise_for_status()
    return {
        "STORAGE_URL": "s3://recordings/parley",
        "S3_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
