"""Pages of webhooks. Importing the package registers every page on the blueprint."""

from app.webhooks.pages import deliveries, endpoints, secrets
from app.webhooks.pages.blueprint import pages

__all__ = ["deliveries", "endpoints", "pages", "secrets"]
