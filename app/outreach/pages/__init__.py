"""Pages of outreach. Importing the package registers every page on the blueprint."""

from app.outreach.pages import lists, mails, person
from app.outreach.pages.blueprint import pages

__all__ = ["lists", "mails", "pages", "person"]
