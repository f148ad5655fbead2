"""Errors on the way to a customer's URL."""


class Unreachable(Exception):
    """No usable answer. ``kind`` is the error class for the log; ``address`` is the IP address, if it got that far.

    It is deliberately no OSError: libraries catch those and try another way.
    """

    def __init__(self, kind: str, message: str, *, address: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.address = address

    @property
    def refused(self) -> bool:
        """Whether Parley's own guard refused, so that nothing was sent."""
        return self.kind == "forbidden_address"
