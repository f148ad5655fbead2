"""The objects of the API as frozen dataclasses.

Servers may send more than this version knows: unknown fields are kept in ``extra``, and enums accept every string.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from ._errors import UnexpectedResponseError

VoiceId: TypeAlias = (
    Literal[
        "vendora-Anna",
        "vendorb-Onyx",
        "vendorb-Shimmer",
        "vendora-Anthony",
        "vendora-Kate",
        "vendora-Amy",
        "vendora-Rahul",
        "IPgYtHTNLjC7Bq7IPHrm",
        "UOIqAnmS11Reiei1Ytkc",
        "vUmLiNBm6MDcy1NUHaVr",
        "bhJUNIXWQQ94l8eI2VUf",
        "b3jcIbyC3BSnaRu8avEk",
        "xF681s0UeE04gsf0mVsJ",
        "uNsWM1StCcpydKYOjKyu",
        "BGEU6wFi2uNm6Kje1Yhk",
        "4kCDY3HJwvO7Zp3con83",
    ]
    | str
)
Language: TypeAlias = (
    Literal[
        "en-US",
        "de-DE",
        "es-419",
        "hi-IN",
        "ja-JP",
        "pt-BR",
        "fr-FR",
        "zh-CN",
        "ko-KR",
        "vi-VN",
        "ar-AE",
        "no-NO",
        "th-TH",
    ]
    | str
)
InterviewType: TypeAlias = Literal["recruitment", "general"] | str
InterviewStatus: TypeAlias = Literal["incomplete", "completed"] | str
InterviewFlowStatus: TypeAlias = Literal["open", "closed", "archived"] | str
InterviewLinkState: TypeAlias = Literal["open", "in_progress", "submitted", "expired", "closed"] | str
InterviewMode: TypeAlias = Literal["live", "test"] | str
Scenario: TypeAlias = Literal["scores", "abandoned", "failed", "late-video"] | str
StatusMeaning: TypeAlias = Literal["open", "advanced", "accepted", "rejected", "withdrawn"] | str
ChangeKind: TypeAlias = (
    Literal["candidate", "status", "interview_flow", "interview", "interview_metadata", "score_version"] | str
)
ChangeType: TypeAlias = Literal["upserted", "deleted"] | str
WebhookDeliveryState: TypeAlias = Literal["pending", "sending", "delivered", "held", "exhausted", "cancelled"] | str
WebhookResendState: TypeAlias = Literal["delivered", "exhausted"] | str


@dataclass(frozen=True, kw_only=True)
class Model:
    """An object of the API."""

    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Fields that this version of the package does not know."""

    @classmethod
    def of(cls, data: Any, **kinds: type[Model]) -> Self:
        """The object of parsed JSON; ``kinds`` names the models of fields that are generic."""
        if not isinstance(data, dict):
            raise UnexpectedResponseError(f"A {cls.__name__} is a JSON object; the server sent {type(data).__name__}.")
        readers = _readers(cls)
        known = {
            name: _nullable(kinds[name].of)(value) if name in kinds else readers[name](value)
            for name, value in data.items()
            if name in readers
        }
        try:
            return cls(**known, extra={name: value for name, value in data.items() if name not in readers})
        except TypeError as lacking:
            raise UnexpectedResponseError(f"The server sent an incomplete {cls.__name__}: {lacking}") from None

    def to_dict(self) -> dict[str, Any]:
        """The object as the API sends it, fields in ``extra`` included."""
        own = {one.name: _plain(getattr(self, one.name)) for one in fields(self) if one.name != "extra"}
        return {**own, **self.extra}


Reader = Callable[[Any], Any]


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        return value.to_dict()
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _nullable(read: Reader) -> Reader:
    return lambda value: None if value is None else read(value)


_KNOWN: dict[type[Model], dict[str, Reader]] = {}


def _readers(cls: type[Model]) -> dict[str, Reader]:
    if cls not in _KNOWN:
        _KNOWN[cls] = {name: _reader(hint) for name, hint in get_type_hints(cls).items() if name != "extra"}
    return _KNOWN[cls]


def _reader(hint: Any) -> Reader:
    if isinstance(hint, type) and is_dataclass(hint) and issubclass(hint, Model):
        return hint.of
    if get_origin(hint) is list:
        read = _reader(get_args(hint)[0])
        return lambda value: [read(one) for one in value] if isinstance(value, list) else value
    if get_origin(hint) in {Union, types.UnionType}:
        models = [one for one in get_args(hint) if isinstance(one, type) and issubclass(one, Model)]
        if models:
            return _nullable(models[0].of)
    return lambda value: value


@dataclass(frozen=True, kw_only=True)
class Team(Model):
    """A part of your organization."""

    id: str
    name: str
    created_at: str


@dataclass(frozen=True, kw_only=True)
class TeamMember(Model):
    """A member; ``id`` is what ``assigned_recruiter_id`` takes."""

    id: str
    email: str | None = None
    full_name: str | None = None


@dataclass(frozen=True, kw_only=True)
class InterviewFlow(Model):
    """A script of questions, with a voice, a language and options."""

    interview_flow_id: str
    team_id: str
    org_name: str
    title: str
    status: InterviewFlowStatus
    questions: list[str]
    voice_id: VoiceId | None = None
    language: Language | None = None
    company_logo_url: str | None = None
    additional_info: str | None = None
    additional_instructions: str | None = None
    interview_type: InterviewType | None = None
    is_video_enabled: bool | None = None
    is_doc_upload_enabled: bool | None = None
    redirect_url: str | None = None
    webhook_url: str | None = None
    webhook_secret_key: str | None = field(default=None, repr=False)
    intro: str | None = None
    outro: str | None = None


@dataclass(frozen=True, kw_only=True)
class InterviewFlowCreated(Model):
    """The id of a new flow."""

    interview_flow_id: str


@dataclass(frozen=True, kw_only=True)
class FlowState(Model):
    """The outcome of archiving, closing or reopening a flow."""

    success: bool
    interview_flow_id: str
    status: InterviewFlowStatus


@dataclass(frozen=True, kw_only=True)
class Success(Model):
    """That something was done."""

    success: bool


@dataclass(frozen=True, kw_only=True)
class Word(Model):
    """A word, and the seconds at which it begins and ends."""

    word: str
    start: float
    end: float


@dataclass(frozen=True, kw_only=True)
class BaseSegment(Model):
    """What ``agent`` or ``user`` said without a break."""

    content: str
    role: str


@dataclass(frozen=True, kw_only=True)
class Segment(BaseSegment):
    """A segment with its words; a typed answer has none."""

    words: list[Word]


@dataclass(frozen=True, kw_only=True)
class QuestionToTranscriptMapping(Model):
    """Where a question of the flow is in the transcript."""

    script_question: str
    transcript_item_indices: list[int]
    start_timestamp: float
    end_timestamp: float
    transcript_items: list[BaseSegment]


@dataclass(frozen=True, kw_only=True)
class Scores(Model):
    """Scores from 0 to 5; None means "not assessed"."""

    communication: float | None = None
    motivation: float | None = None
    skills: float | None = None
    language_vocabulary_and_expression: float | None = None
    language_grammar_and_structure: float | None = None
    language_fluency_and_pace: float | None = None
    language_comprehension: float | None = None


@dataclass(frozen=True, kw_only=True)
class InterviewDataNoTranscript(Model):
    """A result, as ``transcript="none"`` returns it."""

    audio_url: str | None = None
    video_url: str | None = None
    summary: str | None = None
    scores: Scores | None = None
    interviewee_email_address: str | None = None
    interviewee_first_name: str | None = None
    interviewee_last_name: str | None = None


@dataclass(frozen=True, kw_only=True)
class InterviewDataTextOnly(InterviewDataNoTranscript):
    """A result, as ``transcript="text"`` returns it."""

    transcript: str


@dataclass(frozen=True, kw_only=True)
class InterviewData(InterviewDataTextOnly):
    """A whole result, as ``transcript="full"`` returns it."""

    transcript_with_timestamp: list[Segment]
    questions_to_transcript_mapping: list[QuestionToTranscriptMapping]


D = TypeVar("D", bound=InterviewDataNoTranscript)


@dataclass(frozen=True, kw_only=True)
class Interview(Model, Generic[D]):
    """One conversation of one candidate with the agent. ``interview_data`` is None until it is completed."""

    interview_flow_id: str
    interview_id: str
    team_id: str
    status: InterviewStatus
    interview_data: D | None


@dataclass(frozen=True, kw_only=True)
class InterviewCreated(Model):
    """A new interview, and the single-use link for the candidate."""

    interview_id: str
    interview_link: str
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class InterviewExtended(Model):
    """The link of an interview, and until when it works."""

    interview_id: str
    interview_link: str
    expires_at: str


@dataclass(frozen=True, kw_only=True)
class InterviewLink(Model):
    """Whether the candidate can still take the interview, and until when. An expired link can be extended."""

    interview_id: str
    state: InterviewLinkState
    expires_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class InterviewCancelled(Success):
    """An interview that will not take place."""

    interview_id: str


@dataclass(frozen=True, kw_only=True)
class InterviewReference(Model):
    """An interview that has the external id you asked for."""

    interview_id: str
    interview_flow_id: str
    external_id: str


@dataclass(frozen=True, kw_only=True)
class ScoreVersion(Model):
    """One set of scores of a result; ``is_current`` marks the one in force."""

    score_version_id: str
    interview_id: str
    number: int
    is_current: bool
    scores: Scores | None = None
    model: str | None = None
    created_at: str


@dataclass(frozen=True, kw_only=True)
class Candidate(Model):
    """A person in the pipeline of a recruitment flow."""

    candidate_id: str
    team_id: str
    interview_flow_id: str
    interviewee_email_address: str
    interviewee_first_name: str | None = None
    interviewee_last_name: str | None = None
    status: str
    assigned_recruiter_id: str | None = None
    interview_ids: list[str]
    created_at: str


@dataclass(frozen=True, kw_only=True)
class ReasonCode(Model):
    """A reason for a decision, from your organization's list."""

    code: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Status(Model):
    """A status of your pipeline. Its name is yours; ``meaning`` says what it stands for."""

    status_id: str
    name: str
    meaning: StatusMeaning | None = None
    position: int
    reason_codes: list[ReasonCode]


@dataclass(frozen=True, kw_only=True)
class Change(Model):
    """One entry of the feed: ``object`` is the present state as the API sends it, None when it was deleted."""

    id: str
    kind: ChangeKind
    object_id: str
    change: ChangeType
    at: str
    object: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class SecretRotation(Model):
    """A new webhook secret. Both secrets sign until ``old_secret_until``."""

    webhook_secret_key: str = field(repr=False)
    old_secret_until: str | None = None


@dataclass(frozen=True, kw_only=True)
class EndpointSecretRotation(Model):
    """A new secret of an endpoint. Both secrets sign until ``old_secret_until``."""

    secret: str = field(repr=False)
    old_secret_until: str | None = None


@dataclass(frozen=True, kw_only=True)
class WebhookEndpoint(Model):
    """A webhook URL with its health."""

    webhook_endpoint_id: str
    url: str
    scope: Literal["flow", "organization"] | str
    interview_flow_ids: list[str]
    enabled: bool
    disabled_by: str | None = None
    failing_since: str | None = None
    last_success_at: str | None = None
    created_at: str


@dataclass(frozen=True, kw_only=True)
class WebhookEndpointCreated(WebhookEndpoint):
    """A new endpoint with its secret, which is shown only this once."""

    secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class WebhookDelivery(Model):
    """One event on its way to one endpoint."""

    webhook_delivery_id: str
    webhook_id: str
    event_type: str
    interview_flow_id: str | None
    webhook_endpoint_id: str
    state: WebhookDeliveryState
    hold: str | None = None
    ending: str | None = None
    attempts: int
    created_at: str
    due_at: str | None = None
    delivered_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class WebhookAttempt(Model):
    """One HTTP request of a delivery, with its response."""

    at: str
    seconds: float | None = None
    status: int | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryDetails(WebhookDelivery):
    """A delivery with what was sent, and each attempt."""

    payload: dict[str, Any] | None = None
    attempts_made: list[WebhookAttempt]


@dataclass(frozen=True, kw_only=True)
class ChangesPage(Model):
    """Some changes. Continue with ``next``, at once if ``has_more``."""

    changes: list[Change]
    next: str
    has_more: bool
