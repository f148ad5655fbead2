"""Where administrators edit the statuses of the pipeline."""

from collections.abc import Callable

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin
from app.candidates import statuses as pipeline
from app.candidates.models import DEFAULT_MEANINGS, DEFAULT_STATUSES, INTERVIEWED, INVITED, Meaning
from app.candidates.pages.blueprint import pages, typed
from app.candidates.queries import CandidateFilter, columns_of, counts_seen_by, statuses_without_meaning
from app.core.db import db
from app.core.errors import Rejected

Answer = AnyResponse | tuple[str, int]
MEANINGS = [
    (Meaning.OPEN.value, "Open: not decided yet"),
    (Meaning.ADVANCED.value, "Advanced: goes on to the next step"),
    (Meaning.ACCEPTED.value, "Accepted: hired or selected"),
    (Meaning.REJECTED.value, "Rejected: not selected"),
    (Meaning.WITHDRAWN.value, "Withdrawn: the candidate left"),
]
"""What administrators choose from, in words."""


@pages.get("/candidates/statuses")
def statuses() -> str:
    require_admin()
    return _page({})


@pages.post("/candidates/statuses")
def add_status() -> Answer:
    require_admin()
    member = current_member()
    return _done(
        lambda: pipeline.add(member.organization, typed("name"), meaning=typed("meaning") or Meaning.OPEN, by=member),
        "Status added.",
    )


@pages.post("/candidates/statuses/<column_id>/rename")
def rename_status(column_id: str) -> Answer:
    require_admin()
    member = current_member()
    return _done(
        lambda: pipeline.rename(member.organization, column_id, typed("name"), by=member),
        "Status renamed.",
    )


@pages.post("/candidates/statuses/<column_id>/meaning")
def mean_status(column_id: str) -> Answer:
    require_admin()
    member = current_member()
    return _done(
        lambda: pipeline.set_meaning(member.organization, column_id, typed("meaning"), by=member),
        "Meaning saved. It applies to moves from now on.",
    )


@pages.post("/candidates/statuses/<column_id>/shift")
def shift_status(column_id: str) -> Answer:
    require_admin()
    member = current_member()
    steps = -1 if request.form.get("to") == "left" else 1
    return _done(lambda: pipeline.shift(member.organization, column_id, steps, by=member), "Order changed.")


@pages.post("/candidates/statuses/<column_id>/remove")
def remove_status(column_id: str) -> Answer:
    require_admin()
    member = current_member()
    return _done(
        lambda: pipeline.remove(member.organization, column_id, into=typed("into"), by=member),
        "Status removed.",
    )


def _done(change: Callable[[], object], words: str) -> Answer:
    try:
        change()
    except Rejected as refusal:
        db.session.rollback()
        return _page({refusal.field or "name": refusal.message}), 422
    db.session.commit()
    flash(words, "good")
    return redirect(url_for("candidates.statuses"), 303)


def _page(errors: dict[str, str]) -> str:
    member = current_member()
    own = columns_of(member.organization)
    shown = [(column.id, column.name, column.purpose, column.meaning or "") for column in own] or [
        (name, name, name if name in {INVITED, INTERVIEWED} else None, DEFAULT_MEANINGS[name].value)
        for name in DEFAULT_STATUSES
    ]
    return render_template(
        "candidates/statuses.html",
        columns=shown,
        counts=counts_seen_by(member, CandidateFilter()),
        meanings=MEANINGS,
        unset=statuses_without_meaning(member.organization),
        errors=errors,
        typed_name=request.form.get("name", "") if errors else "",
    )
