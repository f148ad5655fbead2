"""Analyses the answers. Pure: no rows, no HTTP, the Analyst is an argument."""
