"""The only way to URLs that customers enter. Servers that operators choose (engines, storage, mail) do not use it."""

from typing import TYPE_CHECKING

from app.gateways.outbound.errors import Unreachable
from app.gateways.outbound.target import read
from app.gateways.outbound.values import Answer, Fetched, FetchLimits, SendLimits

if TYPE_CHECKING:
    from app.gateways.outbound.client import Outbound


def check_form(url: str, *, http_allowed: bool) -> None:
    """Check that ``url`` has a form that may be stored. Raises Rejected with the reason."""
    read(url, http_allowed=http_allowed)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load the client on first use: aiohttp takes a tenth of a second and 15 MB."""
        if name == "Outbound":
            from app.gateways.outbound.client import Outbound

            return Outbound
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Answer", "FetchLimits", "Fetched", "Outbound", "SendLimits", "Unreachable", "check_form"]
