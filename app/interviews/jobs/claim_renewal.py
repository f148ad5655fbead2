"""Renews a claim from a separate thread while slow work goes on."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from flask import Flask, current_app
from sqlalchemy.exc import SQLAlchemyError

from app.core import claims
from app.core.db import db, row_security

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
RENEWED_EVERY = 10.0
"""Seconds. A worker that does not renew its claim for a whole lease loses it."""


@contextmanager
def renewing(model: type[Any], row_id: str, token: int, *, every: float = RENEWED_EVERY) -> Iterator[None]:
    """Renew the claim ``token`` on the row every ``every`` seconds until the block ends."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - Flask's own way
    over = threading.Event()

    def is_over() -> bool:
        return over.wait(every)

    renew = row_security.as_chosen(lambda: _renew(app, (model, row_id, token), is_over=is_over))
    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _renew(app: Flask, claim: tuple[type[Any], str, int], *, is_over: Callable[[], bool]) -> None:
    model, row_id, token = claim
    while not is_over():
        with app.app_context():
            try:
                is_held = claims.renew(model, row_id, token, lease=LEASE)
                db.session.commit()
            except SQLAlchemyError as error:
                log.warning("%s %s: claim not renewed: %s", model.__tablename__, row_id, type(error).__name__)
                continue
        if not is_held:
            return
