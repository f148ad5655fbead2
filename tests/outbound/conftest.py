"""Clients for customers' addresses, with limits that fit a test."""

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.gateways.outbound import Outbound, SendLimits
from app.settings import Settings

from .receiver import Receiver

Make = Callable[..., Outbound]
TRUSTED = ssl.create_default_context()


@pytest.fixture
def make_client(tmp_path: Path) -> Make:
    """``make_client(names={…}, limits=…, tls=…, **variables)``; ``names`` maps host names to addresses."""

    def make(
        names: dict[str, list[str]] | None = None,
        limits: SendLimits | None = None,
        tls: ssl.SSLContext | None = None,
        **variables: str,
    ) -> Outbound:
        settings = Settings.from_env({"DATA_DIR": str(tmp_path), "SECRET_KEY": "outbound-" * 5, **variables})

        def lookup(name: str) -> list[str]:
            if name not in (names or {}):
                raise OSError("no such name")
            return (names or {})[name]

        return Outbound(settings, limits=limits, tls=tls or TRUSTED, names=lookup)

    return make


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running
