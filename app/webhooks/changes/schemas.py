"""Published shapes of ``/v1/changes``. The rooms declare the kinds of objects and their shapes."""

from typing import Any

import marshmallow as ma

from app.core import rooms
from app.web import examples
from app.web.fields import AnyOf, Choice, Text, limit_field

LONGEST_CURSOR = 200
WHAT = ("upserted", "deleted")


class ChangesQuerySchema(ma.Schema):
    """Query of the feed."""

    after = Text(
        most=LONGEST_CURSOR,
        blank=False,
        load_default=None,
        metadata={"description": "`next` of the response before. Without it, the feed begins at the beginning."},
    )
    limit = limit_field(100)


class ChangeSchema(ma.Schema):
    """The latest change of one object. An object that changed again appears once, at the later place."""

    id = ma.fields.String(required=True, metadata={"description": "Id of this change. Each change has its own."})
    kind = Choice(
        tuple(rooms.change_kinds()),
        called="ChangeKind",
        required=True,
        metadata={"description": "What the object is."},
    )
    object_id = ma.fields.String(required=True, metadata={"description": "Id of the object."})
    change = Choice(
        WHAT,
        called="ChangeType",
        required=True,
        metadata={"description": "`upserted`: it is new or has changed. `deleted`: it is no longer there."},
    )
    at = ma.fields.String(
        required=True, metadata={"format": "date-time", "description": "When the object last changed."}
    )
    object = AnyOf(
        *(rooms.resolve(kind.schema) for kind in rooms.change_kinds().values()),
        required=True,
        metadata={"description": "The object as it is now, in the shape of its `kind`. Null if it was deleted."},
    )


class ChangesSchema(ma.Schema):
    """A page of the feed."""

    changes = ma.fields.List(ma.fields.Nested(ChangeSchema), required=True)
    next = ma.fields.String(required=True, metadata={"description": "Send it as `after` to read on, now or later."})
    has_more = ma.fields.Boolean(
        required=True, metadata={"description": "Whether there are more changes already. If not, ask again later."}
    )


CHANGES_EXAMPLE: dict[str, Any] = {
    "changes": [
        {
            "id": "chg_5f0c2b9a_1042",
            "kind": "interview",
            "object_id": examples.INTERVIEW_ID,
            "change": "deleted",
            "at": "2026-01-31T09:15:00Z",
            "object": None,
        }
    ],
    "next": "AV8MK5o…",
    "has_more": False,
}
