"""A flow's own criteria in its form: added, arranged, checked, kept in versions, and copied with the flow."""

import html
import re
from typing import Any

import pytest

from app.accounts.models import AuditEntry
from app.core.db import db
from app.flows.criteria import Criterion, Scale
from app.flows.library.models import FlowTemplate
from app.flows.models import FlowCriteria, InterviewFlow
from app.flows.overrules import field_of
from app.flows.queries import criteria_of
from tests.factories import Made
from tests.flows.test_pages import _typed
from tests.people import Person


def row(place: int, name: str, good: str = "", **values: Any) -> dict[str, Any]:
    """What a browser sends for one criterion."""
    given = {"name": name, "good": good, "weight": "1", "scale": "points", **values}
    return {f"criteria-{place}-{field}": value for field, value in given.items()}


def _flow() -> InterviewFlow:
    return db.session.query(InterviewFlow).one()


def _names(page: str) -> list[str]:
    return re.findall(r'id="criteria-\d+-name"[^>]*value="([^"]*)"', html.unescape(page))


def _saved(person: Person, *rows: dict[str, Any], at: str = "/flows/new", **values: Any) -> Any:
    data = _typed(person, **values)
    for one in rows:
        data |= one
    return person.browser.post(at, data=data)


def test_criteria_are_saved_in_their_order_and_shown(colleague: Person) -> None:
    first = row(0, " Safe   habits ", "Checks twice.", weight="3", scale="yes_no", must_have="y")
    saved = _saved(colleague, first, row(1, "", ""), row(2, "Pace", weight="0", scale="percent"))
    assert saved.status_code == 303
    flow = _flow()
    assert criteria_of(flow) == (
        Criterion(name="Safe habits", good="Checks twice.", weight=3, scale=Scale.YES_NO, must_have=True),
        Criterion(name="Pace", weight=0, scale=Scale.PERCENT),
    )
    page = html.unescape(colleague.browser.get(f"/flows/{flow.id}").text)
    assert "Version 1." in page
    assert "Checks twice." in page
    assert "Weight 0 (shown, not counted) · Percent" in page
    assert page.count("Must-have") == 1
    assert _names(colleague.browser.get(f"/flows/{flow.id}/edit").text) == ["Safe habits", "Pace"]


def test_a_change_makes_a_version_and_the_older_one_stays(colleague: Person) -> None:
    _saved(colleague, row(0, "Pace"))
    flow, edit = _flow(), f"/flows/{_flow().id}/edit"
    _saved(colleague, row(0, "Pace"), at=edit, title="Other")
    assert db.session.query(FlowCriteria).count() == 1
    _saved(colleague, row(0, "Pace", weight="2"), at=edit)
    _saved(colleague, at=edit)
    assert criteria_of(flow) == ()
    _saved(colleague, row(0, "Care"), at=edit)
    kept = db.session.query(FlowCriteria).order_by(FlowCriteria.number).all()
    assert [(one.number, one.items[0].name, one.items[0].weight) for one in kept] == [
        (1, "Pace", 1),
        (2, "Pace", 2),
        (3, "Care", 1),
    ]
    db.session.refresh(flow)
    assert flow.criteria_number == 3
    changed = db.session.query(AuditEntry).filter_by(action="flow.changed").order_by(AuditEntry.number)
    assert [one.details["fields"] for one in changed] == [["title"], ["criteria", "title"], ["criteria"], ["criteria"]]


def test_buttons_arrange_criteria_without_saving(colleague: Person) -> None:
    def press(button: str, *rows: dict[str, Any]) -> str:
        page = _saved(colleague, *rows, criterion=button)
        assert page.status_code == 200
        return html.unescape(page.text)

    two = (row(0, "One", "a"), row(1, "Two", "b", must_have="y"))
    assert _names(press("up 1", *two)) == ["Two", "One"]
    assert _names(press("down 0", *two)) == ["Two", "One"]
    page = press("remove 0", *two)
    assert _names(page) == ["Two"]
    assert 'id="criteria-0-must_have" name="criteria-0-must_have" type="checkbox" value="y"' in page.replace(
        "checked ", ""
    )
    assert "Criterion 1 was removed. The flow is not saved yet." in page
    assert _names(press("add", *two)) == ["One", "Two", ""]
    for nonsense in ("up 0", "down 1", "remove 9", "up x", "", "sideways 1", f"up {9**99}"):
        assert "The criteria were not changed." in press(nonsense, *two)
    assert db.session.query(InterviewFlow).count() == 0


def test_no_more_than_ten(colleague: Person) -> None:
    ten = [row(n, f"Criterion {n}") for n in range(10)]
    eleven = _saved(colleague, *ten, row(10, "Another"))
    assert eleven.status_code == 422
    assert "A flow can have at most 10 criteria." in eleven.text
    assert "A flow can have at most 10 criteria." in _saved(colleague, *ten, criterion="add").text
    assert _saved(colleague, *ten).status_code == 303
    assert len(criteria_of(_flow())) == 10


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            (row(0, "Pace"), row(1, ""), row(2, "  PACE ")),
            "Criterion 3, Name: There is another criterion called “PACE”.",
        ),
        ((row(0, "x" * 5_000),), "Criterion 1, Name: Longer than 80 characters."),
        ((row(0, "Pace", "x" * 501),), "Criterion 1, What good looks like: Longer than 500 characters."),
        ((row(0, "", "Only what is good"),), "Criterion 1, Name: Must not be blank."),
        ((row(0, "Pace", weight="11"),), "Criterion 1, Weight: Must be from 0 to 10."),
        ((row(0, "Pace", weight="heavy"),), "Criterion 1, Weight: Must be a whole number from 0 to 10."),
        ((row(0, "Pace", scale="stars"),), "Criterion 1, Shown as: Must be one of: points, percent, yes_no."),
        ((row(0, "Pa\x00ce"),), "Criterion 1, Name: Must not contain the NUL character."),
    ],
)
def test_what_is_wrong_is_said_with_the_field_and_nothing_is_saved(
    colleague: Person, rows: tuple[dict[str, Any], ...], words: str
) -> None:
    page = _saved(colleague, *rows)
    assert page.status_code == 422
    assert words in html.unescape(page.text)
    assert db.session.query(InterviewFlow).count() == 0


def test_a_criterion_about_a_forbidden_topic_needs_a_reason(colleague: Person) -> None:
    criterion = row(0, "Family", "Do you have children?")
    page = _saved(colleague, criterion)
    text = html.unescape(page.text)
    assert page.status_code == 422
    assert "“Family: Do you have children?” asks about family and marital status. Change the criterion, or give" in text
    reason = field_of("Family: Do you have children?")
    assert f'name="{reason}"' in text
    assert _saved(colleague, criterion, **{reason: "It is a foster home."}).status_code == 303
    assert "Reason: It is a foster home." in colleague.browser.get(f"/flows/{_flow().id}").text
    (entry,) = db.session.query(AuditEntry).filter_by(action="flow.topic_overruled")
    assert entry.details == {"criterion": 1, "topics": ["family and marital status"]}


def test_they_are_copied_with_the_flow(colleague: Person) -> None:
    _saved(colleague, row(0, "Pace"), row(1, "Care"))
    assert colleague.browser.post(f"/flows/{_flow().id}/duplicate").status_code == 303
    one, other = db.session.query(InterviewFlow).all()
    assert criteria_of(one) == criteria_of(other) != ()
    assert db.session.query(FlowCriteria).count() == 2


def test_a_template_of_the_organization_keeps_them(colleague: Person) -> None:
    _saved(colleague, row(0, "Pace", "Steady.", weight="3"), row(1, "Care", scale="yes_no"))
    flow = _flow()
    criteria = criteria_of(flow)
    colleague.browser.post(f"/flows/{flow.id}/template", data={"name": "Nurse"})
    _saved(colleague, at=f"/flows/{flow.id}/edit")
    template = db.session.query(FlowTemplate).one()
    assert _names(colleague.browser.get(f"/flows/new?template={template.id}").text) == ["Pace", "Care"]
    assert colleague.browser.post("/flows/templates", data={"template": template.id}).status_code == 303
    made = db.session.query(InterviewFlow).filter(InterviewFlow.id != flow.id).one()
    assert (criteria_of(made), made.criteria_number) == (criteria, 1)
    template.values = {name: value for name, value in template.values.items() if name != "criteria"}
    db.session.commit()
    assert _names(colleague.browser.get(f"/flows/new?template={template.id}").text) == []


def test_weights_of_zero_alone_are_said_to_make_no_overall_score(colleague: Person) -> None:
    _saved(colleague, row(0, "Pace", weight="0"))
    for page in (f"/flows/{_flow().id}", f"/flows/{_flow().id}/edit"):
        assert "Every criterion has weight 0, so results of this flow have no overall score." in html.unescape(
            colleague.browser.get(page).text
        )


def test_the_api_neither_shows_nor_takes_them(owner: Person, make_flow: Made) -> None:
    bare = owner.api("GET", f"/v1/interview-flows/{make_flow(title='A').id}").json
    _saved(owner, row(0, "Pace"), title="A", org_name="First Ltd")
    flow = db.session.query(InterviewFlow).filter(InterviewFlow.criteria_number.is_not(None)).one()
    with_criteria = owner.api("GET", f"/v1/interview-flows/{flow.id}")
    assert isinstance(bare, dict)
    assert isinstance(with_criteria.json, dict)
    assert with_criteria.json.keys() == bare.keys()
    assert b"Pace" not in with_criteria.data
    body = {"org_name": "a", "title": "b", "questions": [], "criteria": []}
    assert owner.api("POST", "/v1/interview-flows", json=body).status_code == 422


@pytest.mark.parametrize(
    ("scale", "value", "shown"),
    [
        (Scale.POINTS, 3.5, "3.5"),
        (Scale.PERCENT, 3.5, "70%"),
        (Scale.PERCENT, 0.0, "0%"),
        (Scale.YES_NO, 5.0, "Yes"),
        (Scale.YES_NO, 2.4, "No"),
    ],
)
def test_values_are_shown_on_the_scale(scale: Scale, value: float, shown: str) -> None:
    assert Criterion(name="Pace", scale=scale).shown(value) == shown
