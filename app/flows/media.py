"""Logo and intro video of a flow: fetched from the customer's address, checked by content, kept in storage.

Slow work: it runs before the first write and outside any transaction.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kept:
    """Storage keys of what was fetched; None where nothing new was. ``video_type`` is the type the content showed."""

    logo_key: str | None = None
    video_key: str | None = None
    video_type: str | None = None
