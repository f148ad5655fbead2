"""``/v1/changes``."""

from collections.abc import Sequence
from typing import Any

import marshmallow as ma
import orjson
from flask import Response

from app.accounts.access import caller, require_api_key
from app.accounts.key_guard import narrows_itself
from app.core import clock, rooms
from app.core.db import db
from app.web import spec
from app.web.api import Blueprint, spliced, takes_gzip
from app.webhooks.changes import actions, queries
from app.webhooks.changes.cursors import START_OVER, Cursor, read, text_of
from app.webhooks.changes.models import Change
from app.webhooks.changes.schemas import CHANGES_EXAMPLE, ChangesQuerySchema, ChangesSchema

blp = Blueprint("Changes", __name__, url_prefix="/v1", description="What has changed, to keep a copy up to date.")
blp.before_request(require_api_key)

OUTDATED = {
    "description": f"The cursor is older than {queries.KEPT.days} days, or from before a restore. {START_OVER}",
    "content": {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/Error"},
            "example": {"code": 410, "status": "Gone", "message": queries.TOO_OLD},
        }
    },
}


@blp.get("/changes")
@blp.arguments(ChangesQuerySchema, location="query", unknown=ma.RAISE)
@blp.response(200, ChangesSchema, description="The next changes.", example=CHANGES_EXAMPLE)
@blp.doc(**spec.extension("listChanges"), responses={"410": OUTDATED})
@narrows_itself
def list_changes(query: dict[str, Any]) -> Response:
    """List what has changed, each object once, at its latest change.

    Save `next` together with the changes, and send it as `after` in the next call. Test interviews are included.
    """
    after = read(query["after"]) if query["after"] is not None else None
    if queries.is_elsewhere():
        actions.settle()
        # nosemgrep: state-changed-on-get - the database was restored, which the first request finds out
        db.session.commit()
    if after is not None:
        queries.refuse_outdated(after, caller())
    cursor = after or queries.beginning(caller())
    kinds, limit, asked_at = rooms.change_kinds(), query["limit"], clock.now()
    found = queries.page(caller(), cursor, kinds, limit=limit + 1)
    shown, has_more = found[:limit], len(found) > limit
    last = (shown[-1].txid, shown[-1].number) if shown else cursor.position
    since = cursor.since if has_more else asked_at
    following = cursor._replace(txid=last[0], number=last[1], since=since)
    body = {"changes": _changes(cursor, shown), "next": text_of(following), "has_more": has_more}
    return spliced([orjson.dumps(body)], accepts_gzip=takes_gzip())


def _changes(cursor: Cursor, rows: Sequence[Change]) -> list[dict[str, Any]]:
    """An object that is not shown any more, or was deleted at this moment, counts as deleted."""
    objects = _objects(cursor.organization_id, rows)
    return [
        {
            "id": f"chg_{cursor.generation[:8]}_{row.number}",
            "kind": row.kind,
            "object_id": row.object_id,
            "change": "upserted" if (row.kind, row.object_id) in objects else "deleted",
            "at": clock.rfc3339(row.at),
            "object": objects.get((row.kind, row.object_id)),
        }
        for row in rows
    ]


def _objects(organization_id: str, rows: Sequence[Change]) -> dict[tuple[str, str], Any]:
    found: dict[tuple[str, str], Any] = {}
    for name, kind in rooms.change_kinds().items():
        ids = [row.object_id for row in rows if row.kind == name and not row.is_deleted]
        if ids:
            shown: dict[str, Any] = rooms.resolve(kind.shown)(organization_id, ids)
            found |= {(name, object_id): one for object_id, one in shown.items()}
    return found
