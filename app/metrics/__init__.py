"""Figures of the running installation, for Prometheus and whatever else reads its format."""
