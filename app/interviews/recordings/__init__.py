"""Audio and video of interviews."""
