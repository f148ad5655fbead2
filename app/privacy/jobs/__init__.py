"""Background work of erasure and retention, and what a restore does again."""
