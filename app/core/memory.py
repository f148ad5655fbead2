"""How much address space threads reserve for memory."""

import contextlib
import ctypes

ARENAS_MOST = -8
"""M_ARENA_MAX of glibc's mallopt(3)."""
FEW = 2


def share_arenas() -> None:
    """Let the threads of this process share two arenas of memory; call it before they start.

    glibc reserves 64 MB of address space for each of up to eight a core, which 32 threads of the web server add up to
    1.6 GB: more than some containers allow. Does nothing with another C library.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(ARENAS_MOST, FEW)
