"""The one way to addresses that customers gave. Engines, storage and mail, which operators choose, do not come here."""

from app.gateways.outbound.client import Answer, Fetched, FetchLimits, Outbound, SendLimits
from app.gateways.outbound.errors import Unreachable
from app.gateways.outbound.target import read


def check_form(url: str, *, http_allowed: bool) -> None:
    """Whether ``url`` has the form of an address that may be kept. Raises Rejected with the reason."""
    read(url, http_allowed=http_allowed)


__all__ = ["Answer", "FetchLimits", "Fetched", "Outbound", "SendLimits", "Unreachable", "check_form"]
