"""Actions on notices. Rooms below use ``announce`` (``app.core.rooms.Notices``), an erasure uses ``erase``."""

from app.review.notices.actions.announcing import KEPT, announce, erase, prune
from app.review.notices.actions.channels import Choices, add, change, reached, remove, switch
from app.review.notices.actions.sending import Ready, record, take
from app.review.notices.actions.spreading import Post, digest, set_preference, spread

__all__ = [
    "KEPT",
    "Choices",
    "Post",
    "Ready",
    "add",
    "announce",
    "change",
    "digest",
    "erase",
    "prune",
    "reached",
    "record",
    "remove",
    "set_preference",
    "spread",
    "switch",
    "take",
]
