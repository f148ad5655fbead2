"""Recognises errors caused by a lack of memory, which are often not MemoryErrors but come from inside libraries."""

import errno

NO_MEMORY = "The worker ran out of memory. Try again, or ask your operator to give it more."


def is_starved(error: BaseException | None) -> bool:
    """Whether ``error`` or one of its causes means that there was no memory, for example to start a thread."""
    while error is not None:
        text = str(error).lower()
        if (
            isinstance(error, MemoryError | SystemError)  # SystemError: Python itself ran out of memory
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or (isinstance(error, ImportError) and ("memory" in text or "failed to map" in text))
            or (isinstance(error, RuntimeError) and "start new thread" in text)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False
