"""Every operation of ``/v1`` as a function that builds its call. The names are those of the OpenAPI document."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack

from . import _models as m
from ._core import Call, call, path_of, time_of
from ._errors import UnexpectedResponseError
from ._paging import Page, Plan

M = TypeVar("M", bound=m.Model)

TranscriptChoice: TypeAlias = Literal["full", "text", "none"]
Time: TypeAlias = datetime | str

DATA: dict[str, type[m.InterviewDataNoTranscript]] = {
    "full": m.InterviewData,
    "text": m.InterviewDataTextOnly,
    "none": m.InterviewDataNoTranscript,
}
MEDIA = frozenset({"company_logo_url", "preamble_video_url"})
MEDIA_SECONDS = 120.0
"""The server fetches a logo and a video before it responds."""


class FlowOptions(TypedDict, total=False):
    """What a flow may have. What you leave out gets its default; None switches it off."""

    voice_id: m.VoiceId | None
    language: m.Language | None
    company_logo_url: str | None
    additional_info: str | None
    additional_instructions: str | None
    interview_type: m.InterviewType | None
    is_video_enabled: bool | None
    is_doc_upload_enabled: bool | None
    redirect_url: str | None
    webhook_url: str | None
    webhook_secret_key: str | None
    intro: str | None
    outro: str | None
    preamble_video_url: str | None


class NewFlowOptions(FlowOptions, total=False):
    """Options of a new flow. Without ``team_id`` it belongs to the organization's oldest team."""

    team_id: str | None


class FlowChanges(FlowOptions, total=False):
    """What to change in a flow. What you leave out stays as it is."""

    org_name: str
    title: str
    questions: Sequence[str]


class InterviewFilter(TypedDict, total=False):
    """Which interviews, and how: ``limit`` is the size of a page, ``offset`` skips the first ones."""

    status: m.InterviewStatus | None
    team_id: str | None
    mode: m.InterviewMode | None
    interview_flow_id: str | None
    created_after: Time | None
    limit: int
    offset: int
    max_items: int | None


class CandidateMove(TypedDict, total=False):
    """Details of a move. A status that means advanced, accepted or rejected needs the first two."""

    decided_by: str | None
    reason_code: str | None
    note: str | None
    previous_status: str | None


class DeliveryFilter(TypedDict, total=False):
    """Which deliveries."""

    state: m.WebhookDeliveryState | None
    event_type: str | None
    interview_flow_id: str | None
    webhook_endpoint_id: str | None


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _fields(given: Mapping[str, Any], known: type) -> dict[str, Any]:
    """The fields as they were given; a misspelled one is refused here, as Python does, not by the server."""
    unknown = sorted(set(given) - set(known.__annotations__))
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    return {name: _texts(value) if name == "questions" else value for name, value in given.items()}


def _texts(questions: Iterable[str]) -> list[str]:
    """A text alone would become a question for each of its letters."""
    if isinstance(questions, str | bytes) or not isinstance(questions, Iterable):
        raise TypeError(f'questions is a list of texts, such as ["Why?", "What next?"], not {questions!r}.')
    return list(questions)


def _list_of(kind: Callable[[Any], M], key: str) -> Callable[[Any], list[M]]:
    def read(body: Any) -> list[M]:
        if not isinstance(body, dict) or not isinstance(body.get(key), list):
            raise UnexpectedResponseError(f"The server sent no list of {key}.")
        return [kind(one) for one in body[key]]

    return read


def _page_of(kind: Callable[[Any], M], key: str) -> Callable[[Any], Page[M]]:
    items = _list_of(kind, key)
    return lambda body: Page(items(body), body.get("next"))


def interview_of(transcript: str) -> Callable[[Any], m.Interview[Any]]:
    """Read an interview whose result has the fields of this choice of ``transcript``."""
    return lambda body: m.Interview.of(body, interview_data=DATA[transcript])


def request(
    method: str,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    body: Any = None,
    idempotency_key: str | None = None,
) -> Call[Any]:
    """Send anything, for operations that this version does not know; returns parsed JSON."""
    if not path.startswith("/v1/"):
        raise ValueError("The path begins with /v1/.")
    return call("", method, path, lambda told: told, query=query, body=body, idempotency_key=idempotency_key)


def ping() -> Call[str]:
    """Check the connection and the key; returns ``pong``."""
    return call("ping", "GET", "/v1/ping", lambda body: str(body["message"]))


def list_teams() -> Call[list[m.Team]]:
    """All teams of the organization."""
    return call("listTeams", "GET", "/v1/teams", _list_of(m.Team.of, "teams"))


def list_team_members(*, team_id: str | None = None) -> Call[list[m.TeamMember]]:
    """Members of all teams, or of one."""
    read = _list_of(m.TeamMember.of, "team_members")
    return call("listTeamMembers", "GET", "/v1/team-members", read, query={"team_id": team_id})


# Flows


def create_interview_flow(
    *,
    org_name: str,
    title: str,
    questions: Sequence[str],
    idempotency_key: str | None = None,
    **options: Unpack[NewFlowOptions],
) -> Call[m.InterviewFlowCreated]:
    """Create a flow. The server fetches ``company_logo_url`` and ``preamble_video_url`` before it responds."""
    chosen = _fields(options, NewFlowOptions)
    body = {"org_name": org_name, "title": title, "questions": _texts(questions), **chosen}
    path, read = "/v1/interview-flows", m.InterviewFlowCreated.of
    at_least = _time_for(chosen)
    return call(
        "createInterviewFlow", "POST", path, read, body=body, idempotency_key=idempotency_key, at_least=at_least
    )


def _time_for(chosen: Mapping[str, Any]) -> float:
    return MEDIA_SECONDS if any(chosen.get(name) for name in MEDIA) else 0.0


def list_interview_flows(
    *, team_id: str | None = None, limit: int = 100, offset: int = 0, max_items: int | None = None
) -> Plan[m.InterviewFlow]:
    """Flows of all teams, or of one, newest first. ``limit`` is the size of a page.

    A flow that is created while you read moves the pages, so that one can come twice.
    """
    read = _page_of(m.InterviewFlow.of, "interview_flows")

    def ask(where: Mapping[str, Any]) -> Call[Page[m.InterviewFlow]]:
        return call("listInterviewFlows", "GET", "/v1/interview-flows", read, query={"team_id": team_id, **where})

    return Plan(ask, lambda one: one.interview_flow_id, "offset", limit, max_items, offset)


def get_interview_flow(interview_flow_id: str) -> Call[m.InterviewFlow]:
    """Read one flow."""
    return call("getInterviewFlow", "GET", path_of("interview-flows", interview_flow_id), m.InterviewFlow.of)


def delete_interview_flow(interview_flow_id: str) -> Call[m.FlowState]:
    """Archive a flow: it takes no more interviews, and results stay."""
    return call("deleteInterviewFlow", "DELETE", path_of("interview-flows", interview_flow_id), m.FlowState.of)


def update_interview_flow(interview_flow_id: str, **changes: Unpack[FlowChanges]) -> Call[m.InterviewFlow]:
    """Change a flow. Interviews that exist keep the script they were created with."""
    body, path = _fields(changes, FlowChanges), path_of("interview-flows", interview_flow_id)
    return call("updateInterviewFlow", "PATCH", path, m.InterviewFlow.of, body=body, at_least=_time_for(body))


def close_interview_flow(interview_flow_id: str) -> Call[m.FlowState]:
    """Accept no more interviews until you reopen the flow."""
    return call("closeInterviewFlow", "POST", path_of("interview-flows", interview_flow_id, "close"), m.FlowState.of)


def reopen_interview_flow(interview_flow_id: str) -> Call[m.FlowState]:
    """Accept interviews again."""
    return call("reopenInterviewFlow", "POST", path_of("interview-flows", interview_flow_id, "reopen"), m.FlowState.of)


def rotate_webhook_secret(
    interview_flow_id: str, *, webhook_secret_key: str | None = None, overlap_hours: int | None = None
) -> Call[m.SecretRotation]:
    """Replace the flow's secret; without one Parley makes it. During the overlap both secrets sign."""
    path = path_of("interview-flows", interview_flow_id, "webhook-secret", "rotate")
    body = _given(webhook_secret_key=webhook_secret_key, overlap_hours=overlap_hours)
    return call("rotateWebhookSecret", "POST", path, m.SecretRotation.of, body=body)


def switch_webhook_secret(interview_flow_id: str) -> Call[m.Success]:
    """End the overlap now: only the new secret signs."""
    path = path_of("interview-flows", interview_flow_id, "webhook-secret", "switch")
    return call("switchWebhookSecret", "POST", path, m.Success.of)


# Interviews


def create_interview(
    interview_flow_id: str,
    *,
    interviewee_email_address: str | None = None,
    interviewee_first_name: str | None = None,
    interviewee_last_name: str | None = None,
    assigned_recruiter_id: str | None = None,
    scenario: m.Scenario | None = None,
    idempotency_key: str | None = None,
) -> Call[m.InterviewCreated]:
    """Create an interview for one candidate. Without an email address it does not appear on the web platform.

    ``scenario`` chooses the outcome of a test interview and needs a test key. Give an ``idempotency_key`` of your
    own, such as the id of the application, if your program may be started again in the middle.
    """
    body = _given(
        interview_flow_id=interview_flow_id,
        interviewee_email_address=interviewee_email_address,
        interviewee_first_name=interviewee_first_name,
        interviewee_last_name=interviewee_last_name,
        assigned_recruiter_id=assigned_recruiter_id,
    )
    return call(
        "createInterview",
        "POST",
        "/v1/interviews",
        m.InterviewCreated.of,
        body=body,
        headers={"X-Parley-Scenario": scenario},
        idempotency_key=idempotency_key,
    )


def list_interviews(
    *,
    status: m.InterviewStatus | None = None,
    team_id: str | None = None,
    mode: m.InterviewMode | None = None,
    interview_flow_id: str | None = None,
    created_after: Time | None = None,
    transcript: TranscriptChoice = "full",
    limit: int = 100,
    offset: int = 0,
    max_items: int | None = None,
) -> Plan[m.Interview[Any]]:
    """Interviews, newest first. ``limit`` is the size of a page.

    An interview that is created while you read moves the pages, so that one can come twice.
    """
    read = _page_of(interview_of(transcript), "interviews")
    chosen = {
        "status": status,
        "team_id": team_id,
        "mode": mode,
        "interview_flow_id": interview_flow_id,
        "created_after": created_after,
        "transcript": transcript,
    }

    def ask(where: Mapping[str, Any]) -> Call[Page[m.Interview[Any]]]:
        return call("listInterviews", "GET", "/v1/interviews", read, query={**chosen, **where})

    return Plan(ask, lambda one: one.interview_id, "offset", limit, max_items, offset)


def get_interview(interview_id: str, *, transcript: TranscriptChoice = "full") -> Call[m.Interview[Any]]:
    """Read one interview. ``transcript`` chooses how much of the result you get."""
    path, query = path_of("interviews", interview_id), {"transcript": transcript}
    return call("getInterview", "GET", path, interview_of(transcript), query=query)


def delete_interview(interview_id: str) -> Call[m.Success]:
    """Revoke access to the recordings, permanently. An interview that has not started loses its link."""
    return call("deleteInterview", "DELETE", path_of("interviews", interview_id), m.Success.of)


def cancel_interview(interview_id: str) -> Call[m.InterviewCancelled]:
    """Withdraw an interview that has not begun."""
    return call("cancelInterview", "POST", path_of("interviews", interview_id, "cancel"), m.InterviewCancelled.of)


def get_interview_link(interview_id: str) -> Call[m.InterviewLink]:
    """Whether the candidate's link still works: ``open``, ``in_progress``, ``submitted``, ``expired`` or ``closed``."""
    return call("getInterviewLink", "GET", path_of("interviews", interview_id, "link"), m.InterviewLink.of)


def extend_interview(interview_id: str, *, expires_at: Time) -> Call[m.InterviewExtended]:
    """Let the candidate's link work until another time."""
    path, body = path_of("interviews", interview_id, "extend"), {"expires_at": time_of(expires_at)}
    return call("extendInterview", "POST", path, m.InterviewExtended.of, body=body)


def list_score_versions(interview_id: str) -> Call[list[m.ScoreVersion]]:
    """All sets of scores of a result, newest first."""
    read = _list_of(m.ScoreVersion.of, "score_versions")
    return call("listScoreVersions", "GET", path_of("interviews", interview_id, "score-versions"), read)


def _metadata(body: Any) -> dict[str, str]:
    return dict(body["metadata"])


def get_interview_metadata(interview_id: str) -> Call[dict[str, str]]:
    """Your own keys and values of an interview."""
    return call("getInterviewMetadata", "GET", path_of("interviews", interview_id, "metadata"), _metadata)


def set_interview_metadata(interview_id: str, metadata: Mapping[str, str]) -> Call[dict[str, str]]:
    """Replace all of your own keys and values; ``{}`` removes them.

    ``external_id`` is the one that ``lookup`` finds and webhooks carry.
    """
    if not isinstance(metadata, Mapping):
        raise TypeError(f'metadata is a dict of texts, such as {{"external_id": "4711"}}, not {metadata!r}.')
    path, body = path_of("interviews", interview_id, "metadata"), {"metadata": dict(metadata)}
    return call("setInterviewMetadata", "PUT", path, _metadata, body=body)


def lookup_interviews(external_id: str) -> Call[list[m.InterviewReference]]:
    """Interviews whose metadata has this ``external_id``, newest first, at most 100."""
    read = _list_of(m.InterviewReference.of, "interviews")
    return call("lookupInterviews", "GET", "/v1/lookup", read, query={"external_id": external_id})


# Changes


def list_changes(*, after: str | None = None, limit: int = 100) -> Call[m.ChangesPage]:
    """One page of the feed."""
    return call("listChanges", "GET", "/v1/changes", m.ChangesPage.of, query={"after": after, "limit": limit})


# Candidates


def list_candidates(
    *,
    interview_flow_id: str | None = None,
    team_id: str | None = None,
    status: str | None = None,
    email: str | None = None,
    limit: int = 100,
    after: str | None = None,
    max_items: int | None = None,
) -> Plan[m.Candidate]:
    """Candidates in the pipeline, newest first."""
    chosen = {"interview_flow_id": interview_flow_id, "team_id": team_id, "status": status, "email": email}
    read = _page_of(m.Candidate.of, "candidates")

    def ask(where: Mapping[str, Any]) -> Call[Page[m.Candidate]]:
        return call("listCandidates", "GET", "/v1/candidates", read, query={**chosen, **where})

    return Plan(ask, lambda one: one.candidate_id, "after", limit, max_items, after)


def get_candidate(candidate_id: str) -> Call[m.Candidate]:
    """Read one candidate."""
    return call("getCandidate", "GET", path_of("candidates", candidate_id), m.Candidate.of)


def move_candidate(
    candidate_id: str, status: str, *, idempotency_key: str | None = None, **details: Unpack[CandidateMove]
) -> Call[m.Candidate]:
    """Move a candidate to another status. With ``previous_status``, only if that is still the present one."""
    body = {"status": status, **_fields(details, CandidateMove)}
    path, read = path_of("candidates", candidate_id, "move"), m.Candidate.of
    return call("moveCandidate", "POST", path, read, body=body, idempotency_key=idempotency_key)


def list_statuses() -> Call[list[m.Status]]:
    """The statuses of your pipeline, in order, with the reasons for decisions."""
    return call("listStatuses", "GET", "/v1/statuses", _list_of(m.Status.of, "statuses"))


# Webhook endpoints and deliveries


def list_webhook_endpoints() -> Call[list[m.WebhookEndpoint]]:
    """All webhook URLs with their health."""
    read = _list_of(m.WebhookEndpoint.of, "webhook_endpoints")
    return call("listWebhookEndpoints", "GET", "/v1/webhook-endpoints", read)


def get_webhook_endpoint(webhook_endpoint_id: str) -> Call[m.WebhookEndpoint]:
    """Read one endpoint."""
    return call("getWebhookEndpoint", "GET", path_of("webhook-endpoints", webhook_endpoint_id), m.WebhookEndpoint.of)


def create_webhook_endpoint(
    url: str, *, secret: str | None = None, idempotency_key: str | None = None
) -> Call[m.WebhookEndpointCreated]:
    """Add a URL that gets the events of all flows. Keep the ``secret`` of the result: it is shown only once."""
    body = _given(url=url, secret=secret)
    path, read = "/v1/webhook-endpoints", m.WebhookEndpointCreated.of
    return call("createWebhookEndpoint", "POST", path, read, body=body, idempotency_key=idempotency_key)


def delete_webhook_endpoint(webhook_endpoint_id: str) -> Call[m.Success]:
    """Remove an endpoint of the organization. A flow's own is a field of the flow."""
    return call("deleteWebhookEndpoint", "DELETE", path_of("webhook-endpoints", webhook_endpoint_id), m.Success.of)


def enable_webhook_endpoint(webhook_endpoint_id: str) -> Call[m.WebhookEndpoint]:
    """Send to a disabled endpoint again, beginning with the events that were held."""
    path = path_of("webhook-endpoints", webhook_endpoint_id, "enable")
    return call("enableWebhookEndpoint", "POST", path, m.WebhookEndpoint.of)


def rotate_webhook_endpoint_secret(
    webhook_endpoint_id: str, *, secret: str | None = None, overlap_hours: int | None = None
) -> Call[m.EndpointSecretRotation]:
    """Replace the endpoint's secret; without one Parley makes it. During the overlap both secrets sign."""
    path = path_of("webhook-endpoints", webhook_endpoint_id, "secret", "rotate")
    body = _given(secret=secret, overlap_hours=overlap_hours)
    return call("rotateWebhookEndpointSecret", "POST", path, m.EndpointSecretRotation.of, body=body)


def switch_webhook_endpoint_secret(webhook_endpoint_id: str) -> Call[m.Success]:
    """End the overlap now: only the new secret signs."""
    path = path_of("webhook-endpoints", webhook_endpoint_id, "secret", "switch")
    return call("switchWebhookEndpointSecret", "POST", path, m.Success.of)


def list_webhook_deliveries(
    *,
    since: Time | None = None,
    until: Time | None = None,
    limit: int = 100,
    after: str | None = None,
    max_items: int | None = None,
    **which: Unpack[DeliveryFilter],
) -> Plan[m.WebhookDelivery]:
    """Deliveries, newest first."""
    chosen = {**_fields(which, DeliveryFilter), "since": since, "until": until}
    read = _page_of(m.WebhookDelivery.of, "webhook_deliveries")

    def ask(where: Mapping[str, Any]) -> Call[Page[m.WebhookDelivery]]:
        return call("listWebhookDeliveries", "GET", "/v1/webhook-deliveries", read, query={**chosen, **where})

    return Plan(ask, lambda one: one.webhook_delivery_id, "after", limit, max_items, after)


def get_webhook_delivery(webhook_delivery_id: str) -> Call[m.WebhookDeliveryDetails]:
    """Read one delivery, with what was sent and each attempt."""
    path = path_of("webhook-deliveries", webhook_delivery_id)
    return call("getWebhookDelivery", "GET", path, m.WebhookDeliveryDetails.of)


def resend_webhook_delivery(webhook_delivery_id: str, *, idempotency_key: str | None = None) -> Call[m.WebhookDelivery]:
    """Send an event once more, with the same ``webhook-id``."""
    path, read = path_of("webhook-deliveries", webhook_delivery_id, "resend"), m.WebhookDelivery.of
    return call("resendWebhookDelivery", "POST", path, read, idempotency_key=idempotency_key)


def resend_webhook_deliveries(
    *,
    since: Time,
    until: Time,
    state: m.WebhookResendState | None = None,
    interview_flow_id: str | None = None,
    webhook_endpoint_id: str | None = None,
    idempotency_key: str | None = None,
) -> Call[int]:
    """Send all events of a time once more, at most 31 days; without ``state``, both states. Returns how many."""
    body = _given(
        since=time_of(since),
        until=time_of(until),
        state=state,
        interview_flow_id=interview_flow_id,
        webhook_endpoint_id=webhook_endpoint_id,
    )
    path = "/v1/webhook-deliveries/resend"
    return call(
        "resendWebhookDeliveries",
        "POST",
        path,
        lambda told: int(told["resent"]),
        body=body,
        idempotency_key=idempotency_key,
    )
