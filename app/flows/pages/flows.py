"""Recruiters' pages of interview flows."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import marshmallow as ma
from flask import Blueprint, current_app, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import accepts_upload, current_member, require_member, require_recruiter
from app.accounts.models import Role, Team
from app.accounts.queries import teams_seen_by
from app.core.db import db
from app.core.errors import Conflict, Forbidden, GatewayError, Rejected
from app.flows import accent, actions, media, overrules, voices
from app.flows.criteria import MOST_CRITERIA, SCALES
from app.flows.forms import FlowForm, form_of, hearing_note, language_name, voice_name
from app.flows.length import likely_minutes
from app.flows.models import MOST_MINUTES, MOST_QUESTIONS, FlowStatus, InterviewFlow, Right
from app.flows.pages import bank
from app.flows.pages.starting import form_with
from app.flows.queries import (
    FlowFilter,
    flow_seen_by,
    flow_to_change,
    flows_seen_by,
    how_many_seen_by,
    may,
    old_secret_until,
    only_viewed,
)
from app.flows.schemas import FlowFormSchema
from app.gateways.speech.catalogue import LANGUAGES
from app.settings import Settings
from app.web.fields import flaw_of
from app.web.templating import offset_of_request

PER_PAGE = 25
HOW_ON = "Change the {kind}, or give a reason below the questions."
LARGEST_FORM = media.VIDEO_LIMITS.max_bytes + media.LOGO_LIMITS.max_bytes + 2 * 1024 * 1024
"""Video, logo and the fields."""
OPEN = frozenset({"flows.logo", "flows.intro_video", "flows.accent_styles", "flows.mail_accent_styles"})
"""Candidates see these without signing in: anyone with the flow's id has the link."""

Written = TypeVar("Written")
Answer = str | AnyResponse | tuple[str, int]
Theirs = list[tuple[str, list[str]]] | None
"""Labels of fields that someone else has changed, and what is saved for them."""

pages = Blueprint("flows", __name__)


@pages.before_request
def guard() -> Any:
    """A signed-in member for everything but the open files."""
    return None if request.endpoint in OPEN else require_member()


@pages.get("/flows")
def index() -> str:
    """The member's flows, by status and words in the title."""
    status, text = request.args.get("status", ""), request.args.get("text", "").strip()[:200]
    filters = FlowFilter(
        status=FlowStatus(status) if status in set(FlowStatus) else None, text="" if flaw_of(text) else text
    )
    member, offset = current_member(), offset_of_request()
    flows, viewed = flows_seen_by(member, filters, limit=PER_PAGE, offset=offset), only_viewed(member)
    return render_template(
        "flows/index.html",
        flows=flows,
        invitable={flow.id for flow in flows if flow.id not in viewed} if _may_change() else set(),
        filters=filters,
        total=how_many_seen_by(member, filters),
        offset=offset,
        limit=PER_PAGE,
        may_change=_may_change(),
    )


@pages.get("/flows/new")
def new() -> str:
    """The form of a new flow: empty but for the organization's name, or with the script of a ``template``."""
    require_recruiter()
    return _form_page(FlowForm(data=form_with(request.args.get("template", ""))), None)


@pages.post("/flows/new")
@accepts_upload(LARGEST_FORM)
def create() -> Answer:
    """Save a new flow. Logo and video are stored first."""
    require_recruiter()
    form = FlowForm()
    if bank.is_wanted():
        return bank.picker(None)
    if done := bank.done(form, None) or form.arrange(request.form):
        return _form_page(form, None, done=done)
    values = _checked(form)
    if values is None:
        return _form_page(form, None), 422
    team = _own_team(values.pop("team_id"))
    try:
        flow_id = _written(form, lambda files: actions.create(team, values, files=files, by=current_member()).id)
    except (Rejected, GatewayError) as refusal:
        return _refused(form, None, refusal)
    flash("The flow was created. Speech for its questions is being generated.", "good")
    return redirect(url_for("flows.show", flow_id=flow_id), 303)


@pages.get("/flows/<flow_id>")
def show(flow_id: str) -> str:
    """One flow: its settings and the actions on it."""
    flow = flow_seen_by(current_member(), flow_id)
    return render_template(
        "flows/show.html",
        flow=flow,
        may_change=may(current_member(), flow, Right.EDIT),
        language=language_name(flow.language),
        voice=voice_name(flow.voice_id),
        scales=SCALES,
        old_secret_until=old_secret_until(flow),
    )


@pages.get("/flows/<flow_id>/edit")
def edit(flow_id: str) -> str:
    require_recruiter()
    flow = _changeable(flow_id)
    return _form_page(FlowForm(data={**form_of(flow), "seen": flow.changed_at.isoformat()}), flow)


@pages.post("/flows/<flow_id>/edit")
@accepts_upload(LARGEST_FORM)
def save(flow_id: str) -> Answer:
    """Save the changes. Interviews that have started keep the questions they started with."""
    require_recruiter()
    flow = _changeable(flow_id)
    form = FlowForm()
    if bank.is_wanted():
        return bank.picker(flow)
    if done := bank.done(form, flow) or form.arrange(request.form):
        return _form_page(form, flow, done=done)
    values = _checked(form, flow)
    if values is None:
        return _form_page(form, flow), 422
    values.pop("team_id")
    try:
        replaced = _written(
            form,
            lambda files: actions.edit(
                flow, values, files=files, without=form.without(), by=current_member(), seen=_seen(form)
            ),
            flow,
        )
    except Conflict:
        return _overtaken(form, flow), 409
    except (Rejected, GatewayError) as refusal:
        return _refused(form, flow, refusal)
    media.discard(replaced, storage=gateways.current().storage)
    flash("The changes were saved.", "good")
    return redirect(url_for("flows.show", flow_id=flow_id), 303)


@pages.post("/flows/<flow_id>/close")
def close(flow_id: str) -> Answer:
    """Create no further interviews from this flow."""
    return _turned(flow_id, actions.close, "The flow is closed. Interviews that already exist can still be taken.")


@pages.post("/flows/<flow_id>/reopen")
def reopen(flow_id: str) -> Answer:
    """Accept new interviews again."""
    return _turned(flow_id, actions.reopen, "The flow is open again.")


@pages.post("/flows/<flow_id>/archive")
def archive(flow_id: str) -> Answer:
    """Delete the flow. Its interviews and candidates are kept."""
    return _turned(flow_id, actions.archive, "The flow is archived. Its interviews and candidates are kept.")


@pages.post("/flows/<flow_id>/prepare-speech")
def prepare_speech(flow_id: str) -> Answer:
    """Try again to record the agent's voice, after it failed."""
    return _turned(flow_id, actions.prepare_anew, "Speech for the questions is being generated again.")


def _may_change() -> bool:
    return current_member().role is not Role.VIEWER


def _turned(flow_id: str, turn: Callable[..., None], words: str) -> Answer:
    require_recruiter()
    flow = flow_to_change(current_member(), flow_id)
    try:
        turn(flow, by=current_member())
    except Rejected as refusal:
        flash(refusal.message, "bad")
    else:
        flash(words, "good")
    db.session.commit()
    return redirect(url_for("flows.show", flow_id=flow_id), 303)


def _changeable(flow_id: str) -> InterviewFlow:
    flow = flow_to_change(current_member(), flow_id)
    if flow.status is FlowStatus.ARCHIVED:
        raise Rejected("This interview flow is archived and cannot be changed. Create a new one instead.")
    return flow


def _own_team(team_id: str) -> Team:
    team = next((team for team in teams_seen_by(current_member()) if team.id == team_id), None)
    if team is None:
        raise Forbidden("You are not in this team.")
    return team


def _checked(form: FlowForm, flow: InterviewFlow | None = None) -> dict[str, Any] | None:
    """The values, or None with the errors set on the fields. Questions about forbidden topics need a reason."""
    typed = form.values()
    typed["team_id"] = flow.team_id if flow else typed["team_id"] or ""
    if form.shows_two_sources(flow):
        return None
    try:
        values: dict[str, Any] = FlowFormSchema(partial=("webhook_secret_key",)).load(typed)
    except ma.ValidationError as error:
        form.show_errors(error.messages_dict)
        return None
    read = [*values["questions"], *(one.words for one in values["criteria"])]
    warned = _warned(read, values["language"], flow)
    if unexplained := next((one for one in warned if not one.reason), None):
        how_on = HOW_ON.format(kind="question" if unexplained.question in values["questions"] else "criterion")
        form.show_errors({"": [f"“{unexplained.question}” asks about {unexplained.topics}. {how_on}"]})
        return None
    return {**values, "overrules": {one.question: one.reason for one in warned} or None}


def _warned(texts: list[str], language: str | None, flow: InterviewFlow | None) -> list[overrules.Warned]:
    return overrules.warned(texts, language, given=request.form, stored=flow.overrules if flow else None)


def _written(
    form: FlowForm, write: Callable[[media.StoredMedia], Written], flow: InterviewFlow | None = None
) -> Written:
    """Store the uploaded files and those whose address is new, then write and commit.

    On any failure the stored files are deleted again.
    """
    wanted = form.wanted_media(None if form.fetch_again.data else flow)
    db.session.commit()  # ends the read: fetching is slow
    outside = gateways.current()
    with media.stored(wanted, http=outside.http, storage=outside.storage) as files:
        try:
            result = write(files)
            db.session.commit()
        except BaseException:
            db.session.rollback()  # before the files are deleted again
            raise
    return result


def _seen(form: FlowForm) -> datetime | None:
    """``changed_at`` of the flow that the form showed; None if the browser sent no time."""
    try:
        return datetime.fromisoformat(form.seen.data or "")
    except ValueError:
        return None


def _overtaken(form: FlowForm, flow: InterviewFlow) -> str:
    """The form with what was entered, and what is saved now wherever that is different. Saving again replaces it."""
    now = FlowForm(formdata=None, data=form_of(flow))
    form.seen.data = flow.changed_at.isoformat()
    entered, saved = form.values(), now.values()
    others = [name for name in saved if name != "team_id" and entered[name] != saved[name]]
    return _form_page(form, flow, theirs=[(form[name].label.text, _lines(now[name], saved[name])) for name in others])


def _lines(field: Any, value: Any) -> list[str]:
    """What is saved for the field, in the words of the form."""
    if isinstance(value, list):
        return [one["name"] if isinstance(one, dict) else one for one in value]
    if isinstance(value, bool):
        return ["On" if value else "Off"]
    if isinstance(choices := getattr(field, "choices", None), dict):
        return [str(choices.get(field.data, field.data))]
    return [] if value is None else [str(value)]


def _form_page(form: FlowForm, flow: InterviewFlow | None, *, done: str = "", theirs: Theirs = None) -> str:
    teams = teams_seen_by(current_member())
    form.team_id.choices = {team.id: team.name for team in teams}
    form.grow()
    longest = settings().interview_minutes
    speaker, transcriber = gateways.current().speaker, gateways.current().transcriber
    spoken = [language for language in LANGUAGES if speaker.supports(language)]
    return render_template(
        "flows/form.html",
        form=form,
        flow=flow,
        teams=teams,
        done=done,
        theirs=theirs,
        warned=_warned(form.read_for_topics(), form.language.data, flow),
        longest_reason=overrules.LONGEST_REASON,
        most=MOST_QUESTIONS,
        most_criteria=MOST_CRITERIA,
        asked=len(form.values()["questions"]),
        nearest_accent=accent.nearest(form.accent.data or ""),
        limit=form.limit() or longest,
        longest=longest,
        likely=[likely_minutes(n, most=MOST_MINUTES) for n in range(MOST_QUESTIONS + 1)],
        spoken=spoken,
        hearing_notes={language: hearing_note(transcriber, language) for language in LANGUAGES},
        voices_about={language: voices.about(speaker, language) for language in spoken},
    )


def settings() -> Settings:
    """The installation's."""
    found: Settings = current_app.extensions["parley.settings"]
    return found


def _refused(form: FlowForm, flow: InterviewFlow | None, refusal: Rejected | GatewayError) -> tuple[str, int]:
    """The form again, with the values that were entered."""
    if isinstance(refusal, GatewayError):
        form.show_errors({"": [f"{refusal.message} Nothing was saved. Try again."]})
        return _form_page(form, flow), 503
    form.show_errors({refusal.field or "": [refusal.message]})
    return _form_page(form, flow), 422


@pages.post("/flows/<flow_id>/duplicate")
def duplicate(flow_id: str) -> AnyResponse:
    """Copy a flow, archived or not, and open the copy's form."""
    require_recruiter()
    flow, storage = flow_to_change(current_member(), flow_id), gateways.current().storage
    source = media.StoredMedia(flow.logo_key, flow.preamble_video_key, flow.preamble_video_type)
    db.session.commit()  # ends the read: copying files is slow
    try:
        with media.copied(source, storage=storage) as files:
            try:
                copy_id = actions.duplicate(flow, files=files, by=current_member()).id
                db.session.commit()
            except BaseException:
                db.session.rollback()  # before the files are deleted again
                raise
    except GatewayError:
        flash("The logo or the video could not be copied. Nothing was changed. Try again.", "bad")
        return redirect(url_for("flows.show", flow_id=flow_id), 303)
    flash(f"This is a copy of “{flow.title}”. It is open and has no interviews yet. Change what you need.", "good")
    return redirect(url_for("flows.edit", flow_id=copy_id), 303)
