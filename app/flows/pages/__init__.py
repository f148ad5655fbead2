"""Recruiters' pages of flows. Importing the package registers every page on the blueprint."""

from app.flows.pages import appearance, branding, files, flows, templates, voices
from app.flows.pages.flows import pages

__all__ = ["appearance", "branding", "files", "flows", "pages", "templates", "voices"]
