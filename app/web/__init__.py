"""The HTTP kit: what every page and every endpoint shares."""
