"""Actions on webhooks. The rooms above use ``announce`` and ``cancel``, the sweep uses ``prune``."""

from app.webhooks.actions.endpoints import disable, enable
from app.webhooks.actions.outbox import announce, cancel
from app.webhooks.actions.replay import MOST_AT_ONCE, REACH, dismiss, resend, resend_found, resend_range
from app.webhooks.actions.results import record
from app.webhooks.actions.sample import sample, tested
from app.webhooks.actions.telling import tell
from app.webhooks.actions.turns import Turn, take
from app.webhooks.actions.upkeep import forget, prune, tidy

__all__ = [
    "MOST_AT_ONCE",
    "REACH",
    "Turn",
    "announce",
    "cancel",
    "disable",
    "dismiss",
    "enable",
    "forget",
    "prune",
    "record",
    "resend",
    "resend_found",
    "resend_range",
    "sample",
    "take",
    "tell",
    "tested",
    "tidy",
]
