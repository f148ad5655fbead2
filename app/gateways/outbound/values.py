"""Limits and results of calls. Separate from the client, because aiohttp takes long to load."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SendLimits:
    """Seconds for connecting (and the name server's share of them), for the whole attempt, and for the body of the
    answer after its headers; bytes of the body.
    """

    connect: float = 5.0
    resolve: float = 2.0
    total: float = 15.0
    body: float = 2.0
    answer_bytes: int = 16_384


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of a download: bytes, seconds in total, and bytes per second (on average, after ``grace`` seconds)."""

    max_bytes: int
    seconds: float
    min_rate: int = 0
    grace: float = 10.0
    connect: float = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A receiver's answer. ``body`` is its beginning; ``too_large`` is true if there was more."""

    status: int
    retry_after: str | None
    body: bytes
    too_large: bool
    address: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A download: the type from the server (lower case, without parameters), bytes, and final URL."""

    content_type: str
    size: int
    url: str
