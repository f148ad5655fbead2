"""Pages of re-scoring: what it would take, its progress, the runs, and using a version of the scores."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_member, require_recruiter
from app.candidates.forms import chosen_ids
from app.candidates.overall import explained, overall
from app.candidates.queries import candidates_named
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.core.rooms import rate_first
from app.flows.criteria import Criterion
from app.flows.models import InterviewFlow, Right
from app.flows.queries import flow_to_change
from app.interviews import actions
from app.interviews.models import Interview
from app.interviews.queries import interview_to_change, versions_of
from app.interviews.rescoring import queries
from app.interviews.rescoring.actions import cancel as cancel_run
from app.interviews.rescoring.actions import start as start_run
from app.interviews.rescoring.models import OPEN, Rescoring, State
from app.interviews.rescoring.queries import Condition, Plan
from app.web.templating import offset_of_request

PER_PAGE = 100
MOST_USED = 500
"""Interviews whose versions one request puts in force; the button stays for the others."""
COMMITTED = 50
"""Interviews whose versions are put in force in one transaction."""
NO_MODEL = (
    "Scoring needs a language model, and none is configured. Ask your operator to set LLM_BASE_URL and LLM_MODEL."
)
WHAT = "To choose what to score again, select candidates in the list, or open an interview or a flow."

pages = Blueprint("rescoring", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _card() -> dict[str, Any]:
    """Functions for the page of an interview; they query only when called."""
    return {
        "score_versions": versions_of,
        "open_rescoring": lambda interview: queries.open_run_of(interview.id),
        "overall_of": lambda row: overall(row.scores, row.own_criteria),
        "own_labels": own_labels,
        "overall_explained": lambda row: explained(overall(row.scores, row.own_criteria), row.own_criteria),
        "missing_model": _missing_model,
    }


def own_labels(*sets: Iterable[Criterion]) -> list[tuple[str, str, Criterion]]:
    """Key, name and criterion of the own criteria in these sets, each once, as the first set with it has it."""
    found: dict[str, Criterion] = {}
    for one in chain.from_iterable(sets):
        found.setdefault(one.key, one)
    return [(key, one.name, one) for key, one in found.items()]


def _missing_model() -> str:
    """What is missing before anything can be scored; empty if nothing is."""
    return NO_MODEL if gateways.current().analyst.name == queries.NO_MODEL_NAME else ""


class _Asked:
    """What the address or the form asks to score: an interview, all results of a flow, or selected candidates.

    Raises NotFound, Forbidden, Rejected.
    """

    def __init__(self) -> None:
        member = current_member()
        self.interview: Interview | None = None
        self.flow: InterviewFlow | None = None
        self.candidate_ids: list[str] = []
        self.only_unscored = request.values.get("missing") == "yes"
        if request.values.get("interview"):
            self.interview = interview_to_change(member, request.values["interview"].lower())
        elif request.values.get("flow") and not (request.form.getlist("id") or request.form.get("all")):
            self.flow = flow_to_change(member, request.values["flow"].lower())
        else:
            self.candidate_ids = list(candidates_named(member, chosen_ids(member), Right.EDIT))

    def _which(self) -> Condition:
        if self.interview is not None:
            return Interview.id == self.interview.id
        return queries.results_of(self.flow.id) if self.flow else queries.newest_of(self.candidate_ids)

    def plan(self) -> Plan:
        """What it would take."""
        return queries.plan_for(current_member(), which=self._which(), only_unscored=self.only_unscored)


@pages.get("/rescorings/new")
def check() -> str | tuple[str, int]:
    """The dry run: how many interviews, calls and tokens, and what is left out. Changes nothing."""
    require_recruiter()
    if not (request.args.get("interview") or request.args.get("flow")):
        return render_template("rescoring/new.html", asked=None, plan=None, wrong=WHAT), 422
    return _checked()


@pages.post("/rescorings/new")
def check_selected() -> str | tuple[str, int]:
    """The dry run for candidates selected in the list, who are too many for an address."""
    require_recruiter()
    return _checked()


def _checked() -> str | tuple[str, int]:
    try:
        asked = _Asked()
    except Rejected as refusal:
        return render_template("rescoring/new.html", asked=None, plan=None, wrong=refusal.message), 422
    return render_template("rescoring/new.html", asked=asked, plan=asked.plan(), wrong="")


@pages.post("/rescorings")
def start() -> AnyResponse:
    """Start the run and redirect to its progress."""
    require_recruiter()
    try:
        run = _started()
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "warn")
        return redirect(url_for("rescoring.index"), 303)
    run_id = run.id
    db.session.commit()
    return redirect(url_for("rescoring.show", run_id=run_id), 303)


def _started() -> Rescoring:
    asked, lack = _Asked(), _missing_model()
    if lack:
        raise Rejected(lack)
    return start_run(asked.plan(), flow=asked.flow, by=current_member())


@pages.get("/rescorings")
def index() -> str:
    """The newest runs."""
    require_recruiter()
    member = current_member()
    runs = [(run, queries.counts_of(member, run)) for run in queries.runs_seen_by(member)]
    return render_template("rescoring/index.html", runs=runs)


@pages.get("/rescorings/<run_id>")
def show(run_id: str) -> str:
    """The progress of a run, and old and new scores of each interview in it."""
    require_recruiter()
    member, offset = current_member(), offset_of_request()
    run = queries.run_seen_by(member, run_id)
    counts = queries.counts_of(member, run)
    rows = queries.rows_of(member, run, limit=PER_PAGE, offset=offset)
    return render_template(
        "rescoring/show.html",
        run=run,
        counts=counts,
        whole=sum(counts.values()),
        left=sum(counts.get(state, 0) for state in OPEN),
        done=counts.get(State.DONE, 0),
        rows=rows,
        versions=queries.versions_made(rows),
        hidden=rate_first().hidden_interviews(member, [row.interview for row in rows]),
        unused=len(queries.unused_of(member, run)),
        offset=offset,
        limit=PER_PAGE,
    )


@pages.post("/rescorings/<run_id>/cancel")
def cancel(run_id: str) -> AnyResponse:
    """Cancel what is not done yet."""
    require_recruiter()
    member = current_member()
    count = cancel_run(queries.run_seen_by(member, run_id), by=member)
    db.session.commit()
    words = (
        f"Cancelled the scoring of {_interviews(count)}. Scores that already exist are kept."
        if count
        else "There was nothing to cancel."
    )
    flash(words, "info")
    return redirect(url_for("rescoring.show", run_id=run_id), 303)


@pages.post("/rescorings/<run_id>/use")
def use_all(run_id: str) -> AnyResponse:
    """Put the new versions of the run in force, as many as one request can. One withheld meanwhile is left out."""
    require_recruiter()
    member = current_member()
    unused, used = queries.unused_of(member, queries.run_seen_by(member, run_id)), 0
    for at, (interview_id, number) in enumerate(unused[:MOST_USED], 1):
        try:
            used += actions.adopt(interview_to_change(member, interview_id), number, by=member)
        except Conflict:
            continue  # nothing of it has changed, and what was adopted before stays
        if at % COMMITTED == 0:
            db.session.commit()
    db.session.commit()
    left = len(unused) - MOST_USED
    verb = "is" if left == 1 else "are"
    more = f" {_interviews(left)} {verb} left. Press the button again." if left > 0 else ""
    flash(f"The new scores for {_interviews(used)} are in force.{more}", "good")
    return redirect(url_for("rescoring.show", run_id=run_id), 303)


@pages.post("/interviews/<interview_id>/scores/<int:number>")
def use(interview_id: str, number: int) -> AnyResponse:
    """Put one version of the scores in force."""
    require_recruiter()
    member = current_member()
    back = redirect(url_for("interviews.show", interview_id=interview_id, _anchor="versions"), 303)
    try:
        changed = actions.adopt(interview_to_change(member, interview_id), number, by=member)
    except Conflict as conflict:
        db.session.rollback()
        flash(conflict.message, "bad")
        return back
    db.session.commit()
    flash(f"Version {number} of the scores is in force." if changed else "This version is already in force.", "good")
    return back


def _interviews(count: int) -> str:
    return f"{count} interview" if count == 1 else f"{count} interviews"
