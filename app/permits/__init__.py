"""Rights of single members to single flows: given and taken."""
