"""Telling customers' systems what happened."""

TEST_EVENT = "evt_test_"
"""How the id of an event begins that is only a test, or about a test interview."""
