"""A call to the language model that can be given up while its server still works on it."""

import threading
from collections.abc import Callable

from app.core.errors import GatewayError


class GivenUp(GatewayError):
    """No one waits for this call any more."""

    def __init__(self) -> None:
        super().__init__("the call was given up", retryable=False)


class Call:
    """Ends its connection when it is given up, so that the server stops writing what no one reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self._is_given_up = False

    def connected(self, end: Callable[[], None]) -> None:
        """``end`` ends its connection, from any thread."""
        with self._lock:
            self._end = end
        if self.is_given_up():
            end()

    def give_up(self) -> None:
        """No one waits for it any more."""
        with self._lock:
            self._is_given_up, end = True, self._end
        if end is not None:
            end()

    def is_given_up(self) -> bool:
        """Whether that has happened, as it may at any time."""
        return self._is_given_up
