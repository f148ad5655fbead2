"""Candidates of one flow side by side, question by question."""

from collections.abc import Container
from dataclasses import dataclass

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, note_access
from app.accounts.models import Role, TeamMember
from app.candidates.models import Candidate, Meaning
from app.candidates.overall import overall
from app.candidates.queries import candidates_named, deciding_statuses, statuses_of
from app.flows.queries import only_viewed
from app.interviews.actions import result_of
from app.interviews.comparison import LABELS, Compared, rows_of
from app.interviews.highlights import obeyed_in
from app.interviews.models import Interview
from app.interviews.pages.interviews import pages
from app.interviews.queries import newest_results
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import urls_for_many
from app.review.rate_first.queries import hidden_interviews, without_judgement
from app.web.fields import UUID

FEWEST, MOST = 2, 5
HOW_MANY = f"Select {FEWEST} to {MOST} candidates of one flow in the list, then choose “Compare”."
UNKNOWN = "One of these candidates no longer exists, or you do not have access to them."
MIXED = "These candidates belong to different flows. You can only compare candidates of the same flow."


@dataclass(frozen=True, slots=True)
class Column:
    """One candidate: the newest interview with a result, if there is one, and the URL of its sound."""

    candidate: Candidate
    interview: Interview | None
    sound: str | None


@pages.post("/candidates/compare")
def choose_compared() -> AnyResponse:
    """Redirect from the rows selected in the list to an address that can be bookmarked and shared."""
    ids = [one.lower() for one in request.form.getlist("id")[: MOST + 1] if UUID.match(one)]
    if not FEWEST <= len(set(ids)) <= MOST:
        flash(HOW_MANY, "warn")
        return redirect(url_for("candidates.index"), 303)
    return redirect(url_for("interviews.compare", id=ids), 303)


@pages.get("/candidates/compare")
def compare() -> str | tuple[str, int]:
    """Two to five candidates in columns, with their answers to the same question in one row."""
    member = current_member()
    ids = list(dict.fromkeys(one[:36].lower() for one in request.args.getlist("id")[: MOST * 2]))
    candidates = candidates_named(member, ids)
    wrong = _wrong(ids, candidates)
    if wrong is not None:
        return render_template("review/compare.html", wrong=wrong, columns=[], rows=[]), 422
    for interview_id in [one.id for one in newest_results(ids).values()]:
        note_access(member.organization, "interview.seen", interview_id, by=member)
    columns = _columns(member, ids)
    hidden = hidden_interviews(member, [one.interview for one in columns if one.interview])
    compared = [_compared(one.interview, hidden) for one in columns]
    return render_template(
        "review/compare.html",
        wrong=None,
        columns=columns,
        rows=rows_of(compared),
        labels=LABELS,
        criteria=[one.criteria for one in compared if one],
        scores=[one.scores if one else None for one in compared],
        overall=[overall(one.scores, one.criteria) if one else None for one in compared],
        evidence=[one.evidence if one else {} for one in compared],
        hidden=hidden,
        title=columns[0].candidate.flow.title,
        ids=ids,
        movable=_movable(member, candidates),
        statuses=statuses_of(member.organization),
        rejecting=[
            name for name, meaning in deciding_statuses(member.organization).items() if meaning is Meaning.REJECTED
        ],
    )


def _movable(member: TeamMember, candidates: dict[str, Candidate]) -> list[str]:
    view_only = only_viewed(member)
    is_viewer = member.role is Role.VIEWER
    return [one.id for one in candidates.values() if not is_viewer and one.flow_id not in view_only]


def _wrong(ids: list[str], candidates: dict[str, Candidate]) -> str | None:
    if not FEWEST <= len(ids) <= MOST:
        return HOW_MANY
    if any(one not in candidates for one in ids):
        return UNKNOWN
    return MIXED if len({one.flow_id for one in candidates.values()}) > 1 else None


def _columns(member: TeamMember, ids: list[str]) -> list[Column]:
    candidates, interviews = candidates_named(member, ids), newest_results(ids)
    urls = urls_for_many([one.id for one in interviews.values()])
    columns = []
    for one in ids:
        interview = interviews.get(one)
        media = urls.get(interview.id, {}) if interview else {}
        columns.append(Column(candidates[one], interview, media.get(Media.AUDIO) or media.get(Media.VIDEO)))
    return columns


def _compared(interview: Interview | None, hidden: Container[str]) -> Compared | None:
    result = result_of(interview) if interview else None
    if interview is None or interview.data is None or result is None:
        return None
    data = without_judgement(interview.data) if interview.id in hidden else interview.data
    return Compared(
        result["transcript_with_timestamp"],
        result["questions_to_transcript_mapping"],
        data.scores or {},
        (data.evidence or {}).get("scores", {}),
        obeyed_in(data.evidence),
        data.own_criteria,
    )
