"""One interview, from booking to results."""
