"""Serves recordings at signed URLs.

The application serves them itself, because a URL signed by the storage cannot be revoked.
"""

from flask import Blueprint, Response, g, request
from werkzeug.exceptions import Forbidden, Gone

from app.core.db import db, reading, row_security
from app.interviews.recordings import actions, queries
from app.interviews.recordings.addresses import Expired, Forged, Purpose, signer
from app.interviews.recordings.download import Served, said, sent

pages = Blueprint("recordings", __name__)


@pages.before_request
def require_signed_address() -> None:
    """Require a signature of this installation that has not expired, for a recording that still exists."""
    recording_id, token = (
        str((request.view_args or {}).get("recording_id")),
        str((request.view_args or {}).get("token")),
    )
    with reading():
        with row_security.finding():
            row = queries.recording(recording_id)
        row_security.settle(row.organization_id)
        try:
            purpose = signer().check(token, recording_id=row.id, organization_id=row.organization_id)
        except Forged:
            raise said(Forbidden(), "This link is not valid. Open the recording from its interview again.") from None
        except Expired:
            raise said(Gone(), "This link has expired. Open the recording from its interview again.") from None
        g.recording = Served.of(row, purpose.value, is_download=purpose is Purpose.DOWNLOAD)
    db.session.rollback()


@pages.get("/recordings/<recording_id>/<token>")
def recording(recording_id: str, token: str) -> Response:  # noqa: ARG001 - the guard has read both
    """The file, or the part of it that a Range header requests."""
    served: Served = g.recording
    return sent(served, damaged=_damaged)


def _damaged(recording_id: str, key: str) -> None:
    actions.mark_damaged(recording_id, storage_key=key)
    db.session.commit()
