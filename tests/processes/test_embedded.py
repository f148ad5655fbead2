"""A real Redis without being asked for: kept, reused, ended with its parent, and found again after it was killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from redis import Redis

from app.gateways.redis.embedded import (
    EmbeddedRedis,
    NoServer,
    binary_path,
    found_alive,
    found_or_started,
    socket_path,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def server(tmp_path):
    redis = EmbeddedRedis(tmp_path)
    yield redis
    redis.stop()


def is_gone(pid: int) -> bool:
    """Whether the process has ended (a zombie that nobody has waited for has ended, too)."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_the_wheel_carries_a_server_that_runs():
    answer = subprocess.run([binary_path(), "--version"], capture_output=True, text=True, check=True)
    assert "server" in answer.stdout.lower() or "valkey" in answer.stdout.lower()


def test_it_evicts_nothing_and_keeps_no_file(server, tmp_path):
    client = Redis.from_url(server.start())
    settings = client.config_get("*")
    assert settings["appendonly"] == "no"
    assert settings["save"] == ""
    assert settings["maxmemory-policy"] == "noeviction"
    assert settings["port"] == "0"
    client.close()
    server.stop()
    assert {path.name for path in (tmp_path / "redis").iterdir()} <= {"lock", "server.log"}


def test_only_this_user_can_reach_it(server, tmp_path):
    server.start()
    path = socket_path(tmp_path)
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_a_live_one_is_used_again_and_left_alone(server, tmp_path):
    server.start()
    second = EmbeddedRedis(tmp_path)
    assert second.start() == server.url
    assert second.pid is None
    second.stop()
    assert server.is_alive()


def test_after_kill_9_it_starts_again_empty(server):
    client = Redis.from_url(server.start())
    client.set("a wake-up", "yes")
    os.kill(server.pid, signal.SIGKILL)
    assert is_gone(server.pid)
    assert server.keep_alive() is True
    assert client.dbsize() == 0
    assert server.keep_alive() is False
    client.close()


def test_files_of_former_releases_stop_no_start_and_are_removed(server, tmp_path):
    redis = tmp_path / "redis"
    (redis / "appendonlydir").mkdir(parents=True)
    (redis / "appendonlydir" / "appendonly.aof.manifest").write_text("file appendonly.aof.1.incr.aof seq 1 type i\n")
    (redis / "appendonlydir" / "appendonly.aof.1.incr.aof").write_bytes(os.urandom(2_000))
    (redis / "dump.rdb").write_bytes(os.urandom(2_000))
    client = Redis.from_url(server.start())
    assert client.dbsize() == 0
    client.close()
    assert not (redis / "appendonlydir").exists()
    assert not (redis / "dump.rdb").exists()


def test_it_ends_when_its_parent_is_killed(tmp_path):
    program = (
        "import sys, time; from app.gateways.redis.embedded import EmbeddedRedis; from pathlib import Path\n"
        "server = EmbeddedRedis(Path(sys.argv[1])); server.start(); print(server.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert is_gone(pid)
    assert found_alive(tmp_path, "") == ""


def test_a_long_data_directory_gets_a_short_socket(tmp_path):
    deep = tmp_path / ("a" * 60) / ("b" * 60)
    path = socket_path(deep)
    assert len(os.fsencode(path)) <= 103
    assert path == socket_path(deep)
    assert path != socket_path(tmp_path / ("a" * 60) / ("c" * 60))
    server = EmbeddedRedis(deep)
    try:
        client = Redis.from_url(server.start())
        assert client.ping()
        client.close()
    finally:
        server.stop()
        path.unlink(missing_ok=True)
        path.parent.rmdir()


def test_a_data_directory_with_strange_letters_works(tmp_path):
    server = EmbeddedRedis(tmp_path / "with space %41 ü")
    try:
        client = Redis.from_url(server.start())
        assert client.ping()
        client.close()
    finally:
        server.stop()


def test_a_server_that_does_not_start_says_why(tmp_path):
    with pytest.raises(NoServer, match="cannot be started"):
        EmbeddedRedis(tmp_path, program="/nonexistent/redis").start()
    with pytest.raises(NoServer, match="did not start"):
        EmbeddedRedis(tmp_path, program="/bin/false").start()


def test_a_given_address_is_left_as_it_is(tmp_path):
    assert found_or_started(tmp_path, "redis://elsewhere:6379/0") == ("redis://elsewhere:6379/0", None)
    assert found_alive(tmp_path, "redis://elsewhere:6379/0") == "redis://elsewhere:6379/0"


def test_an_embedded_one_is_found_by_other_processes(server, tmp_path):
    assert found_alive(tmp_path, "") == ""
    server.start()
    assert found_alive(tmp_path, "") == server.url
