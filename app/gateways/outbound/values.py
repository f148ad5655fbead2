"""What a call may cost, and what it answers. Apart from the client, because aiohttp takes long to load."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SendLimits:
    """Seconds for connecting (the name server's share of them), for the whole attempt, and for the answer's body once
    its head is there; bytes of the body.
    """

    connect: float = 5.0
    resolve: float = 2.0
    total: float = 15.0
    body: float = 2.0
    answer_bytes: int = 16_384


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Caps of a download: bytes, seconds in all, and bytes per second (on average, once ``grace`` seconds are over)."""

    max_bytes: int
    seconds: float
    min_rate: int = 0
    grace: float = 10.0
    connect: float = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver said. ``body`` is its beginning; ``too_large`` tells that there was more."""

    status: int
    retry_after: str | None
    body: bytes
    too_large: bool
    address: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was downloaded: the type the server named (in lower case, without parameters), bytes, final address."""

    content_type: str
    size: int
    url: str
