"""Taking the embedded installation (SQLite and a directory of files) into one archive while it runs, and back out."""

from app.core.erasure_journal import Journal, Kept
from app.operations.backups.archive import Broken, Reader, Writer

__all__ = ["Broken", "Journal", "Kept", "Reader", "Writer"]
