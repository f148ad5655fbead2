"""Telling customers' systems what happened."""
