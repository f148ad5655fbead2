"""Sends automatic emails to candidates who were invited by email and have not started."""

from flask import current_app

from app import gateways
from app.core.db import db, reading
from app.core.errors import Conflict
from app.interviews.models import Interview
from app.outreach import actions, queries
from app.outreach.actions import Post
from app.outreach.models import Step
from app.settings import Settings


def sweep() -> int:
    """Post the emails that are due by the plans. Returns how many. Safe to run concurrently: none is posted twice."""
    settings: Settings = current_app.extensions["parley.settings"]
    if not gateways.current().mail.is_configured:
        return 0
    post = Post(settings.app_url, settings.link_expiry_days, can_send=True)
    with reading():
        due = _due(post)
        db.session.rollback()
    written = sum(_written(interview_id, step, post) for interview_id, step in due.items())
    if actions.forget_lists():
        db.session.commit()
    else:
        db.session.rollback()
    return written


def _due(post: Post) -> dict[str, Step]:
    """The due step of each interview. Near the end of its link the notice replaces the reminder."""
    due: dict[str, Step] = {}
    for organization_id in queries.organizations_that_write(link_days=post.link_days):
        plan = queries.plan_of(organization_id)
        for step, days in ((Step.EXPIRY, plan.notice_before), (Step.REMINDER, plan.remind_after)):
            if days is not None:
                due_ids = queries.to_write(organization_id, step, days=days, link_days=post.link_days)
                for interview_id in due_ids:
                    due.setdefault(interview_id, step)
    return due


def _written(interview_id: str, step: Step, post: Post) -> bool:
    interview = db.session.get(Interview, interview_id)
    if interview is None:
        return False
    try:
        actions.write(interview, step, post, by=None)
    except Conflict:  # the candidate has started meanwhile, or another worker was faster
        db.session.rollback()
        return False
    db.session.commit()
    return True
