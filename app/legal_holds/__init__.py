"""Legal holds: what may not be deleted for now, whoever asks for it."""
