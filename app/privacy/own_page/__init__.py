"""The candidate's own page after the interview: what became of it, everything to read and take away, and rights."""
