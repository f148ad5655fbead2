"""Work that has stopped: what it is, why, and how it is tried again."""
