"""What can go wrong on the way to a customer's address."""


class Unreachable(Exception):
    """No usable answer. ``kind`` is the error class of the log; ``address`` is what was connected to, if that far.

    Deliberately no OSError: libraries catch those and try again by another way.
    """

    def __init__(self, kind: str, message: str, *, address: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.address = address

    @property
    def refused(self) -> bool:
        """Whether our own guard said no; nothing was sent then."""
        return self.kind == "forbidden_address"
