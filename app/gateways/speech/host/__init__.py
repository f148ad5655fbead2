"""One process per machine that owns the engines, so that a model is loaded once, and the clients that ask it."""
