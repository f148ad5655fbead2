"""One interview from end to end against a running platform, over the same HTTP that everyone uses."""
