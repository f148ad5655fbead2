"""Background work of erasure and retention, and the acts that a restore repeats."""
