"""The pages around an interview: before it, the interview itself, and after it."""
