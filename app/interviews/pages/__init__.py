"""Pages of interviews. Importing the package registers every page on the blueprint."""

from app.interviews.pages import documents, interviews
from app.interviews.pages.interviews import pages

__all__ = ["documents", "interviews", "pages"]
