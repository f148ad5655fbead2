"""``Idempotency-Key`` on POST: a repeated call gets the first answer again and does nothing twice.

The row is committed before the endpoint runs, and the answer is stored in the transaction that does the work
(``promise``). So even if a process dies between its commit and its answer, the repeat gets that answer and never
creates a second flow or interview. Failures are not stored: they changed nothing, so a repeat simply tries again.
If a process died before its work, the repeat takes the call over. If that process was only slow, its own commit is
then refused (the start time is the fence).
"""

import hashlib
import json
import logging
import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple, NoReturn

import sqlalchemy as sa
from flask import Response, has_request_context, jsonify, request
from flask_smorest import abort
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.accounts.key_scope import EVERYTHING, KeyScope
from app.accounts.models import IdempotentCall
from app.core import clock, encryption
from app.core.db import db, new_id, set_reading, unless_there
from app.core.db.prepared import Prepared
from app.core.errors import Conflict
from app.web.body import BODY_BYTES, Broken, invalid, load_json

log = logging.getLogger(__name__)

KEPT = timedelta(hours=24)
RUNNING = timedelta(seconds=100)
"""After this long without an answer the first call's process counts as dead; waiting for the database takes 30 s."""
FETCHING = timedelta(minutes=5)
"""The same for routes that download and check customers' media, which takes up to 105 s before they are stored."""
FETCH = {"/v1/interview-flows"}
SOON, SOON_AGAIN = timedelta(seconds=10), 2
"""A call that started this recently will answer within seconds, so its repeat is asked to retry in two."""

IN_PROGRESS = "idempotency_in_progress"
_KEY = re.compile(r"[\x21-\x7e]{1,255}\Z")
_OPEN = "parley.idempotent_call"
_PROMISED = "parley.idempotent_answer"
_KEPT = "parley.idempotent_call.kept"
_APART = "parley.idempotent_call.apart"
_IS_SECRET = "parley.idempotent_call.is_secret"


class _Run(NamedTuple):
    """This request's run of a call; another ``started_at`` in the row means that another request took it over."""

    call: str
    started_at: datetime

    def row(self) -> tuple[sa.ColumnElement[bool], ...]:
        return IdempotentCall.id == self.call, IdempotentCall.started_at == self.started_at


def before(organization_id: str, *, is_test: bool = False, scope: KeyScope = EVERYTHING) -> Response | None:
    """The stored answer of an earlier call, or None if the endpoint must run.

    Test keys have calls of their own, and so have keys with a scope: none replays an answer that it may not see.
    """
    request.environ[_APART] = (" (test)" if is_test else "") + _mark_of(scope)
    if request.method != "POST" or (key := request.headers.get("Idempotency-Key")) is None:
        return None
    if not _KEY.match(key):
        invalid("headers", {"Idempotency-Key": ["Must be 1 to 255 printable ASCII characters without spaces."]})
    request.max_content_length = BODY_BYTES
    raw = request.get_data(cache=True)
    run = _opened(organization_id, key, _hash(_of_url(_canonical(raw))))
    if run is not None:
        request.environ[_OPEN] = run
        return None
    return _earlier(organization_id, key, raw)


def _mark_of(scope: KeyScope) -> str:
    """The same for all keys with the same scope, so that a key which replaces another replays its calls."""
    return "" if scope is EVERYTHING else f" (scope {_hash(repr(tuple(scope)).encode())[:32]})"


def _canonical(raw: bytes) -> bytes:
    """The same bytes for the same JSON, however it is written; anything else is returned unchanged."""
    try:
        return json.dumps(load_json(raw), sort_keys=True, separators=(",", ":")).encode()
    except (Broken, RecursionError):
        return raw


def _of_url(body: bytes) -> bytes:
    """The body together with the URL where that names one thing: the same key must not stand for another thing."""
    return request.path.lower().encode() + b"\0" + body if request.view_args else body


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def promise(body: dict[str, Any], *, is_secret: bool = False) -> dict[str, Any]:
    """Store the answer of a success together with the work; call it right before the commit. Returns ``body``.

    ``is_secret``: it is stored encrypted.
    """
    request.environ[_PROMISED] = jsonify(body).get_data()
    request.environ[_IS_SECRET] = is_secret
    return body


def _as_stored(body: bytes | None, run: _Run) -> bytes | None:
    if body is None or not request.environ.get(_IS_SECRET):
        return body
    return encryption.seal(body.decode(), context=_context(run.call)).encode()


def _as_sent(call: IdempotentCall) -> bytes:
    stored: bytes = call.body or b""
    if not stored.startswith(encryption.PREFIX.encode()):  # JSON never begins like this
        return stored
    return encryption.unseal(stored.decode(), context=_context(call.id)).encode()


def _context(call_id: str) -> str:
    return f"{IdempotentCall.__tablename__}:{call_id}:body"


def _route() -> str:
    return f"{request.method} {request.url_rule}{request.environ[_APART]}"


# Of plain tables and built once: every call with a key asks them.
_CALLS: Any = IdempotentCall.__table__
_EXPIRED = Prepared(
    sa.delete(_CALLS).where(
        _CALLS.c.organization_id == sa.bindparam("owner"), _CALLS.c.created_at < sa.bindparam("since")
    )
)
_NEW = Prepared(unless_there(_CALLS))
_ANSWERED = Prepared(
    sa.update(_CALLS)
    .where(_CALLS.c.id == sa.bindparam("call"), _CALLS.c.started_at == sa.bindparam("start"))
    .values(committed=True, status=sa.bindparam("of_status"), body=sa.bindparam("of_body"))
    .returning(_CALLS.c.id)
)


def _opened(organization_id: str, key: str, body_hash: str) -> _Run | None:
    """Insert the row of a new call; None if there is one already. Also deletes expired rows."""
    now = clock.now()
    call = new_id()
    row = {"id": call, "organization_id": organization_id, "route": _route(), "key": key, "body_hash": body_hash}
    _EXPIRED.changed({"owner": organization_id, "since": now - KEPT})
    if _NEW.changed(row | {"created_at": now, "started_at": now}) == 0:
        db.session.rollback()
        return None
    db.session.commit()
    return _Run(call, now)


def _earlier(organization_id: str, key: str, raw: bytes) -> Response | None:
    same_call = sa.select(IdempotentCall).filter_by(organization_id=organization_id, route=_route(), key=key)
    call = db.session.scalar(same_call)
    if call is None:
        _conflict("The first request with this Idempotency-Key just failed. Send it again.", seconds=1)
    # The previous release stored the hash of the bytes.
    if call.body_hash not in {_hash(_of_url(_canonical(raw))), _hash(_of_url(raw))}:
        words = "Was used before with another body or URL. Use a new key."
        invalid("headers", {"Idempotency-Key": [words]}, code="idempotency_key_reused")
    if call.status is not None:
        response = Response(_as_sent(call), status=call.status, mimetype="application/json")
        response.headers["Idempotent-Replayed"] = "true"
        db.session.rollback()
        return response
    ago, patience = clock.now() - call.started_at, FETCHING if str(request.url_rule) in FETCH else RUNNING
    if call.committed and ago > patience:
        words = "The first request succeeded, but its response was lost. Look for its result in the list."
        _conflict(words, code="conflict")
    run = _taken_over(call) if ago > patience else None
    if run is None:
        _still_running(ago, patience)
    request.environ[_OPEN] = run
    return None


def _taken_over(call: IdempotentCall) -> _Run | None:
    """The process of the first call died before its work was done: one of several repeats takes over."""
    first, own = _Run(call.id, call.started_at), _Run(call.id, clock.now())
    is_taken_over = db.changed(
        sa.update(IdempotentCall)
        .where(*first.row(), IdempotentCall.committed.is_(False))
        .values(started_at=own.started_at)
    )
    db.session.commit()
    return own if is_taken_over else None


def _still_running(ago: timedelta, patience: timedelta) -> NoReturn:
    """409 with the time until a repeat takes the call over, in case its process has died."""
    left = max(0, int((patience - ago).total_seconds())) + 1
    _conflict(
        "The first request with this Idempotency-Key is still running. If it does not respond, you can repeat it in "
        f"{left} seconds.",
        seconds=SOON_AGAIN if ago < SOON else left,
    )


def _conflict(message: str, *, seconds: int | None = None, code: str = IN_PROGRESS) -> NoReturn:
    db.session.rollback()
    abort(409, message=message, headers={"Retry-After": str(seconds)} if seconds else {}, error=code)
    raise AssertionError("abort returned")


@event.listens_for(Session, "before_commit")
def _mark_committed(session: Session) -> None:
    """Write the mark and the answer in the same transaction as the work."""
    run: _Run | None = request.environ.get(_OPEN) if has_request_context() else None
    if run is None or session is not db.session():
        return
    body = request.environ.get(_PROMISED)
    status = None if body is None else 200  # nothing was answered before: the row is this run's own
    stored = _as_stored(body, run)
    if not _ANSWERED.rows(call=run.call, start=run.started_at, of_status=status, of_body=stored):
        words = "This request took so long that a repeat took over. It changed nothing. Send it again."
        raise Conflict(words, code=IN_PROGRESS)
    request.environ[_KEPT] = body


def after(response: Response) -> Response:
    """Store a success, delete a failure that changed nothing. The response is sent even if this fails."""
    run: _Run | None = request.environ.pop(_OPEN, None)
    if run is None or _is_kept(response):
        return response
    set_reading(False)
    try:
        db.session.rollback()
        db.changed(_outcome(run, response))
        db.session.commit()
    except SQLAlchemyError as error:
        log.warning("response to idempotent call %s not stored: %s", run.call, type(error).__name__)
        db.session.rollback()
    return response


def _is_kept(response: Response) -> bool:
    """Whether the answer is the promised one, which the commit of the work has kept."""
    body: bytes | None = request.environ.pop(_KEPT, None)
    return body is not None and response.status_code == 200 and response.get_data() == body


def _outcome(run: _Run, response: Response) -> sa.Update | sa.Delete:
    if response.status_code < 300:
        answer = {"status": response.status_code, "body": _as_stored(response.get_data(), run)}
        return sa.update(IdempotentCall).where(*run.row()).values(answer)
    return sa.delete(IdempotentCall).where(*run.row(), IdempotentCall.committed.is_(False))
