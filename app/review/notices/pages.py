"""Pages on which members choose what they get by mail, and manage the channels of flows and of the organization."""

import asyncio
from dataclasses import asdict, replace

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_member, require_recruiter
from app.accounts.actions import write_audit
from app.core import encryption
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import InterviewFlow
from app.review.notices import actions, queries, words
from app.review.notices.actions.channels import address_of
from app.review.notices.delivery import BODIES, NAMES, Outcome, attempt
from app.review.notices.forms import KINDS, ChannelForm, PreferenceForm
from app.review.notices.jobs import post
from app.review.notices.models import NoticeChannel, SwitchedOff
from app.web import rate_limits

TESTS_PER_MINUTE = 10

pages = Blueprint("notices", __name__)
pages.before_request(require_member)


@pages.route("/profile/notices", methods=["GET", "POST"])
def preference() -> str | tuple[str, int] | AnyResponse:
    """What the member wants by mail."""
    member = current_member()
    wanted = queries.wanted_by(member)
    form = PreferenceForm(data=asdict(wanted)) if request.method == "GET" else PreferenceForm()
    form.fit(member)
    if form.is_submitted():
        try:
            actions.set_preference(member, form.wanted(wanted))
        except Rejected as refusal:
            db.session.rollback()
            form.blame(refusal.field, refusal.message)
        else:
            db.session.commit()
            flash("Saved.", "good")
            return redirect(url_for("notices.preference"), 303)
    page = render_template(
        "review/notices/preference.html",
        form=form,
        is_new=not queries.has_chosen(current_member()),
        can_mail=post().can_mail,
    )
    return page, 422 if form.errors else 200


@pages.get("/notices")
def index() -> str:
    """The channels of a flow (``?flow=``), or for administrators all of the organization."""
    require_recruiter()
    member = current_member()
    flow = queries.place_to_change(member, request.args.get("flow", ""))
    owner = member.organization_id
    channels = queries.channels_of(owner, flow) if flow else queries.every_channel(owner)
    return render_template("review/notices/index.html", channels=channels, flow=flow, kinds=KINDS)


@pages.route("/notices/new", methods=["GET", "POST"])
def add() -> str | tuple[str, int] | AnyResponse:
    """Add a channel to a flow (``flow``) or to the organization."""
    require_recruiter()
    member = current_member()
    flow = queries.place_to_change(member, request.values.get("flow", ""))
    form = (
        ChannelForm(data={"service": "slack", "kinds": ["result_ready"]}) if request.method == "GET" else ChannelForm()
    )
    if form.is_submitted():
        try:
            channel = actions.add(flow, form.choices(), check=gateways.current().http.check_form, by=member)
        except (Rejected, Conflict) as refusal:
            db.session.rollback()
            form.blame(getattr(refusal, "field", None), refusal.message)
            flow = queries.place_to_change(current_member(), request.values.get("flow", ""))
        else:
            db.session.commit()
            flash("The channel was added. Send a test notice to check that it works.", "good")
            return redirect(url_for("notices.show", channel_id=channel.id), 303)
    return _form(form, flow, None)


@pages.route("/notices/<channel_id>", methods=["GET", "POST"])
def show(channel_id: str) -> str | tuple[str, int] | AnyResponse:
    """One channel: its state, the notices of the last 30 days, and what it gets."""
    require_recruiter()
    channel = queries.channel_to_change(current_member(), channel_id)
    form = ChannelForm()
    if not form.is_submitted():
        form.show(channel)
        return _form(form, channel.flow, channel)
    try:
        actions.change(channel, form.choices(), check=gateways.current().http.check_form, by=current_member())
    except Rejected as refusal:
        db.session.rollback()
        form.blame(refusal.field, refusal.message)
        channel = queries.channel_to_change(current_member(), channel_id)
        return _form(form, channel.flow, channel)
    db.session.commit()
    flash("Saved.", "good")
    return redirect(url_for("notices.show", channel_id=channel_id), 303)


def _form(form: ChannelForm, flow: InterviewFlow | None, channel: NoticeChannel | None) -> tuple[str, int]:
    page = render_template(
        "review/notices/channel.html",
        form=form,
        flow=flow,
        channel=channel,
        deliveries=queries.deliveries_of(channel) if channel else [],
        kinds=KINDS,
    )
    return page, 422 if form.errors else 200


@pages.post("/notices/<channel_id>/test")
def test(channel_id: str) -> AnyResponse:
    """Send a test notice once, immediately, and say what Slack or Teams answered."""
    require_recruiter()
    rate_limits.count("notice-test", most=TESTS_PER_MINUTE)
    channel = queries.channel_to_change(current_member(), channel_id)
    service, outcome = channel.service.value, _tried(channel)
    channel = queries.channel_to_change(current_member(), channel_id)
    if not outcome.failure:
        actions.reached(channel)
    details = {"service": service, "accepted": not outcome.failure}
    organization = current_member().organization
    write_audit(organization, action="notices.channel_tested", subject=channel_id, by=current_member(), details=details)
    db.session.commit()
    if outcome.failure:
        flash(f"The test notice did not arrive. {outcome.failure}", "bad")
    else:
        flash(f"{NAMES[service]} accepted the test notice. Look for it in the channel.", "good")
    return redirect(url_for("notices.show", channel_id=channel_id), 303)


def _tried(channel: NoticeChannel) -> Outcome:
    try:
        address = address_of(channel)
    except encryption.SealBroken:
        return Outcome("The URL cannot be read, because SECRET_KEY has changed. Enter it again.")
    service = channel.service.value
    body = BODIES[service](replace(words.trial(), link=f"{post().app_url}/notices/{channel.id}"))
    db.session.commit()  # ends the read: sending is slow
    return asyncio.run(attempt(service, address, body, http=gateways.current().http))


@pages.post("/notices/<channel_id>/switch")
def switch(channel_id: str) -> AnyResponse:
    """Switch a channel on (``on=yes``) or off."""
    require_recruiter()
    channel = queries.channel_to_change(current_member(), channel_id)
    on = request.form.get("on") == "yes"
    actions.switch(channel, on=on, by=current_member(), because=SwitchedOff.MEMBER)
    db.session.commit()
    flash("The channel is on." if on else "The channel is off. Parley sends nothing to it.", "good")
    return redirect(url_for("notices.show", channel_id=channel_id), 303)


@pages.post("/notices/<channel_id>/remove")
def remove(channel_id: str) -> AnyResponse:
    """Delete a channel."""
    require_recruiter()
    channel = queries.channel_to_change(current_member(), channel_id)
    flow_id = channel.flow_id
    actions.remove(channel, by=current_member())
    db.session.commit()
    flash("The channel was removed.", "good")
    return redirect(url_for("notices.index", flow=flow_id), 303)
