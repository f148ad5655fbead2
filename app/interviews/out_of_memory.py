"""How a lack of memory shows: seldom as a MemoryError where it happens, often from deep inside of libraries."""

import errno

NO_MEMORY = "The worker had too little memory for this interview. Try again, or ask the operator for more."


def is_starved(error: BaseException | None) -> bool:
    """Whether ``error``, or what led to it, says that there was no memory: to load a library or start a thread, say."""
    while error is not None:
        text = str(error).lower()
        if (
            isinstance(error, MemoryError | SystemError)  # the latter: Python itself ran out in the middle of something
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or (isinstance(error, ImportError) and ("memory" in text or "failed to map" in text))
            or (isinstance(error, RuntimeError) and "start new thread" in text)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False
