"""A flow tried out by its owner: the same interview, kept in memory alone."""
