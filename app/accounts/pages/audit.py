"""The audit log for administrators: its entries, its export, and the check that it is intact."""

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
from app.accounts.audit.entries import GROUPS, NO_MEMBER, WORDS, AuditFilter
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
PARAMETERS = ("group", "member", "subject", "from", "to")


@pages.get("/audit")
def audit() -> str:
    """The newest entries that match the filter of the URL."""
    require_admin()
    organization, offset, filters = current_member().organization, offset_of_request(), _filters()
    people = [(one.id, one.full_name or one.email) for one in queries.everyone_of(organization)]
    entries = audit_log.entries_of(organization, filters, limit=PER_PAGE, offset=offset)
    last = audit_log.check_of(organization)
    return render_template(
        "accounts/audit.html",
        entries=entries,
        ids={one for entry in entries for one in _ids_in(entry)},
        facts=facts,
        total=audit_log.how_many_entries(organization, filters),
        offset=offset,
        limit=PER_PAGE,
        filters=filters,
        groups=list(GROUPS.items()),
        people=people,
        no_member=NO_MEMBER,
        words=WORDS,
        filter_parameters=_parameters(),
        check=last,
        intact=check.intact_upto(last) if last else 0,
        newest=organization.audit_seq,
    )


def _ids_in(entry: AuditEntry) -> set[str]:
    return {entry.subject, *ids_in(entry.details)}


@pages.post("/audit/check")
def check_audit() -> ResponseReturnValue:
    """Check the whole log now."""
    require_admin()
    organization_id = current_member().organization_id
    db.session.rollback()  # reading it all must not block writers
    with reading():
        chain = check.followed(queries.organization_with(organization_id))
        db.session.rollback()
    check.keep_check(queries.organization_with(organization_id), chain)
    db.session.commit()
    if chain.flaw:
        flash(f"The audit log is not intact. {chain.flaw}", "bad")
    else:
        entries = "its entry is" if chain.number == 1 else f"all {chain.number} entries are"
        flash(f"The audit log is intact: {entries} unchanged.", "good")
    return redirect(url_for("accounts.audit"), 303)


@pages.post("/audit/export")
def export_audit() -> Response:
    """All entries that match the filter, as CSV. Not a GET, because the export itself is recorded."""
    require_admin()
    me, filters = current_member(), _filters()
    organization_id, people = me.organization_id, {one.id: one.email for one in queries.everyone_of(me.organization)}
    rows = audit_log.how_many_entries(me.organization, filters)
    details = {"rows": rows, "filter": sorted(_parameters())}
    write_audit(me.organization, action="audit.exported", subject=organization_id, by=me, details=details)
    db.session.commit()
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for after the request
    pieces = _pieces(app, organization_id, filters)
    headers = {"Content-Disposition": f'attachment; filename="audit-{clock.now():%Y-%m-%d}.csv"'}
    return Response(_as_csv(pieces, people), mimetype="text/csv", headers=headers)


def _pieces(app: Flask, organization_id: str, filters: AuditFilter) -> Iterator[list[AuditEntry]]:
    """The entries in pieces, each in its own context, so that a slow reader holds no connection."""
    below: int | None = None
    while True:
        with app.app_context(), reading(), row_security.only(organization_id):
            organization: Organization = queries.organization_with(organization_id)
            piece = list(audit_log.entries_of(organization, filters, limit=PIECE, below=below))
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


def _filters() -> AuditFilter:
    """The filter of the URL; values that cannot be read are ignored."""
    group = _parameter("group")
    return AuditFilter(
        group=group if group in GROUPS else "",
        member_id=_parameter("member"),
        subject=_parameter("subject"),
        first=day_in(_parameter("from")),
        last=day_in(_parameter("to")),
    )


def _parameter(name: str) -> str:
    value = request.args.get(name, "").strip()
    return "" if flaw_of(value) else value[:100]


def _parameters() -> dict[str, Any]:
    """The filter as parameters of ``url_for``."""
    return {name: _parameter(name) for name in PARAMETERS if _parameter(name)}
