"""Recruiters' pages of flows. Importing the package registers every page on the blueprint."""

from app.flows.pages import flows, templates
from app.flows.pages.flows import pages

__all__ = ["flows", "pages", "templates"]
