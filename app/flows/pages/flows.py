"""Recruiters' pages of interview flows, and the two files that candidates see."""

from collections.abc import Callable
from typing import Any, TypeVar

import marshmallow as ma
from flask import Blueprint, Response, current_app, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_member, require_recruiter
from app.accounts.models import Role, Team
from app.accounts.queries import teams_seen_by
from app.core.db import db
from app.core.errors import Forbidden, GatewayError, NotFound, Rejected
from app.flows import actions, media, overrules, voices
from app.flows.forms import BLANK, FlowForm, form_of, hearing_note, language_name, voice_name
from app.flows.length import likely_minutes
from app.flows.models import MOST_MINUTES, MOST_QUESTIONS, FlowStatus, InterviewFlow, Right
from app.flows.queries import (
    FlowFilter,
    flow_seen_by,
    flow_to_change,
    flows_seen_by,
    how_many_seen_by,
    may,
    only_viewed,
    open_flow,
)
from app.flows.role_templates import template_with
from app.flows.schemas import FlowFormSchema
from app.gateways.speech import phrases
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, LANGUAGES, VOICES
from app.gateways.speech.sound import wav
from app.settings import Settings
from app.web import rate_limits
from app.web.fields import flaw_of
from app.web.templating import offset_of_request

PER_PAGE = 25
HOW_ON = "Change the question, or give a reason below the questions."
SAMPLES_PER_MINUTE = 40
"""Enough to hear every voice twice."""
FILE_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "webm": "video/webm",
}
OPEN = frozenset({"flows.logo", "flows.intro_video"})
"""Candidates see these without signing in: anyone with the flow's id has the link."""

Written = TypeVar("Written")
Answer = str | AnyResponse | tuple[str, int]

pages = Blueprint("flows", __name__)


@pages.before_request
def guard() -> Any:
    """A signed-in member for everything but the two open files."""
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
    name, template_id = current_member().organization.name, request.args.get("template", "")
    data = template_with(template_id).form(name) if template_id else {**BLANK, "org_name": name}
    return _form_page(FlowForm(data=data), None)


@pages.post("/flows/new")
def create() -> Answer:
    """Save a new flow. Logo and video are fetched first."""
    require_recruiter()
    form = FlowForm()
    if done := form.arrange(request.form):
        return _form_page(form, None, done=done)
    values = _checked(form)
    if values is None:
        return _form_page(form, None), 422
    team = _own_team(values.pop("team_id"))
    try:
        flow_id = _written(values, lambda files: actions.create(team, values, files=files, by=current_member()).id)
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
    )


@pages.get("/flows/<flow_id>/edit")
def edit(flow_id: str) -> str:
    require_recruiter()
    flow = _changeable(flow_id)
    return _form_page(FlowForm(data=form_of(flow)), flow)


@pages.post("/flows/<flow_id>/edit")
def save(flow_id: str) -> Answer:
    """Save the changes. Interviews that have started keep the questions they started with."""
    require_recruiter()
    flow = _changeable(flow_id)
    form = FlowForm()
    if done := form.arrange(request.form):
        return _form_page(form, flow, done=done)
    values = _checked(form, flow)
    if values is None:
        return _form_page(form, flow), 422
    values.pop("team_id")
    same = None if form.fetch_again.data else flow
    try:
        replaced = _written(
            values, lambda files: actions.edit(flow, values, files=files, by=current_member()), same=same
        )
    except (Rejected, GatewayError) as refusal:
        return _refused(form, flow, refusal)
    media.discard(replaced, storage=gateways.current().storage)
    flash("The changes were saved.", "good")
    return redirect(url_for("flows.show", flow_id=flow_id), 303)


@pages.post("/flows/<flow_id>/close")
def close(flow_id: str) -> Answer:
    """Create no further interviews from this flow."""
    return _turned(flow_id, actions.close, "The flow is closed. Interviews that already exist can still be completed.")


@pages.post("/flows/<flow_id>/reopen")
def reopen(flow_id: str) -> Answer:
    """Accept new interviews again."""
    return _turned(flow_id, actions.reopen, "The flow is open again.")


@pages.post("/flows/<flow_id>/archive")
def archive(flow_id: str) -> Answer:
    """Delete the flow. Its interviews and candidates stay."""
    return _turned(flow_id, actions.archive, "The flow is archived. Its interviews and candidates stay.")


@pages.post("/flows/<flow_id>/prepare-speech")
def prepare_speech(flow_id: str) -> Answer:
    """Try again to record the agent's voice, after it failed."""
    return _turned(flow_id, actions.prepare_anew, "Speech for the questions is being generated again.")


@pages.get("/flows/voices/<voice_id>")
def voice_sample(voice_id: str) -> Response:
    """A sample sentence in this voice and the requested ``language``, as WAV. Generated once, then cached."""
    require_recruiter()
    rate_limits.count("voice-sample", most=SAMPLES_PER_MINUTE)
    language = request.args.get("language", "") or DEFAULT_LANGUAGE
    if voice_id not in VOICES:
        raise NotFound("There is no voice with this id.")
    if language not in LANGUAGES:
        raise Rejected("This language is not available.", field="language")
    speaker = gateways.current().speaker
    if not speaker.supports(language):
        raise Rejected(
            f"{language_name(language)} has no voice on this installation. Candidates read the questions and type "
            "their answers."
        )
    db.session.rollback()  # ends the read: speaking is slow
    spoken = speaker.speak(phrases.sample(language), voice_id=voice_id, language=language, remember=True)
    sound = wav(spoken.pcm, spoken.rate)
    return Response(sound, mimetype="audio/wav", headers={"Cache-Control": "private, max-age=300"})


@pages.get("/flows/<flow_id>/logo")
def logo(flow_id: str) -> Response:
    """The logo that candidates and recruiters see. Mail shows it too, so pages of other sites may."""
    response = _file(open_flow(flow_id).logo_key)
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@pages.get("/flows/<flow_id>/intro-video")
def intro_video(flow_id: str) -> Response:
    """The video shown before the interview. Players request byte ranges of it."""
    return _file(open_flow(flow_id).preamble_video_key)


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
    try:
        values: dict[str, Any] = FlowFormSchema(partial=("webhook_secret_key",)).load(typed)
    except ma.ValidationError as error:
        form.show_errors(error.messages_dict)
        return None
    warned = _warned(values["questions"], values["language"], flow)
    if unexplained := [one for one in warned if not one.reason]:
        form.show_errors({"": [f"“{one.question}” asks about {one.topics}. {HOW_ON}" for one in unexplained[:1]]})
        return None
    return {**values, "overrules": {one.question: one.reason for one in warned} or None}


def _warned(questions: list[str], language: str | None, flow: InterviewFlow | None) -> list[overrules.Warned]:
    return overrules.warned(questions, language, given=request.form, stored=flow.overrules if flow else None)


def _written(
    values: dict[str, Any], write: Callable[[media.StoredMedia], Written], *, same: InterviewFlow | None = None
) -> Written:
    """Fetch the files whose address is new (without ``same``: all of them), then write and commit.

    On any failure the fetched files are deleted again.
    """
    logo_url, video_url = values["company_logo_url"], values["preamble_video_url"]
    if same and same.logo_key and same.company_logo_url == logo_url:
        logo_url = None
    if same and same.preamble_video_key and same.preamble_video_url == video_url:
        video_url = None
    db.session.commit()  # ends the read: fetching is slow
    outside = gateways.current()
    with media.stored(logo_url=logo_url, video_url=video_url, http=outside.http, storage=outside.storage) as files:
        try:
            result = write(files)
            db.session.commit()
        except BaseException:
            db.session.rollback()  # before the files are deleted again
            raise
    return result


def _form_page(form: FlowForm, flow: InterviewFlow | None, *, done: str = "") -> str:
    teams = teams_seen_by(current_member())
    form.team_id.choices = {team.id: team.name for team in teams}
    form.grow()
    longest = _settings().interview_minutes
    speaker, transcriber = gateways.current().speaker, gateways.current().transcriber
    spoken = [language for language in LANGUAGES if speaker.supports(language)]
    return render_template(
        "flows/form.html",
        form=form,
        flow=flow,
        teams=teams,
        done=done,
        warned=_warned(form.values()["questions"], form.language.data, flow),
        longest_reason=overrules.LONGEST_REASON,
        most=MOST_QUESTIONS,
        asked=len(form.values()["questions"]),
        limit=form.limit() or longest,
        longest=longest,
        likely=[likely_minutes(n, most=MOST_MINUTES) for n in range(MOST_QUESTIONS + 1)],
        spoken=spoken,
        hearing_notes={language: hearing_note(transcriber, language) for language in LANGUAGES},
        voices_about={language: voices.about(speaker, language) for language in spoken},
    )


def _settings() -> Settings:
    found: Settings = current_app.extensions["parley.settings"]
    return found


def _refused(form: FlowForm, flow: InterviewFlow | None, refusal: Rejected | GatewayError) -> tuple[str, int]:
    """The form again, with the values that were entered."""
    if isinstance(refusal, GatewayError):
        form.show_errors({"": [f"{refusal.message} Nothing was saved. Try again."]})
        return _form_page(form, flow), 503
    form.show_errors({refusal.field or "": [refusal.message]})
    return _form_page(form, flow), 422


def _file(key: str | None) -> Response:
    """A stored file, whole or one byte range of it. 416 for a range beyond its end."""
    if key is None:
        raise NotFound("This flow has no such file.")
    storage = gateways.current().storage
    size = storage.size(key)
    # One byte range is supported. For any other request the standard allows answering with the whole file.
    ranges = request.range if request.range and request.range.units == "bytes" else None
    is_one = ranges is not None and len(ranges.ranges) == 1
    wanted = ranges.range_for_length(size) if ranges and is_one else None
    if is_one and wanted is None:
        return Response(status=416, headers={"Content-Range": f"bytes */{size}"})
    start, end = wanted or (0, size)
    response = Response(storage.open(key, start, end), 206 if wanted else 200)
    response.content_type = FILE_TYPES[key.rsplit(".", 1)[-1]]
    response.content_length = end - start
    response.headers.update(
        {
            "Accept-Ranges": "bytes",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, max-age=300",
            "Content-Disposition": "inline",
            "Content-Security-Policy": "default-src 'none'; sandbox",
        }
    )
    if wanted:
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response


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
