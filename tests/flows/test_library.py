"""Templates of an organization's own, and its question bank: rights, duplicates, warnings, and both in the editor."""

import html
import re
from typing import Any

import pytest

from app.accounts.models import AuditEntry, Team
from app.core.db import db
from app.flows.library import queries
from app.flows.library.actions import kept
from app.flows.library.models import LONGEST_TAG, BankQuestion, FlowTemplate
from app.flows.library.queries import fingerprint_of
from app.flows.models import InterviewFlow
from app.flows.overrules import field_of
from tests.factories import Made
from tests.flows.test_pages import _typed
from tests.people import Person

WHY = "Why do you want this job?"
ASKS_AGE = "How old are you?"


def _bank() -> list[BankQuestion]:
    return db.session.query(BankQuestion).order_by(BankQuestion.created_at).all()


def _add(person: Person, text: str, **fields: str) -> Any:
    return person.browser.post("/flows/bank/new", data={"text": text, "language": "en-US", **fields})


def _audited() -> list[str]:
    return [row.action for row in db.session.query(AuditEntry).order_by(AuditEntry.number) if row.action[:5] == "flow."]


# Templates


def test_a_flow_is_saved_as_a_template_and_starts_another(colleague: Person, make_flow: Made) -> None:
    flow = make_flow(
        intro="Hello!", additional_instructions="Be kind.", time_limit_minutes=25, overrules={WHY: "Because."}
    )
    flow.webhook_url, flow.logo_key = "https://example.com/hook", "logos/x.png"
    db.session.commit()
    said = colleague.browser.post(f"/flows/{flow.id}/template", data={"name": " Night  nurse "}, follow_redirects=True)
    assert f"The template “Night nurse” was saved for the {flow.team.name} team." in said.text
    assert "Your organization's templates" in said.text
    assert said.text.index("Night nurse") < said.text.index("Customer service representative")
    template = db.session.query(FlowTemplate).one()
    flow.title, flow.intro = "Changed", "Changed"
    db.session.commit()
    answer = colleague.browser.post("/flows/templates", data={"template": template.id})
    made = db.session.query(InterviewFlow).filter(InterviewFlow.id != flow.id).one()
    assert answer.location == f"/flows/{made.id}"
    names = ("title", "intro", "questions", "additional_instructions", "time_limit_minutes", "overrules", "voice_id")
    assert [getattr(made, name) for name in names] == [
        "Nurse",
        "Hello!",
        [WHY, "Tell me about your last team."],
        "Be kind.",
        25,
        {WHY: "Because."},
        "vendora-Kate",
    ]
    assert (made.webhook_url, made.logo_key, made.status, made.interview_type) == (
        None,
        None,
        "open",
        flow.interview_type,
    )
    assert _audited().count("flow.template_saved") == 1


def test_a_template_can_be_changed_before_it_is_saved(colleague: Person, make_flow: Made) -> None:
    flow = make_flow(intro="Hello!", language="de-DE", follow_up_limit=3)
    colleague.browser.post(f"/flows/{flow.id}/template", data={"name": "Pflege"})
    form = colleague.browser.get(f"/flows/new?template={db.session.query(FlowTemplate).one().id}")
    assert form.status_code == 200
    assert "Hello!" in form.text
    assert WHY in form.text
    assert re.search(r'<option selected value="de-DE"', form.text)
    assert db.session.query(InterviewFlow).count() == 1


def test_what_a_template_keeps_can_be_a_flow_of_every_column(make_flow: Made) -> None:
    values = kept(make_flow())
    columns = {column.key for column in InterviewFlow.__mapper__.column_attrs}
    assert values.keys() <= columns | {"criteria"}
    assert (
        not {"criteria_number", "webhook_secret_sealed", "webhook_url", "logo_key", "team_id", "status", "id"}
        & values.keys()
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "Enter a name"), ("  ", "Enter a name"), ("x" * 301, "The maximum is 300"), ("NIGHT nurse", "already")],
)
def test_a_bad_name_is_refused_in_words(colleague: Person, make_flow: Made, name: str, words: str) -> None:
    flow = make_flow()
    colleague.browser.post(f"/flows/{flow.id}/template", data={"name": "Night nurse"})
    said = colleague.browser.post(f"/flows/{flow.id}/template", data={"name": name}, follow_redirects=True)
    assert words in said.text
    assert db.session.query(FlowTemplate).count() == 1


def test_a_template_is_renamed_and_deleted(colleague: Person, make_flow: Made) -> None:
    colleague.browser.post(f"/flows/{make_flow().id}/template", data={"name": "Old"})
    at = f"/flows/templates/{db.session.query(FlowTemplate).one().id}"
    assert "“New”" in colleague.browser.post(f"{at}/rename", data={"name": "New"}, follow_redirects=True).text
    assert db.session.query(FlowTemplate).one().name == "New"
    assert "Enter a name" in colleague.browser.post(f"{at}/rename", data={"name": ""}, follow_redirects=True).text
    assert "was deleted" in colleague.browser.post(f"{at}/delete", follow_redirects=True).text
    assert db.session.query(FlowTemplate).count() == 0
    assert _audited()[-2:] == ["flow.template_renamed", "flow.template_deleted"]


def test_templates_and_questions_belong_to_a_team(owner: Person, colleague: Person, make_flow: Made) -> None:
    other = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(other)
    db.session.commit()
    owner.browser.post(f"/flows/{make_flow(team_id=other.id).id}/template", data={"name": "Secret plan"})
    _add(owner, "A secret question?", team_id=other.id)
    template, question = db.session.query(FlowTemplate).one(), _bank()[0]
    assert "Secret plan" in owner.browser.get("/flows/templates").text
    assert "A secret question?" in owner.browser.get("/flows/bank").text
    assert "Secret plan" not in colleague.browser.get("/flows/templates").text
    for path in ("/flows/bank", "/flows/bank/find"):
        assert "A secret question?" not in colleague.browser.get(path).text
    for answer in (
        colleague.browser.get(f"/flows/new?template={template.id}"),
        colleague.browser.post("/flows/templates", data={"template": template.id}),
        colleague.browser.post(f"/flows/templates/{template.id}/delete"),
        colleague.browser.get(f"/flows/bank/{question.id}"),
        _add(colleague, "Mine?", team_id=other.id),
    ):
        assert answer.status_code == 403
    inserted = _typed(colleague, insert="yes", bank_question=question.id)
    assert "A secret question?" not in colleague.browser.post("/flows/new", data=inserted).text
    conflict = owner.browser.post(f"/team/teams/{other.id}/delete", follow_redirects=True)
    assert "templates of its own, so it cannot be deleted" in html.unescape(conflict.text)


# The bank


def test_a_question_is_added_found_changed_and_deleted(colleague: Person) -> None:
    _add(colleague, WHY, tags="Motivation, first  day,motivation", note="A reason of their own.")
    _add(colleague, "Warum möchten Sie hier arbeiten?", language="de-DE", tags="motivation")
    question = _bank()[0]
    assert (question.tags, question.note) == (["first day", "motivation"], "A reason of their own.")
    for address, found in (
        ("", [True, True]),
        ("?bank_text=own+WANT", [True, False]),
        ("?bank_text=first+day", [True, False]),
        ("?bank_tag=motivation", [True, True]),
        ("?bank_tag=motiv", [False, False]),
        ("?bank_language=de-DE", [False, True]),
        ("?bank_text=%25", [False, False]),
        ("?bank_text=%00", [True, True]),
    ):
        page = html.unescape(colleague.browser.get(f"/flows/bank{address}").text)
        assert [WHY in page, "Warum möchten" in page] == found, address
    changed = {"text": "Why this job?", "language": "en-US", "tags": "", "note": ""}
    assert colleague.browser.post(f"/flows/bank/{question.id}", data=changed).status_code == 303
    assert (question.text, question.tags, question.note) == ("Why this job?", [], None)
    colleague.browser.post(f"/flows/bank/{question.id}/delete")
    assert [one.language for one in _bank()] == ["de-DE"]
    assert _audited() == [*["flow.question_kept"] * 2, "flow.question_changed", "flow.question_deleted"]


@pytest.mark.parametrize(
    "same", ["why do you want this job", " Why do  you want this job?! ", "WHY DO YOU WANT THIS JOB?"]
)
def test_duplicates_are_recognized(colleague: Person, same: str) -> None:
    _add(colleague, WHY)
    page = _add(colleague, same)
    assert page.status_code == 422
    assert "This question is already in this team&#39;s question bank." in page.text
    assert len(_bank()) == 1


def test_letters_that_change_the_meaning_are_no_duplicates() -> None:
    assert fingerprint_of("आप क्यों?") != fingerprint_of("आप क्या?")
    assert len({fingerprint_of(text) for text in ("C?", "C++?", "C#?")}) == 3
    assert fingerprint_of("???") != fingerprint_of("!!!")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": " "}, "Enter the question."),
        ({"text": "x" * 2001}, "The question has 2,001 characters. The maximum is 2,000."),
        ({"tags": ",".join(map(str, range(11)))}, "at most 10 tags. You entered 11."),
        ({"tags": "y" * (LONGEST_TAG + 1)}, "The maximum is 40."),
        ({"note": "z" * 2001}, "The note has 2,001 characters."),
        ({"language": "xx"}, "Choose a language from the list."),
        ({"text": "a\x00b"}, "Must not contain the NUL character."),
        ({"tags": "a\x00b"}, "Must not contain the NUL character."),
    ],
)
def test_bad_input_is_refused_at_its_field(colleague: Person, fields: dict[str, str], words: str) -> None:
    page = _add(colleague, **{"text": "Why?", **fields})
    assert page.status_code == 422
    assert words in html.unescape(page.text)
    assert not _bank()


def test_a_question_about_a_forbidden_topic_needs_a_reason(colleague: Person) -> None:
    page = _add(colleague, ASKS_AGE)
    assert page.status_code == 422
    assert "This question asks about age." in page.text
    assert "Age says nothing about how someone works" in page.text
    assert _add(colleague, ASKS_AGE, reason="The law asks for it.").status_code == 303
    assert _bank()[0].overruled == "The law asks for it."
    shown = colleague.browser.get("/flows/bank").text
    assert "Asks about age" in shown
    assert "The law asks for it." in shown
    entry = db.session.query(AuditEntry).filter_by(action="flow.question_kept").one()
    assert entry.details["topics"] == ["age"]


def test_the_bank_shows_which_flows_use_a_question(colleague: Person, make_flow: Made) -> None:
    _add(colleague, "Why do you want this JOB")
    make_flow(title="Uses it")
    make_flow(title="Archived", status="archived")
    make_flow(title="Other", questions=["Other?"])
    usage = queries.usage_of(colleague.member, _bank())
    assert [[one.title for one in flows] for flows in usage.values()] == [["Uses it"]]
    assert "Used in 1 flow" in colleague.browser.get("/flows/bank").text


def test_questions_of_a_flow_are_collected(colleague: Person, make_flow: Made) -> None:
    _add(colleague, WHY)
    at = f"/flows/{make_flow(questions=[WHY, 'How?', 'When?', ASKS_AGE]).id}/bank"
    page = colleague.browser.get(at).text
    assert page.count("In the bank") == 1
    assert "Select at least one question." in colleague.browser.post(at, data={}).text
    refused = colleague.browser.post(at, data={"question": ["1", "3"]})
    assert "asks about age" in refused.text
    assert len(_bank()) == 1
    said = colleague.browser.post(at, data={"question": ["0", "1", "2", "9"], "tags": "later"}, follow_redirects=True)
    assert "2 questions were added to the bank. 1 question was already in the bank." in said.text
    assert [one.tags for one in _bank()] == [[], ["later"], ["later"]]


# In the editor, without scripts


def test_the_editor_keeps_what_was_entered_on_the_way_to_the_bank_and_back(colleague: Person) -> None:
    _add(colleague, WHY)
    _add(colleague, "What would you change first?")
    ids = [one.id for one in _bank()]
    entered = {"questions-1": "Typed <b>?", "intro": "Two\nlines"}
    page = colleague.browser.post("/flows/new", data=_typed(colleague, bank="open", **entered))
    assert page.status_code == 200
    assert "Add from the question bank" in page.text
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
    assert html.unescape(hidden["questions-1"]) == "Typed <b>?"
    assert hidden["intro"] == "Two\nlines"
    assert "bank" not in hidden
    again = colleague.browser.post(
        "/flows/new", data=_typed(colleague, bank="search", bank_text="change", bank_question=ids[0], **entered)
    )
    assert re.search(rf'value="{ids[0]}" checked', again.text), "what was selected before stays selected"
    back = colleague.browser.post("/flows/new", data=_typed(colleague, insert="yes", bank_question=ids, **entered))
    assert "2 questions were added from the bank. The flow is not saved yet." in back.text
    shown = re.findall(r'<textarea[^>]*name="questions-\d+"[^>]*>\s*([^<]*)</textarea>', back.text)
    assert [html.unescape(text) for text in shown if text][1:] == [
        "Typed <b>?",
        WHY,
        "What would you change first?",
    ]
    assert db.session.query(InterviewFlow).count() == 0
    none = colleague.browser.post("/flows/new", data=_typed(colleague, insert="none", bank_question=ids))
    assert "No questions were added from the bank." in none.text


def test_a_question_that_the_flow_has_is_not_added_twice(colleague: Person) -> None:
    _add(colleague, WHY)
    typed = _typed(colleague, insert="yes", bank_question=_bank()[0].id, **{"questions-0": WHY.upper()})
    said = colleague.browser.post("/flows/new", data=typed).text
    assert "0 questions were added from the bank. 1 question was already in the flow." in said


def test_what_has_no_room_is_named(colleague: Person) -> None:
    for number in range(3):
        _add(colleague, f"Question {number}?")
    full = {f"questions-{number}": f"Typed {number}?" for number in range(18)}
    typed = _typed(colleague, insert="yes", bank_question=[one.id for one in _bank()], **full)
    said = colleague.browser.post("/flows/new", data=typed).text
    assert (
        "2 questions were added from the bank. 1 question was left out: a flow can have at most 20 questions." in said
    )


def test_a_question_of_the_editor_is_saved_to_the_bank(colleague: Person, make_flow: Made) -> None:
    flow = make_flow(language="de-DE")
    data = _typed(colleague, keep="1", language="de-DE", **{"questions-1": "Was reizt Sie?"})
    said = colleague.browser.post(f"/flows/{flow.id}/edit", data=data).text
    assert f"Question 2 was saved to the bank of the {flow.team.name} team." in said
    assert [(one.text, one.language, one.team_id) for one in _bank()] == [("Was reizt Sie?", "de-DE", flow.team_id)]
    again = colleague.browser.post(f"/flows/{flow.id}/edit", data=data)
    assert "This question is already in this team&#39;s question bank." in again.text
    for number in ("7", "x", "-1", "99999"):
        page = colleague.browser.post("/flows/new", data=_typed(colleague, keep=number))
        assert "An empty question cannot be saved to the bank." in page.text
    assert flow.questions == [WHY, "Tell me about your last team."]


def test_the_reason_given_in_the_form_goes_to_the_bank_with_the_question(colleague: Person) -> None:
    asked = {"questions-0": ASKS_AGE, "keep": "0"}
    page = colleague.browser.post("/flows/new", data=_typed(colleague, **asked))
    assert "Question 1 was not saved to the bank. This question asks about age." in page.text
    colleague.browser.post("/flows/new", data=_typed(colleague, **asked, **{field_of(ASKS_AGE): "The law."}))
    assert [one.overruled for one in _bank()] == ["The law."]


def test_viewers_see_none_of_it(viewer: Person, make_flow: Made) -> None:
    flow = make_flow()
    for path in ("/flows/bank", "/flows/bank/find", "/flows/bank/new", f"/flows/{flow.id}/bank"):
        assert viewer.browser.get(path).status_code == 403
    assert "Question bank" not in viewer.browser.get("/flows").text
    assert "Save as template" not in viewer.browser.get(f"/flows/{flow.id}").text


def test_the_palette_leads_to_the_bank(colleague: Person, viewer: Person) -> None:
    found = [one["href"] for one in colleague.browser.get("/find?q=question+bank").get_json()["entries"]]
    assert found[0] == "/flows/bank"
    assert "/flows/bank" not in viewer.browser.get("/find?q=question+bank").text
