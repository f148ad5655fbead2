"""Engine processes live and die with whoever needs them."""

import os
import platform
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines import child_process
from app.gateways.speech.engines.children import ChildFailed, Children

ECHO = """
import os, sys, time
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[1]))
while True:
    try:
        number, what, *rest = connection.recv()
    except EOFError:
        break
    if what == "die":
        os._exit(1)
    if what == "sleep":
        time.sleep(60)
    if what == "take over":
        class Order:
            def __reduce__(self):
                return os.mkdir, (rest[0],)
        rest = [Order()]
    if what == "environment":
        rest = sorted(os.environ)
    connection.send((number, "no" if what == "fail" else None, [os.getpid(), *rest]))
"""


@pytest.fixture
def program(tmp_path) -> Path:
    path = tmp_path / "echo.py"
    path.write_text(ECHO)
    return path


@pytest.fixture
def children(program):
    made = Children(program)
    yield made
    made.close()


def gone(pid: int, patience: float = 10.0) -> bool:
    """Whether a process has ended; waits for it."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_one_child_serves_many_calls_and_starts_only_when_needed(children):
    assert children.pids() == []
    answers = [children.call("say", number, timeout=10) for number in range(5)]
    assert {pid for pid, _ in answers} == set(children.pids())
    assert [number for _, number in answers] == list(range(5))


def test_no_secret_of_ours_reaches_the_engine(children, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "x" * 32)
    _pid, *names = children.call("environment", timeout=10)
    assert set(names) <= {"PATH", "LD_LIBRARY_PATH", "TMPDIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LC_CTYPE"}


def test_an_engine_cannot_make_us_run_anything(children, tmp_path):
    with pytest.raises(GatewayError):
        children.call("take over", str(tmp_path / "made"), timeout=10)
    assert not (tmp_path / "made").exists()
    assert children.call("say", 1, timeout=10)[1] == 1


def test_a_refusal_of_the_engine_reaches_the_caller(children):
    with pytest.raises(ChildFailed, match="no"):
        children.call("fail", timeout=10)


def test_a_child_killed_between_calls_is_replaced(children):
    before, _ = children.call("say", 1, timeout=10)
    os.kill(before, signal.SIGKILL)
    after, _ = children.call("say", 2, timeout=10)
    assert after != before


def test_a_call_that_kills_every_child_fails_and_may_be_tried_again(children):
    with pytest.raises(GatewayError, match="stopped unexpectedly twice") as failure:
        children.call("die", timeout=10)
    assert failure.value.retryable
    assert children.call("say", 1, timeout=10)[1] == 1


def test_a_stuck_child_is_ended_when_its_time_is_over(children):
    pid, _ = children.call("say", 1, timeout=10)
    with pytest.raises(GatewayError, match="within 1 s"):
        children.call("sleep", timeout=1)
    assert gone(pid)
    assert children.call("say", 3, timeout=10)[1] == 3


def test_close_ends_the_processes_and_refuses_more(program):
    children = Children(program)
    pid, _ = children.call("say", 1, timeout=10)
    children.close()
    assert gone(pid)
    with pytest.raises(GatewayError, match="closed"):
        children.call("say", 1, timeout=10)


def test_a_program_that_cannot_start_is_a_gateway_error(tmp_path):
    children = Children(tmp_path / "missing.py")
    with pytest.raises(GatewayError, match="stopped unexpectedly twice"):
        children.call("say", timeout=10)
    children.close()


HOST = """
import os, sys, time
from app.gateways.speech.engines.espeak import EspeakSpeaker
speaker, other = EspeakSpeaker(), EspeakSpeaker()
for one in (speaker, other):
    one.speak("hello", voice_id=None, language="en-US")
if {forked}:
    pid = os.fork()
    if pid == 0:
        speaker.speak("hello", voice_id=None, language="en-US")
        print(*speaker.pids(), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
print(*speaker.pids(), *other.pids(), flush=True)
time.sleep(60)
"""


def start(*, forked: bool) -> subprocess.Popen:
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOST.format(forked=forked))], cwd=root, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_engine_processes_end_with_their_parent_however_it_ends(way):
    with start(forked=False) as host:
        pids = [int(pid) for pid in host.stdout.readline().split()]
        assert len(pids) == 2
        host.send_signal(way)
        host.wait(10)
        assert all(gone(pid) for pid in pids)


def test_a_forked_worker_uses_a_process_of_its_own():
    with start(forked=True) as host:
        inner = host.stdout.readline().split()
        outer = host.stdout.readline().split()
        host.kill()
        host.wait(10)
    assert len(inner) == 1
    assert len(outer) == 2
    assert inner[0] not in outer
    assert all(gone(int(pid)) for pid in [*inner, *outer])


HOARD = """
import runpy, sys
from pathlib import Path

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

trim_memory = runpy.run_path(sys.argv[1])["trim_memory"]
hoard = [bytearray(100_000) for _ in range(1_000)]
hoard[:-1] = []
kept = resident()
trim_memory()
print(kept - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps freed memory and can give it back")
def test_freed_memory_goes_back_to_the_system():
    command = [sys.executable, "-c", HOARD, child_process.__file__]
    given_back = int(subprocess.run(command, check=True, capture_output=True).stdout)
    assert given_back > 50_000_000
