"""Messages that were sent together: their progress, and cancelling those that still wait."""

from flask import flash, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_recruiter
from app.core.db import db
from app.interviews.queries import interview_to_change
from app.mail_outbox.models import QueuedMailState
from app.outreach.messages import actions, queries
from app.outreach.messages.pages.blueprint import pages
from app.outreach.messages.queries import UNSENT

GONE = "Too late: the message has already been sent, or is being sent."


@pages.get("/candidates/messages/<batch>")
def sent(batch: str) -> str:
    """How far they are. Mail is sent whether or not someone looks."""
    require_recruiter()
    messages = queries.batch_seen_by(current_member(), batch)
    states = [one.letter.state for one in messages]
    return render_template(
        "outreach/messages/sent.html",
        messages=messages,
        batch=batch,
        left=sum(state in UNSENT for state in states),
        cancellable=states.count(QueuedMailState.WAITING),
    )


@pages.post("/candidates/messages/<batch>/cancel")
def cancel_batch(batch: str) -> AnyResponse:
    """Cancel all that still wait."""
    require_recruiter()
    member = current_member()
    messages = queries.batch_seen_by(member, batch)
    whole, count = len(messages), actions.cancel(messages, by=member)
    db.session.commit()
    words = "1 message was cancelled." if count == 1 else f"{count} messages were cancelled."
    too_late = GONE if whole == 1 else "Too late: all messages have already been sent, or are being sent."
    flash(words if count else too_late, "good" if count else "warn")
    return redirect(url_for("messages.sent", batch=batch), 303)


@pages.post("/candidates/message/<message_id>/cancel")
def cancel(message_id: str) -> AnyResponse:
    """Cancel one message that still waits."""
    require_recruiter()
    member = current_member()
    message = queries.message_seen_by(member, message_id)
    interview = interview_to_change(member, message.interview_id)
    back = redirect(url_for("interviews.show", interview_id=interview.id, _anchor="emails"), 303)
    count = actions.cancel([message], by=member)
    db.session.commit()
    flash("The message was cancelled. It was not sent." if count else GONE, "good" if count else "warn")
    return back
