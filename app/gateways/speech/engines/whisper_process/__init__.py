"""Recognition by Whisper, in a process of its own; imports nothing of Parley but its own modules."""
