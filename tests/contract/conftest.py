"""Fixtures that the contract shares with the rooms."""

from tests.interviews.conftest import book, completed, scripted, submitted

__all__ = ["book", "completed", "scripted", "submitted"]
