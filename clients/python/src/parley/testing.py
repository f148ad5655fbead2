"""For your tests: sign an event as Parley does, and a Parley in memory.

headers = parley.testing.sign(body, secret)
client = parley.testing.FakeParley().client()
"""

from ._fake import FakeParley, SentEvent
from ._signing import event_body, sign

__all__ = ["FakeParley", "SentEvent", "event_body", "sign"]
