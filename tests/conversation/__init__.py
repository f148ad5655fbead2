"""Tests of the candidate's talk."""
