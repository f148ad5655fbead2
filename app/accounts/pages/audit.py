"""The audit log: who saw, changed, exported or revoked what, for administrators; and whether it is whole."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from flask import Flask, Response, current_app, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts import queries
from app.accounts.access import current_member, require_admin
from app.accounts.actions import write_audit
from app.accounts.audit import check
from app.accounts.audit import entries as audit_log
from app.accounts.audit.entries import GROUPS, NOBODY, WORDS, TrailFilter
from app.accounts.audit.words import facts, ids_in
from app.accounts.models import AuditEntry, Organization
from app.accounts.pages.blueprint import pages
from app.core import clock
from app.core.db import db, reading, row_security
from app.web.csv import BEGINNING, line
from app.web.fields import day_in, flaw_of
from app.web.templating import offset_of_request

PER_PAGE = 50
PIECE = 1_000
COLUMNS = ("number", "at", "action", "words", "member", "member_id", "subject", "details", "hash")
KEPT = ("group", "member", "subject", "from", "to")


@pages.get("/audit")
def audit() -> str:
    """The newest entries, narrowed by what the address says."""
    require_admin()
    organization, offset, found_by = current_member().organization, offset_of_request(), _asked_for()
    people = [(one.id, one.full_name or one.email) for one in queries.everyone_of(organization)]
    entries = audit_log.entries_of(organization, found_by, limit=PER_PAGE, offset=offset)
    return render_template(
        "accounts/audit.html",
        entries=entries,
        ids={one for entry in entries for one in _ids_in(entry)},
        facts=facts,
        total=audit_log.how_many_entries(organization, found_by),
        offset=offset,
        limit=PER_PAGE,
        found_by=found_by,
        groups=list(GROUPS.items()),
        people=people,
        nobody=NOBODY,
        words=WORDS,
        kept=_kept(),
        check=audit_log.check_of(organization),
        newest=organization.audit_seq,
    )


def _ids_in(entry: AuditEntry) -> set[str]:
    return {entry.subject, *ids_in(entry.details)}


@pages.post("/audit/check")
def check_audit() -> ResponseReturnValue:
    """Follow the whole chain now."""
    require_admin()
    organization_id = current_member().organization_id
    db.session.rollback()  # reading it all must not keep others from writing
    with reading():
        found = check.followed(queries.organization_with(organization_id))
        db.session.rollback()
    check.keep_check(queries.organization_with(organization_id), found)
    db.session.commit()
    if found.flaw:
        flash(f"The log is not whole. {found.flaw}", "bad")
    else:
        flash(f"The log is whole: all {found.number} entries are what was written.", "good")
    return redirect(url_for("accounts.audit"), 303)


@pages.post("/audit/export")
def export_audit() -> Response:
    """Everything that the filter finds, as CSV. No GET: that it was exported is itself written down."""
    require_admin()
    me, found_by = current_member(), _asked_for()
    organization_id, people = me.organization_id, {one.id: one.email for one in queries.everyone_of(me.organization)}
    rows = audit_log.how_many_entries(me.organization, found_by)
    details = {"rows": rows, "filter": sorted(_kept())}
    write_audit(me.organization, action="audit.exported", subject=organization_id, by=me, details=details)
    db.session.commit()
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for the time after the request
    told = _pieces(app, organization_id, found_by)
    headers = {"Content-Disposition": f'attachment; filename="audit-{clock.now():%Y-%m-%d}.csv"'}
    return Response(_as_csv(told, people), mimetype="text/csv", headers=headers)


def _pieces(app: Flask, organization_id: str, found_by: TrailFilter) -> Iterator[list[AuditEntry]]:
    """The entries in pieces, each in a context of its own, so that nothing is held while a reader is slow."""
    below: int | None = None
    while True:
        with app.app_context(), reading(), row_security.only(organization_id):
            organization: Organization = queries.organization_with(organization_id)
            piece = list(audit_log.entries_of(organization, found_by, limit=PIECE, below=below))
            db.session.expunge_all()
            db.session.rollback()
        if not piece:
            return
        below = piece[-1].number
        yield piece


def _as_csv(pieces: Iterable[list[AuditEntry]], people: dict[str, str]) -> Iterator[str]:
    yield BEGINNING + line(COLUMNS)
    for piece in pieces:
        yield "".join(
            line(
                [
                    one.number,
                    clock.rfc3339(one.at),
                    one.action,
                    WORDS.get(one.action),
                    people.get(one.member_id or ""),
                    one.member_id,
                    one.subject,
                    json.dumps(one.details, sort_keys=True, ensure_ascii=False),
                    one.hash,
                ]
            )
            for one in piece
        )


def _asked_for() -> TrailFilter:
    """The filter of the address; what cannot be read counts as not asked."""
    group = _asked("group")
    return TrailFilter(
        group=group if group in GROUPS else "",
        member_id=_asked("member"),
        subject=_asked("subject"),
        first=day_in(_asked("from")),
        last=day_in(_asked("to")),
    )


def _asked(name: str) -> str:
    given = request.args.get(name, "").strip()
    return "" if flaw_of(given) else given[:100]


def _kept() -> dict[str, Any]:
    """The filter as parameters of ``url_for``."""
    return {name: _asked(name) for name in KEPT if _asked(name)}
