"""Answers a request again when PostgreSQL ended its transaction for the sake of another one: a deadlock.

The one who is ended has done nothing wrong, and a moment later nothing stands in the way. So the view runs again, at
most three times, after a pause that differs from the other one's, on a session as it came. Only while nothing of it was
committed, and only where what was sent can be read once more: JSON and forms without files. Else the answer is 503.
"""

import logging
import random
import time
from collections.abc import Callable
from typing import Any

from flask import Flask, g, has_request_context, request, session
from flask.globals import request_ctx
from flask.typing import ResponseReturnValue
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.core.db import db
from app.web.url_rules import LazyRule

log = logging.getLogger(__name__)

MOST = 3
PAUSE_SECONDS = 0.05
"""At most so long before the first repeat, twice as long before each further one."""
_COMMITTED = "parley.committed"
_FORMS = {"application/x-www-form-urlencoded", "multipart/form-data"}


class Application(Flask):
    """Flask, whose views may run again."""

    url_rule_class = LazyRule

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """As it is: no view, guard or hook here is a coroutine, and looking took 3 % of a small answer."""
        return func

    def dispatch_request(self) -> ResponseReturnValue:
        """As usual, up to four times."""
        request.environ.pop(_COMMITTED, None)  # what a guard committed is done, and no part of the view
        promised = len(request_ctx._after_request_functions)  # noqa: SLF001 - Flask has no other way to them
        for repeats in range(MOST):
            try:
                return super().dispatch_request()
            except DBAPIError as error:
                if not _may_repeat(error):
                    raise
                log.info("%s: retrying the view", type(error.orig).__name__)
            db.session.rollback()
            del request_ctx._after_request_functions[promised:]  # noqa: SLF001 - as above
            self._forget_session()
            time.sleep(random.uniform(0.2, 1.0) * PAUSE_SECONDS * 2**repeats)  # noqa: S311 - parts two who collided
        return super().dispatch_request()

    def _forget_session(self) -> None:
        """What the view did to the cookie's session: as signed in, with a sentence to show, or emptied."""
        session.clear()
        # nosemgrep: unsealed-in-session - what the browser has sent itself
        session.update(self.session_interface.open_session(self, request) or {})
        request_ctx.flashes = None
        g.pop("csrf_token", None)  # of the session before


_ENDED_FOR_OTHERS = {"40P01", "40001"}
"""SQLSTATE of PostgreSQL: deadlock detected, serialization failure."""


def _may_repeat(error: DBAPIError) -> bool:
    ended = getattr(error.orig, "sqlstate", None) in _ENDED_FOR_OTHERS
    return ended and _COMMITTED not in request.environ and _can_be_read_again()


def _can_be_read_again() -> bool:
    if not request.content_length and "Transfer-Encoding" not in request.headers:
        return True
    if request.is_json:
        return len(request.get_data()) == request.content_length  # nothing is left where it was read as a stream
    return request.mimetype in _FORMS and "form" in vars(request) and not request.files


@event.listens_for(Session, "after_commit")
def _note_commit(own: Session) -> None:
    if has_request_context() and not own.in_nested_transaction():
        request.environ[_COMMITTED] = True
