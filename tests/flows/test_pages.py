"""Recruiters' pages of flows: list, create, edit, show, close, reopen, archive."""

import html
import re
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Team
from app.core.db import db
from app.core.queue import SilentWaker
from app.flows import PREPARE_SPEECH
from app.flows.models import FlowStatus, InterviewFlow, InterviewType, SpeechState
from app.flows.queries import secret_of
from app.gateways import Gateways
from tests.factories import Made
from tests.flows.server import Files, files, picture
from tests.people import Person

__all__ = ["files"]

NOBODYS = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
VERBS = ("close", "reopen", "archive", "prepare-speech")


def _typed(person: Person, **values: Any) -> dict[str, Any]:
    """What a browser sends for the least a recruiter fills in."""
    return {
        "title": "Nurse",
        "org_name": "First Ltd",
        "team_id": person.team.id,
        "interview_type": "recruitment",
        "questions-0": "Why?",
        "questions-1": "",
        "questions-2": "",
        "language": "en-US",
        "voice_id": "vendora-Kate",
        "follow_up_limit": "1",
        "time_limit_minutes": "",
        "assess_language": "",
        **values,
    }


def _only_flow() -> InterviewFlow:
    return db.session.query(InterviewFlow).one()


def test_the_list_shows_the_flows_of_the_member(owner: Person, outsider: Person, make_flow: Made) -> None:
    make_flow(title="Mine & <b>ours</b>")
    make_flow(by=outsider, title="Theirs")
    seen = owner.browser.get("/flows")
    assert seen.status_code == 200
    assert "Mine &amp; &lt;b&gt;ours&lt;/b&gt;" in seen.text
    assert "Theirs" not in seen.text
    assert "Create a flow" in seen.text


def test_an_empty_list_says_what_to_do(owner: Person, viewer: Person) -> None:
    assert "Create the first flow" in owner.browser.get("/flows").text
    assert "Create the first flow" not in viewer.browser.get("/flows").text


def test_the_list_can_be_searched_and_filtered(owner: Person, make_flow: Made) -> None:
    make_flow(title="Night nurse")
    make_flow(title="Doctor", status=FlowStatus.CLOSED)
    make_flow(title="Gone", status=FlowStatus.ARCHIVED)
    browser = owner.browser

    def titles(query: str) -> list[str]:
        return re.findall(r'data-label="Title"><a[^>]*>([^<]+)<', browser.get(f"/flows?{query}").text)

    assert titles("") == ["Doctor", "Night nurse"]
    assert titles("status=archived") == ["Gone"]
    assert titles("status=closed") == ["Doctor"]
    assert titles("status=nonsense&offset=x") == ["Doctor", "Night nurse"]
    assert titles("text=nurse+night") == ["Night nurse"]
    assert titles("text=%25") == []
    assert titles("text=%00") == ["Doctor", "Night nurse"]
    assert titles("offset=99999999999999999999") == ["Doctor", "Night nurse"]


def test_a_long_list_is_paged_and_asks_no_query_per_row(owner: Person, make_flow: Made) -> None:
    values = {"organization_id": owner.organization.id, "team_id": owner.team.id, "org_name": "x", "questions": []}
    db.session.add_all([InterviewFlow(title=f"Flow {n}", **values) for n in range(30)])
    db.session.commit()
    seen = owner.browser.get("/flows")
    assert seen.text.count('data-label="Title"') == 25
    assert "1–25 of 30 flows" in seen.text
    assert owner.browser.get("/flows?offset=25").text.count('data-label="Title"') == 5


def test_a_recruiter_sees_only_the_flows_of_their_teams(owner: Person, colleague: Person, make_flow: Made) -> None:
    other = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(other)
    db.session.flush()
    flow = make_flow(team_id=other.id, title="Of the other team")
    assert "Of the other team" in owner.browser.get("/flows").text
    assert "Of the other team" not in colleague.browser.get("/flows").text
    assert colleague.browser.get(f"/flows/{flow.id}").status_code == 403
    assert colleague.browser.post(f"/flows/{flow.id}/close").status_code == 403
    assert colleague.browser.post("/flows/new", data=_typed(colleague, team_id=other.id)).status_code == 403


def test_a_flow_is_created(colleague: Person, waker: SilentWaker) -> None:
    typed = _typed(
        colleague,
        **{"questions-2": "And\r\nwhy not?", "assess_language": "no", "follow_up_limit": "3"},
        time_limit_minutes="45",
        is_video_enabled="y",
        intro=" Welcome! ",
        webhook_url="https://example.com/hook",
        webhook_secret_key="secret",
        redirect_url="https://example.com/thanks",
    )
    answer = colleague.browser.post("/flows/new", data=typed)
    flow = _only_flow()
    assert (answer.status_code, answer.location) == (303, f"/flows/{flow.id}")
    assert flow.questions == ["Why?", "And\nwhy not?"]
    assert (flow.assess_language, flow.follow_up_limit, flow.time_limit_minutes) == (False, 3, 45)
    assert (flow.is_video_enabled, flow.is_doc_upload_enabled) == (True, False)
    assert (flow.intro, flow.outro, flow.interview_type) == ("Welcome!", None, InterviewType.RECRUITMENT)
    assert (flow.webhook_url, secret_of(flow)) == ("https://example.com/hook", "secret")
    assert flow.team_id == colleague.team.id
    assert (PREPARE_SPEECH, (flow.id,)) in waker.enqueued


@pytest.mark.parametrize("contact", ["jobs@example.com", "+49 30 1234-56", "https://example.com/apply"])
def test_those_who_do_not_agree_can_be_offered_another_way(colleague: Person, contact: str) -> None:
    typed = _typed(colleague, alternative_text="Come and see us.", alternative_contact=contact)
    assert colleague.browser.post("/flows/new", data=typed).status_code == 303
    flow = _only_flow()
    assert (flow.alternative_text, flow.alternative_contact) == ("Come and see us.", contact)
    assert "Come and see us." in colleague.browser.get(f"/flows/{flow.id}").text
    assert contact in colleague.browser.get(f"/flows/{flow.id}/edit").text
    told = colleague.api("GET", f"/v1/interview-flows/{flow.id}").get_json()
    assert not [name for name in told if "alternative" in name], "what /v1 shows is agreed and stays as it is"


def test_the_new_form_says_plainly_what_assessing_language_means(owner: Person) -> None:
    seen = owner.browser.get("/flows/new")
    assert seen.status_code == 200
    assert "disadvantage candidates who answer in a language that is not their first" in seen.text
    assert 'value="First Ltd"' in seen.text


def test_more_question_fields_come_without_saving_or_losing_anything(owner: Person) -> None:
    typed = _typed(owner, more="yes", title="Kept", **{"questions-1": "Two?", "questions-2": "Three?"})
    seen = owner.browser.post("/flows/new", data=typed)
    assert seen.status_code == 200
    assert seen.text.count('name="questions-') == 6
    assert 'value="Kept"' in seen.text
    assert "Three?" in seen.text
    assert db.session.query(InterviewFlow).count() == 0


@pytest.mark.parametrize(
    ("pressed", "expected", "said"),
    [
        ("up 1", ["Two?", "Why?", "Three?"], "Question 2 is now question 1. The flow is not saved yet."),
        ("down 1", ["Why?", "Three?", "Two?"], "Question 2 is now question 3."),
        ("remove 0", ["Two?", "Three?"], "Question 1 was removed."),
        ("up 0", ["Why?", "Two?", "Three?"], "The questions were not changed."),
        ("down 99", ["Why?", "Two?", "Three?"], "The questions were not changed."),
        ("sideways -1", ["Why?", "Two?", "Three?"], "The questions were not changed."),
        ("up ²", ["Why?", "Two?", "Three?"], "The questions were not changed."),
    ],
)
def test_questions_are_put_in_order_without_any_script(
    owner: Person, make_flow: Made, pressed: str, expected: list[str], said: str
) -> None:
    flow = make_flow(questions=["Old?"])
    typed = _typed(owner, arrange=pressed, **{"questions-1": "Two?", "questions-2": "Three?"})
    for path in ("/flows/new", f"/flows/{flow.id}/edit"):
        seen = owner.browser.post(path, data=typed)
        assert seen.status_code == 200
        shown = re.findall(r'<textarea[^>]*name="questions-\d+"[^>]*>\s*([^<]*)</textarea>', seen.text)
        assert [text for text in shown if text] == expected
        assert said in seen.text
    db.session.expire_all()
    assert flow.questions == ["Old?"]


def test_twenty_questions_fit_and_no_more_fields_are_offered(owner: Person) -> None:
    typed = _typed(owner, **{f"questions-{n}": f"Question {n}?" for n in range(20)})
    seen = owner.browser.post("/flows/new", data={**typed, "more": "yes"})
    assert seen.text.count('name="questions-') == 20
    assert re.search(r'name="more"[^>]* hidden>', seen.text)
    assert "<strong><span data-count>20</span> of 20 questions used.</strong>" in seen.text
    assert owner.browser.post("/flows/new", data=typed).status_code == 303
    assert len(_only_flow().questions) == 20


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("title", " ", "blank"),
        ("title", "x" * 301, "300"),
        ("questions-1", "x" * 2_001, "2000"),
        ("webhook_url", "nonsense", "https://"),
        ("redirect_url", "nonsense", "https://"),
        ("alternative_contact", "ask me", "phone number"),
        ("alternative_contact", "javascript://x", "phone number"),
        ("alternative_text", "x" * 2001, "2000"),
        ("language", "xx", "one of"),
        ("voice_id", "xx", "one of"),
        ("time_limit_minutes", "0", "120"),
        ("time_limit_minutes", "soon", "whole number of minutes from 1 to 120"),
        ("follow_up_limit", "9", "3"),
        ("assess_language", "maybe", "boolean"),
        ("interview_type", "x", "one of"),
        ("intro", "a\x00b", "NUL"),
        ("time_limit_minutes", "9" * 5_000, "whole number of minutes from 1 to 120"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_typed_is_lost(owner: Person, field: str, value: str, words: str) -> None:
    seen = owner.browser.post("/flows/new", data=_typed(owner, outro="Typed with care", **{field: value}))
    assert seen.status_code == 422
    assert "Please check this" in seen.text
    error = re.search(rf'id="{field}-error">.*?</svg> ([^<]+)<', seen.text, re.DOTALL)
    assert error, f"no error beside {field}"
    assert words in error[1]
    assert "Typed with care" in seen.text
    assert db.session.query(InterviewFlow).count() == 0


def test_too_many_questions_are_refused(owner: Person) -> None:
    typed = _typed(owner, **{f"questions-{n}": f"Question {n}?" for n in range(21)})
    seen = owner.browser.post("/flows/new", data=typed)
    assert seen.status_code == 422
    assert "At most 20 questions" in seen.text
    assert "Question 20?" in seen.text


def test_an_unusable_logo_is_named_and_nothing_typed_is_lost(owner: Person, files: Files) -> None:
    url = files.serve("/logo.png", b"<html>")
    seen = owner.browser.post("/flows/new", data=_typed(owner, company_logo_url=url, outro="Typed with care"))
    assert seen.status_code == 422
    assert "The logo cannot be used" in seen.text
    assert "Typed with care" in seen.text
    assert db.session.query(InterviewFlow).count() == 0


def test_a_replaced_logo_is_fetched_once_and_the_old_file_goes(owner: Person, files: Files, engines: Gateways) -> None:
    first, second = files.serve("/a.png", picture()), files.serve("/b.jpg", picture("JPEG"))
    browser = owner.browser
    browser.post("/flows/new", data=_typed(owner, company_logo_url=first))
    flow = _only_flow()
    old_key, edit = flow.logo_key, f"/flows/{flow.id}/edit"
    assert browser.post(edit, data=_typed(owner, company_logo_url=first)).status_code == 303
    assert (files.asked, flow.logo_key) == (["/a.png"], old_key)
    assert browser.post(edit, data=_typed(owner, company_logo_url=first, fetch_again="y")).status_code == 303
    assert files.asked == ["/a.png", "/a.png"]
    assert browser.post(edit, data=_typed(owner, company_logo_url=second)).status_code == 303
    db.session.expire_all()
    kept = _only_flow().logo_key
    assert kept.endswith(".jpg")
    db.session.rollback()
    stored = list(engines.storage.list("flow-media"))
    assert kept in stored
    assert old_key not in stored
    assert browser.post(edit, data=_typed(owner)).status_code == 303
    db.session.expire_all()
    assert (_only_flow().logo_key, _only_flow().company_logo_url) == (None, None)
    assert kept not in list(engines.storage.list("flow-media"))


def test_the_edit_form_is_filled_in_but_never_shows_the_secret(owner: Person) -> None:
    owner.browser.post("/flows/new", data=_typed(owner, webhook_secret_key="do-not-show-me", outro="Bye"))
    seen = owner.browser.get(f"/flows/{_only_flow().id}/edit")
    assert seen.status_code == 200
    assert "Why?" in seen.text
    assert "Bye" in seen.text
    assert "do-not-show-me" not in seen.text
    assert "A secret is set" in seen.text


def test_an_edit_keeps_the_secret_unless_told_otherwise(owner: Person) -> None:
    browser = owner.browser
    browser.post("/flows/new", data=_typed(owner, webhook_secret_key="first"))
    flow_id = _only_flow().id

    def secret_after(**typed: str) -> str | None:
        assert browser.post(f"/flows/{flow_id}/edit", data=_typed(owner, **typed)).status_code == 303
        db.session.expire_all()
        return secret_of(_only_flow())

    assert secret_after(webhook_secret_key="") == "first"
    assert secret_after(webhook_secret_key="second") == "second"
    assert secret_after(remove_secret="y") is None


def test_an_edit_changes_what_was_typed_and_leaves_the_team(owner: Person, outsider: Person, make_flow: Made) -> None:
    flow = make_flow()
    typed = _typed(owner, title="Doctor", team_id=outsider.team.id, **{"questions-0": "", "questions-2": "New?"})
    assert owner.browser.post(f"/flows/{flow.id}/edit", data=typed).status_code == 303
    db.session.refresh(flow)
    assert (flow.title, flow.questions, flow.team_id) == ("Doctor", ["New?"], owner.team.id)


def test_a_wrong_edit_changes_nothing(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    seen = owner.browser.post(f"/flows/{flow.id}/edit", data=_typed(owner, title="", outro="Typed with care"))
    assert seen.status_code == 422
    assert "Typed with care" in seen.text
    db.session.refresh(flow)
    assert flow.title == "Nurse"


def test_more_questions_while_editing_save_nothing(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    typed = _typed(owner, title="Not yet", more="yes")
    assert owner.browser.post(f"/flows/{flow.id}/edit", data=typed).status_code == 200
    db.session.refresh(flow)
    assert flow.title == "Nurse"


def test_the_page_of_a_flow_shows_what_it_asks(owner: Person, make_flow: Made) -> None:
    flow = make_flow(intro="Welcome!", additional_info="We are twelve.", speech_state=SpeechState.FAILED)
    seen = owner.browser.get(f"/flows/{flow.id}")
    assert seen.status_code == 200
    for words in ("Welcome!", "Why do you want this job?", "We are twelve.", flow.id, "could not be generated"):
        assert words in seen.text


def test_a_flow_is_closed_reopened_and_archived(colleague: Person, make_flow: Made) -> None:
    flow, browser = make_flow(), colleague.browser
    for verb, status in (("close", "closed"), ("reopen", "open"), ("archive", "archived"), ("reopen", "archived")):
        answer = browser.post(f"/flows/{flow.id}/{verb}")
        assert (answer.status_code, answer.location) == (303, f"/flows/{flow.id}")
        db.session.refresh(flow)
        assert flow.status == status
    assert "cannot be changed" in browser.get(f"/flows/{flow.id}").text


def test_an_archived_flow_is_not_edited(owner: Person, make_flow: Made) -> None:
    flow = make_flow(status=FlowStatus.ARCHIVED)
    assert owner.browser.get(f"/flows/{flow.id}/edit").status_code == 422
    assert owner.browser.post(f"/flows/{flow.id}/edit", data=_typed(owner, title="x")).status_code == 422
    assert "Edit" not in re.findall(r">([^<]*)</a>", owner.browser.get(f"/flows/{flow.id}").text)


def test_failed_speech_is_tried_again(owner: Person, make_flow: Made, waker: SilentWaker) -> None:
    flow = make_flow(speech_state=SpeechState.FAILED, recoveries=3)
    assert owner.browser.post(f"/flows/{flow.id}/prepare-speech").status_code == 303
    db.session.refresh(flow)
    assert (flow.speech_state, flow.recoveries) == (SpeechState.PENDING, 0)
    assert (PREPARE_SPEECH, (flow.id,)) in waker.enqueued


def test_a_viewer_may_look_but_not_change(viewer: Person, make_flow: Made) -> None:
    flow, browser = make_flow(), viewer.browser
    shown = browser.get(f"/flows/{flow.id}")
    assert shown.status_code == 200
    assert "Archive" not in shown.text
    assert browser.get("/flows/new").status_code == 403
    assert browser.get(f"/flows/{flow.id}/edit").status_code == 403
    assert browser.post("/flows/new", data=_typed(viewer)).status_code == 403
    assert browser.post(f"/flows/{flow.id}/edit", data=_typed(viewer, title="x")).status_code == 403
    for verb in VERBS:
        assert browser.post(f"/flows/{flow.id}/{verb}").status_code == 403
    db.session.refresh(flow)
    assert (flow.title, flow.status) == ("Nurse", FlowStatus.OPEN)


def test_a_flow_of_another_organization_is_forbidden(outsider: Person, make_flow: Made) -> None:
    flow, browser = make_flow(), outsider.browser
    answers = [browser.get(f"/flows/{flow.id}"), browser.get(f"/flows/{flow.id}/edit")]
    answers += [browser.post(f"/flows/{flow.id}/{verb}") for verb in VERBS]
    answers.append(browser.post(f"/flows/{flow.id}/edit", data=_typed(outsider, title="Taken over")))
    assert {answer.status_code for answer in answers} == {403}
    assert not any("Nurse" in answer.text for answer in answers)
    db.session.refresh(flow)
    assert (flow.title, flow.status) == ("Nurse", FlowStatus.OPEN)


def test_a_team_of_another_organization_is_forbidden(owner: Person, outsider: Person) -> None:
    assert owner.browser.post("/flows/new", data=_typed(owner, team_id=outsider.team.id)).status_code == 403


@pytest.mark.parametrize("flow_id", [NOBODYS, "x"])
def test_an_unknown_flow_is_a_404(owner: Person, flow_id: str) -> None:
    browser = owner.browser
    assert browser.get(f"/flows/{flow_id}").status_code == 404
    assert browser.get(f"/flows/{flow_id}/edit").status_code == 404
    assert {browser.post(f"/flows/{flow_id}/{verb}").status_code for verb in VERBS} == {404}


def test_nobody_gets_in_without_signing_in(app: Flask, make_flow: Made) -> None:
    client, flow = app.test_client(), make_flow()
    for path in ("/flows", "/flows/new", f"/flows/{flow.id}", f"/flows/{flow.id}/edit"):
        assert "/sign-in" in client.get(path).location
    for verb in VERBS:
        assert client.post(f"/flows/{flow.id}/{verb}").status_code == 401


def test_a_forged_form_changes_nothing(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    answer = owner.browser.post(f"/flows/{flow.id}/archive", forged=True)
    assert answer.status_code in {400, 403}
    db.session.refresh(flow)
    assert flow.status is FlowStatus.OPEN


def test_the_page_names_language_and_voice_in_words(owner: Person, make_flow: Made) -> None:
    named = owner.browser.get(f"/flows/{make_flow(language='pt-BR', voice_id='vendora-Kate').id}").text
    assert "Portuguese (Brazil)" in named
    assert "<dd>Kate</dd>" in named
    assert "<dd>a-voice-of-ours</dd>" in owner.browser.get(f"/flows/{make_flow(voice_id='a-voice-of-ours').id}").text


@pytest.mark.parametrize("path", ["candidates", "interviews", "webhooks"])
def test_the_lists_a_flow_leads_to_are_narrowed_to_it(owner: Person, make_flow: Made, path: str) -> None:
    flow = make_flow(title="Nurse")
    assert f'href="/{path}?flow={flow.id}"' in owner.browser.get(f"/flows/{flow.id}").text
    assert f'<option value="{flow.id}" selected>' in owner.browser.get(f"/{path}?flow={flow.id}").text


def test_a_flow_without_questions_is_saved_with_a_warning(owner: Person, make_flow: Made) -> None:
    silent, asks = make_flow(questions=[]), make_flow()
    browser = owner.browser
    warning = "Without questions, the agent says only"
    assert "This flow has no questions" in browser.get(f"/flows/{silent.id}").text
    assert "This flow has no questions" not in browser.get(f"/flows/{asks.id}").text
    assert re.search(rf"data-none>\s*<strong>{warning}", browser.get(f"/flows/{silent.id}/edit").text)
    assert re.search(rf"data-none hidden>\s*<strong>{warning}", browser.get(f"/flows/{asks.id}/edit").text)


def test_authors_see_what_the_agent_can_read_out_before_they_save(owner: Person) -> None:
    info = "The office is in Bergen.\r\nWe guarantee you the job."
    page = owner.browser.post("/flows/readable", data=_typed(owner, additional_info=info)).text
    said = page[page.index('id="readable"') :]
    assert "The office is in Bergen." in said
    assert said.count("Never read out") == 1
    assert said.index("We guarantee you the job.") < said.index("Never read out")
    private = _typed(owner, additional_info=info, is_background_private="y")
    page = owner.browser.post("/flows/readable", data=private).text
    assert "The background is private" in page
    assert "Bergen" not in page
    assert "There is no background yet" in owner.browser.post("/flows/readable", data=_typed(owner)).text


@pytest.mark.parametrize("language", ["xx", "", "th-TH"])
def test_what_can_be_read_out_survives_bad_input(owner: Person, language: str) -> None:
    typed = _typed(owner, additional_info="word " * 8_000, language=language)
    typed["questions-0"] = ""
    assert owner.browser.post("/flows/readable", data=typed).status_code == 200
    assert owner.browser.post("/flows/readable", data={}).status_code == 200


def test_viewers_do_not_see_what_can_be_read_out(viewer: Person) -> None:
    assert viewer.browser.post("/flows/readable", data=_typed(viewer)).status_code == 403


def test_a_background_for_the_agent_alone_is_kept_and_shown(owner: Person, make_flow: Made) -> None:
    typed = _typed(owner, additional_info="The office is in Bergen.", is_background_private="y")
    assert owner.browser.post("/flows/new", data=typed).status_code == 303
    flow = db.session.scalars(db.select(InterviewFlow)).one()
    assert flow.is_background_private is True
    assert "Background, not read out to candidates" in owner.browser.get(f"/flows/{flow.id}").text
    typed.pop("is_background_private")
    assert owner.browser.post(f"/flows/{flow.id}/edit", data=typed).status_code == 303
    db.session.refresh(flow)
    assert flow.is_background_private is False


@pytest.mark.parametrize(
    ("questions", "limit", "minutes"),
    [(0, "", 1), (1, "", 3), (5, "", 10), (6, "", 15), (20, "", 40), (6, "12", 12), (1, "x", 3)],
)
def test_the_editor_says_about_how_long_the_interview_takes(
    owner: Person, questions: int, limit: str, minutes: int
) -> None:
    asked = {f"questions-{n}": f"Question {n}?" for n in range(questions)} or {"questions-0": ""}
    typed = _typed(owner, more="yes", time_limit_minutes=limit, **asked)
    seen = owner.browser.post("/flows/new", data=typed)
    assert f"About <span data-minutes>{minutes}</span> min for candidates" in seen.text
    paragraph = seen.text[: seen.text.index("<span data-minutes>")].rpartition("<p ")[2]
    assert ("hidden" in paragraph) == (questions == 0)


def test_a_time_limit_that_is_no_number_says_what_is_possible(owner: Person) -> None:
    seen = owner.browser.post("/flows/new", data=_typed(owner, time_limit_minutes="abc"))
    assert seen.status_code == 422
    assert "Must be a whole number of minutes from 1 to 120, or empty." in seen.text


def test_voices_are_chosen_as_people(owner: Person, make_flow: Made) -> None:
    flow = make_flow(voice_id="vendora-Rahul")
    page = owner.browser.get(f"/flows/{flow.id}/edit").text
    chosen = re.findall(r'<input type="radio" id="voice-([^"]+)" name="voice_id" value="[^"]+" checked>', page)
    assert chosen == ["vendora-Rahul"]
    assert page.count('name="voice_id"') == 16
    assert page.count('aria-label="Listen to ') == 16


def test_two_people_who_edit_one_flow_lose_nothing(owner: Person, colleague: Person, make_flow: Made) -> None:
    flow = make_flow(title="Nurse", questions=["Why?"])
    page = f"/flows/{flow.id}/edit"
    seen = re.search(r'name="seen" type="hidden" value="([^"]+)"', owner.browser.get(page).text)
    assert seen
    theirs = _typed(
        colleague, title="Night nurse", is_video_enabled="y", seen=seen[1], **{"questions-0": "Why nights?"}
    )
    assert colleague.browser.post(page, data=theirs).status_code == 303
    mine = _typed(owner, title="Nurse", seen=seen[1], intro="Welcome.")
    answer = owner.browser.post(page, data=mine)
    text = html.unescape(answer.text)
    assert answer.status_code == 409
    assert "Someone else changed this flow while you were editing it." in text
    for label, saved in (
        ("Title", "Night nurse"),
        ("Questions", "Why nights?"),
        ("Record video", "On"),
        ("Introduction", "–"),
    ):
        assert re.search(rf"<dt>{label}</dt>\s*<dd[^>]*>{re.escape(saved)}</dd>", text), label
    assert "Welcome.</textarea>" in text
    assert _only_flow().title == "Night nurse"
    again = re.search(r'name="seen" type="hidden" value="([^"]+)"', text)
    assert again
    assert owner.browser.post(page, data={**mine, "seen": again[1]}).status_code == 303
    assert (_only_flow().title, _only_flow().intro) == ("Nurse", "Welcome.")


def test_a_form_without_its_time_is_saved_as_it_is(owner: Person, make_flow: Made) -> None:
    flow = make_flow(title="Nurse")
    assert owner.browser.post(f"/flows/{flow.id}/edit", data=_typed(owner, title="Doctor", seen="x")).status_code == 303
