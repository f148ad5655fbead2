"""A Parley in memory, for tests of programs that use this package. It speaks HTTP to the real clients."""

import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

import httpx2

from . import _operations as ops
from ._client import AsyncParley, Parley
from ._fake_interview import URL, Interview, result_of
from ._fake_rules import Refusal, check, check_metadata, invalid, time_in
from ._signing import sign

DEFAULTS = {"voice_id": "vendora-Kate", "language": "en-US", "interview_type": "general"}
MEANINGS = {
    "invited": "open",
    "interviewed": "open",
    "shortlisted": "advanced",
    "accepted": "accepted",
    "rejected": "rejected",
    "withdrawn": "withdrawn",
}
DECIDING = {"advanced", "accepted", "rejected"}
EXTENDED_AT_MOST = timedelta(days=90)
_PHRASES = {422: "Unprocessable Entity"}


@dataclass(frozen=True)
class SentEvent:
    """A webhook as it would have been sent: give both to your receiver."""

    url: str
    body: bytes
    headers: dict[str, str]


Route = Callable[..., Any]
ROUTES: dict[str, tuple[str, str, Route]] = {}
"""What there is, by operation of the OpenAPI document."""


def _route(operation: str, method: str, pattern: str) -> Callable[[Route], Route]:
    """A method that answers these requests: it gets the ids in the path, and then the checked query or body."""

    def add(answer: Route) -> Route:
        ROUTES[operation] = (method, pattern, answer)
        return answer

    return add


class FakeParley:
    """An organization with one team and one member. It refuses what Parley refuses because of a state or a field.

    It has no webhook endpoints, deliveries and rotation of secrets, and no versions of scores: those URLs get 404.

    ``client()`` and ``async_client()`` are real clients that need no network. ``complete`` is the candidate, ``expire``
    the time. ``events`` has the webhooks, signed. ``fail_next`` breaks the next responses.
    """

    api_key = "7e577e57-0000-4000-8000-000000000000"

    def __init__(self) -> None:
        """Begin empty."""
        self.team = {"id": str(uuid.uuid4()), "name": "Hiring", "created_at": _now()}
        self.member = {"id": str(uuid.uuid4()), "email": "member@example.com", "full_name": "Alex Member"}
        self.events: list[SentEvent] = []
        self.requests: list[tuple[str, str]] = []
        self._flows: dict[str, dict[str, Any]] = {}
        self._interviews: dict[str, Interview] = {}
        self._candidates: dict[str, dict[str, Any]] = {}
        self._changes: list[dict[str, Any]] = []
        self._answered: dict[str, tuple[bytes, Any]] = {}
        self._failing: list[tuple[int, dict[str, str]]] = []

    def client(self, **options: Any) -> Parley:
        """A client of this Parley; ``options`` are those of ``Parley``."""
        http = httpx2.Client(transport=httpx2.MockTransport(self.handle))
        return Parley(self.api_key, URL, http_client=http, **options)

    def async_client(self, **options: Any) -> AsyncParley:
        """A client of this Parley for asyncio."""
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(self.handle))
        return AsyncParley(self.api_key, URL, http_client=http, **options)

    def fail_next(self, code: int, *, times: int = 1, retry_after: int | None = None) -> None:
        """Answer the next requests with this status code; nothing happens to the data."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        self._failing += [(code, headers)] * times

    def complete(
        self, interview_id: str, *, answers: list[str] | None = None, summary: str | None = None, scores: Any = None
    ) -> None:
        """The candidate takes the interview and it is processed: the result is there, and its webhooks are sent."""
        interview = self._interviews[interview_id]
        if interview.link_state != "open":
            state = interview.link_state
            raise ValueError("This interview is completed already." if interview.data else f"Its link is {state}.")
        interview.data = result_of(interview, answers or [], summary, scores)
        self._changed("interview", interview_id)
        self._send("interview_processed", interview)
        if interview.flow["is_video_enabled"]:
            interview.data["video_url"] = f"{URL}/recordings/{interview_id}/video"
            self._send("video_processed", interview)
        for candidate in self._candidates.values():
            if interview_id in candidate["interview_ids"] and candidate["status"] == "invited":
                self._set_status(candidate, "interviewed")

    def expire(self, interview_id: str) -> None:
        """The candidate's link ends now."""
        self._interviews[interview_id].expires_at = datetime.now(UTC)

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request, as a transport of httpx2 does."""
        path = unquote(request.url.raw_path.decode().partition("?")[0])
        self.requests.append((request.method, path))
        if self._failing:
            code, headers = self._failing.pop(0)
            return httpx2.Response(code, json=_refused(code, "Broken by fail_next."), headers=headers)
        try:
            return httpx2.Response(200, json=self._answer(request, path))
        except Refusal as refusal:
            told = _refused(refusal.code, refusal.message, refusal.errors)
            return httpx2.Response(refusal.code, json=told, headers={"X-Parley-Error": refusal.error})

    def _answer(self, request: httpx2.Request, path: str) -> Any:
        if request.headers.get("authorization") != f"Bearer {self.api_key}":
            raise Refusal(401, "unauthorized", "The API key is missing or unknown.")
        query, key = dict(request.url.params), request.headers.get("idempotency-key")
        operation, ids = _found(request.method, path)
        body = json.loads(request.content) if request.content else {}
        call = f"{request.method} {path} {key}" if key else ""
        if call in self._answered:
            before, told = self._answered[call]
            if before != request.content:
                raise Refusal(422, "idempotency_key_reused", "This Idempotency-Key was used with another body.")
            return told
        check(operation, {"headers": request.headers, "query": query, "json": body})
        route = ROUTES[operation][2]
        told = json.loads(json.dumps(route(self, *ids, query if request.method == "GET" else body)))
        if call:
            self._answered[call] = (request.content, told)
        return told

    @_route("ping", "GET", "/v1/ping")
    def _ping(self, query: dict[str, Any]) -> Any:
        return {"message": "pong"}

    @_route("listTeams", "GET", "/v1/teams")
    def _teams(self, query: dict[str, Any]) -> Any:
        return {"teams": [self.team]}

    @_route("listTeamMembers", "GET", "/v1/team-members")
    def _members(self, query: dict[str, Any]) -> Any:
        self._check_team(query.get("team_id"))
        return {"team_members": [self.member]}

    def _check_team(self, team_id: str | None) -> None:
        if team_id not in {None, self.team["id"]}:
            raise Refusal(403, "other_organization", "This team does not belong to your organization.")

    def _flow(self, flow_id: str) -> dict[str, Any]:
        if flow_id not in self._flows:
            raise Refusal(422, "not_found", "No flow has this id.")
        return self._flows[flow_id]

    @_route("createInterviewFlow", "POST", "/v1/interview-flows")
    def _create_flow(self, body: dict[str, Any]) -> Any:
        self._check_team(body.get("team_id"))
        flow_id, rest = str(uuid.uuid4()), dict.fromkeys(ops.FlowOptions.__annotations__)
        options = {**rest, "is_video_enabled": False, "is_doc_upload_enabled": False, **DEFAULTS, **body}
        options.pop("preamble_video_url")
        self._flows[flow_id] = {**options, "team_id": self.team["id"], "interview_flow_id": flow_id, "status": "open"}
        self._changed("interview_flow", flow_id)
        return {"interview_flow_id": flow_id}

    @_route("listInterviewFlows", "GET", "/v1/interview-flows")
    def _list_flows(self, query: dict[str, Any]) -> Any:
        self._check_team(query.get("team_id"))
        return {"interview_flows": _page(list(self._flows.values()), query, 100)}

    @_route("getInterviewFlow", "GET", "/v1/interview-flows/([^/]+)")
    def _get_flow(self, flow_id: str, query: dict[str, Any]) -> Any:
        return self._flow(flow_id)

    @_route("updateInterviewFlow", "PATCH", "/v1/interview-flows/([^/]+)")
    def _update_flow(self, flow_id: str, body: dict[str, Any]) -> Any:
        flow = self._flow(flow_id)
        if flow["status"] == "archived":
            raise Refusal(409, "conflict", "This flow is archived.")
        flow.update({name: value for name, value in body.items() if name != "preamble_video_url"})
        self._changed("interview_flow", flow_id)
        return flow

    @_route("deleteInterviewFlow", "DELETE", "/v1/interview-flows/([^/]+)")
    def _archive(self, flow_id: str, body: dict[str, Any]) -> Any:
        return self._set_flow(self._flow(flow_id), "archived")

    @_route("closeInterviewFlow", "POST", "/v1/interview-flows/([^/]+)/close")
    def _close(self, flow_id: str, body: dict[str, Any]) -> Any:
        return self._set_flow(self._flow(flow_id), "closed")

    @_route("reopenInterviewFlow", "POST", "/v1/interview-flows/([^/]+)/reopen")
    def _reopen(self, flow_id: str, body: dict[str, Any]) -> Any:
        return self._set_flow(self._flow(flow_id), "open")

    def _set_flow(self, flow: dict[str, Any], status: str) -> Any:
        if flow["status"] == "archived" and status != "archived":
            raise Refusal(409, "conflict", "This flow is archived.")
        flow["status"] = status
        self._changed("interview_flow", flow["interview_flow_id"])
        return {"success": True, "interview_flow_id": flow["interview_flow_id"], "status": status}

    def _interview(self, interview_id: str) -> Interview:
        if interview_id not in self._interviews:
            raise Refusal(422, "not_found", "No interview has this id.")
        return self._interviews[interview_id]

    @_route("createInterview", "POST", "/v1/interviews")
    def _create_interview(self, body: dict[str, Any]) -> Any:
        flow = self._flow(body["interview_flow_id"])
        if flow["status"] != "open":
            raise Refusal(422, "flow_closed", f"This flow is {flow['status']} and accepts no interviews.")
        if body.get("assigned_recruiter_id", self.member["id"]) not in {None, self.member["id"]}:
            raise invalid("json", "assigned_recruiter_id", "No member of the flow's team has this id.")
        interview = Interview(flow, body)
        self._interviews[interview.id] = interview
        self._changed("interview", interview.id)
        if body.get("interviewee_email_address") and flow["interview_type"] == "recruitment":
            self._add_candidate(interview)
        return {"interview_id": interview.id, "interview_link": interview.link, "hint": None}

    def _add_candidate(self, interview: Interview) -> None:
        email, flow_id = interview.given["interviewee_email_address"], interview.flow["interview_flow_id"]
        for candidate in self._candidates.values():
            if (candidate["interviewee_email_address"], candidate["interview_flow_id"]) == (email, flow_id):
                candidate["interview_ids"].insert(0, interview.id)
                return
        names = {**interview.names, "assigned_recruiter_id": interview.given.get("assigned_recruiter_id")}
        own = {"candidate_id": str(uuid.uuid4()), "team_id": self.team["id"], "interview_flow_id": flow_id}
        more = {"status": "invited", "interview_ids": [interview.id], "created_at": _now()}
        self._candidates[own["candidate_id"]] = {**own, **names, **more}
        self._changed("candidate", own["candidate_id"])

    @_route("listInterviews", "GET", "/v1/interviews")
    def _list_interviews(self, query: dict[str, Any]) -> Any:
        self._check_team(query.get("team_id"))
        flow_id = self._flow(query["interview_flow_id"])["interview_flow_id"] if "interview_flow_id" in query else None
        since = time_in(query["created_after"]) if "created_after" in query else datetime.min.replace(tzinfo=UTC)
        found = [one for one in self._interviews.values() if one.created_at > since]
        shown = [one.shown(query.get("transcript", "full")) for one in found]
        wanted = {"status": query.get("status"), "interview_flow_id": flow_id}
        chosen = {name: value for name, value in wanted.items() if value is not None}
        return {"interviews": _page([one for one in shown if chosen.items() <= one.items()], query, 20)}

    @_route("getInterview", "GET", "/v1/interviews/([^/]+)")
    def _get_interview(self, interview_id: str, query: dict[str, Any]) -> Any:
        return self._interview(interview_id).shown(query.get("transcript", "full"))

    @_route("deleteInterview", "DELETE", "/v1/interviews/([^/]+)")
    def _revoke(self, interview_id: str, body: dict[str, Any]) -> Any:
        interview = self._interview(interview_id)
        interview.is_closed = True
        if interview.data:
            interview.data.update(audio_url=None, video_url=None)
        self._changed("interview", interview_id)
        return {"success": True}

    @_route("cancelInterview", "POST", "/v1/interviews/([^/]+)/cancel")
    def _cancel(self, interview_id: str, body: dict[str, Any]) -> Any:
        interview = self._interview(interview_id)
        if interview.data:
            raise Refusal(409, "conflict", "This interview has begun.")
        interview.is_closed = True
        return {"success": True, "interview_id": interview_id}

    @_route("getInterviewLink", "GET", "/v1/interviews/([^/]+)/link")
    def _link(self, interview_id: str, query: dict[str, Any]) -> Any:
        interview = self._interview(interview_id)
        ends = _time_shown(interview.expires_at) if interview.link_state in {"open", "expired"} else None
        return {"interview_id": interview_id, "state": interview.link_state, "expires_at": ends}

    @_route("extendInterview", "POST", "/v1/interviews/([^/]+)/extend")
    def _extend(self, interview_id: str, body: dict[str, Any]) -> Any:
        interview = self._interview(interview_id)
        until, now = time_in(body["expires_at"]), datetime.now(UTC)
        if not now < until <= now + EXTENDED_AT_MOST:
            raise invalid("json", "expires_at", "Must be later than now, and at most 90 days from now.")
        if interview.data or interview.is_closed:
            raise Refusal(409, "conflict", f"The link is {interview.link_state}.")
        if until <= interview.expires_at:
            raise invalid("json", "expires_at", "The link already works until then. Send a later time.")
        interview.expires_at = until
        return {"interview_id": interview_id, "interview_link": interview.link, "expires_at": _time_shown(until)}

    @_route("getInterviewMetadata", "GET", "/v1/interviews/([^/]+)/metadata")
    def _metadata(self, interview_id: str, query: dict[str, Any]) -> Any:
        return {"metadata": self._interview(interview_id).metadata}

    @_route("setInterviewMetadata", "PUT", "/v1/interviews/([^/]+)/metadata")
    def _set_metadata(self, interview_id: str, body: dict[str, Any]) -> Any:
        interview = self._interview(interview_id)
        check_metadata(body["metadata"])
        interview.metadata = body["metadata"]
        self._changed("interview_metadata", interview_id)
        return {"metadata": interview.metadata}

    @_route("lookupInterviews", "GET", "/v1/lookup")
    def _lookup(self, query: dict[str, Any]) -> Any:
        wanted = query["external_id"]
        found = [one for one in self._interviews.values() if one.metadata.get("external_id") == wanted]
        references = [{**_ids(one), "external_id": wanted} for one in reversed(found)]
        return {"interviews": references[:100]}

    @_route("listCandidates", "GET", "/v1/candidates")
    def _list_candidates(self, query: dict[str, Any]) -> Any:
        if "interview_flow_id" in query:
            self._flow(query["interview_flow_id"])
        self._check_team(query.get("team_id"))
        names = {"interview_flow_id": "interview_flow_id", "status": "status", "email": "interviewee_email_address"}
        wanted = {field: query[name] for name, field in names.items() if name in query}
        found = [one for one in self._candidates.values() if wanted.items() <= one.items()]
        shown, end = _from_cursor(found[::-1], query)
        return {"candidates": shown, "next": str(end) if end < len(found) else None}

    @_route("getCandidate", "GET", "/v1/candidates/([^/]+)")
    def _get_candidate(self, candidate_id: str, query: dict[str, Any]) -> Any:
        if candidate_id not in self._candidates:
            raise Refusal(422, "not_found", "No candidate has this id.")
        return self._candidates[candidate_id]

    @_route("moveCandidate", "POST", "/v1/candidates/([^/]+)/move")
    def _move(self, candidate_id: str, body: dict[str, Any]) -> Any:
        candidate = self._get_candidate(candidate_id, {})
        status, decider, reason = body["status"], body.get("decided_by"), body.get("reason_code")
        if decider not in {None, self.member["id"]}:
            raise Refusal(422, "not_found", "There is no such member.")
        decides = MEANINGS.get(status) in DECIDING
        missing = {name: ["Missing."] for name in ("decided_by", "reason_code") if decides and not body.get(name)}
        if missing:
            words = "This status needs decided_by and reason_code."
            raise Refusal(422, "decision_incomplete", words, {"json": missing})
        if status not in MEANINGS:
            raise invalid("json", "status", f"Your pipeline has no status {status!r}.")
        if body.get("previous_status") not in {None, candidate["status"]}:
            raise Refusal(409, "conflict", f"The candidate's status is {candidate['status']}.")
        if reason and not decides:
            raise invalid("json", "reason_code", "This status is no decision and takes no reason.")
        self._set_status(candidate, status)
        return candidate

    @_route("listStatuses", "GET", "/v1/statuses")
    def _list_statuses(self, query: dict[str, Any]) -> Any:
        shown = []
        for place, (name, meaning) in enumerate(MEANINGS.items()):
            reasons = [{"code": "other", "label": "Other"}] if meaning in DECIDING else []
            own = {"status_id": name, "name": name, "meaning": meaning, "position": place}
            shown.append({**own, "reason_codes": reasons})
        return {"statuses": shown}

    @_route("listChanges", "GET", "/v1/changes")
    def _list_changes(self, query: dict[str, Any]) -> Any:
        shown, end = _from_cursor(self._changes, query)
        return {"changes": shown, "next": str(end), "has_more": end < len(self._changes)}

    def _changed(self, kind: str, object_id: str) -> None:
        readers: dict[str, Callable[[], Any]] = {
            "interview_flow": lambda: self._flows[object_id],
            "interview": lambda: self._interviews[object_id].shown("none"),
            "interview_metadata": lambda: {"metadata": self._interviews[object_id].metadata},
            "candidate": lambda: self._candidates[object_id],
        }
        told = json.loads(json.dumps(readers[kind]()))
        where = {"id": str(len(self._changes) + 1), "kind": kind, "object_id": object_id, "at": _now()}
        self._changes.append({**where, "change": "upserted", "object": told})

    def _set_status(self, candidate: dict[str, Any], status: str) -> None:
        before, candidate["status"] = candidate["status"], status
        self._changed("candidate", candidate["candidate_id"])
        flow = self._flows[candidate["interview_flow_id"]]
        self._announce(
            flow,
            {
                "event_type": "candidate_status_updated",
                "interview_flow_id": flow["interview_flow_id"],
                "interview_flow_name": flow["title"],
                "interviewee_email": candidate["interviewee_email_address"],
                "previous_status": before,
                "new_status": status,
            },
        )

    def _send(self, event_type: str, interview: Interview) -> None:
        payload = {
            "event_type": event_type,
            **_ids(interview),
            "interview_link": f"{URL}/interviews/{interview.id}",
            "interview_flow_name": interview.flow["title"],
            **interview.names,
            "status": "completed",
        }
        external = interview.metadata.get("external_id")
        self._announce(interview.flow, payload, {"X-Parley-External-Id": external} if external else {})

    def _announce(self, flow: dict[str, Any], payload: dict[str, Any], more: dict[str, str] | None = None) -> None:
        if not flow["webhook_url"]:
            return
        body, secret = json.dumps(payload).encode(), flow["webhook_secret_key"]
        headers = sign(body, secret or "-")
        if not secret:
            headers = {name: value for name, value in headers.items() if not name.endswith("signature")}
        self.events.append(SentEvent(flow["webhook_url"], body, {**headers, **(more or {})}))


def _found(method: str, path: str) -> tuple[str, tuple[str, ...]]:
    for operation, (of_method, pattern, _route) in ROUTES.items():
        match = re.fullmatch(pattern, path)
        if match and of_method == method:
            return operation, match.groups()
    raise Refusal(404, "no_such_url", f"FakeParley does not have {method} {path}.")


def _time_shown(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _now() -> str:
    return _time_shown(datetime.now(UTC))


def _ids(interview: Interview) -> dict[str, str]:
    return {"interview_flow_id": interview.flow["interview_flow_id"], "interview_id": interview.id}


def _page(everything: list[Any], query: dict[str, str], default: int) -> list[Any]:
    begin, limit = int(query.get("offset", 0)), int(query.get("limit", default))
    return everything[::-1][begin : begin + limit]


def _from_cursor(everything: list[Any], query: dict[str, str]) -> tuple[list[Any], int]:
    """A page, and where the next one begins."""
    if not re.fullmatch("[0-9]{1,9}", query.get("after", "0")):
        raise invalid("query", "after", "This cursor cannot be read.", error="cursor_invalid")
    begin = int(query.get("after", 0))
    shown = everything[begin : begin + int(query.get("limit", 100))]
    return shown, begin + len(shown)


def _refused(code: int, message: str, errors: dict[str, Any] | None = None) -> dict[str, Any]:
    told = {"code": code, "status": _PHRASES.get(code, httpx2.codes.get_reason_phrase(code)), "message": message}
    return {**told, "errors": errors} if errors else told
