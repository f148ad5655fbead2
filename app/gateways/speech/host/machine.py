"""What of this machine a speech host may use: its own share where a container or a service limits it."""

import os
from pathlib import Path

from app.gateways.speech.engines.whisper_choice import Machine

_CGROUP = Path("/sys/fs/cgroup")
"""Of this process, as containers see it; without a limit the files are missing or say `max`."""
_UNKNOWN_MB = 2_048
"""Taken for the available memory where the system does not say."""


def this_machine(*, cgroup: Path = _CGROUP, memory: Path = Path("/proc/meminfo")) -> Machine:
    """Cores that may be used, and megabytes of memory that are available now."""
    return Machine(cores=_cores(cgroup), memory_mb=_memory_mb(cgroup, memory))


def _cores(cgroup: Path) -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _read(cgroup / "cpu.max").partition(" ")
    limit = int(quota) / int(period) if quota.isdecimal() and period.isdecimal() and int(period) else usable
    return max(1, min(usable, int(limit)))


def _memory_mb(cgroup: Path, memory: Path) -> int:
    lines = (line.split() for line in _read(memory).splitlines())
    sizes = {line[0]: int(line[1]) for line in lines if len(line) > 1 and line[1].isdecimal()}
    available = sizes.get("MemAvailable:", _UNKNOWN_MB * 1024) // 1024
    limit, used = _read(cgroup / "memory.max"), _read(cgroup / "memory.current")
    if limit.isdecimal() and used.isdecimal():
        available = min(available, (int(limit) - int(used)) // 2**20)
    return max(0, available)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
