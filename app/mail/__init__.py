"""Sending mail: one outside thing, behind one verb."""
