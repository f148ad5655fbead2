"""The candidate's own page, at the interview's link with ``/own``. See ``access`` for who gets in."""

from typing import Any

from flask import Blueprint, Response, g, make_response, redirect, render_template, request, url_for
from flask_babel import gettext
from werkzeug.exceptions import HTTPException

from app import gateways
from app.accounts.queries import is_disabled
from app.candidate_requests.actions import ask_afterwards, note
from app.candidate_requests.queries import marks_of, requests_of
from app.conversation.access import UNTOLD, settings
from app.core.db import db, reading
from app.core.errors import Conflict, GatewayError, NotFound, Rejected
from app.flows.flow_script import FlowScript
from app.gateways.mail import Mail
from app.interviews.actions import result_of
from app.interviews.models import Interview, Stage
from app.interviews.queries import open_interview
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import is_revoked, urls_for
from app.legal_holds.queries import hold_on
from app.privacy.own_page import actions
from app.privacy.own_page.access import asker_of_request, is_under_way, may_open, new_token, set_cookie
from app.privacy.own_page.download import captions_of, sent
from app.privacy.own_page.forms import AskForm, FlagForm, number_of_query
from app.web import languages, rate_limits
from app.web.errors import RETRY_SECONDS
from app.web.fields import address_flaw
from app.web.security import keep_private

pages = Blueprint("own_page", __name__, url_prefix="/interview/api/<flow_id>/<interview_id>/own")

OPENS_PER_LINK = 60
"""Most requests per minute for one interview from one network address."""
LARGEST_FORM = 64 * 1024
OPEN_TO_STRANGERS = frozenset({"own_page.ask_code", "own_page.enter"})


@pages.url_value_preprocessor
def _take_link(_endpoint: str | None, values: dict[str, Any] | None) -> None:
    g.link = (values.pop("flow_id"), values.pop("interview_id")) if values else ("", "")


@pages.url_defaults
def _give_link(_endpoint: str, values: dict[str, Any]) -> None:
    if "link" in g:
        values.setdefault("flow_id", g.link[0])
        values.setdefault("interview_id", g.link[1])


@pages.before_request
def guard() -> Response | None:
    """Let the candidate in. Everyone else gets the page that asks for a code, and nothing of the interview."""
    keep_private()
    request.max_content_length = LARGEST_FORM
    rate_limits.count("own", most=rate_limits.OPENS_PER_ADDRESS)
    with reading():
        try:
            interview = open_interview(*g.link)
        except NotFound:
            languages.choose()
            return make_response(render_template("conversation/unknown.html"), 404)
        languages.choose((interview.script or FlowScript.of(interview.flow)).language)
        rate_limits.count("own", most=OPENS_PER_LINK, of=interview.id)
        refused = None
        if request.endpoint not in OPEN_TO_STRANGERS:
            if not may_open(interview):
                refused = _door(interview, status=403)
            elif is_under_way(interview):
                refused = redirect(_link(), 303)  # type: ignore[assignment]
        db.session.rollback()
    return refused


@pages.errorhandler(429)
def often(_error: HTTPException) -> Response:
    """The response when this page is opened too often."""
    return rate_limits.too_often(url_for("own_page.show"))


@pages.after_request
def _after(response: Response) -> Response:
    response.headers["Referrer-Policy"] = "no-referrer"  # the address is a locator
    return languages.remember(response, settings=settings())


def _link() -> str:
    return f"/interview/api/{g.link[0]}/{g.link[1]}"


def _here(anchor: str) -> Response:
    return redirect(url_for("own_page.show", _anchor=anchor), 303)  # type: ignore[return-value]


@pages.get("")
def show() -> Response:
    """Everything about the interview, for its candidate."""
    with reading():
        return _page(open_interview(*g.link))


@pages.post("/requests")
def ask() -> Response:
    """Request deletion or a review by a person, or withdraw consent."""
    interview, form = open_interview(*g.link), AskForm.of_request()
    if form.flaw or form.kind is None:
        return _page(interview, status=422, request_form=form)
    try:
        ask_afterwards(interview, form.kind, form.text or None)
    except (Rejected, Conflict):
        db.session.rollback()
        return _page(open_interview(*g.link), status=409, request_form=form, too_many=True)
    db.session.commit()
    return _here("requests")


@pages.post("/flags")
def flag() -> Response:
    """Request a correction of the transcript."""
    interview, form = open_interview(*g.link), FlagForm.of_request()
    if form.flaw:
        return _page(interview, status=422, flagged=form)
    try:
        actions.flag(
            interview, segment=form.segment, words=form.words, suggestion=form.suggestion, text=form.text or None
        )
    except Rejected as refusal:
        db.session.rollback()
        return _page(open_interview(*g.link), status=422, flagged=form, too_many=refusal.field is None)
    except Conflict:
        db.session.rollback()
        return _here("status")
    db.session.commit()
    return _here(f"segment-{form.segment}")


@pages.get("/captions.vtt")
def captions() -> Response:
    """The transcript as captions of the video."""
    with reading():
        result = result_of(open_interview(*g.link))
        db.session.rollback()
    if result is None:
        raise NotFound("There are no captions.")
    webvtt = captions_of(result)
    return Response(webvtt, mimetype="text/vtt")


@pages.post("/download")
def download() -> Response:
    """Stream everything as one archive."""
    interview = open_interview(*g.link)
    if interview.erased_at is not None:
        return _here("status")
    db.session.rollback()
    try:
        answer = sent(interview.id)
    except GatewayError:
        with reading():
            page = _page(open_interview(*g.link), status=503, trouble=UNTOLD[503])
        page.headers["Retry-After"] = str(RETRY_SECONDS)
        return page
    note(open_interview(*g.link), "own_page.downloaded")
    db.session.commit()
    return answer


@pages.post("/code")
def ask_code() -> Response:
    """Email a one-time code to the interview's address. The response is the same for any address entered."""
    interview = open_interview(*g.link)
    if not gateways.current().mail.is_configured or is_disabled(interview.organization_id):
        return _door(interview, status=403)
    address = request.form.get("address", "").strip()
    if not address or len(address) > 320 or address_flaw(address):
        return _door(interview, status=422, flaw="address", address=address[:320])
    code = actions.new_code()
    try:
        actions.ask_code(interview, code, _mail(interview, address, code), asker=asker_of_request())
    except Conflict:
        db.session.rollback()
        return _door(open_interview(*g.link), status=429, flaw="too_many", address=address)
    db.session.commit()
    return _door(interview, status=200, was_sent=True)


def _mail(interview: Interview, address: str, code: str) -> Mail:
    script = interview.script or FlowScript.of(interview.flow)
    values = {"title": script.title, "org": script.org_name, "code": code}
    lines = [
        gettext("Your code for the page about your interview “%(title)s” with %(org)s is:", **values),
        code,
        gettext("It works once, for ten minutes. If you did not ask for it, you do not have to do anything."),
    ]
    subject = " ".join(gettext("Your code: %(code)s", code=code).split())
    text = "\n\n".join(lines) + "\n"
    return Mail(address, subject, text, language=languages.chosen(), code=code, sender=script.org_name)


@pages.post("/enter")
def enter() -> Response:
    """Let this browser in with a code."""
    interview, (token, token_hash) = open_interview(*g.link), new_token()
    is_in = actions.use_code(interview, request.form.get("code", "")[:50], token_hash=token_hash)
    db.session.commit()  # a wrong try counts too
    if not is_in:
        return _door(interview, status=422, was_sent=True, flaw="code")
    return set_cookie(_here(""), interview.id, token)


def _door(interview: Interview, *, status: int, **context: Any) -> Response:
    """The page for people who only have the link: it shows only how to get in."""
    has_mail = gateways.current().mail.is_configured
    script = interview.script or FlowScript.of(interview.flow)
    shown = {
        "has_mail": has_mail,
        "org_name": script.org_name,
        "link": _link(),
        "was_sent": False,
        "flaw": None,
        "logo_url": interview.flow.logo_path,
        "accent_url": interview.flow.accent_path,
    }
    page = render_template("privacy/own_page/door.html", base=url_for("own_page.show"), **{**shown, **context})
    return make_response(page, status)


def _page(interview: Interview, *, status: int = 200, **context: Any) -> Response:
    candidate_requests = requests_of(interview.id)
    urls = {media: url.removeprefix(settings().app_url) for media, url in urls_for(interview.id).items()}
    script = interview.script or FlowScript.of(interview.flow)
    shows_status = interview.flow.organization.shows_status and interview.candidate is not None
    shown = {
        "interview": interview,
        "base": url_for("own_page.show"),
        "org_name": script.org_name,
        "candidate_requests": candidate_requests,
        "title": script.title,
        "result": result_of(interview),
        "marks": marks_of(candidate_requests),
        "state": _state(interview),
        "audio": urls.get(Media.AUDIO),
        "video": urls.get(Media.VIDEO),
        "revoked": is_revoked(interview.id),
        "pipeline": interview.candidate.status if shows_status and interview.candidate else None,
        "flagging": number_of_query("flag"),
        "logo_url": interview.flow.logo_path,
        "accent_url": interview.flow.accent_path,
        "request_form": None,
        "flagged": None,
        "too_many": False,
        "trouble": None,
        "is_held": hold_on(interview.id, interview.candidate_id) is not None,
    }
    return make_response(render_template("privacy/own_page/page.html", **{**shown, **context}), status)


def _state(interview: Interview) -> str:
    if interview.erased_at is not None:
        return "erased"
    if interview.withdrawn_at is not None:
        return "withdrawn"
    if interview.stage is Stage.COMPLETED:
        return "ready"
    return "received" if interview.stage is Stage.SUBMITTED else "processing"
