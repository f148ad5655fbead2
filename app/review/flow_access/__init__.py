"""Rights of single members to single flows: given, taken, and asked for."""
