"""How much address space threads reserve for memory, and when Python looks for unreachable objects."""

import contextlib
import ctypes
import gc
from collections.abc import Iterator

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


@contextlib.contextmanager
def without_searches() -> Iterator[None]:
    """Do not look for unreachable objects in this block: nearly all that a start makes stays until the end."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def keep_all() -> None:
    """Never look at the objects that there are now; call it once this process is ready to serve.

    A search through the 200,000 objects of a web process stops all its threads for a tenth of a second or more, again
    and again, and finds nothing there: these objects stay until the process ends.
    """
    gc.collect()
    gc.freeze()
