"""One small endpoint per kind of page. Open tabs ask it every 10 to 60 seconds (static/js/live.js).

Each answers ``{"news": sentence}``, empty for nothing new, with an ETag, and does not count as use of the session.
"""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from flask import Blueprint, Response, jsonify, request, url_for

from app.accounts.access import current_member, polled, require_member, require_recruiter
from app.candidates.bulk_changes.queries import change_of, progress_of
from app.core import clock
from app.interviews.models import Interview, Stage
from app.interviews.queries import interview_seen_by
from app.interviews.rescoring.models import OPEN
from app.interviews.rescoring.queries import counts_of, run_seen_by
from app.outreach.cvs import queries as cv_queries
from app.outreach.messages.queries import UNSENT, batch_seen_by
from app.review.live.queries import results_since, state_of
from app.web.fields import flaw_of

LATE = timedelta(minutes=10)
"""A result completed this long before a page was opened may be committed after it."""
LONGEST = timedelta(days=7)
"""An older tab counts the results of these days only."""

pages = Blueprint("live", __name__, url_prefix="/live")
pages.before_request(require_member)


@pages.app_context_processor
def _urls() -> dict[str, Any]:
    """For the templates of pages that show news; they query only when called."""
    return {"live_results": _results_url, "live_interview": _interview_url}


def _results_url(flow_id: str = "") -> str:
    since = clock.now() - LATE
    seen = results_since(current_member(), since, flow_id=flow_id)
    return url_for("live.results", since=f"{since:%Y-%m-%dT%H:%M:%SZ}", seen=seen, flow=flow_id or None)


def _interview_url(interview: Interview) -> str:
    return url_for("live.interview", interview_id=interview.id, seen=state_of(interview))


@pages.get("/results")
@polled
def results() -> Response | tuple[Response, int]:
    """How many results are new: completed after ``since`` (UTC), less the ``seen`` ones; of ``flow`` if it is given."""
    since, seen, flow_id = _moment(request.args.get("since", "")), request.args.get("seen", "0"), _text("flow")
    if since is None or not seen.isdecimal() or len(seen) > 9:
        return jsonify({"message": "Reload the page: since is a UTC time in seconds, and seen is a number."}), 422
    number = results_since(current_member(), max(since, clock.now() - LONGEST), flow_id=flow_id) - int(seen)
    return _news(f"{number} new {'result' if number == 1 else 'results'}" if number > 0 else "")


@pages.get("/interviews/<interview_id>")
@polled
def interview(interview_id: str) -> Response:
    """Whether the interview has changed since its page was opened in the state ``seen``."""
    found = interview_seen_by(current_member(), interview_id)
    if state_of(found) == _text("seen"):
        return _news("")
    was_open = not _text("seen").startswith(Stage.COMPLETED.value)
    is_ready = was_open and found.stage is Stage.COMPLETED
    return _news("The result is ready" if is_ready else "This interview has changed")


@pages.get("/rescorings/<run_id>")
@polled
def rescoring(run_id: str) -> Response:
    """How many of a run's interviews are finished, if that is not the number ``seen``."""
    require_recruiter()
    member = current_member()
    counts = counts_of(member, run_seen_by(member, run_id))
    whole, left = sum(counts.values()), sum(counts.get(state, 0) for state in OPEN)
    return _news("" if _text("seen") == str(whole - left) else f"{whole - left} of {whole} finished")


@pages.get("/changes/<change_id>")
@polled
def changes(change_id: str) -> Response:
    """How far a bulk change is, if that is not what was ``seen``."""
    require_recruiter()
    progress = progress_of(change_of(current_member(), change_id))
    return _news("" if _text("seen") == progress.seen else f"{progress.finished} of {progress.whole} processed")


@pages.get("/messages/<batch>")
@polled
def messages(batch: str) -> Response:
    """How many of the messages that were sent together are finished, if that is not the number ``seen``."""
    require_recruiter()
    found = batch_seen_by(current_member(), batch)
    done = sum(one.letter.state not in UNSENT for one in found)
    return _news("" if _text("seen") == str(done) else f"{done} of {len(found)} finished")


@pages.get("/cvs/<upload_id>")
@polled
def cvs(upload_id: str) -> Response:
    """How many files of an upload of CVs still have to be read or invited, if that is not the number ``seen``."""
    require_recruiter()
    left = cv_queries.left_of(cv_queries.upload_to_change(current_member(), upload_id))
    words = "All files are done" if not left else f"{left} {'file' if left == 1 else 'files'} left"
    return _news("" if _text("seen") == str(left) else words)


def _news(sentence: str) -> Response:
    response = jsonify({"news": sentence})
    response.set_etag(sha256(sentence.encode()).hexdigest()[:16])
    response.make_conditional(request)
    return response


def _text(name: str) -> str:
    value = request.args.get(name, "")[:100]
    return "" if flaw_of(value) else value


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
