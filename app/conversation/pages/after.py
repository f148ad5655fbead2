"""After the interview: what the candidate thinks of it. For the browser that took it, with and without scripts."""

from flask import Response, make_response, redirect, request

from app.conversation.forms import FeedbackForm, errors_of
from app.conversation.link_state import View, interview_of_link, pages, rendered, view_of
from app.conversation.protocol import schemas
from app.core.db import db, reading
from app.interviews import actions as interviews
from app.interviews.queries import open_interview


@pages.post("/feedback")
def feedback(flow_id: str, interview_id: str) -> Response:
    """Save a rating, a comment or both. They can be changed once. Only the candidate's browser may send them."""
    with reading():
        interview = interview_of_link(flow_id, interview_id)
        view = view_of(interview)
        if view.page == "page":  # the talk is not over yet
            return make_response(redirect(schemas.base_of(interview), 303))
        if view.page != "done":
            return rendered(interview, view)
        form = FeedbackForm(formdata=request.form)
        if not form.validate():
            wrong = {**view.context, "errors": errors_of(form), "values": form.typed()}
            return rendered(interview, View("done", 422, wrong))
        db.session.rollback()
    interview = open_interview(flow_id, interview_id)
    is_saved = interviews.rate(interview, **form.values())
    db.session.commit()
    word = "sent" if is_saved else "final"
    return make_response(redirect(f"{schemas.base_of(interview)}?feedback={word}", 303))
