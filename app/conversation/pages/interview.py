"""The candidate's page: invitation and consent, the talk, and one clear page for each way in which a link is over.

Opening the page changes nothing, so link previews and other people are harmless. Only Start, after consent, claims it.
"""

import hmac

from flask import Response, jsonify, make_response, redirect, request
from flask_babel import lazy_gettext

from app import gateways
from app.candidate_requests.queries import has_more_time
from app.conversation import actions, consent, link_state, time_limit
from app.conversation.access import set_cookie, settings, token_for
from app.conversation.actions import Agreed
from app.conversation.forms import StartForm, errors_of
from app.conversation.link_state import View, about, interview_of_link, invitation, pages, plain_answer, rendered
from app.conversation.models import Mode
from app.conversation.protocol import schemas
from app.conversation.queries import sitting_of
from app.conversation.speaking import voice_now
from app.core.db import db, reading
from app.flows.flow_script import FlowScript
from app.interviews.models import Interview
from app.interviews.queries import open_interview
from app.web import languages, rate_limits
from app.web.security import allow_devices, keep_private

CHECKS_PER_ADDRESS = 4 * rate_limits.OPENS_PER_ADDRESS
NO_ROOM = lazy_gettext("You cannot start an interview right now. Nothing is lost. Please try again a little later.")


@pages.before_request
def _before() -> None:
    keep_private()
    allow_devices()
    if request.endpoint == "conversation.start":
        return  # counted by its link alone: a valid link is never refused because of other candidates
    is_check = link_state.is_check()
    kind, most = ("check", CHECKS_PER_ADDRESS) if is_check else ("interview", rate_limits.OPENS_PER_ADDRESS)
    rate_limits.count(kind, most=most)


@pages.after_request
def _after(response: Response) -> Response:
    return languages.remember(response, settings=settings())


@pages.get("")
def show(flow_id: str, interview_id: str) -> Response:
    """The page that fits the interview's state for this browser."""
    with reading():
        interview = interview_of_link(flow_id, interview_id)
        view = link_state.view_of(interview)
        if view.may_start:
            view.context.update(invitation(interview, view.context))
        elif view.page == "page":
            now = schemas.state(interview, settings=settings())
            view.context.update(about(interview), view="live", state=now, errors={}, values={})
        return rendered(interview, view)


@pages.post("/start")
def start(flow_id: str, interview_id: str) -> Response:
    """Claim the link for this browser, after consent. Of concurrent requests exactly one wins."""
    with reading():
        interview = interview_of_link(flow_id, interview_id)
        view = link_state.view_of(interview)
        if view.is_mine and view.page == "page":
            return _begun(interview)
        if not view.may_start:
            return _answered_before(interview) or rendered(interview, view)
        form = StartForm.of_request()
        if not form.validate():
            return _again(interview, view, form, status=422)
        agreed = _agreed(interview, form)
        voice = voice_now(FlowScript.of(interview.flow), gateways.current().speaker)
        db.session.rollback()
    if not gateways.current().storage.has_room():
        return _no_room(flow_id, interview_id, form)
    return _claim(flow_id, interview_id, form, agreed=agreed, voice=voice)


def _answered_before(interview: Interview) -> Response | None:
    """The response to this browser's earlier Start, given again because it was lost along with its cookie."""
    token, token_hash = token_for(interview.id)
    sitting = sitting_of(interview.id)
    if sitting is None or sitting.ended_at is not None:
        return None
    if not hmac.compare_digest(sitting.token_hash or "", token_hash):
        return None
    return set_cookie(_begun(interview), interview.id, token)


def _agreed(interview: Interview, form: StartForm) -> Agreed:
    """The consent with its text. Rendered before the claim, so that nothing slow happens inside the claim."""
    locale = form.locale.data or languages.DEFAULT
    words = consent.words_shown(about(interview)["flow"], version=consent.VERSION, locale=locale)
    return Agreed(consent.VERSION, locale, Mode(form.mode.data), words)


def _claim(flow_id: str, interview_id: str, form: StartForm, *, agreed: Agreed, voice: str | None) -> Response:
    token, token_hash = token_for(interview_id)
    interview = open_interview(flow_id, interview_id)
    is_ours = actions.claim(interview, token_hash=token_hash, agreed=agreed, voice=voice, **form.names())
    if is_ours and has_more_time(interview.id):
        time_limit.double(interview.id, limit=link_state.limit_of(interview))
    db.session.commit()
    if not is_ours:
        return rendered(interview, link_state.view_of(interview))
    return set_cookie(_begun(interview), interview_id, token)


def _begun(interview: Interview) -> Response:
    if request.is_json:
        return jsonify(schemas.state(interview, settings=settings()))
    return make_response(redirect(schemas.base_of(interview), 303))


def _again(interview: Interview, view: View, form: StartForm, *, status: int) -> Response:
    """The invitation once more, with what was typed and what is wrong with it."""
    errors = errors_of(form)
    if request.is_json:
        name, message = next(iter(errors.items()))
        return plain_answer(status, message, None if status == 422 else "try again", field_name=name)
    wrong = {"errors": errors, "values": form.typed()}
    return rendered(interview, View("page", status, {**invitation(interview, view.context), **wrong}))


def _no_room(flow_id: str, interview_id: str, form: StartForm) -> Response:
    with reading():
        interview = open_interview(flow_id, interview_id)
        form.form_errors.append(NO_ROOM)
        response = _again(interview, View("page", may_start=True, context={"taking_over": False}), form, status=503)
        response.headers["Retry-After"] = "60"
        return response
