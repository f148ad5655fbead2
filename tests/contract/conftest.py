"""Fixtures that the contract shares with the rooms."""

from tests.interviews.conftest import book, completed, scripted, submitted
from tests.interviews.test_recorded import recorded

__all__ = ["book", "completed", "recorded", "scripted", "submitted"]
