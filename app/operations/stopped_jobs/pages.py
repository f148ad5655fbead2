"""The page of stopped jobs, with buttons to retry them. The views belong to the dashboard's blueprint."""

from flask import current_app, flash, redirect, render_template, request, url_for
from redis.exceptions import RedisError
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin
from app.core import clock, queue
from app.core.db import db
from app.core.errors import Rejected
from app.core.queue import Failed
from app.flows.forms import language_name
from app.interviews.pending import TOO_LONG
from app.interviews.queries import interview_seen_by
from app.operations.stopped_jobs import actions, queries
from app.review.dashboard.pages.tasks import pages
from app.settings import Settings


@pages.get("/jobs")
def jobs() -> str:
    """The organization's stopped jobs with their reasons, and the work in progress."""
    require_admin()
    mine = current_member().organization_id
    db.session.rollback()  # the queues may be slow to answer
    runs, workers = _queues()
    return render_template(
        "operations/stopped_jobs.html",
        interviews=queries.interviews(mine),
        documents=queries.documents(mine),
        mails=queries.mails(mine),
        recordings=queries.recordings(mine),
        voices=queries.voices(mine),
        backlog=queries.backlog(mine),
        runs=queries.owned_runs(mine, runs or []),
        knows_runs=runs is not None,
        workers=workers,
        most=queries.MOST,
        language_name=language_name,
        now=clock.now(),
        too_long=TOO_LONG,
    )


@pages.post("/jobs/interviews/<interview_id>/retry")
def retry(interview_id: str) -> AnyResponse:
    """Retry one interview."""
    require_admin()
    begun = actions.retry_interview(interview_seen_by(current_member(), interview_id))
    db.session.commit()
    return _back(int(begun))


@pages.post("/jobs/retry")
def retry_all() -> AnyResponse:
    """Retry everything of a kind."""
    require_admin()
    kind = request.form.get("kind", "")
    if kind not in actions.KINDS:
        raise Rejected("Select the kind of work to retry.", field="kind")
    begun = actions.retry_all(kind, by=current_member())
    db.session.commit()
    return _back(begun)


def _back(begun: int) -> AnyResponse:
    if begun:
        flash(f"Retrying {begun} {'job' if begun == 1 else 'jobs'}. Reload this page in a minute.", "good")
    else:
        flash("There is nothing to retry: the work has continued in the meantime.", "info")
    return redirect(url_for("dashboard.jobs"), 303)


def _queues() -> tuple[list[Failed] | None, int | None]:
    """Runs that the queues gave up, and the number of workers; None if the queues do not respond."""
    settings: Settings = current_app.extensions["parley.settings"]
    if not settings.redis_url:
        return None, None
    redis = queue.connect(settings.redis_url)
    try:
        return queue.failed(redis), queue.workers(redis)
    except RedisError:
        return None, None
    finally:
        redis.close()
