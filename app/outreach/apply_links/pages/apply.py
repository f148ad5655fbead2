"""The page behind an apply link: a form for name and email address, then the applicant's interview."""

import hashlib
import hmac
import ipaddress

from flask import Blueprint, Response, current_app, make_response, redirect, render_template, request, session
from flask_wtf.csrf import generate_csrf
from werkzeug.exceptions import HTTPException

from app import gateways
from app.core.db import db, reading
from app.core.encryption import derived_key
from app.flows.flow_script import FlowScript
from app.outreach.actions import Post
from app.outreach.apply_links import actions
from app.outreach.apply_links.actions import Comer, Over
from app.outreach.apply_links.forms import ComeForm
from app.outreach.apply_links.models import FlowLink
from app.outreach.apply_links.queries import link_with
from app.settings import Settings
from app.web import languages, rate_limits
from app.web.security import keep_private

apply = Blueprint("apply", __name__, url_prefix="/interview/api/open/<token>")

LARGEST_FORM = 16 * 1024
STATUS = {Over.EXPIRED: 410, Over.FULL: 410, Over.CLOSED: 410, Over.OFTEN: 429, Over.KNOWN: 409}


@apply.before_request
def _before() -> None:
    keep_private()
    request.max_content_length = LARGEST_FORM
    rate_limits.count("apply", most=rate_limits.OPENS_PER_ADDRESS)


@apply.errorhandler(429)
def _often(_error: HTTPException) -> Response:
    return rate_limits.too_often(request.path)


@apply.after_request
def _after(response: Response) -> Response:
    return languages.remember(response, settings=_settings())


@apply.get("")
def show(token: str) -> Response:
    """The form, or the reason why the link gives no interview."""
    with reading():
        link = _found(token)
        if link is None:
            return _unknown()
        reason = actions.over(link)
        return _refused(link, reason) if reason else _form(link, ComeForm())


@apply.post("")
def come(token: str) -> Response:
    """Create the interview and redirect to it."""
    link = _found(token)
    if link is None:
        return _unknown()
    form = ComeForm.of_request()
    if form.errors:
        return _form(link, form, status=422)
    got = actions.come(link, _comer(form), _post())
    address = None if isinstance(got, Over) else got.link(_settings().app_url)
    db.session.commit()
    if isinstance(got, Over):
        return _refused(link, got)
    assert address is not None  # noqa: S101 - for the type checker
    return make_response(redirect(address, 303))


def _found(token: str) -> FlowLink | None:
    link = link_with(token)
    languages.choose(FlowScript.of(link.flow).language if link else None)
    return link


def _comer(form: ComeForm) -> Comer:
    generate_csrf()  # its token identifies this browser, as on the interview's page
    network, browser = _network(rate_limits.address_of_request()), str(session.get("csrf_token", ""))
    return Comer(form.email_address, form.first_name, form.last_name or None, _digest(network), _digest(browser))


def _network(address: str) -> str:
    """The network that limits count by: an IPv4 address, or an IPv6 /64, because one connection has a whole /64."""
    try:
        ipv6 = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ipv6.ipv4_mapped or ipaddress.ip_network((ipv6, 64), strict=False))


def _digest(text: str) -> str:
    return hmac.new(derived_key("flow link visits"), text.encode(), hashlib.sha256).hexdigest()


def _post() -> Post:
    settings = _settings()
    return Post(settings.app_url, settings.link_expiry_days, gateways.current().mail.is_configured)


def _settings() -> Settings:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings


def _unknown() -> Response:
    return make_response(render_template("conversation/unknown.html"), 404)


def _form(link: FlowLink, form: ComeForm, *, status: int = 200) -> Response:
    return _page(link, status=status, form=form)


def _refused(link: FlowLink, reason: Over) -> Response:
    answer = _page(link, status=STATUS[reason], reason=reason.value, has_mail=gateways.current().mail.is_configured)
    if reason is Over.OFTEN:
        answer.headers["Retry-After"] = "3600"
    return answer


def _page(link: FlowLink, *, status: int, **context: object) -> Response:
    flow = link.flow
    page = render_template(
        "conversation/open.html",
        title=flow.title,
        org_name=flow.org_name,
        logo_url=flow.logo_path,
        accent_url=flow.accent_path,
        languages=languages.LANGUAGES,
        base=request.path,
        **context,
    )
    return make_response(page, status)
