"""Pages of candidates. Importing the package registers every page on the blueprint."""

from app.candidates.pages import board, candidate, people, reasons, statuses
from app.candidates.pages.blueprint import pages

__all__ = ["board", "candidate", "pages", "people", "reasons", "statuses"]
