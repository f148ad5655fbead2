"""Pages of large changes: the progress and outcome of one, its undo, and what the list of candidates says about it."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member, require_recruiter
from app.candidates.bulk import Kind
from app.candidates.bulk_changes import actions, queries
from app.candidates.bulk_changes.queries import Progress, progress_of
from app.candidates.models import BulkChange, Meaning
from app.candidates.queries import candidates_named, deciding_statuses
from app.core.db import db
from app.core.errors import Conflict
from app.web.templating import capital, offset_of_request

PER_PAGE = 100

pages = Blueprint("bulk_changes", __name__, url_prefix="/candidates/changes")
pages.before_request(require_member)


def title_of(run: BulkChange) -> str:
    """What the change does, or did."""
    if run.undoes_id is not None:
        return "Undo of a bulk change"
    words = {
        Kind.MOVE: f"Move to {capital(run.value)}",
        Kind.BACK: f"Undo of moves to {capital(run.value)}",
        Kind.ASSIGN: "Assign to a recruiter" if run.value else "Remove the assigned recruiter",
        Kind.TAG: f"Add the tag “{run.value}”",
        Kind.UNTAG: f"Remove the tag “{run.value}”",
        Kind.REVIEWED: "Mark as reviewed",
    }
    return words.get(Kind(run.kind), "Mark as “To review”")


@pages.app_context_processor
def _latest() -> dict[str, Any]:
    """For the list of candidates; it queries only when called."""
    return {"latest_bulk_change": _latest_progress, "bulk_title": title_of}


def _latest_progress() -> Progress | None:
    run = queries.latest_of(current_member())
    return progress_of(run) if run else None


@pages.get("/<change_id>")
def show(change_id: str) -> str:
    """The progress of a change, then its outcome for each candidate."""
    require_recruiter()
    member, offset = current_member(), offset_of_request()
    run = queries.change_of(member, change_id)
    progress, rows = progress_of(run), queries.rows_of(run, limit=PER_PAGE, offset=offset)
    return render_template(
        "candidates/change.html",
        progress=progress,
        run=run,
        rows=rows,
        people=candidates_named(member, [row.candidate_id for row in rows if row.candidate_id]),
        to_reject=_to_reject(progress),
        offset=offset,
        limit=PER_PAGE,
    )


def _to_reject(progress: Progress) -> list[str]:
    """Ids of those to whom a rejection can be written: the change that rejected them is over and not undone."""
    run = progress.run
    meaning = deciding_statuses(run.by.organization).get(run.value)
    is_over = not progress.is_under_way and progress.undone_by is None
    if run.kind != Kind.MOVE or meaning is not Meaning.REJECTED or not is_over:
        return []
    return [str(row.candidate_id) for row in queries.rows_done(run)]


@pages.post("/<change_id>/undo")
def undo(change_id: str) -> AnyResponse:
    """Ask for the undo, and show its progress."""
    require_recruiter()
    member = current_member()
    run = queries.change_of(member, change_id)
    try:
        undoing = actions.undo(run, by=member).id
    except Conflict as conflict:
        db.session.rollback()
        flash(conflict.message, "warn")
        return redirect(url_for("bulk_changes.show", change_id=change_id), 303)
    db.session.commit()
    return redirect(url_for("bulk_changes.show", change_id=undoing), 303)


@pages.post("/<change_id>/cancel")
def cancel(change_id: str) -> AnyResponse:
    """Stop a change under way."""
    require_recruiter()
    stopped = actions.cancel(queries.change_of(current_member(), change_id))
    db.session.commit()
    words = "The change was stopped. Changes already made are kept." if stopped else "There was nothing left to stop."
    flash(words, "info")
    return redirect(url_for("bulk_changes.show", change_id=change_id), 303)


@pages.post("/<change_id>/again")
def try_again(change_id: str) -> AnyResponse:
    """Go on with a change that was given up."""
    require_recruiter()
    again = actions.try_again(queries.change_of(current_member(), change_id))
    db.session.commit()
    flash("The change continues." if again else "There is nothing to retry.", "info")
    return redirect(url_for("bulk_changes.show", change_id=change_id), 303)
