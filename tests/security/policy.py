"""Who may do what at every address. A route that is not named here fails the build: the default is to deny.

``places`` says where an id is taken, as ``(where, name, kind)``: ``path``, ``query``, ``body`` (JSON) or ``form``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from app.core import clock

from .world import Side

Place = tuple[str, str, str]
EVERYONE = frozenset({"admin", "recruiter", "viewer"})
RECRUITERS = frozenset({"admin", "recruiter"})
ADMINS = frozenset({"admin"})


@dataclass(frozen=True)
class Rule:
    """How a route is guarded. ``own`` is what those who may get; ``given`` a whole, valid form or body of ``side``."""

    realm: str
    """``open``, ``key`` (/v1), ``member`` (pages), ``holder`` (the candidate's browser), ``own`` (the same
    afterwards), ``door`` (how to get there), ``link`` or ``signed``."""
    places: tuple[Place, ...] = ()
    roles: frozenset[str] = EVERYONE
    own: frozenset[int] = frozenset({200})
    given: Callable[[Side], dict[str, Any]] | None = None
    as_json: bool = False
    shows: str = ""
    """Whether the answer to those who may shows the ``team`` or ``organization`` mark: proof that there is something
    to leak."""
    archived: frozenset[int] | None = None
    """Answers for an archived flow; None when the route takes no flow."""
    filters: frozenset[str] = frozenset()
    """Query names that only narrow a list: an id of someone else finds nothing."""
    extra: dict[str, Any] = field(default_factory=dict)


def path(*names: str, **kinds: str) -> tuple[Place, ...]:
    return tuple(("path", name, name.removesuffix("_id").removeprefix("interview_")) for name in names) + tuple(
        ("path", name, kind) for name, kind in kinds.items()
    )


def _flow_form(side: Side) -> dict[str, Any]:
    return {
        "title": "New",
        "org_name": "New",
        "team_id": side.ids["team"],
        "interview_type": "recruitment",
        "questions-0": "Why?",
        "language": "en-US",
        "voice_id": "vendora-Kate",
        "follow_up_limit": "1",
        "assess_language": "",
    }


def _flow_body(side: Side) -> dict[str, Any]:
    return {"org_name": "New", "title": "New", "questions": ["Why?"], "team_id": side.ids["team"]}


def _booking(side: Side) -> dict[str, Any]:
    return {
        "interview_flow_id": side.ids["flow"],
        "interviewee_email_address": "new@candidate.example",
        "assigned_recruiter_id": side.ids["recruiter"],
    }


def _list(side: Side) -> dict[str, Any]:
    return {
        "flow": side.ids["flow"],
        "recruiter": side.ids["recruiter"],
        "rows": "new@candidate.example",
        "batch": "3b241101-e2bb-4255-8caf-4136c566a962",
    }


def _member(side: Side) -> dict[str, Any]:
    return {
        "email": "further@example.com",
        "full_name": "Further",
        "role": "viewer",
        "team": side.ids["team"],
        "password": "a long enough sentence",
    }


OK, MOVED, DONE = frozenset({200}), frozenset({302, 303}), frozenset({303})
FLOW = path("flow_id")
INTERVIEW = path("interview_id")
DELIVERY = path("delivery_id")
ENDPOINT = path("endpoint_id")
V1_FLOW = path("interview_flow_id", interview_flow_id="flow")[1:]
OWN_ENDPOINT = path(endpoint_id="own_endpoint")
V1_ENDPOINT = path(webhook_endpoint_id="endpoint")
V1_OWN_ENDPOINT = path(webhook_endpoint_id="own_endpoint")
V1_DELIVERY = path(webhook_delivery_id="delivery")
MEMBER = path(member_id="recruiter")
OWN = path(flow_id="flow", interview_id="interview")
LINK = path(flow_id="flow", interview_id="sat")
BOOKED = (("interview_flow_id", "flow"), ("assigned_recruiter_id", "recruiter"))
LEFT = frozenset({200, 303})
NO_LINK = frozenset({404})


def _previews() -> dict[str, Rule]:
    """Preview as candidate: a member's own try of a flow, in memory; 409 for one that was not begun."""
    changes: dict[str, dict[str, Any]] = {
        "start": {"mode": "text"},
        "pause": {"paused": True},
        "more_time": {"extension": 1},
        "judge_silence": {},
        "open_segment": {"mime_type": "audio/webm"},
        "post_turn": {"kind": "begin"},
        "finish": {},
        "begin_upload": {},
    }
    others = ("fresh", "show", "check", "check_upload", "state", "heartbeat", "reply_audio", "put_chunk", "put_part")
    own = {
        "start": 200,
        "fresh": 200,
        "show": 200,
        "check": 200,
        "check_upload": 200,
        "decline": 200,
        "different": 422,
        "feedback": 303,
        "add_document": 422,
    }
    numbered = {
        "post_turn": {"number": 1},
        "judge_silence": {"number": 1},
        "reply_audio": {"number": 1},
        "put_chunk": {"segment": 1, "number": 0},
        "put_part": {"name": "x", "number": 0},
        "finish_upload": {"name": "x"},
        "drop_file": {"name": "x"},
    }
    rules = {}
    for name in (*changes, *others, "finish_upload", "drop_file", "decline", "different", "feedback", "add_document"):
        parts: dict[str, Any] = {} if name == "fresh" else {"preview_id": name, **numbered.get(name, {})}
        given = (lambda _, body=changes[name]: body) if name in changes else None
        rules[f"preview.{name}"] = Rule(
            "member",
            FLOW,
            own=frozenset({own.get(name, 409)}),
            archived=frozenset({422}),
            as_json=name in changes,
            given=given,
            extra=parts,
        )
    return rules


POLICY: dict[str, Rule] = {
    # Open to everyone: they take no id, and tell nothing about anyone.
    "site.front": Rule("open", own=MOVED),
    "site.healthz": Rule("open"),
    "site.readyz": Rule("open", own=frozenset({200, 503})),
    "metrics.show": Rule("open"),  # guarded by a token or by this machine itself; tests/metrics
    "site.csp_reports": Rule("open", own=frozenset({204})),
    "static": Rule("open"),
    "api_docs.page": Rule("open"),
    "api_docs.file": Rule("open"),
    "api_docs.changes": Rule("open"),
    "api-docs.openapi_json": Rule("open"),
    "accounts.sign_in": Rule("open"),
    "accounts.sign_in_code": Rule("open", own=MOVED),
    "accounts.forgotten": Rule("open"),
    "accounts.confirm_address": Rule("open", own=frozenset({410})),
    "accounts.choose_password": Rule("open", own=frozenset({410})),
    "accounts.set_up": Rule("open", own=frozenset({404, 410})),
    # /v1: a key, and everything of its organization.
    "Teams.ping": Rule("key"),
    "Teams.teams": Rule("key"),
    "Teams.team_members": Rule("key", (("query", "team_id", "team"),), shows="organization"),
    "Interview flows.list_interview_flows": Rule("key", (("query", "team_id", "team"),), shows="team"),
    "Interview flows.create_interview_flow": Rule(
        "key", (("body", "team_id", "team"),), given=_flow_body, as_json=True
    ),
    "Interview flows.get_interview_flow": Rule("key", V1_FLOW, shows="team", archived=OK),
    "Interview flows.delete_interview_flow": Rule("key", V1_FLOW, archived=OK),
    "Interviews.list_interviews": Rule(
        "key", (("query", "team_id", "team"), ("query", "interview_flow_id", "flow")), shows="team", archived=OK
    ),
    "Interviews.create_interview": Rule(
        "key", tuple(("body", *place) for place in BOOKED), given=_booking, as_json=True, archived=frozenset({422})
    ),
    "Interviews.get_interview": Rule("key", INTERVIEW, shows="team"),
    "Interviews.delete_interview": Rule("key", INTERVIEW),
    "Interviews.cancel_interview": Rule("key", path(interview_id="booked")),
    "Interviews.extend_interview": Rule(
        "key",
        path(interview_id="booked"),
        given=lambda _: {"expires_at": clock.rfc3339(clock.now() + timedelta(days=80))},
        as_json=True,
    ),
    "Interviews.get_interview_link": Rule("key", path(interview_id="booked")),
    "Interviews.list_score_versions": Rule("key", INTERVIEW),
    "Interviews.get_interview_metadata": Rule("key", INTERVIEW, shows="team"),
    "Interviews.set_interview_metadata": Rule(
        "key", INTERVIEW, given=lambda _: {"metadata": {"external_id": "new"}}, as_json=True
    ),
    "Interviews.lookup_interviews": Rule("key", extra={"external_id": "4711"}),
    "Interview flows.update_interview_flow": Rule(
        "key", V1_FLOW, given=lambda _: {"title": "New"}, as_json=True, shows="team", archived=frozenset({409})
    ),
    "Interview flows.close_interview_flow": Rule("key", V1_FLOW, archived=frozenset({409})),
    "Interview flows.reopen_interview_flow": Rule("key", V1_FLOW, archived=frozenset({409})),
    "Candidates.list_candidates": Rule(
        "key",
        (("query", "interview_flow_id", "flow"), ("query", "team_id", "team")),
        shows="team",
        archived=OK,
    ),
    "Candidates.get_candidate": Rule("key", path("candidate_id"), shows="team"),
    "Candidates.move_candidate": Rule(
        "key",
        (*path("candidate_id"), ("body", "decided_by", "decider")),
        given=lambda _: {"status": "rejected", "reason_code": "skills"},
        as_json=True,
        shows="team",
    ),
    "Candidates.list_statuses": Rule("key", shows="organization"),
    "Webhooks.list_webhook_endpoints": Rule("key", shows="organization"),
    "Webhooks.create_webhook_endpoint": Rule("key", given=lambda _: {"url": "https://new.example/hook"}, as_json=True),
    "Webhooks.get_webhook_endpoint": Rule("key", V1_ENDPOINT),
    "Webhooks.delete_webhook_endpoint": Rule("key", V1_OWN_ENDPOINT),
    "Webhooks.enable_webhook_endpoint": Rule("key", V1_ENDPOINT, own=frozenset({409})),
    "Webhooks.rotate_webhook_endpoint_secret": Rule("key", V1_OWN_ENDPOINT, given=lambda _: {}, as_json=True),
    "Webhooks.switch_webhook_endpoint_secret": Rule("key", V1_OWN_ENDPOINT, own=frozenset({409})),
    "Webhooks.rotate_webhook_secret": Rule("key", V1_FLOW, given=lambda _: {}, as_json=True, archived=OK),
    "Webhooks.switch_webhook_secret": Rule("key", V1_FLOW, own=frozenset({409}), archived=frozenset({409})),
    "Webhooks.list_webhook_deliveries": Rule(
        "key",
        (("query", "interview_flow_id", "flow"), ("query", "webhook_endpoint_id", "endpoint")),
        archived=OK,
    ),
    "Webhooks.get_webhook_delivery": Rule("key", V1_DELIVERY, shows="team"),
    "Webhooks.resend_webhook_delivery": Rule("key", V1_DELIVERY),
    "Webhooks.resend_webhook_deliveries": Rule(
        "key",
        (("body", "interview_flow_id", "flow"), ("body", "webhook_endpoint_id", "endpoint")),
        given=lambda _: {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"},
        as_json=True,
        archived=OK,
    ),
    # On PostgreSQL the feed shows what was committed: nothing of a test that rolls back.
    "Changes.list_changes": Rule("key"),
    # Pages of the platform.
    "accounts.audit": Rule("member", roles=ADMINS, shows="organization"),
    "accounts.check_audit": Rule("member", roles=ADMINS, own=DONE, given=lambda _: {}),
    "accounts.export_audit": Rule("member", roles=ADMINS, given=lambda _: {}, shows="organization"),
    "accounts.api_keys": Rule("member", roles=ADMINS, shows="organization"),
    "accounts.create_api_key": Rule("member", roles=ADMINS, own=MOVED, given=lambda _: {"name": "New"}),
    "accounts.rotate_api_key": Rule("member", path("key_id"), ADMINS, MOVED, given=lambda _: {"ends": "7d"}),
    "accounts.revoke_api_key": Rule("member", path("key_id"), ADMINS, MOVED),
    "accounts.organization": Rule("member", roles=ADMINS),
    "accounts.profile": Rule("member"),
    "accounts.sessions": Rule("member"),
    "accounts.end_session": Rule("member", path("login_id"), frozenset({"recruiter"}), MOVED),
    "accounts.password": Rule("member"),
    "accounts.address": Rule("member"),
    "accounts.second_factor": Rule("member"),
    "accounts.begin_second_factor": Rule("member", own=DONE),
    "accounts.confirm_second_factor": Rule("member", own=frozenset({422}), given=lambda _: {"code": "000000"}),
    "accounts.renew_recovery_codes": Rule("member", own=frozenset({422}), given=lambda _: {"code": "000000"}),
    "accounts.turn_off_second_factor": Rule("member", own=frozenset({422}), given=lambda _: {"code": "000000"}),
    "accounts.drop_second_factor": Rule("member", MEMBER, ADMINS, MOVED),
    "accounts.sign_out": Rule("member", own=MOVED),
    "accounts.team": Rule("member", shows="organization"),
    "accounts.add_member": Rule("member", (("form", "team", "team"),), ADMINS, MOVED, _member),
    "accounts.member": Rule("member", MEMBER, ADMINS, shows="organization"),
    "accounts.change_member": Rule(
        "member",
        (*MEMBER, ("form", "teams", "team")),
        ADMINS,
        MOVED,
        lambda side: {"role": "viewer", "teams": side.ids["team"]},
    ),
    "accounts.reset_password": Rule(
        "member", MEMBER, ADMINS, MOVED, lambda _: {"password": "an entirely new sentence"}
    ),
    "accounts.member_link": Rule("member", MEMBER, ADMINS, MOVED),
    "accounts.address_of_member": Rule("member", MEMBER, ADMINS, MOVED, lambda _: {"email": "new@member.example"}),
    "accounts.disable_member": Rule("member", MEMBER, ADMINS, MOVED),
    "accounts.enable_member": Rule("member", MEMBER, ADMINS, MOVED),
    "accounts.rename_team": Rule("member", path("team_id"), ADMINS, DONE, lambda _: {"name": "Renamed"}),
    "accounts.delete_team": Rule("member", path("team_id"), ADMINS, DONE),
    "accounts.add_team": Rule("member", roles=ADMINS, own=MOVED, given=lambda _: {"name": "New"}),
    "candidates.index": Rule(
        "member", (("query", "flow", "flow"),), shows="team", filters=frozenset({"flow"}), archived=OK
    ),
    "candidates.show": Rule("member", path("candidate_id"), shows="team"),
    "candidates.move": Rule(
        "member", path("candidate_id"), RECRUITERS, DONE, lambda _: {"status": "rejected", "note": ""}
    ),
    "candidates.edit": Rule("member", path("candidate_id"), RECRUITERS, DONE, lambda _: {"first_name": "New"}),
    "candidates.take_back": Rule(
        "member", path("candidate_id"), RECRUITERS, frozenset({409}), lambda _: {"status": "rejected"}
    ),
    "candidates.show_scores_in_lists": Rule("member", own=DONE),
    "candidates.export": Rule("member", roles=RECRUITERS, own=OK, given=lambda _: {}),
    "candidates.change_many": Rule(
        "member",
        (("form", "id", "candidate"),),
        RECRUITERS,
        OK,
        lambda side: {"id": side.ids["candidate"], "kind": "tag", "tag": "new"},
        filters=frozenset({"id"}),
    ),
    "candidates.save_view": Rule("member", own=DONE, given=lambda _: {"name": "New"}),
    "candidates.delete_view": Rule("member", path("view_id"), ADMINS, MOVED),
    "candidates.board": Rule(
        "member", (("query", "flow", "flow"),), shows="team", filters=frozenset({"flow"}), archived=OK
    ),
    "candidates.board_counts": Rule("member", (("query", "flow", "flow"),), filters=frozenset({"flow"}), archived=OK),
    "candidates.statuses": Rule("member", roles=ADMINS, shows="organization"),
    "candidates.add_status": Rule("member", roles=ADMINS, own=DONE, given=lambda _: {"name": "Second talk"}),
    "candidates.rename_status": Rule("member", path("column_id"), ADMINS, DONE, lambda _: {"name": "Renamed"}),
    "candidates.mean_status": Rule("member", path("column_id"), ADMINS, DONE, lambda _: {"meaning": "open"}),
    "candidates.export_decisions": Rule("member", roles=ADMINS),
    "candidates.reasons": Rule("member", roles=ADMINS, shows="organization"),
    "candidates.add_reason": Rule(
        "member", roles=ADMINS, own=DONE, given=lambda _: {"meaning": "accepted", "label": "New reason"}
    ),
    "candidates.require_reasons": Rule("member", roles=ADMINS, own=DONE, given=lambda _: {"required": "yes"}),
    "candidates.rename_reason": Rule("member", path("code"), ADMINS, DONE, lambda _: {"label": "Renamed"}),
    "candidates.shift_reason": Rule("member", path("code"), ADMINS, DONE, lambda _: {"to": "up"}),
    "candidates.remove_reason": Rule("member", path("code"), ADMINS, DONE),
    "candidates.shift_status": Rule("member", path("column_id"), ADMINS, DONE, lambda _: {"to": "left"}),
    "candidates.remove_status": Rule("member", path("column_id"), ADMINS, DONE, lambda _: {"into": "invited"}),
    "outreach.invite": Rule(
        "member", (("query", "flow", "flow"),), RECRUITERS, shows="team", filters=frozenset({"flow"}), archived=OK
    ),
    "outreach.check": Rule(
        "member",
        (("form", "flow", "flow"), ("form", "recruiter", "recruiter")),
        RECRUITERS,
        OK,
        _list,
        archived=frozenset({422}),
    ),
    "outreach.send": Rule(
        "member",
        (("form", "flow", "flow"), ("form", "recruiter", "recruiter")),
        RECRUITERS,
        OK,
        _list,
        archived=frozenset({422}),
    ),
    "outreach.remind_many": Rule(
        "member",
        (("form", "id", "candidate"),),
        RECRUITERS,
        frozenset({422}),
        lambda side: {"id": side.ids["candidate"]},
        filters=frozenset({"id"}),
    ),
    "cvs.ask": Rule(
        "member", (("query", "flow", "flow"),), RECRUITERS, shows="team", archived=OK, filters=frozenset({"flow"})
    ),
    "cvs.upload": Rule(
        "member",
        (("form", "flow", "flow"), ("form", "recruiter", "recruiter")),
        RECRUITERS,
        frozenset({422}),
        lambda side: {"flow": side.ids["flow"], "recruiter": side.ids["recruiter"]},
        archived=frozenset({422}),
    ),
    "cvs.show": Rule("member", path(upload_id="cv_upload"), RECRUITERS, shows="team"),
    "cvs.confirm": Rule("member", path(upload_id="cv_upload"), RECRUITERS, DONE),
    # Known by its random batch alone; without one of this flow there is nothing to download.
    "outreach.links_sheet": Rule(
        "member",
        FLOW,
        RECRUITERS,
        frozenset({404}),
        extra={"batch": "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"},
        archived=frozenset({404}),
    ),
    "outreach.person": Rule("member", path("candidate_id"), RECRUITERS, shows="team"),
    "outreach.extend": Rule("member", path("candidate_id"), RECRUITERS, DONE, lambda _: {"days": "7"}),
    "outreach.invite_again": Rule("member", path("candidate_id"), RECRUITERS, DONE),
    "outreach.preview": Rule("member", INTERVIEW, RECRUITERS, shows="team"),
    "outreach.write": Rule("member", INTERVIEW, RECRUITERS, DONE, lambda _: {"step": "invitation"}),
    "outreach.log": Rule("member", shows="team"),
    "outreach.plan": Rule("member", roles=ADMINS),
    "outreach.words": Rule(
        "member", roles=ADMINS, shows="organization", extra={"step": "reminder", "language": "en-US"}
    ),
    "outreach.keep_words": Rule(
        "member",
        roles=ADMINS,
        own=DONE,
        given=lambda _: {"subject": "New", "text": "{link}"},
        extra={"step": "reminder", "language": "en-US"},
    ),
    "notices.preference": Rule("member"),
    "notices.index": Rule("member", (("query", "flow", "flow"),), RECRUITERS, shows="team", archived=OK),
    "notices.add": Rule("member", (("query", "flow", "flow"),), RECRUITERS, archived=OK),
    "notices.show": Rule("member", path("channel_id"), RECRUITERS, shows="team"),
    "notices.test": Rule("member", path("channel_id"), RECRUITERS, DONE),
    "notices.switch": Rule("member", path("channel_id"), RECRUITERS, DONE, lambda _: {"on": "no"}),
    "notices.remove": Rule("member", path("channel_id"), RECRUITERS, DONE),
    "messages.compose": Rule(
        "member", (("query", "id", "candidate"),), RECRUITERS, shows="team", filters=frozenset({"id"})
    ),
    # Without a mail server nothing can be sent, and none of the ids of others is among the recipients.
    "messages.send": Rule(
        "member",
        (("form", "id", "candidate"),),
        RECRUITERS,
        frozenset({422}),
        lambda side: {
            "id": side.ids["candidate"],
            "batch": "3b241101-e2bb-4255-8caf-4136c566a962",
            "subject": "New",
            "text": "New",
        },
        filters=frozenset({"id"}),
    ),
    "messages.sent": Rule("member", path("batch"), RECRUITERS, shows="team"),
    "messages.cancel_batch": Rule("member", path("batch"), RECRUITERS, DONE),
    "messages.cancel": Rule("member", path("message_id"), RECRUITERS, DONE),
    "messages.templates": Rule("member", roles=ADMINS, shows="organization"),
    "messages.add_template": Rule("member", roles=ADMINS, own=OK),
    "messages.template": Rule("member", path("template_id"), ADMINS, OK, shows="organization"),
    "messages.delete_template": Rule("member", path("template_id"), ADMINS, DONE),
    "live.messages": Rule("member", path("batch"), RECRUITERS),
    "flows.index": Rule("member", shows="team"),
    "flows.new": Rule("member", roles=RECRUITERS),
    "flows.templates": Rule("member", roles=RECRUITERS, shows="team"),
    "library.bank": Rule("member", roles=RECRUITERS, shows="team"),
    "library.find": Rule("member", roles=RECRUITERS, shows="team"),
    "library.new": Rule("member", roles=RECRUITERS),
    "library.add": Rule(
        "member",
        (("form", "team_id", "team"),),
        RECRUITERS,
        DONE,
        lambda side: {"text": "New?", "language": "en-US", "team_id": side.ids["team"]},
    ),
    "library.edit": Rule("member", path(question_id="bank_question"), RECRUITERS, shows="team"),
    "library.save": Rule(
        "member", path(question_id="bank_question"), RECRUITERS, DONE, lambda _: {"text": "New?", "language": "en-US"}
    ),
    "library.delete": Rule("member", path(question_id="bank_question"), RECRUITERS, DONE),
    "library.choose": Rule("member", FLOW, RECRUITERS, shows="team", archived=OK),
    "library.collect": Rule("member", FLOW, RECRUITERS, DONE, lambda _: {"question": "0"}, archived=DONE),
    "library.save_template": Rule("member", FLOW, RECRUITERS, DONE, lambda _: {"name": "New"}, archived=DONE),
    "library.rename_template": Rule(
        "member", path(template_id="flow_template"), RECRUITERS, DONE, lambda _: {"name": "New"}
    ),
    "library.delete_template": Rule("member", path(template_id="flow_template"), RECRUITERS, DONE),
    "adverts.ask": Rule("member", roles=RECRUITERS),
    "adverts.draft": Rule("member", roles=RECRUITERS, own=frozenset({422})),
    "flows.appearance": Rule(
        "member",
        (("query", "flow", "flow"),),
        RECRUITERS,
        OK,
        lambda _: {"title": "New", "questions-0": "Why?"},
        archived=OK,
    ),
    "flows.create_from_template": Rule(
        "member", (("form", "team_id", "team"),), RECRUITERS, DONE, lambda _: {"template": "team-leader"}
    ),
    "flows.create": Rule("member", (("form", "team_id", "team"),), RECRUITERS, DONE, _flow_form),
    "flows.show": Rule("member", FLOW, shows="team", archived=OK),
    "flows.edit": Rule("member", FLOW, RECRUITERS, shows="team", archived=frozenset({422})),
    "flows.save": Rule("member", FLOW, RECRUITERS, DONE, _flow_form, archived=frozenset({422})),
    "flows.duplicate": Rule("member", FLOW, RECRUITERS, DONE, archived=DONE),
    "flows.close": Rule("member", FLOW, RECRUITERS, DONE, archived=DONE),
    "flows.reopen": Rule("member", FLOW, RECRUITERS, DONE, archived=DONE),
    "flows.archive": Rule("member", FLOW, RECRUITERS, DONE, archived=DONE),
    "flow_access.show": Rule("member", FLOW, RECRUITERS, shows="team", archived=OK),
    "flow_access.give": Rule(
        "member",
        (*FLOW, ("form", "member", "recruiter")),
        RECRUITERS,
        DONE,
        lambda side: {"member": side.ids["recruiter"], "right": "view"},
        archived=DONE,
    ),
    "flow_access.take": Rule("member", (*FLOW, *MEMBER), RECRUITERS, DONE, archived=DONE),
    "flow_access.narrow": Rule("member", FLOW, RECRUITERS, DONE, lambda _: {"narrowed": "yes"}, archived=DONE),
    "flow_access.index": Rule("member"),
    # Whatever is asked for, the answer is the same: tests/flow_access holds it against what is there and what is not.
    "flow_access.ask": Rule("member", own=DONE, given=lambda side: {"kind": "flow", "id": side.ids["flow"]}),
    "flow_access.answer": Rule(
        "member", path(request_id="access_request"), RECRUITERS, DONE, lambda _: {"decision": "view", "note": ""}
    ),
    "apply_links.turn_on": Rule("member", FLOW, RECRUITERS, DONE, lambda _: {}, archived=DONE),
    "apply_links.turn_off": Rule("member", FLOW, RECRUITERS, DONE, lambda _: {}, archived=NO_LINK),
    "apply_links.renew": Rule("member", FLOW, RECRUITERS, DONE, lambda _: {}, archived=NO_LINK),
    "apply_links.limit": Rule("member", FLOW, RECRUITERS, DONE, lambda _: {"most": "5"}, archived=NO_LINK),
    "flows.prepare_speech": Rule("member", FLOW, RECRUITERS, DONE, archived=DONE),
    "flows.voice_sample": Rule("member", roles=RECRUITERS, extra={"voice_id": "vendora-Kate"}),
    **_previews(),
    "dashboard.hide_first_steps": Rule("member", roles=RECRUITERS, own=DONE, given=lambda _: {}),
    "dashboard.turn_on_rate_first": Rule("member", roles=ADMINS, own=DONE, given=lambda _: {}),
    "palette.find": Rule("member", shows="team"),
    # Without a moment it refuses; tests/interviews/test_live.py asks with one, for one's own flows and others'.
    "live.results": Rule("member", own=frozenset({422})),
    "live.interview": Rule("member", INTERVIEW),
    "live.changes": Rule("member", path(change_id="bulk_change"), ADMINS),
    "live.cvs": Rule("member", path(upload_id="cv_upload"), RECRUITERS),
    "live.rescoring": Rule("member", path(run_id="rescoring"), RECRUITERS),
    "interviews.dashboard": Rule("member", shows="team"),
    "interviews.numbers": Rule("member", (("query", "flow", "flow"),), shows="team", archived=OK),
    "interviews.chart": Rule("member", (("query", "flow", "flow"),), archived=OK, extra={"chart": "flows"}),
    "interviews.usage": Rule("member", (("query", "flow", "flow"),), archived=OK),
    "interviews.index": Rule(
        "member", (("query", "flow", "flow"),), shows="team", filters=frozenset({"flow"}), archived=OK
    ),
    "interviews.new": Rule(
        "member", (("query", "flow", "flow"),), RECRUITERS, shows="team", filters=frozenset({"flow"}), archived=OK
    ),
    "interviews.book": Rule(
        "member", tuple(("form", *place) for place in BOOKED), RECRUITERS, DONE, _booking, archived=frozenset({422})
    ),
    "interviews.triage": Rule(
        "member",
        (("query", "flow", "flow"), ("query", "after", "candidate")),
        filters=frozenset({"flow", "after"}),
        archived=OK,
    ),
    "interviews.decide": Rule(
        "member", path("candidate_id"), RECRUITERS, DONE, lambda _: {"decision": "rejected", "note": ""}
    ),
    "interviews.take_back": Rule(
        "member", path("candidate_id"), RECRUITERS, DONE, lambda _: {"was": "shortlisted", "now": "shortlisted"}
    ),
    "interviews.choose_compared": Rule("member", own=DONE, given=lambda side: {"id": side.ids["candidate"]}),
    # One candidate cannot be compared; tests/interviews/test_compare.py asks for two.
    "interviews.compare": Rule("member", (("query", "id", "candidate"),), own=frozenset({422})),
    "interviews.show": Rule("member", INTERVIEW, shows="team"),
    "interviews.captions": Rule("member", INTERVIEW),
    "privacy.erase": Rule("member", INTERVIEW, ADMINS, DONE, lambda _: {"confirm": "erase"}),
    "privacy.retention_rule": Rule("member", roles=ADMINS, shows="organization"),
    "privacy.set_decision_months": Rule("member", roles=ADMINS, own=DONE, given=lambda _: {"decision_months": "24"}),
    "privacy.set_retention": Rule(
        "member", roles=ADMINS, own=DONE, given=lambda _: {"months": "24", "media_days": "180", "confirm": "erase"}
    ),
    "privacy.restore_candidate": Rule("member", path("candidate_id"), ADMINS, DONE),
    "privacy.restore_interview": Rule("member", INTERVIEW, ADMINS, DONE),
    "privacy.hold_candidate": Rule("member", path("candidate_id"), ADMINS, DONE, lambda _: {"reason": "New"}),
    "privacy.hold_interview": Rule("member", INTERVIEW, ADMINS, DONE, lambda _: {"reason": "New"}),
    "privacy.release_hold": Rule("member", path("hold_id"), ADMINS, DONE),
    "interviews.retry": Rule("member", INTERVIEW, RECRUITERS, DONE),
    "interviews.revoke": Rule("member", INTERVIEW, ADMINS, DONE, lambda _: {"confirm": "revoke"}),
    "interviews.document": Rule("member", path("interview_id", "document_id"), shows="team"),
    "interviews.document_text": Rule("member", path("interview_id", "document_id"), shows="team"),
    "interviews.read_document": Rule("member", path("interview_id", "document_id"), RECRUITERS, DONE),
    "dashboard.usage": Rule("member", roles=ADMINS, shows="organization"),
    "dashboard.usage_sheet": Rule("member", roles=ADMINS),
    "dashboard.set_quota": Rule("member", roles=ADMINS, own=DONE, given=lambda _: {"interviews": "100", "minutes": ""}),
    "dashboard.jobs": Rule("member", roles=ADMINS),
    "dashboard.retry": Rule("member", INTERVIEW, ADMINS, DONE),
    "dashboard.retry_all": Rule("member", roles=ADMINS, own=DONE, given=lambda _: {"kind": "interviews"}),
    "exports.report": Rule("member", INTERVIEW, RECRUITERS, shows="team"),
    "exports.export": Rule("member", INTERVIEW, RECRUITERS, given=lambda _: {"format": "json"}, shows="team"),
    "ratings.scorecard": Rule("member", INTERVIEW, RECRUITERS, shows="team"),
    "ratings.rate": Rule("member", INTERVIEW, RECRUITERS, DONE, lambda _: {"overall_value": "3.5"}),
    "ratings.rate_overall": Rule("member", INTERVIEW, RECRUITERS, DONE, lambda _: {"value": "3.0"}),
    "ratings.explain": Rule("member", INTERVIEW, RECRUITERS, DONE, lambda _: {"overall_reason": "New"}),
    "ratings.show_scores": Rule("member", INTERVIEW, own=DONE),
    "readable.show": Rule("member", roles=RECRUITERS, given=lambda _: {"title": "New", "questions-0": "Why?"}),
    "rescoring.check": Rule("member", (("query", "interview", "interview"),), RECRUITERS, shows="team"),
    "rescoring.check_selected": Rule(
        "member", (("form", "interview", "interview"),), RECRUITERS, given=lambda _: {}, shows="team"
    ),
    "rescoring.start": Rule(
        "member",
        (("form", "interview", "interview"),),
        RECRUITERS,
        DONE,
        lambda side: {"interview": side.ids["interview"]},
    ),
    # A change is the own one of the member who asked for it; that of the test is the administrator's.
    "bulk_changes.show": Rule("member", path(change_id="bulk_change"), ADMINS, shows="team"),
    "bulk_changes.undo": Rule("member", path(change_id="bulk_change"), ADMINS, DONE),
    "bulk_changes.cancel": Rule("member", path(change_id="bulk_change"), ADMINS, DONE),
    "bulk_changes.try_again": Rule("member", path(change_id="bulk_change"), ADMINS, DONE),
    "rescoring.index": Rule("member", roles=RECRUITERS, shows="team"),
    "rescoring.show": Rule("member", path(run_id="rescoring"), RECRUITERS, shows="team"),
    "rescoring.cancel": Rule("member", path(run_id="rescoring"), RECRUITERS, DONE),
    "rescoring.use_all": Rule("member", path(run_id="rescoring"), RECRUITERS, DONE),
    "rescoring.use": Rule("member", INTERVIEW, RECRUITERS, DONE, extra={"number": 1}),
    "notes.write": Rule("member", INTERVIEW, RECRUITERS, DONE, lambda _: {"text": "New"}),
    "notes.edit": Rule("member", path("interview_id", note_id="note"), frozenset({"recruiter"}), shows="team"),
    "notes.save": Rule(
        "member", path("interview_id", note_id="note"), frozenset({"recruiter"}), DONE, lambda _: {"text": "New"}
    ),
    "notes.delete": Rule("member", path("interview_id", note_id="note"), RECRUITERS, DONE),
    "notes.mentions": Rule("member"),
    "notes.read_all": Rule("member", own=DONE),
    "notes.follow": Rule("member", path(mention_id="mention"), ADMINS, DONE),
    "share_links.index": Rule("member", INTERVIEW, RECRUITERS, shows="team"),
    "share_links.make": Rule("member", INTERVIEW, RECRUITERS, DONE, lambda _: {"parts": "summary", "days": "7"}),
    "share_links.revoke": Rule("member", path("interview_id", share_id="share"), RECRUITERS, DONE),
    # The secret in the address is the permission; tests/share_links tries it.
    # A flow's own link; tests/apply_links tries it.
    "apply.show": Rule("open", own=frozenset({404})),
    "apply.come": Rule("open", own=frozenset({404}), given=lambda _: {"first_name": "New"}),
    "shared.page": Rule("open", own=frozenset({404})),
    "shared.recording": Rule("open", own=frozenset({404})),
    "shared.document": Rule("open", own=frozenset({404})),
    "candidate_requests.index": Rule("member", shows="team"),
    "candidate_requests.deadlines": Rule("member", roles=ADMINS),
    "candidate_requests.answer": Rule(
        "member", path(wish_id="wish"), RECRUITERS, DONE, lambda _: {"state": "granted", "answer": ""}
    ),
    "webhooks.index": Rule("member", (("query", "flow", "flow"),), shows="team", archived=OK),
    "webhooks.try_out": Rule(
        "member", (("query", "flow", "flow"),), RECRUITERS, shows="team", archived=frozenset({422})
    ),
    "webhooks.send_test": Rule(
        "member",
        (("form", "flow", "flow"),),
        RECRUITERS,
        OK,
        lambda side: {"flow": side.ids["flow"], "event": "interview_processed"},
        archived=frozenset({422}),
    ),
    "webhooks.show": Rule("member", DELIVERY, shows="team"),
    "webhooks.resend": Rule("member", DELIVERY, ADMINS, DONE),
    "webhooks.dismiss": Rule("member", DELIVERY, ADMINS, DONE),
    "webhooks.resend_range": Rule(
        "member",
        (("form", "flow", "flow"),),
        ADMINS,
        DONE,
        lambda side: {"flow": side.ids["flow"], "since": "2020-01-01T00:00"},
        archived=DONE,
    ),
    "webhooks.endpoint": Rule("member", ENDPOINT),
    "webhooks.add": Rule("member", roles=ADMINS),
    "webhooks.remove": Rule("member", OWN_ENDPOINT, ADMINS, DONE),
    "webhooks.rotate_endpoint_secret": Rule("member", OWN_ENDPOINT, ADMINS, DONE, lambda _: {"overlap_hours": "24"}),
    "webhooks.switch_endpoint_secret": Rule("member", OWN_ENDPOINT, ADMINS, DONE),
    "webhooks.secret": Rule("member", (("query", "flow", "flow"),), RECRUITERS, shows="team", archived=OK),
    "webhooks.rotate_secret": Rule(
        "member",
        (("form", "flow", "flow"),),
        RECRUITERS,
        DONE,
        lambda side: {"flow": side.ids["flow"], "overlap_hours": "24"},
        archived=DONE,
    ),
    "webhooks.switch_secret": Rule(
        "member",
        (("form", "flow", "flow"),),
        RECRUITERS,
        DONE,
        lambda side: {"flow": side.ids["flow"]},
        archived=DONE,
    ),
    "webhooks.again": Rule("member", (("query", "flow", "flow"),), ADMINS, shows="team", archived=OK),
    "webhooks.send_again": Rule(
        "member",
        (("form", "flow", "flow"),),
        ADMINS,
        DONE,
        lambda side: {"flow": side.ids["flow"], "as_of": "2020-01-01T00:00:00+00:00"},
        archived=DONE,
    ),
    "webhooks.enable": Rule("member", ENDPOINT, ADMINS, DONE),
    "webhooks.disable": Rule("member", ENDPOINT, ADMINS, DONE),
    # The candidate's link: two ids that fit open the page; only the browser that holds the interview gets further.
    "conversation.show": Rule("link", LINK),
    "conversation.feedback": Rule("link", LINK, own=LEFT, given=lambda _: {"rating": "5"}),
    "conversation.declined": Rule("link", LINK),
    "conversation.decline": Rule("link", LINK, own=LEFT, given=lambda _: {}),
    "conversation.different": Rule(
        "link", LINK, own=LEFT, given=lambda _: {"choice": "person", "text": "", "contact": ""}
    ),
    "conversation.check": Rule("link", LINK),
    "conversation.check_upload": Rule("link", LINK),
    "conversation.start": Rule("link", LINK, own=LEFT, given=lambda _: {"consent": "yes", "mode": "text"}),
    "accessibility.page": Rule("open"),
    "detector.detector": Rule("open", own=frozenset({404}), extra={"version": "of-another-file"}),
    "font.style": Rule("open", own=frozenset({404}), extra={"version": "of-another-file"}),
    "font.subset_file": Rule("open", own=frozenset({404}), extra={"version": "of-another-file"}),
    "protocol.state": Rule("holder", LINK, shows="team"),
    "protocol.heartbeat": Rule("holder", LINK, own=frozenset({204})),
    "protocol.pause": Rule("holder", LINK, given=lambda _: {"paused": True}, as_json=True, shows="team"),
    "protocol.more_time": Rule("holder", LINK, given=lambda _: {"extension": 1}, as_json=True, shows="team"),
    "protocol.open_segment": Rule(
        "holder", LINK, own=frozenset({201}), given=lambda _: {"mime_type": "audio/webm"}, as_json=True
    ),
    "protocol.put_chunk": Rule("holder", LINK, own=frozenset({422}), extra={"segment": 1, "number": 0}),
    "protocol.put_chunks": Rule("holder", LINK, own=frozenset({422}), extra={"segment": 1}),
    "protocol.post_turn": Rule(
        "holder", LINK, given=lambda _: {"kind": "begin"}, as_json=True, extra={"number": 1}, shows="team"
    ),
    "protocol.judge_silence": Rule(
        "holder",
        LINK,
        own=frozenset({409}),
        extra={"number": 1000},
        given=lambda _: {"segment": 1, "first_chunk": 0, "last_chunk": 0},
        as_json=True,
    ),
    "protocol.likely_reply": Rule("holder", LINK, extra={"number": 1}),
    "protocol.reply_audio": Rule("holder", LINK, own=frozenset({404}), extra={"number": 1}),
    "protocol.reply_piece": Rule("holder", LINK, own=frozenset({404}), extra={"number": 1, "piece": 1}),
    "protocol.add_document": Rule("holder", LINK, own=frozenset({422}), given=lambda _: {}),
    "protocol.remove_document": Rule("holder", (*LINK, ("path", "document_id", "sat_document")), own=frozenset({204})),
    "protocol.begin_upload": Rule("holder", LINK, own=frozenset({422}), given=lambda _: {}, as_json=True),
    "protocol.upload_state": Rule("holder", LINK, own=frozenset({404}), extra={"upload_id": "none"}),
    "protocol.put_part": Rule("holder", LINK, own=frozenset({422}), extra={"upload_id": "none", "number": 0}),
    "protocol.finish_upload": Rule("holder", LINK, own=frozenset({404}), extra={"upload_id": "none"}),
    "protocol.drop_upload": Rule("holder", LINK, own=frozenset({404}), extra={"upload_id": "none"}),
    "protocol.finish": Rule("holder", LINK, own=frozenset({409}), given=lambda _: {}, as_json=True),
    # The candidate's own page: the browser that took the interview, or one that gave a code.
    "own_page.show": Rule("own", OWN, shows="team"),
    "own_page.ask": Rule("own", OWN, own=DONE, given=lambda _: {"kind": "review"}),
    "own_page.flag": Rule(
        "own", OWN, own=DONE, given=lambda _: {"segment": "1", "word": "0", "suggestion": "something else"}
    ),
    "own_page.download": Rule("own", OWN, given=lambda _: {}, shows="team"),
    "own_page.captions": Rule("own", OWN),
    "own_page.ask_code": Rule("door", OWN, own=frozenset({403}), given=lambda _: {"address": "a@b.example"}),
    "own_page.enter": Rule("door", OWN, own=frozenset({422}), given=lambda _: {"code": "00000000"}),
    "flows.accent_styles": Rule("open", extra={"color": "0d655e"}),
    "flows.mail_accent_styles": Rule("open", extra={"color": "0d655e"}),
    "flows.branding": Rule("member", roles=ADMINS, shows="organization"),
    "flows.keep_branding": Rule("member", roles=ADMINS, own=DONE, given=lambda _: {"accent": "#0d655e"}),
    "flows.organization_logo": Rule("member", own=frozenset({404})),
    "flows.logo": Rule("link", FLOW, archived=frozenset({404})),
    "flows.intro_video": Rule("link", FLOW, archived=frozenset({404})),
    # Signed addresses.
    "recordings.recording": Rule("signed", path("recording_id", token="token"), shows="team"),
}
