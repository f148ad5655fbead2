"""What can be done with webhooks; the rooms above use ``announce`` and ``cancel``, the sweep ``prune``."""

from app.webhooks.actions.endpoints import disable, enable
from app.webhooks.actions.outbox import announce, cancel
from app.webhooks.actions.replay import dismiss, resend, resend_range
from app.webhooks.actions.results import record
from app.webhooks.actions.sample import sample, tested
from app.webhooks.actions.turns import Turn, take
from app.webhooks.actions.upkeep import forget, prune, tidy

__all__ = [
    "Turn", "announce", "cancel", "disable", "dismiss", "enable", "forget", "prune", "record", "resend", "resend_range",
    "sample", "take", "tested", "tidy",
]  # fmt: skip
