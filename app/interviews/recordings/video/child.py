"""The decoding process: reads one order from standard input, writes numbers in JSON to standard output, and ends.

It limits itself before it reads a byte of a recording, and it ends with the process that started it.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from typing import Any

_CLONE_NEWUSER, _CLONE_NEWNET, _PR_SET_PDEATHSIG = 0x10000000, 0x40000000, 1


def confine(limits: dict[str, Any]) -> bool:
    """Limit memory, CPU and file size; end with the parent; drop the network.

    Returns False where the kernel did not allow the last one, as in most containers.
    """
    for kind, value in (
        (resource.RLIMIT_AS, int(limits["memory"])),
        (resource.RLIMIT_CPU, int(limits["cpu_seconds"])),
        (resource.RLIMIT_FSIZE, int(limits["file_size"])),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        _soft, hard = resource.getrlimit(kind)
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (wanted, wanted))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write then fails with an error that can be reported
    is_cut_off = False
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        is_cut_off = any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))
    return is_cut_off


def main() -> None:
    parent = os.getppid()
    order = json.load(sys.stdin)
    is_cut_off = confine(order["limits"])
    if os.getppid() != parent:
        return
    json.dump({"is_cut_off": is_cut_off} if order["work"] == "confine" else _obey(order), sys.stdout)


def _obey(order: dict[str, Any]) -> dict[str, Any]:
    from app.interviews.recordings.video import drawing, joining, listening  # libraries are loaded under the limits
    from app.interviews.recordings.video.tracks import Undecodable

    work = {
        "measure": joining.measure,
        "assemble": joining.assemble,
        "copy": joining.copy,
        "place": listening.place,
        "peaks": drawing.peaks,
    }[order["work"]]
    try:
        return work(order)
    except Undecodable as error:
        return {"error": str(error), "retryable": False}
    except MemoryError:
        return {"error": "decoding the recording needs too much memory", "retryable": False}
    except OSError as error:  # PyAV's errors are of this kind too
        full = error.errno in {28, 122}
        return {"error": f"the recording could not be written or read ({type(error).__name__})", "retryable": full}
    except ValueError as error:
        return {"error": f"the recording could not be decoded ({type(error).__name__})", "retryable": False}


if __name__ == "__main__":
    main()
