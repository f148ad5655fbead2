"""Template functions for the dashboard, which is a page of interviews, and for the audit log."""

from typing import Any

from flask import Blueprint, current_app

from app.accounts.access import current_member, require_member
from app.accounts.usage.queries import standing_of
from app.review.dashboard.queries import Task, named, new_results, tasks_of, this_week
from app.settings import Settings

NEW_RESULTS = 8

pages = Blueprint("dashboard", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _overview() -> dict[str, Any]:
    """Functions for the dashboard and the audit log; they query only when called."""
    return {
        "tasks_of_mine": _tasks,
        "new_results_of_mine": lambda: new_results(current_member(), limit=NEW_RESULTS),
        "this_week_of_mine": lambda: this_week(current_member()),
        "named_mine": lambda ids: named(current_member().organization, ids),
        "quota_of_mine": lambda: standing_of(current_member().organization_id),
    }


def _tasks() -> list[Task]:
    return tasks_of(current_member(), link_days=_settings().link_expiry_days)


def _settings() -> Settings:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings
