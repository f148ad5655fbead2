"""Interview flows: the scripts that organizations write."""
