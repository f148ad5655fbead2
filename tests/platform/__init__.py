"""The whole platform as processes."""
