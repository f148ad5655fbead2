"""Usage pages and the dashboard's tasks. Importing the package registers every page on the blueprint."""

from app.review.dashboard.pages import tasks, usage
from app.review.dashboard.pages.tasks import pages

__all__ = ["pages", "tasks", "usage"]
