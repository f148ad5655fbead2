"""Usage pages and the dashboard's tasks. Importing the package registers every page on the blueprint."""

from app.review.dashboard.pages import first_steps, tasks, usage
from app.review.dashboard.pages.tasks import pages

__all__ = ["first_steps", "pages", "tasks", "usage"]
