"""What a WSGI server imports from a clone, as ``wsgi:app``; an installed Parley has the same in its package."""

from app.operations.processes.wsgi import app

__all__ = ["app"]
