"""Actions on webhooks. The rooms above use ``announce``, ``announce_all`` and ``cancel``, the sweep uses ``prune``."""

from app.webhooks.actions.endpoints import add, disable, enable, refuse_of_flows, remove
from app.webhooks.actions.outbox import announce, announce_all, cancel, listens_to_all
from app.webhooks.actions.replay import (
    MOST_AT_ONCE,
    REACH,
    dismiss,
    resend,
    resend_chosen,
    resend_found,
    resend_range,
)
from app.webhooks.actions.results import record
from app.webhooks.actions.rotation import rotate, switch
from app.webhooks.actions.sample import sample, tested
from app.webhooks.actions.turns import Turn, take
from app.webhooks.actions.upkeep import forget, prune, tidy

__all__ = [
    "MOST_AT_ONCE",
    "REACH",
    "Turn",
    "add",
    "announce",
    "announce_all",
    "cancel",
    "disable",
    "dismiss",
    "enable",
    "forget",
    "listens_to_all",
    "prune",
    "record",
    "refuse_of_flows",
    "remove",
    "resend",
    "resend_chosen",
    "resend_found",
    "resend_range",
    "rotate",
    "sample",
    "switch",
    "take",
    "tested",
    "tidy",
]
