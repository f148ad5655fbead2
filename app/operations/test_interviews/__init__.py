"""Interviews that no one takes: those of test keys, played by Parley from canned answers through the ordinary steps."""
