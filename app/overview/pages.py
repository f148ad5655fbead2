"""Pages across the rooms. The dashboard is a page of interviews; what it shows of the other rooms comes from here."""

from typing import Any

from flask import Blueprint, current_app

from app.accounts.access import current_member, require_member
from app.overview.queries import Task, tasks_of
from app.settings import Settings

pages = Blueprint("overview", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _overview() -> dict[str, Any]:
    """For the dashboard, asked only where a template calls it."""
    return {"tasks_of_mine": _tasks}


def _tasks() -> list[Task]:
    settings: Settings = current_app.extensions["parley.settings"]
    return tasks_of(current_member(), link_days=settings.link_expiry_days)
