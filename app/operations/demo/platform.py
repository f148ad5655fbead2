"""Finds the platform that the environment names, or starts one for the demo."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from app.settings import Settings

STARTS_WITHIN = 60.0
STOPS_WITHIN = 40.0


class Stuck(Exception):
    """The demo cannot begin. The message says why."""


@dataclass(frozen=True, slots=True)
class Platform:
    """A running platform and the environment its commands need."""

    url: str
    environment: Mapping[str, str]
    data_dir: Path
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Customer:
    """An organization that was created for the demo."""

    organization_id: str
    api_key: str
    admin_email: str
    admin_password: str


@contextmanager
def running(settings: Settings) -> Iterator[Platform]:
    """The platform at ``APP_URL`` if one answers there, or else a new one in a temporary directory."""
    if _answers(settings.app_url):
        yield Platform(settings.app_url, dict(os.environ), settings.data_dir, is_ours=False)
        return
    port = settings.port if _is_free(settings.port) else _free_port()
    data_dir = settings.data_dir / "demo"
    url = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "HOST": "127.0.0.1", "PORT": str(port), "APP_URL": url, "DATA_DIR": str(data_dir)}
    environment |= {"MODELS": "off", "MODELS_DIR": str(settings.models_dir)}
    for name in ("DATABASE_URL", "REDIS_URL", "STORAGE_URL", "SECRET_KEY"):
        environment.pop(name, None)
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / "platform.log").open("ab") as log:
        process = subprocess.Popen(parley("up"), env=environment, stdout=log, stderr=log)  # noqa: S603 - our own command
        try:
            _wait(url, process)
            yield Platform(url, environment, data_dir, is_ours=True)
        finally:
            _stop(process)


def parley(*arguments: str) -> list[str]:
    """The parley command of this installation."""
    return [sys.executable, "-m", "app.operations.cli", *arguments]


def found_customer(platform: Platform) -> Customer:
    """Create an organization with the same command that an operator uses."""
    tag = secrets.token_hex(3)
    email, password = f"admin-{tag}@example.com", secrets.token_urlsafe(18)
    who = ["--admin-email", email, "--admin-password", "-"]  # not the password: ps shows commands
    command = parley("org", "create", f"Demo {tag}", "--team", "Hiring", *who, "--json")
    environment = dict(platform.environment)
    ended = subprocess.run(  # noqa: S603 - our own
        command, env=environment, input=f"{password}\n", capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        raise Stuck(f"parley org create failed: {ended.stderr.removeprefix('Error: ').strip()}")
    answer = json.loads(ended.stdout)
    return Customer(answer["organization_id"], answer["api_key"], email, password)


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/healthz", timeout=3).status_code == 200
    except requests.RequestException:
        return False


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Stuck("the platform stopped during startup; see platform.log in the demo's directory")
        if _answers(url):
            return
        time.sleep(0.2)
    raise Stuck(f"the platform did not respond at {url} within {STARTS_WITHIN:.0f} s")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
