"""Mails administrators about a failing receiver: when it starts to fail, before it is disabled, when it is disabled."""

from datetime import timedelta
from urllib.parse import urlsplit

import sqlalchemy as sa

from app.accounts.actions import mail_administrators
from app.accounts.models import Organization
from app.core.db import db
from app.flows.models import InterviewFlow
from app.gateways.mail import Mail
from app.webhooks.models import DisabledBy, Endpoint, Notice, Route

LASTS = timedelta(days=2)
"""A mail not handed over within this time is dropped: its news is old."""
MOST_TITLES = 5


def tell(endpoint_id: str, *, app_url: str) -> int:
    """Post the due mail about this endpoint. Returns how many mails were posted; 0 if nothing is due.

    The conditional update of ``told`` decides between two workers: only one of them posts.
    """
    endpoint = db.session.get(Endpoint, endpoint_id, populate_existing=True)
    notice = _due(endpoint) if endpoint is not None else None
    if endpoint is None or notice is None:
        return 0
    same = Endpoint.told.is_(None) if endpoint.told is None else Endpoint.told == endpoint.told
    changed = sa.update(Endpoint).where(Endpoint.id == endpoint_id, same).values(told=notice.value)
    if not db.changed(changed):
        return 0
    organization = db.session.get_one(Organization, endpoint.organization_id)
    if organization.disabled_at is not None:
        return 0
    posted = mail_administrators(organization, _mail(endpoint, notice, app_url=app_url), lasts=LASTS)
    db.session.refresh(endpoint)
    return posted


def _due(endpoint: Endpoint) -> Notice | None:
    """The notice for the endpoint's present state, if it is worse than the last one mailed."""
    if endpoint.disabled_at is not None:
        now = Notice.DISABLED if endpoint.disabled_by is not DisabledBy.MEMBER else None
    elif endpoint.warned_at is not None:
        now = Notice.WARNED
    else:
        now = Notice.FAILING if endpoint.noticed_at is not None else None
    order = [None, *(one.value for one in Notice)]
    return now if now is not None and order.index(now.value) > order.index(endpoint.told) else None


def _mail(endpoint: Endpoint, notice: Notice, *, app_url: str) -> Mail:
    """The mail, to no one yet. Only the host of the address is named, because the rest may contain a secret."""
    host = urlsplit(endpoint.url).hostname or "your receiver"
    since = f"{endpoint.failing_since:%d %b %Y, %H:%M} UTC" if endpoint.failing_since else "a while ago"
    subjects = {
        Notice.FAILING: f"Webhooks to {host} are failing",
        Notice.WARNED: f"Webhooks to {host} will be disabled soon",
        Notice.DISABLED: f"Webhooks to {host} are disabled",
    }
    gone = endpoint.disabled_by is DisabledBy.GONE
    texts = {
        Notice.FAILING: f"{host} has not accepted any webhook from Parley since {since}. Parley keeps trying for "
        "about three days. Nothing is lost in the meantime.",
        Notice.WARNED: f"{host} has not accepted any webhook from Parley since {since}. If this continues, Parley "
        "disables the endpoint in one day and holds its events for at most 30 days.",
        Notice.DISABLED: f"{host} {'responded with 410 Gone' if gone else 'accepted no webhook for five days'}, "
        "so Parley has stopped sending to it. Its events are held for at most 30 days. They are sent in order when "
        "an administrator enables the endpoint.",
    }
    titles = _titles(endpoint)
    about = f"Flows that send there: {titles}\n\n" if titles else ""
    link = f"{app_url}/webhooks/endpoints/{endpoint.id}"
    text = f"{texts[notice]}\n\n{about}See its health and latest responses, and what you can do: {link}"
    return Mail("", subjects[notice], text, link=link, button="See the endpoint")


def _titles(endpoint: Endpoint) -> str:
    led = sa.select(InterviewFlow.title).join(Route, Route.flow_id == InterviewFlow.id)
    all_titles = db.session.scalars(led.where(Route.endpoint_id == endpoint.id).order_by(InterviewFlow.title)).all()
    titles = [" ".join(title.split()) for title in all_titles[:MOST_TITLES]]
    return ", ".join(titles) + (f" and {len(all_titles) - MOST_TITLES} more" if len(all_titles) > MOST_TITLES else "")
