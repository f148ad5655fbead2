"""What a speech host says that its engines can do, for clients that were replaced before the host was."""

BEGINNINGS = "beginnings"
"""Whisper hears a piece of an answer before it is whole (``begin``)."""
ABILITIES = (BEGINNINGS,)
