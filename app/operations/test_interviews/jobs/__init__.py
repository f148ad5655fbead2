"""Plays an interview that a test key booked."""
