"""Pages of messages. Importing the package registers every page on the blueprint."""

from app.outreach.messages.pages import compose, sent, templates
from app.outreach.messages.pages.blueprint import pages

__all__ = ["compose", "pages", "sent", "templates"]
