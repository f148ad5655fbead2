"""Threads of the web server share their arenas of memory."""

import platform
import subprocess
import sys

import pytest

GROWS = """
import threading
from pathlib import Path
from app.core.memory import share_arenas

if {shared}:
    share_arenas()


def size():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmSize"))
    return int(line.split()[1]) // 1024


def hold():
    block = bytearray(100_000)
    ready.wait()
    measured.wait()
    del block


ready, measured = threading.Barrier(17), threading.Event()
threading.stack_size(256 * 1024)
before = size()
threads = [threading.Thread(target=hold) for _ in range(16)]
for thread in threads:
    thread.start()
ready.wait()
print(size() - before)
measured.set()
"""


def grown(*, shared: bool) -> int:
    """By how many MB the address space of a process grows with sixteen threads."""
    script = GROWS.format(shared=shared)
    return int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives threads arenas of their own")
def test_threads_that_share_arenas_reserve_little() -> None:
    assert grown(shared=True) < grown(shared=False) / 2
