"""What can be done with webhooks; the rooms above use ``announce`` and ``cancel``."""

from app.webhooks.actions.outbox import announce, cancel

__all__ = ["announce", "cancel"]
