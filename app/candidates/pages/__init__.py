"""Pages of candidates. Importing the package hangs every page on the blueprint."""

from app.candidates.pages import board, columns, people, table
from app.candidates.pages.blueprint import pages

__all__ = ["board", "columns", "pages", "people", "table"]
