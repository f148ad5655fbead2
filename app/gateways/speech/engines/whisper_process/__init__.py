"""Recognition by Whisper, in its own process; imports nothing of Parley but its own modules."""
