"""``parley up``: the one command, from an empty directory to a running platform and back to silence."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import requests

from app.gateways.speech.engines.pocketsphinx import is_installed
from tests.faults.processes import descendants, is_running

from .conftest import PYTHON, ROOT, Start, a_free_port, answers, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform")]


def _environment(tmp_path: Path, port: int) -> dict[str, str]:
    return {
        "DATA_DIR": str(tmp_path / "data"),
        "PORT": str(port),
        "STT_PROCESSES": "1",
        "DATABASE_URL": "",
        "REDIS_URL": "",
    }


def _cli(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [str(PYTHON), "-m", "app.operations.cli", *arguments]
    return subprocess.run(command, env={**os.environ, **env}, cwd=ROOT, capture_output=True, text=True, check=False)


def _found(env: dict[str, str], name: str = "First") -> dict[str, str]:
    made = _cli(
        "org",
        "create",
        name,
        "--team",
        "One",
        "--admin-email",
        f"admin@{name.lower()}.example",
        "--admin-password",
        "a long enough password",
        "--json",
        env=env,
    )
    assert made.returncode == 0, made.stderr
    return dict(json.loads(made.stdout))


def test_from_an_empty_directory_to_a_running_platform_and_back(parley: Start, tmp_path: Path) -> None:
    port = a_free_port()
    env, url, log = _environment(tmp_path, port), f"http://127.0.0.1:{port}", tmp_path / "up.log"
    process = parley("up", env=env, name="up")
    wait_until(lambda: answers(f"{url}/healthz"), seconds=60, what="the platform serves")
    wait_until(lambda: answers(f"{url}/readyz"), seconds=60, what="the platform is ready")
    wait_until(lambda: "/setup/" in log.read_text(), seconds=30, what="the set-up address is printed")
    setup = re.search(r"http\S+/setup/\S+", log.read_text())
    assert setup
    assert requests.get(setup.group(), timeout=10).status_code == 200

    made = _found(env)
    assert set(made) == {"organization_id", "team_id", "member_id", "api_key"}
    assert requests.get(setup.group(), timeout=10).status_code in {404, 410}, (
        "the set-up address outlived the first organization"
    )
    second = _found(env, "Second")
    assert second["organization_id"] != made["organization_id"]
    ping = requests.get(f"{url}/v1/ping", headers={"Authorization": f"Bearer {made['api_key']}"}, timeout=10)
    assert ping.json() == {"message": "pong"}

    family = descendants(process.pid)
    assert len(family) >= 3
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=40) == 0
    wait_until(lambda: not [pid for pid in family if is_running(pid)], seconds=15, what="no process is left")

    again = parley("up", env=env, name="again")
    wait_until(lambda: answers(f"{url}/readyz"), seconds=60, what="the second start is ready")
    assert "/setup/" not in (tmp_path / "again.log").read_text()
    ping = requests.get(f"{url}/v1/ping", headers={"Authorization": f"Bearer {made['api_key']}"}, timeout=10)
    assert ping.status_code == 200
    again.send_signal(signal.SIGTERM)
    assert again.wait(timeout=40) == 0


def test_a_port_in_use_is_named(parley: Start, tmp_path: Path) -> None:
    port = a_free_port()
    first = parley("up", env=_environment(tmp_path / "one", port), name="first")
    wait_until(lambda: answers(f"http://127.0.0.1:{port}/healthz"), seconds=60, what="the first serves")
    second = parley("up", env=_environment(tmp_path / "two", port), name="second")
    assert second.wait(timeout=60) != 0
    assert "PORT" in (tmp_path / "second.log").read_text()
    assert answers(f"http://127.0.0.1:{port}/healthz")
    first.send_signal(signal.SIGTERM)
    assert first.wait(timeout=40) == 0


def test_wrong_settings_are_all_named(tmp_path: Path) -> None:
    wrong = {**_environment(tmp_path, 8000), "LOG_LEVEL": "loud", "SWEEP_SECONDS": "never"}
    refused = _cli("web", env=wrong)
    assert refused.returncode != 0
    assert "LOG_LEVEL" in refused.stderr
    assert "SWEEP_SECONDS" in refused.stderr


@pytest.mark.parametrize("recognition", [{}, {"STT_PROVIDER": "none"}], ids=["as it is", "without recognition"])
def test_the_demo_holds_against_a_running_platform(parley: Start, tmp_path: Path, recognition: dict[str, str]) -> None:
    port = a_free_port()
    env = {**_environment(tmp_path, port), **recognition}
    parley("up", env=env, name="up")
    wait_until(lambda: answers(f"http://127.0.0.1:{port}/readyz"), seconds=60, what="the platform is ready")
    told = _cli("demo", env=env)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "already running" in told.stdout
    assert "FAIL" not in told.stdout
    is_typed = bool(recognition) or not is_installed()
    assert ("the candidate types the answers" in told.stdout) is is_typed
    assert ("every answer is in the transcript as it was typed" in told.stdout) is is_typed
    assert ("word times never run backwards" in told.stdout) is not is_typed


def _open_below(folder: Path) -> list[str]:
    return [str(path) for path in [folder, *folder.rglob("*")] if path.lstat().st_mode & 0o077]


def test_nothing_below_the_data_directory_can_be_read_by_other_users(parley: Start, tmp_path: Path) -> None:
    port = a_free_port()
    env, data = _environment(tmp_path, port), tmp_path / "data"
    (data / "files" / "old").mkdir(parents=True)
    (data / "files" / "old" / "sound").write_bytes(b"left by a release that wrote for everyone")
    for path in [data, *data.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    before = json.loads(_cli("check", "--json", env=env).stdout)["parts"]["data directory"]
    assert not before["ok"]
    assert f"chmod -R go= {data}" in before["words"]

    process = parley("up", env=env, name="up")
    wait_until(lambda: answers(f"http://127.0.0.1:{port}/readyz"), seconds=60, what="the platform is ready")
    _found(env)
    assert (data / "parley.db").exists()
    assert _open_below(data) == []
    after = json.loads(_cli("check", "--json", env=env).stdout)["parts"]["data directory"]
    assert after == {"ok": True, "words": f"only its owner can open {data}"}
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=40) == 0
    assert _open_below(data) == []


def test_a_second_up_on_one_directory_is_refused_until_the_first_is_gone(parley: Start, tmp_path: Path) -> None:
    ports = [a_free_port() for _ in range(3)]
    env = {port: _environment(tmp_path, port) for port in ports}
    first = parley("up", env=env[ports[0]], name="first")
    wait_until(lambda: answers(f"http://127.0.0.1:{ports[0]}/readyz"), seconds=60, what="the first is ready")

    second = parley("up", env=env[ports[1]], name="second")
    assert second.wait(timeout=60) == 1
    said = (tmp_path / "second.log").read_text()
    assert f"Another parley up or parley restore (process {first.pid}) is using {tmp_path / 'data'}." in said
    assert "To add capacity" in said
    assert "Traceback" not in said
    restored = _cli("restore", str(tmp_path / "first.log"), env={**env[ports[1]], "REDIS_URL": "redis://127.0.0.1:1"})
    assert f"Another parley up or parley restore (process {first.pid}) is using" in restored.stderr
    assert "To add capacity" not in restored.stderr

    parley("web", env=env[ports[1]], name="web")
    wait_until(lambda: answers(f"http://127.0.0.1:{ports[1]}/readyz"), seconds=60, what="a web process beside it")
    assert answers(f"http://127.0.0.1:{ports[0]}/readyz")

    first.kill()
    first.wait(timeout=10)
    third = parley("up", env=env[ports[2]], name="third")
    wait_until(lambda: answers(f"http://127.0.0.1:{ports[2]}/readyz"), seconds=60, what="the next one is ready")
    third.send_signal(signal.SIGTERM)
    assert third.wait(timeout=40) == 0


def test_a_disk_that_is_full_at_the_first_start_ends_it_with_a_sentence(tmp_path: Path) -> None:
    env = {**os.environ, **_environment(tmp_path, a_free_port())}
    small = tmp_path / "data"
    small.mkdir()
    # Nothing of the mount is seen, or left, outside the namespace.
    steps = 'mount -t tmpfs -o size=300k none "$1" && shift && exec "$@"'
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c", steps, "-", str(small)]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a small disk needs Linux' namespaces of mounts and users")
    command = [*inside, str(PYTHON), "-m", "app.operations.cli", "up"]
    refused = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "disk is full" in refused.stderr
    assert "Traceback" not in refused.stderr
