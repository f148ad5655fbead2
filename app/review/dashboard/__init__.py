"""Seeing the whole: what waits for a member, in every room at once, and what has stopped."""
