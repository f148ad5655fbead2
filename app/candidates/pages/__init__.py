"""Pages of candidates. Importing the package registers every page on the blueprint."""

from app.candidates.pages import board, people, reasons, statuses
from app.candidates.pages.blueprint import pages

__all__ = ["board", "pages", "people", "reasons", "statuses"]
