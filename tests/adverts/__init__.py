"""Flows that begin with a job advert."""
