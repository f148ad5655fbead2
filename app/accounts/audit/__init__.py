"""The audit log: its entries in words, and the check that it is intact."""
