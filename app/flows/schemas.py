"""Fields of ``/v1/interview-flows`` and of the platform's form: one set of rules for both."""

import logging
import re
from typing import Any
from urllib.parse import urlsplit

import marshmallow as ma
from marshmallow import fields

from app import gateways
from app.accounts.key_guard import shows_secrets
from app.core.encryption import SealBroken
from app.core.errors import Rejected
from app.flows import accent
from app.flows.criteria_form import CriteriaField
from app.flows.models import (
    LONGEST,
    MOST_FOLLOW_UPS,
    MOST_MINUTES,
    MOST_QUESTIONS,
    Cv,
    FlowStatus,
    InterviewFlow,
    InterviewType,
)
from app.flows.queries import secret_of
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, DEFAULT_VOICE, LANGUAGES, VOICES
from app.web import examples
from app.web.fields import Choice, Flag, Several, Text, address_flaw, limit_field, offset_field, team_id_field

log = logging.getLogger(__name__)

_TELEPHONE = re.compile(r"\+?[0-9][0-9 ()/.-]{3,28}[0-9]", re.ASCII)
_NOT_IN_ADDRESSES = re.compile(r"[\s\\\x00-\x1f\x7f]")

HISTORICAL_FIELDS = ("is_phone_call_enabled",)
HISTORICAL_PREFIXES = {"11labs-": "vendora-", "openai-": "vendorb-"}
"""Fields that programs written for the original service send, and how they prefix the two voice providers."""

TYPES = tuple(kind.value for kind in InterviewType)


def text_field(name: str, description: str, **kwargs: Any) -> Text:
    """An optional text field with the length limit of ``name``."""
    settings = {"allow_none": True, "load_default": None, "dump_default": None, **kwargs}
    return Text(most=LONGEST[name], metadata={"description": description}, **settings)


class FetchedAddress(Text):
    """An address that Parley calls or fetches. Its form is checked here, its target when it is called."""

    def __init__(self, name: str, description: str, **kwargs: Any) -> None:
        settings = {"allow_none": True, "load_default": None, "dump_default": None, **kwargs}
        super().__init__(most=LONGEST[name], metadata={"description": description, "format": "uri"}, **settings)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            gateways.current().http.check_form(text)
        except Rejected as refusal:
            raise ma.ValidationError(refusal.message) from refusal
        return text


class RedirectAddress(Text):
    """Where a browser is sent: http or https with a host, and nothing that URL parsers read differently."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        flaw = redirect_flaw(text)
        if flaw:
            raise ma.ValidationError(flaw)
        return text


class ContactAddress(Text):
    """A contact for candidates: an email address, a phone number or a page."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        is_page = "://" in text and redirect_flaw(text) is None
        if not (is_page or _TELEPHONE.fullmatch(text) or address_flaw(text) is None):
            raise ma.ValidationError("Enter an email address, a phone number or a full URL such as https://….")
        return text


class AccentColor(Text):
    """A color that can be read on a light page."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            return accent.checked(text) or ""
        except Rejected as refusal:
            raise ma.ValidationError(refusal.message) from refusal


class InterviewFlowFields(ma.Schema):
    """Fields of a flow that can be given as well as read."""

    org_name = Text(
        most=LONGEST["org_name"],
        blank=False,
        required=True,
        metadata={"description": "Name of the organization requesting the interview."},
    )
    title = Text(most=LONGEST["title"], blank=False, required=True, metadata={"description": "Interview title."})
    questions = Several(
        Text(most=LONGEST["questions"], blank=False),
        required=True,
        most=MOST_QUESTIONS,
        words=f"At most {MOST_QUESTIONS} questions are allowed.",
        metadata={"description": "Script questions."},
    )
    voice_id = Choice(
        VOICES,
        called="VoiceId",
        allow_none=True,
        load_default=DEFAULT_VOICE,
        dump_default=DEFAULT_VOICE,
        metadata={"description": "Voice of the interview agent."},
    )
    language = Choice(
        LANGUAGES,
        called="Language",
        allow_none=True,
        load_default=DEFAULT_LANGUAGE,
        dump_default=DEFAULT_LANGUAGE,
        metadata={"description": "Language of the flow."},
    )
    company_logo_url = FetchedAddress(
        "company_logo_url", "Logo: PNG, JPEG or WebP, at most 2 MiB and 4096 pixels each way. Fetched once and stored."
    )
    additional_info = text_field("additional_info", "Background that the agent can use in its questions.")
    additional_instructions = text_field("additional_instructions", "How the agent should behave.")
    interview_type = Choice(
        TYPES,
        called="InterviewType",
        allow_none=True,
        load_default=InterviewType.GENERAL.value,
        dump_default=InterviewType.GENERAL.value,
        metadata={"description": "Type of interview."},
    )
    is_video_enabled = Flag(
        allow_none=True, load_default=False, dump_default=False, metadata={"description": "Whether video is recorded."}
    )
    is_doc_upload_enabled = Flag(
        allow_none=True,
        load_default=False,
        dump_default=False,
        metadata={"description": "Whether candidates can add documents during the interview."},
    )
    redirect_url = RedirectAddress(
        most=LONGEST["redirect_url"],
        allow_none=True,
        load_default=None,
        dump_default=None,
        metadata={"description": "Page to open after the interview: a full http(s) URL.", "format": "uri"},
    )
    webhook_url = FetchedAddress("webhook_url", "Called after processing, and when a candidate's status changes.")
    webhook_secret_key = text_field("webhook_secret_key", "Signs webhook bodies. Use at least 32 characters.")
    intro = text_field("intro", "The agent says this at the start.")
    outro = text_field("outro", "The agent says this at the end.")


class NewInterviewFlowSchema(InterviewFlowFields):
    """Body of POST /v1/interview-flows. Unknown fields are refused."""

    class Meta:
        unknown = ma.RAISE

    team_id = Text(
        most=100,
        blank=False,
        allow_none=True,
        load_default=None,
        metadata={"description": "Team of the flow. Defaults to the oldest team of the organization."},
    )
    preamble_video_url = FetchedAddress(
        "preamble_video_url",
        "Intro video shown before the interview: MP4, QuickTime or WebM, at most 100 MB. Fetched once and stored.",
    )


class InterviewFlowChangesSchema(NewInterviewFlowSchema):
    """Body of PATCH /v1/interview-flows/{interview_flow_id}: what is absent stays as it is."""

    class Meta(NewInterviewFlowSchema.Meta):
        exclude = ("team_id",)

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"partial": True, **options})
        for one in self.fields.values():  # defaults are for new flows
            one.load_default = one.dump_default = ma.missing


class FlowFormSchema(NewInterviewFlowSchema):
    """The platform's form: all of the above and the settings that ``/v1`` does not carry."""

    assess_language = Flag(allow_none=True, load_default=None)
    rates_first = Flag(allow_none=True, load_default=None)
    accent = AccentColor(most=LONGEST["accent"], allow_none=True, load_default=None)
    cv = Choice(tuple(Cv), called="Cv", allow_none=True, load_default=None)
    may_say_again = Flag(load_default=False)
    is_background_private = Flag(load_default=False)
    criteria = CriteriaField()
    alternative_text = Text(most=LONGEST["alternative_text"], allow_none=True, load_default=None)
    alternative_contact = ContactAddress(most=LONGEST["alternative_contact"], allow_none=True, load_default=None)
    follow_up_limit = fields.Integer(
        load_default=1,
        validate=ma.validate.Range(0, MOST_FOLLOW_UPS, error=f"Must be from 0 to {MOST_FOLLOW_UPS}."),
        error_messages={"invalid": f"Must be a whole number from 0 to {MOST_FOLLOW_UPS}."},
    )
    time_limit_minutes = fields.Integer(
        allow_none=True,
        load_default=None,
        validate=ma.validate.Range(1, MOST_MINUTES, error=f"Must be from 1 to {MOST_MINUTES} minutes."),
        error_messages={"invalid": f"Must be a whole number of minutes from 1 to {MOST_MINUTES}, or empty."},
    )


def compatible(body: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The body as this version accepts it, and a note for each change. Used with COMPATIBLE_INPUT."""
    accepted = {name: value for name, value in body.items() if name not in HISTORICAL_FIELDS}
    notes = [f"{name} is not supported and was ignored" for name in HISTORICAL_FIELDS if name in body]
    voice_id = accepted.get("voice_id")
    for prefix, own in HISTORICAL_PREFIXES.items():
        if isinstance(voice_id, str) and voice_id.startswith(prefix):
            name = voice_id.removeprefix(prefix)
            voice = next((voice for voice in (own + name, name) if voice in VOICES), None)
            if voice is not None:
                accepted["voice_id"] = voice
                notes.append(f"voice_id {voice_id} was read as {voice}")
    return accepted, notes


class InterviewFlowSchema(InterviewFlowFields):
    """A flow as ``/v1`` shows it."""

    class Meta:
        fields = (
            "interview_flow_id",
            "team_id",
            "org_name",
            "title",
            "status",
            "questions",
            "voice_id",
            "language",
            "company_logo_url",
            "additional_info",
            "additional_instructions",
            "interview_type",
            "is_video_enabled",
            "is_doc_upload_enabled",
            "redirect_url",
            "webhook_url",
            "webhook_secret_key",
            "intro",
            "outro",
        )

    interview_flow_id = fields.String(required=True, attribute="id", metadata={"description": "Id of the flow."})
    team_id = fields.String(required=True, metadata={"description": "Owning team."})
    status = Choice(
        tuple(status.value for status in FlowStatus),
        called="InterviewFlowStatus",
        required=True,
        metadata={"description": "`archived` flows have been deleted."},
    )

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
        """Unseals the secret, for keys that may see secrets; every other field is a column."""
        if attr == "webhook_secret_key" and isinstance(obj, InterviewFlow):
            return _secret(obj) if shows_secrets() else None
        return super().get_attribute(obj, attr, default)


def _secret(flow: InterviewFlow) -> str | None:
    """None also where it cannot be opened: one such flow must not stop lists and the feed of changes."""
    try:
        return secret_of(flow)
    except SealBroken:
        log.warning("the webhook secret of flow %s cannot be decrypted", flow.id)
        return None


class InterviewFlowsSchema(ma.Schema):
    """Answer of GET /v1/interview-flows."""

    interview_flows = fields.List(fields.Nested(InterviewFlowSchema), required=True)


class InterviewFlowCreatedSchema(ma.Schema):
    """Answer of POST /v1/interview-flows."""

    interview_flow_id = fields.String(required=True)


class InterviewFlowArchivedSchema(ma.Schema):
    """Answer of DELETE /v1/interview-flows/{interview_flow_id}."""

    success = fields.Boolean(required=True)
    interview_flow_id = fields.String(required=True, metadata={"description": "The archived flow."})
    status = fields.String(required=True, metadata={"description": "New status of the flow."})


class InterviewFlowTurnedSchema(ma.Schema):
    """A flow that was closed or reopened."""

    success = fields.Boolean(required=True)
    interview_flow_id = fields.String(required=True)
    status = Choice(tuple(status.value for status in FlowStatus), called="InterviewFlowStatus", required=True)


class InterviewFlowQuerySchema(ma.Schema):
    """Query of GET /v1/interview-flows."""

    limit = limit_field(100)
    offset = offset_field()
    team_id = team_id_field()


NEW_FLOW_EXAMPLE = {
    "org_name": examples.ORGANIZATION,
    "title": examples.FLOW_TITLE,
    "questions": list(examples.QUESTIONS),
    "interview_type": InterviewType.RECRUITMENT.value,
    "language": DEFAULT_LANGUAGE,
    "voice_id": DEFAULT_VOICE,
}
"""Body that "Try it out" sends. It contains no address, because Parley would fetch or call it."""
FLOW_EXAMPLE = {
    "interview_flow_id": examples.FLOW_ID,
    "team_id": examples.TEAM_ID,
    "status": FlowStatus.OPEN.value,
    **NEW_FLOW_EXAMPLE,
    **dict.fromkeys(("company_logo_url", "additional_info", "additional_instructions", "redirect_url")),
    "is_video_enabled": False,
    "is_doc_upload_enabled": False,
    "webhook_url": "https://ats.example.com/parley",
    "webhook_secret_key": "at-least-32-characters-of-randomness",
    **dict.fromkeys(("intro", "outro")),
}
FLOW_CREATED_EXAMPLE = {"interview_flow_id": examples.FLOW_ID}
FLOW_CHANGES_EXAMPLE = {"title": examples.FLOW_TITLE, "questions": list(examples.QUESTIONS)}
FLOW_ARCHIVED_EXAMPLE = {
    "success": True,
    "interview_flow_id": examples.FLOW_ID,
    "status": FlowStatus.ARCHIVED.value,
}


def redirect_flaw(url: str) -> str | None:
    """Why a browser cannot safely be sent to ``url``, or None."""
    try:
        parts = urlsplit(url)
        readable = parts.port is None or parts.port > 0
    except ValueError:
        readable = False
    if not readable or _NOT_IN_ADDRESSES.search(url):
        return "Not a valid URL."
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "Must be a full URL that begins with https:// or http://."
    if parts.username is not None or parts.password is not None:
        return "Must not contain a user name or password."
    return None
