"""Background work on interviews."""
