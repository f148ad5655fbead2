"""Wraps gateways so that slow work inside a transaction fails the test that did it."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from flask import has_app_context

from app.core.db import db
from app.gateways import Gateways

QUICK = {
    "supports",
    "close",
    "open",
    "size",
    "list",
    "feed",
    "partial",
    "prepare",
    "drop",
    "improves",
    "is_demonstration",
    "check_form",
    "identity",
}
"""Calls that only look, or hand over and return at once."""


class Guarded:
    """Stands before one gateway."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name.startswith("_") or name in QUICK or not callable(found):
            return found
        return _watched(found, f"{type(self._inner).__name__}.{name}")


def _watched(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    def watched(*args: Any, **kwargs: Any) -> Any:
        if has_app_context() and db.session.registry.has() and db.session().in_transaction():
            raise AssertionError(f"{name} was called while a transaction was open")
        return call(*args, **kwargs)

    return watched


def guarded(gateways: Gateways) -> Gateways:
    return Gateways(**{part.name: Guarded(getattr(gateways, part.name)) for part in fields(gateways)})
