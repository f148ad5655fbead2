"""The list of candidates: filtered, sorted, changed in bulk, exported, and saved as views."""

from dataclasses import replace
from urllib.parse import urlencode

from flask import Flask, Response, current_app, flash, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_recruiter, safe_next
from app.accounts.actions import write_audit
from app.accounts.models import Role, TeamMember
from app.accounts.queries import member_of, members_of
from app.candidates import actions, bulk
from app.candidates.bulk import Change, Kind
from app.candidates.bulk_changes.actions import start
from app.candidates.export import Reader, as_csv
from app.candidates.forms import (
    COLUMNS,
    board_parameters,
    chosen_columns,
    chosen_ids,
    filter_of_request,
    filter_parameters,
    pairs,
)
from app.candidates.hidden_scores import REFUSED, hidden_scores, is_blocked, show_scores, shows_scores
from app.candidates.models import Meaning
from app.candidates.pages.above import ORDERS, Names, chips, heads, presets, views
from app.candidates.pages.blueprint import choices_for, pages
from app.candidates.queries import (
    UNASSIGNED,
    CandidateFilter,
    candidates_named,
    candidates_seen_by,
    deciding_statuses,
    how_many_seen_by,
    ids_seen_by,
    only_flow_of,
    statuses_of,
    tags_seen_by,
    view_of,
    views_of,
)
from app.core import clock
from app.core.db import db
from app.core.errors import Rejected
from app.flows.models import Right
from app.flows.queries import criteria_of, only_viewed, titles_seen_by
from app.web.fields import flaw_of
from app.web.streaming_slots import Lasting, places
from app.web.templating import capital, offset_of_request

PER_PAGE = 50
SHOWN = ("email", "flow", "recruiter", "added", "score", "status")


@pages.get("/candidates")
def index() -> str:
    """The candidates that match the filter of the URL."""
    member, offset = current_member(), offset_of_request()
    return _page(member, offset)


@pages.post("/candidates/bulk")
def change_many() -> str | AnyResponse | tuple[str, int]:
    """One change to the selected rows, or to all that match the filter, with a result per row.

    Moves send events, and a filter can match more than the page shows, so both ask for confirmation first.
    """
    require_recruiter()
    member = current_member()
    try:
        ids = chosen_ids(member)
        if request.form.get("kind") == "export":
            return _export(member, _exportable(member, ids))
        change = _change()
        if _asks_first(change):
            return _question(member, ids, change)
        if len(ids) > bulk.AT_ONCE:
            return _as_job(member, ids, change)
        rows = bulk.apply(member, ids, change)
    except Rejected as refusal:
        db.session.rollback()
        if refusal.field == "reason":
            return _question(member, ids, change, error=refusal.message), 422
        return _page(member, offset_of_request(), error=refusal.message), 422
    db.session.commit()
    page = render_template(
        "candidates/bulk.html",
        rows=rows,
        back=url_for("candidates.index", **filter_parameters()),
        undo=_undo(change),
        offers_rejection=_is_rejection(member, change),
        filter_parameters=filter_parameters(),
    )
    return page, 422 if all(row.outcome == "refused" for row in rows) else 200


def _as_job(member: TeamMember, ids: list[str], change: Change) -> AnyResponse:
    change_id = start(member, ids, change).id
    db.session.commit()
    return redirect(url_for("bulk_changes.show", change_id=change_id), 303)


@pages.post("/candidates/export")
def export() -> AnyResponse:
    """All that match the filter in flows that the member may change, as CSV; the page says how many are left out.

    Not a GET, because the export is recorded.
    """
    require_recruiter()
    member = current_member()
    if is_blocked():
        return make_response(_page(member, 0, error=REFUSED), 422)
    return _export(member, ids_seen_by(member, replace(filter_of_request(), right=Right.EDIT)))


@pages.post("/candidates/show-scores")
def show_scores_in_lists() -> AnyResponse:
    """Show scores in this member's lists until they sign out, and return to the list that asked."""
    show_scores()
    db.session.commit()
    return redirect(safe_next(request.form.get("next")) or url_for("candidates.index"), 303)


@pages.post("/candidates/views")
def save_view() -> AnyResponse | tuple[str, int]:
    """Save the filter of the URL under a name."""
    member = current_member()
    name = request.form.get("name", "")
    try:
        actions.save_view(member, "" if flaw_of(name) else name, urlencode(pairs()))
    except Rejected as refusal:
        db.session.rollback()
        return _page(member, 0, error=refusal.message), 422
    db.session.commit()
    flash("View saved.", "good")
    return redirect(url_for("candidates.index", **filter_parameters()), 303)


@pages.post("/candidates/views/<view_id>/delete")
def delete_view(view_id: str) -> AnyResponse:
    db.session.delete(view_of(current_member(), view_id))
    db.session.commit()
    flash("View deleted.", "good")
    return redirect(url_for("candidates.index"), 303)


def _page(member: TeamMember, offset: int, error: str = "") -> str:
    filters, names = filter_of_request(), _names(member)
    total, may_change = how_many_seen_by(member, filters), member.role is not Role.VIEWER
    candidates = candidates_seen_by(member, filters, limit=PER_PAGE, offset=offset)
    return render_template(
        "candidates/index.html",
        candidates=candidates,
        scores_hidden=hidden_scores(candidates),
        is_blocked=is_blocked(),
        total=total,
        filters=filters,
        offset=offset,
        limit=PER_PAGE,
        error=error,
        names=names,
        unassigned=UNASSIGNED,
        tags=tags_seen_by(member),
        presets=presets(clock.now().date()),
        views=views(views_of(member)),
        chips=chips(filters, names),
        heads=heads(filters.order),
        columns=COLUMNS,
        shown=chosen_columns() or SHOWN,
        usual=SHOWN,
        as_usual=set(chosen_columns() or SHOWN) == set(SHOWN),
        orders=ORDERS,
        filter_parameters=filter_parameters(),
        board_parameters=board_parameters(),
        may_change=may_change,
        view_only=only_viewed(member) if may_change else frozenset(),
        exported=_in_export(member, filters, total) if may_change else None,
        narrowed=bool(pairs()),
        most=bulk.MOST_ROWS,
    )


def _names(member: TeamMember) -> Names:
    return Names(
        flows=titles_seen_by(member),
        statuses=[(name, capital(name)) for name in statuses_of(member.organization)],
        recruiters=[(one.id, one.full_name or one.email) for one in members_of(member.organization, None)],
    )


def _asks_first(change: Change) -> bool:
    return request.form.get("sure") != "yes" and (change.kind is Kind.MOVE or request.form.get("all") == "yes")


def _question(member: TeamMember, ids: list[str], change: Change, *, error: str | None = None) -> str:
    preview = bulk.preview(member, ids, change)
    fields = {"kind": change.kind.value, "sure": "yes"}
    if change.kind in _FIELDS:
        fields[_FIELDS[change.kind]] = change.value
    recruiter = member_of(member.organization, change.value) if change.kind is Kind.ASSIGN and change.value else None
    return render_template(
        "candidates/ask.html",
        preview=preview,
        change=change,
        ids=ids,
        fields=fields,
        recruiter=recruiter,
        reasons=choices_for(change.value) if change.kind is Kind.MOVE else None,
        reason=change.reason,
        error=error,
        filter_parameters=filter_parameters(),
        most=PER_PAGE,
        back=url_for("candidates.index", **filter_parameters()),
    )


_FIELDS = {
    Kind.MOVE: "status",
    Kind.BACK: "status",
    Kind.ASSIGN: "recruiter",
    Kind.TAG: "tag",
    Kind.UNTAG: "tag",
}


def _is_rejection(member: TeamMember, change: Change) -> bool:
    return change.kind is Kind.MOVE and deciding_statuses(member.organization).get(change.value) is Meaning.REJECTED


def _undo(change: Change) -> dict[str, str] | None:
    """The fields of the form that undoes the change."""
    kind = bulk.UNDONE_BY.get(change.kind) if request.form.get("undo") != "yes" else None
    if kind is None:
        return None
    return {"kind": kind.value, "undo": "yes", **({_FIELDS[kind]: change.value} if kind in _FIELDS else {})}


def _change() -> Change:
    try:
        kind = Kind(request.form.get("kind", ""))
    except ValueError:
        raise Rejected("Choose an action.", field="kind") from None
    field = _FIELDS.get(kind, "")
    value, reason = request.form.get(field, "") if field else "", request.form.get("reason", "")
    flaw = flaw_of(value) or flaw_of(reason)
    if flaw:
        raise Rejected(flaw, field=field)
    return Change(kind, value, reason)


def _exportable(member: TeamMember, ids: list[str]) -> list[str]:
    """All of ``ids``. Raises Rejected if the member may not export some of them, because the file could not say so."""
    exportable = candidates_named(member, ids, Right.EDIT)
    missing = len([one for one in ids if one not in exportable])
    if missing:
        what = f"{missing} of the {len(ids)} selected candidates"
        how_on = "Select only the others, or use the export button at the top, which skips these."
        if missing == len(ids):
            what = "the selected candidate" if missing == 1 else "any of the selected candidates"
            how_on = "Select other candidates."
        flows = "flow" if missing == 1 else "flows"
        raise Rejected(
            f"You cannot export {what}, because they were deleted or you can only view their {flows}. {how_on}"
        )
    return ids


def _export(member: TeamMember, ids: list[str]) -> AnyResponse:
    place = places("candidates", share=4).take()
    if place is None:
        return make_response(_page(member, 0, error="Several exports are running. Try again in a minute."), 503)
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for after the request
    flow = only_flow_of(ids)
    who = Reader(member.id, member.organization_id, shows_scores=shows_scores())
    body = as_csv(app, ids, who, criteria=criteria_of(flow) if flow else ())
    write_audit(
        member.organization, action="candidates.exported", subject=member.id, by=member, details={"rows": len(ids)}
    )
    db.session.commit()
    name = f"candidates-{clock.now():%Y-%m-%d}.csv"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
        "X-Rows": str(len(ids)),
    }
    return Response(Lasting(body, place), mimetype="text/csv", headers=headers)


def _in_export(member: TeamMember, filters: CandidateFilter, total: int) -> dict[str, int]:
    """Rows of the export, how many of ``total`` are left out as view-only, and the number of all candidates."""
    rows = how_many_seen_by(member, replace(filters, right=Right.EDIT)) if only_viewed(member) else total
    return {
        "rows": rows,
        "viewed": total - rows,
        "everyone": how_many_seen_by(member, CandidateFilter()) if pairs() else total,
    }
