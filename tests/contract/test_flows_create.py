"""POST /v1/interview-flows against the interface: fields, defaults, allowed values, maxima, status codes."""

from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.core.queue import SilentWaker
from app.flows import PREPARE_SPEECH
from app.flows.models import InterviewFlow
from app.gateways.outbound import Outbound
from app.settings import Settings
from tests.interviews.conftest import engines_of
from tests.people import Person

VOICES = [
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
    None,
]
LANGUAGES = [
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
    "th-TH",
    "ar-AE",
    "no-NO",
    None,
]
LEAST: dict[str, Any] = {"org_name": "First Ltd", "title": "Nurse", "questions": ["Why?"]}
PATH = "/v1/interview-flows"
OPTIONAL = (
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


def _created(owner: Person, **values: Any) -> dict[str, Any]:
    answer = owner.api("POST", PATH, json={**LEAST, **values})
    assert answer.status_code == 200, answer.json
    assert list(answer.json) == ["interview_flow_id"]
    return owner.api("GET", f"{PATH}/{answer.json['interview_flow_id']}").json


def _refusal(owner: Person, field: str, **values: Any) -> str:
    """The message of a 422 that names ``field``; nothing may have been saved."""
    answer = owner.api("POST", PATH, json={**LEAST, **values})
    assert answer.status_code == 422, answer.json
    assert (answer.json["code"], answer.json["status"]) == (422, "Unprocessable Entity")
    assert field in answer.json["message"]
    assert list(answer.json["errors"]["json"]) == [field]
    assert db.session.query(InterviewFlow).count() == 0
    return str(answer.json["message"])


def test_the_least_gives_every_default(owner: Person) -> None:
    flow = _created(owner)
    assert flow == {
        "interview_flow_id": flow["interview_flow_id"],
        "team_id": owner.team.id,
        "org_name": "First Ltd",
        "title": "Nurse",
        "status": "open",
        "questions": ["Why?"],
        "voice_id": "vendora-Kate",
        "language": "en-US",
        "company_logo_url": None,
        "additional_info": None,
        "additional_instructions": None,
        "interview_type": "general",
        "is_video_enabled": False,
        "is_doc_upload_enabled": False,
        "redirect_url": None,
        "webhook_url": None,
        "webhook_secret_key": None,
        "intro": None,
        "outro": None,
    }


def test_everything_given_comes_back_as_it_was(owner: Person) -> None:
    given = {
        "voice_id": "vendorb-Onyx",
        "language": "de-DE",
        "additional_info": "Wir sind 12.",
        "intro": " Hallo! ",
        "additional_instructions": "Per Sie.",
        "interview_type": "recruitment",
        "is_video_enabled": True,
        "is_doc_upload_enabled": True,
        "redirect_url": "https://example.com/danke?x=1#da",
        "outro": "",
        "webhook_url": "https://hooks.example.com/parley",
        "webhook_secret_key": "s" * 40 + "ü",
        "title": "Pflege 🙂",
        "questions": ["Warum?\nUnd seit wann?", "Warum?\nUnd seit wann?"],
        "org_name": "Erste GmbH",
    }
    flow = _created(owner, **given)
    assert {name: flow[name] for name in given} == given


@pytest.mark.parametrize("name", OPTIONAL)
def test_an_explicit_null_stays_null(owner: Person, name: str) -> None:
    assert _created(owner, **{name: None})[name] is None


def test_null_for_team_and_intro_video_means_absent(owner: Person) -> None:
    assert _created(owner, team_id=None, preamble_video_url=None)["team_id"] == owner.team.id


@pytest.mark.parametrize("voice", VOICES)
def test_every_voice_is_taken(owner: Person, voice: str | None) -> None:
    assert _created(owner, voice_id=voice)["voice_id"] == voice


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_taken(owner: Person, language: str | None) -> None:
    assert _created(owner, language=language)["language"] == language


@pytest.mark.parametrize("kind", ["recruitment", "general", None])
def test_every_type_is_taken(owner: Person, kind: str | None) -> None:
    assert _created(owner, interview_type=kind)["interview_type"] == kind


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("voice_id", "vendora-kate"),
        ("voice_id", ""),
        ("language", "en"),
        ("language", "EN-US"),
        ("interview_type", "Recruitment"),
        ("voice_id", 3),
        ("language", ["en-US"]),
        ("is_video_enabled", "true"),
        ("is_video_enabled", 1),
        ("is_doc_upload_enabled", 0),
        ("title", 3),
        ("title", None),
        ("org_name", None),
        ("questions", None),
        ("questions", "Why?"),
        ("questions", {"0": "Why?"}),
        ("intro", ["x"]),
        ("outro", False),
        ("webhook_secret_key", 12),
        ("title", "a\x00b"),
        ("intro", "\ud800"),
        ("title", ""),
        ("org_name", "  \n"),
        ("team_id", 7),
        ("redirect_url", ""),
    ],
)
def test_a_wrong_value_is_named(owner: Person, field: str, value: Any) -> None:
    _refusal(owner, field, **{field: value})


@pytest.mark.parametrize("field", ["org_name", "title", "questions"])
def test_a_required_field_may_not_be_missing(owner: Person, field: str) -> None:
    answer = owner.api("POST", PATH, json={name: value for name, value in LEAST.items() if name != field})
    assert answer.status_code == 422
    assert answer.json["message"].startswith(f"{field}: ")


@pytest.mark.parametrize("field", ["interview_flow_id", "status", "created_at", "Title"])
def test_an_unknown_field_is_named(owner: Person, field: str) -> None:
    _refusal(owner, field, **{field: "open"})


@pytest.mark.parametrize(
    ("field", "most"),
    [
        ("title", 300),
        ("org_name", 300),
        ("intro", 5_000),
        ("outro", 5_000),
        ("additional_info", 20_000),
        ("additional_instructions", 20_000),
    ],
)
def test_a_text_has_a_greatest_length(owner: Person, field: str, most: int) -> None:
    assert str(most) in _refusal(owner, field, **{field: "ä" * (most + 1)})
    assert _created(owner, **{field: "ä" * most})[field] == "ä" * most


def test_a_question_has_a_greatest_length(owner: Person) -> None:
    assert "2000" in _refusal(owner, "questions", questions=["ok", "x" * 2_001])
    assert _created(owner, questions=["x" * 2_000])["questions"] == ["x" * 2_000]


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u2003"])
def test_a_blank_question_is_refused(owner: Person, blank: str) -> None:
    _refusal(owner, "questions", questions=["Why?", blank])


@pytest.mark.parametrize("odd", [None, 7, ["Why?"], {}])
def test_a_question_must_be_a_text(owner: Person, odd: Any) -> None:
    _refusal(owner, "questions", questions=[odd])


def test_no_questions_are_accepted(owner: Person) -> None:
    assert _created(owner, questions=[])["questions"] == []


def test_twenty_questions_are_accepted_in_their_order(owner: Person) -> None:
    questions = [f"Question {number}?" for number in range(20)]
    assert _created(owner, questions=questions)["questions"] == questions


def test_more_than_twenty_questions_are_refused(owner: Person) -> None:
    assert "20" in _refusal(owner, "questions", questions=["Why?"] * 21)


@pytest.mark.parametrize("field", ["webhook_url", "company_logo_url", "preamble_video_url", "redirect_url"])
@pytest.mark.parametrize(
    "url",
    [
        "example.com/x",
        "//example.com",
        "ftp://example.com",
        "javascript:alert(1)",
        "https://",
        "https:///x",
        "https://user:secret@example.com/",
        "https://exa mple.com",
        "https://example.com:99999/",
        "https://e.com\\x",
        "file:///etc/passwd",
        "data:text/html,x",
        "https://example.com/\n",
        "",
        "x" * 2_049,
    ],
)
def test_an_address_must_be_a_whole_one(owner: Person, field: str, url: str) -> None:
    _refusal(owner, field, **{field: url})


@pytest.mark.parametrize("url", ["http://2130706433/", "http://0x7f.1/", "https://localhost.", "https://intranet/"])
def test_a_webhook_address_needs_a_full_name(owner: Person, url: str) -> None:
    _refusal(owner, "webhook_url", webhook_url=url)


def test_http_is_allowed_while_the_platform_itself_is_http(owner: Person) -> None:
    assert _created(owner, webhook_url="http://example.com/x")["webhook_url"] == "http://example.com/x"
    assert _created(owner, redirect_url="http://example.com/x")["redirect_url"] == "http://example.com/x"


def test_a_team_of_another_organization_is_forbidden(owner: Person, outsider: Person) -> None:
    answer = owner.api("POST", PATH, json={**LEAST, "team_id": outsider.team.id})
    assert answer.status_code == 403
    assert answer.json["status"] == "Forbidden"
    assert db.session.query(InterviewFlow).count() == 0


@pytest.mark.parametrize("team_id", ["9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "none"])
def test_an_unknown_team_is_forbidden(owner: Person, team_id: str) -> None:
    assert owner.api("POST", PATH, json={**LEAST, "team_id": team_id}).status_code == 403


def test_without_a_team_the_oldest_one_is_taken(owner: Person) -> None:
    from app.accounts.models import Team

    db.session.add(Team(organization_id=owner.organization.id, name="Later"))
    db.session.commit()
    assert _created(owner)["team_id"] == owner.team.id


def test_an_organization_without_teams_is_told_so(app: Flask, outsider: Person) -> None:
    from app.accounts.models import TeamMembership

    db.session.query(TeamMembership).delete()
    db.session.delete(outsider.team)
    db.session.commit()
    answer = outsider.api("POST", PATH, json=LEAST)
    assert answer.status_code == 422
    assert "no teams" in answer.json["message"]


def test_the_webhook_secret_is_sealed_at_rest(owner: Person) -> None:
    flow_id = _created(owner, webhook_secret_key="a-secret-nobody-else-may-read")["interview_flow_id"]
    row = db.session.get_one(InterviewFlow, flow_id)
    assert row.webhook_secret_sealed
    assert "a-secret" not in row.webhook_secret_sealed


def test_the_agent_is_told_to_record_the_questions(owner: Person, waker: SilentWaker) -> None:
    flow = _created(owner)
    assert (PREPARE_SPEECH, (flow["interview_flow_id"],)) in waker.enqueued


def test_nobody_creates_a_flow_without_a_key(app: Flask) -> None:
    assert app.test_client().post(PATH, json=LEAST).status_code == 401


@pytest.mark.parametrize("path", [PATH, f"{PATH}?team_id="])
def test_an_empty_team_id_is_wrong_in_a_body_as_in_a_query(owner: Person, path: str) -> None:
    answer = owner.api("GET", path) if "?" in path else owner.api("POST", path, json={**LEAST, "team_id": ""})
    assert answer.status_code == 422
    assert "team_id" in answer.json["message"]


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/hook",
        "http://169.254.169.254/latest",
        "http://[::ffff:10.0.0.1]/x",
        "http://192.168.1.1:8080/",
        "http://[fd00:ec2::254]/",
        "http://0.0.0.0/",
    ],
)
def test_an_ip_address_that_may_not_be_called_is_refused_at_once(owner: Person, url: str) -> None:
    for field in ("webhook_url", "company_logo_url", "preamble_video_url"):
        assert "is not allowed" in _refusal(owner, field, **{field: url})


def test_a_private_ip_address_says_which_setting_allows_it_in_v1_and_on_pages(owner: Person) -> None:
    words = "private, reserved or not routable, and OUTBOUND_ALLOW does not name its network."
    assert words in _refusal(owner, "webhook_url", webhook_url="http://10.0.0.1/hook")
    assert words in owner.api("POST", "/v1/webhook-endpoints", json={"url": "http://10.0.0.1/"}).json["message"]
    form = {"title": "Nurse", "questions-0": "Why?", "webhook_url": "http://10.0.0.1/hook"}
    assert words in owner.browser.post("/flows/new", data=form).text
    assert words in owner.browser.post("/webhooks/endpoints/new", data={"url": "http://10.0.0.1/", "secret": ""}).text


def test_what_the_operator_allows_and_names_are_taken(owner: Person, settings: Settings) -> None:
    allowing = Outbound(replace(settings, outbound_allow=(ip_network("10.0.0.0/8"),)))
    with engines_of(owner.app, http=allowing):
        assert _created(owner, webhook_url="http://10.0.0.1/hook")["webhook_url"] == "http://10.0.0.1/hook"
    assert _created(owner, webhook_url="http://intranet.example/hook")["webhook_url"] == "http://intranet.example/hook"
