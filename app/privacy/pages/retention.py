"""Administrators' pages of retention and legal holds."""

from typing import Any

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin
from app.candidates import decisions
from app.candidates.queries import candidate_seen_by
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.interviews.queries import interview_seen_by
from app.legal_holds import actions as legal_holds
from app.legal_holds.models import Held
from app.legal_holds.queries import hold_for, hold_on, holds_of
from app.privacy import idle, retention
from app.privacy.forms import hold_of_form, months_and_days
from app.privacy.pages.erasure import TYPED, pages
from app.web.fields import count_in

MOST = 100


@pages.app_context_processor
def _kept() -> dict[str, Any]:
    """For the pages of candidates and interviews: their legal hold, and how long quarantine lasts."""
    return {"hold_on": hold_on, "quarantine_lasts": idle.QUARANTINE}


@pages.get("/retention")
def retention_rule() -> str:
    """The rule and what it would do, cases in quarantine, and legal holds."""
    require_admin()
    rule = idle.rule_of(current_member().organization_id)
    if not {"months", "media_days"} & set(request.args):
        return _page(rule.months, rule.media_days)
    errors: dict[str, str] = {}
    months = media_days = None
    try:
        months, media_days = months_and_days(request.args)
        retention.check(months, media_days)
    except Rejected as refusal:
        errors[refusal.field or "months"] = refusal.message
        return _page(rule.months, rule.media_days, errors=errors, tried=True)
    return _page(months, media_days, tried=True)


@pages.post("/retention")
def set_retention() -> AnyResponse | tuple[str, int]:
    """Set the rule. If it erases anything, the word must be typed."""
    require_admin()
    member = current_member()
    try:
        months, media_days = months_and_days(request.form)
        retention.check(months, media_days)
    except Rejected as refusal:
        rule = idle.rule_of(member.organization_id)
        refused = {refusal.field or "months": refusal.message}
        return _page(rule.months, rule.media_days, errors=refused, tried=True), 422
    if (months or media_days) and request.form.get("confirm", "").strip().lower() != TYPED:
        refused = {"confirm": f"Nothing was changed. Type “{TYPED}” to confirm."}
        return _page(months, media_days, errors=refused, tried=True), 422
    changed = retention.set_rule(member.organization, months=months, media_days=media_days, by=member)
    db.session.commit()
    flash("Saved." if changed else "Nothing to change.", "good" if changed else "info")
    return redirect(url_for("privacy.retention_rule"), 303)


@pages.post("/retention/decisions")
def set_decision_months() -> AnyResponse | tuple[str, int]:
    """Set how long decision records are kept after their candidate was erased."""
    require_admin()
    member = current_member()
    try:
        months = count_in(request.form.get("decision_months", ""), field="decision_months")
        retention.check_decisions(months)
    except Rejected as refusal:
        rule = idle.rule_of(member.organization_id)
        return _page(rule.months, rule.media_days, errors={"decision_months": refusal.message}), 422
    changed = decisions.set_months(member.organization, months, by=member)
    db.session.commit()
    flash("Saved." if changed else "Nothing to change.", "good" if changed else "info")
    return redirect(url_for("privacy.retention_rule", _anchor="decisions"), 303)


@pages.post("/candidates/<candidate_id>/restore")
def restore_candidate(candidate_id: str) -> AnyResponse:
    """Restore a candidate and all their interviews from quarantine."""
    require_admin()
    return _restored(Held.CANDIDATE, candidate_seen_by(current_member(), candidate_id).id)


@pages.post("/interviews/<interview_id>/restore")
def restore_interview(interview_id: str) -> AnyResponse:
    """Restore an interview from quarantine; with a candidate, the whole case."""
    require_admin()
    interview = interview_seen_by(current_member(), interview_id)
    if interview.candidate_id:
        return _restored(Held.CANDIDATE, interview.candidate_id)
    return _restored(Held.INTERVIEW, interview.id)


@pages.post("/candidates/<candidate_id>/hold")
def hold_candidate(candidate_id: str) -> AnyResponse:
    """Place a legal hold on a candidate and all their interviews."""
    require_admin()
    candidate_id = candidate_seen_by(current_member(), candidate_id).id
    return _held(
        Held.CANDIDATE, candidate_id, url_for("candidates.show", candidate_id=candidate_id, _anchor="candidate-hold")
    )


@pages.post("/interviews/<interview_id>/hold")
def hold_interview(interview_id: str) -> AnyResponse:
    """Place a legal hold on an interview."""
    require_admin()
    interview_id = interview_seen_by(current_member(), interview_id).id
    return _held(Held.INTERVIEW, interview_id, url_for("interviews.show", interview_id=interview_id, _anchor="hold"))


@pages.post("/holds/<hold_id>/release")
def release_hold(hold_id: str) -> AnyResponse:
    """Release a legal hold."""
    require_admin()
    member = current_member()
    hold = hold_for(member.organization, hold_id)
    changed = legal_holds.release(hold, by=member)
    db.session.commit()
    words = "The legal hold was released. The usual rules apply again, unless there is another hold."
    flash(words if changed else "This legal hold was already released.", "good" if changed else "info")
    return redirect(url_for("privacy.retention_rule", _anchor="holds"), 303)


def _restored(kind: Held, case_id: str) -> AnyResponse:
    changed = retention.restore(kind, case_id, by=current_member())
    db.session.commit()
    if changed:
        flash(
            "The data was restored from quarantine. It appears in lists again, and the retention period starts again.",
            "good",
        )
    else:
        flash(f"The {kind.value} is no longer in quarantine.", "info")
    return redirect(url_for("privacy.retention_rule", _anchor="quarantine"), 303)


def _held(kind: Held, subject_id: str, back: str) -> AnyResponse:
    try:
        reason, ends_at = hold_of_form()
        retention.lock(kind, subject_id)
        legal_holds.place(kind, subject_id, reason=reason, ends_at=ends_at, by=current_member())
    except (Rejected, Conflict) as refusal:
        db.session.rollback()
        flash(f"No legal hold was placed. {refusal.message}", "bad")
        return redirect(back, 303)
    db.session.commit()
    flash(f"The legal hold was placed. This {kind.value}'s data cannot be erased or deleted until it ends.", "good")
    return redirect(back, 303)


def _page(
    months: int | None, media_days: int | None, *, errors: dict[str, str] | None = None, tried: bool = False
) -> str:
    organization = current_member().organization
    rule = idle.rule_of(organization.id)
    holds = holds_of(organization, limit=MOST)
    typed = request.values if tried else {}
    return render_template(
        "privacy/retention.html",
        rule=rule,
        months=months,
        media_days=media_days,
        errors=errors or {},
        tried=tried and not set(errors or {}) - {"confirm"},
        typed=typed,
        word=TYPED,
        forecast=idle.forecast(organization.id, months=months, media_days=media_days),
        usual=retention.USUAL_MONTHS,
        usual_days=retention.USUAL_DAYS,
        begins=rule.since + idle.FLOOR if rule.since and rule.months else None,
        waiting=idle.quarantined(organization.id, limit=MOST),
        decision_months=request.form.get("decision_months") or decisions.months_kept(organization.id),
        records_kept=decisions.records_kept(organization.id),
        holds=holds,
        names=idle.names_of(holds),
        floor=idle.FLOOR,
        quarantine=idle.QUARANTINE,
        now=clock.now(),
        goes=_goes(rule, months),
    )


def _goes(rule: Any, months: int | None) -> Any:
    """A function from a case's latest activity to when it goes into quarantine, under the saved or the tried rule."""
    is_the_rule = months is not None and rule.months == months and rule.since is not None
    begins = (rule.since if is_the_rule else clock.now()) + idle.FLOOR
    return lambda latest: max(idle.later(latest, months or 0), begins)
