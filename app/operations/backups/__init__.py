"""Backups of the embedded installation (SQLite and a directory of files): one archive, made while Parley runs."""

from app.core.erasure_journal import Journal, Kept
from app.operations.backups.archive import Broken, Reader, Writer

__all__ = ["Broken", "Journal", "Kept", "Reader", "Writer"]
