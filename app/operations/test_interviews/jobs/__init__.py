"""Plays an interview that a test key created."""
