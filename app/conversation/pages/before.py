"""Before the start: declining, requesting something different, and the page's network check.

Declining claims nothing and stores only its time. A candidate who declined can still start.
"""

from flask import Response, jsonify, make_response, redirect, request, url_for
from flask_babel import gettext
from flask_smorest import abort

from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.models import Different
from app.conversation import time_limit
from app.conversation.access import settings
from app.conversation.forms import DifferentForm, errors_of
from app.conversation.link_state import (
    View,
    about,
    interview_of_link,
    invitation,
    limit_of,
    offered,
    pages,
    plain_answer,
    rendered,
    requested,
    view_of,
)
from app.conversation.protocol import schemas
from app.core import clock
from app.core.db import db, reading
from app.core.errors import Rejected
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.interviews.queries import open_interview

CHECK_BYTES = 256 * 1024
"""Largest body of the network check, which is thrown away."""


@pages.post("/decline")
def decline(flow_id: str, interview_id: str) -> Response:
    """Record that the candidate does not agree, for the recruiter. The link keeps working."""
    with reading():
        interview = interview_of_link(flow_id, interview_id)
        view = view_of(interview)
        if not view.may_start:
            return _too_late(interview, view)
        db.session.rollback()
    interviews.decline(open_interview(flow_id, interview_id), at=clock.now())
    db.session.commit()
    return make_response(redirect(url_for("conversation.declined", flow_id=flow_id, interview_id=interview_id), 303))


@pages.get("/declined")
def declined(flow_id: str, interview_id: str) -> Response:
    """The alternative for candidates who do not agree. Redirects candidates who have not declined to the invitation."""
    with reading():
        interview = interview_of_link(flow_id, interview_id)
        view = view_of(interview)
        if not view.may_start:
            return _too_late(interview, view)
        if interview.declined_at is None:
            return make_response(redirect(schemas.base_of(interview), 302))
        return rendered(interview, View("declined", context={**offered(interview.flow), **about(interview)}))


def _too_late(interview: Interview, view: View) -> Response:
    """Send the candidate back to a running interview. Everyone else sees the state of the link."""
    if view.is_mine and view.page == "page":
        return make_response(redirect(schemas.base_of(interview), 303))
    return rendered(interview, view)


@pages.post("/different")
def different(flow_id: str, interview_id: str) -> Response:
    """Save a request for something different, before or during the interview. The page then shows its outcome."""
    with reading():
        interview = interview_of_link(flow_id, interview_id)
        view = view_of(interview)
        if view.page != "page":
            return rendered(interview, view)
        form = DifferentForm.of_request()
        if not form.validate():
            return _wrong(interview, view, form)
        db.session.rollback()
    interview = open_interview(flow_id, interview_id)
    try:
        candidate_request = candidate_requests.ask(interview, form.candidate_request(during=view.is_mine))
    except Rejected as refusal:
        db.session.rollback()
        form.form_errors.append(gettext(refusal.template, **refusal.values))
        return _wrong(open_interview(flow_id, interview_id), view, form)
    if view.is_mine and candidate_request.details["choice"] == Different.MORE_TIME:
        time_limit.double(interview.id, limit=limit_of(interview))
    db.session.commit()
    if request.is_json:
        state = schemas.state(interview, settings=settings()) if view.is_mine else {}
        return jsonify({"asked": requested(interview), "time_limit_seconds": state.get("time_limit_seconds")})
    return make_response(redirect(f"{schemas.base_of(interview)}#asked", 303))


def _wrong(interview: Interview, view: View, form: DifferentForm) -> Response:
    errors = errors_of(form)
    if request.is_json or view.is_mine:  # during the talk the page's script asks, and shows what is wrong itself
        name, message = next(iter(errors.items()))
        return plain_answer(422, message, None, field_name=name)
    wrong = {"different_errors": errors, "different_values": form.typed()}
    return rendered(interview, View("page", 422, {**invitation(interview, view.context), **wrong}))


@pages.get("/check")
def check(flow_id: str, interview_id: str) -> Response:
    """A round trip for the page's check of the network."""
    with reading():
        interview_of_link(flow_id, interview_id)
        return jsonify({"received": 0})


@pages.post("/check")
def check_upload(flow_id: str, interview_id: str) -> Response:
    """An upload for the same check: counted, and thrown away."""
    with reading():
        interview_of_link(flow_id, interview_id)
        db.session.rollback()
    if (request.content_length or 0) > CHECK_BYTES:
        abort(413, message=f"The check takes at most {CHECK_BYTES} bytes.")
    return jsonify({"received": len(request.get_data(cache=False))})
