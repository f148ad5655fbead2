"""Tests of the tools that the suite itself uses."""
