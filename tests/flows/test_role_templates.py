"""Scripts for common roles: what they say, and the flows that are made from them."""

import re
from collections import Counter

import pytest

from app.accounts.models import Team
from app.core.db import db
from app.flows.forbidden_topics import check
from app.flows.models import LONGEST, MOST_QUESTIONS, FlowStatus, InterviewFlow, InterviewType
from app.flows.queries import criteria_of
from app.flows.role_templates import RoleTemplate, all_templates
from app.gateways.speech.catalogue import LANGUAGES
from tests.people import Person

FORBIDDEN = re.compile(
    r"\b(age|old|born|birth|famil|child|kids|married|wife|husband|pregnan|health|ill|sick|disab|religi|church|faith|"
    r"nationalit|accent|race|alter|geboren|famili|kinder|verheiratet|gesund|krank|behinder|religion|herkunft|"
    r"edad|hijos|casad|salud|enferm|origen|âge|enfants|marié|santé|malad|origine)\w*",
    re.IGNORECASE,
)
OPENS = {
    "en": r"(What|Which|How|Tell me|Describe|Walk me|When|Two managers|A customer|Several machines)",
    "de": r"(Was|Wie|Erzählen)",
    "es": r"¿?(Qué|Cuénteme|Cuando|Describa)",
    "fr": r"(Qu'est-ce|Racontez|Comment|Un client)",
}


def test_there_are_twelve_in_english_and_one_in_each_of_three_languages() -> None:
    languages = Counter(template.language for template in all_templates())
    assert languages == {"en-US": 12, "de-DE": 1, "es-419": 1, "fr-FR": 1}
    assert set(languages) <= set(LANGUAGES)
    assert len({template.id for template in all_templates()}) == 15
    unread = {template.language for template in all_templates() if template.needs_native_reader}
    assert unread == {"de-DE", "es-419", "fr-FR"}


@pytest.mark.parametrize("template", all_templates(), ids=lambda one: one.id)
def test_questions_are_open_short_and_about_the_work(template: RoleTemplate) -> None:
    assert 5 <= len(template.questions) <= min(6, MOST_QUESTIONS)
    assert len(template.title) <= LONGEST["title"]
    for question in template.questions:
        assert re.match(OPENS[template.language[:2]], question), "neither yes nor no answers it"
        assert question[-1] in "?."
        assert len(question.split()) <= 25, "it can be said in one breath or two"
        assert not FORBIDDEN.search(question), FORBIDDEN.search(question)


@pytest.mark.parametrize("template", all_templates(), ids=lambda one: one.id)
def test_four_criteria_say_what_good_looks_like_and_are_about_the_work(template: RoleTemplate) -> None:
    assert len(template.criteria) == 4
    assert len({one.key for one in template.criteria}) == 4
    for one in template.criteria:
        assert 1 <= one.weight <= 3
        assert len(one.name) <= 40
        assert 30 <= len(one.good) <= 120
        assert not FORBIDDEN.search(one.words), FORBIDDEN.search(one.words)
        assert not check(one.words, template.language)


def test_the_page_shows_each_with_its_questions(owner: Person, viewer: Person) -> None:
    page = owner.browser.get("/flows/templates")
    assert page.text.count('class="card role"') == 15
    assert page.text.count("Not checked by a native speaker") == 3
    assert "Walk me through how you close a month." in page.text
    assert 'href="/flows/templates"' in owner.browser.get("/flows").text
    assert viewer.browser.get("/flows/templates").status_code == 403
    assert 'href="/flows/templates"' not in viewer.browser.get("/flows").text


@pytest.mark.parametrize("template", all_templates(), ids=lambda one: one.id)
def test_one_press_makes_a_flow(colleague: Person, template: RoleTemplate) -> None:
    answer = colleague.browser.post("/flows/templates", data={"template": template.id})
    flow = db.session.query(InterviewFlow).one()
    assert (answer.status_code, answer.location) == (303, f"/flows/{flow.id}")
    assert (flow.title, flow.language, flow.questions) == (template.title, template.language, list(template.questions))
    assert (flow.status, flow.interview_type, flow.follow_up_limit) == (FlowStatus.OPEN, InterviewType.RECRUITMENT, 1)
    assert (flow.team_id, flow.org_name) == (colleague.team.id, "First Ltd")
    assert flow.assess_language is None
    assert criteria_of(flow) == template.criteria


def test_of_several_teams_one_is_chosen(owner: Person, colleague: Person) -> None:
    other = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(other)
    db.session.commit()
    assert owner.browser.get("/flows/templates").text.count('name="team_id"') == 15
    assert 'name="team_id"' not in colleague.browser.get("/flows/templates").text
    chosen = {"template": "accountant", "team_id": other.id}
    assert colleague.browser.post("/flows/templates", data=chosen).status_code == 403
    owner.browser.post("/flows/templates", data=chosen)
    assert db.session.query(InterviewFlow).one().team_id == other.id


def test_without_a_team_nothing_is_made_and_the_page_says_why(colleague: Person) -> None:
    colleague.member.teams.clear()
    db.session.commit()
    assert "Create flow" not in colleague.browser.get("/flows/templates").text
    answer = colleague.browser.post("/flows/templates", data={"template": "accountant"}, follow_redirects=True)
    assert "ask an administrator to add you to one" in answer.text
    assert db.session.query(InterviewFlow).count() == 0


def test_a_template_can_be_changed_before_it_is_saved(owner: Person) -> None:
    form = owner.browser.get("/flows/new?template=pflegefachkraft")
    assert 'value="Pflegefachkraft"' in form.text
    assert 'value="First Ltd"' in form.text
    assert "Was hat Sie an dieser Stelle angesprochen?" in form.text
    assert 'value="Setzt Prioritäten"' in form.text
    assert "4 of 10 criteria used." in form.text
    assert re.search(r'<option selected value="de-DE"', form.text)
    assert db.session.query(InterviewFlow).count() == 0


def test_an_unknown_template_is_not_found(owner: Person) -> None:
    for answer in (
        owner.browser.get("/flows/new?template=astronaut"),
        owner.browser.post("/flows/templates", data={"template": "astronaut"}),
        owner.browser.post("/flows/templates", data={}),
    ):
        assert answer.status_code == 404
        assert "There is no template with this id." in answer.text
