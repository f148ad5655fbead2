"""What the machine can do: instructions of its processor, memory that is left."""

import os
import platform
from pathlib import Path

TOO_SLOW = (
    "too slow: this processor has no AVX2, so Whisper takes longer than people speak;"
    " remove whisper from STT_PROVIDER or move to a newer machine"
)
X86 = ("x86_64", "AMD64", "i686")


def processor_flags() -> str:
    """What Linux says of the processor; empty elsewhere."""
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def unfit(flags: str, machine: str = platform.machine()) -> str | None:
    """Why this processor cannot run Whisper as people speak; None where it can, or where no one knows."""
    if machine not in X86 or "flags" not in flags or "avx2" in flags.split():
        return None
    return TOO_SLOW


def threads(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Half of the cores that this process may use, in a container its share of them."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = (cgroup / "cpu.max").read_text(encoding="ascii").split()
        cores = min(cores, int(quota) // int(period))
    except (OSError, ValueError, ZeroDivisionError):
        pass  # no limit
    return max(1, cores // 2)


def available_memory() -> float:
    """Share of the memory that is available, 0..1; 1 where no one says."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        sizes = {name: int(rest.split()[0]) for name, rest in (line.split(":", 1) for line in lines)}
        return sizes["MemAvailable"] / sizes["MemTotal"]
    except (OSError, ValueError, KeyError, IndexError, ZeroDivisionError):
        return 1.0
