"""The reasons for decisions: an organization's own list, edited by administrators."""

from typing import Any

import pytest

from app.candidates import reasons
from app.candidates.models import DECIDING, Meaning
from app.core.db import db
from tests.people import Person


def labels(owner: Person, meaning: Meaning = Meaning.REJECTED) -> list[str]:
    db.session.expire_all()
    return [one.label for one in reasons.reasons_for(owner.organization, meaning)]


def code_of(owner: Person, label: str) -> str:
    return next(one.code for one in reasons.reasons_of(owner.organization) if one.label == label)


def post(owner: Person, path: str, **data: str) -> Any:
    return owner.browser.post(f"/candidates/reasons{path}", data=data)


def test_every_organization_starts_with_reasons_that_fit_a_digit(owner: Person) -> None:
    for meaning in DECIDING:
        assert 3 <= len(labels(owner, meaning)) <= reasons.MOST_REASONS
        assert labels(owner, meaning)[-1] == "Other"
    codes = [one.code for one in reasons.reasons_of(owner.organization)]
    assert len(set(codes)) == len(codes)


def test_reasons_are_added_renamed_ordered_and_removed(owner: Person, outsider: Person) -> None:
    assert post(owner, "", meaning="rejected", label="  No   night shifts ").status_code == 303
    assert labels(owner)[-2:] == ["Other", "No night shifts"]
    code = code_of(owner, "No night shifts")
    assert post(owner, f"/{code}/shift", to="up").status_code == 303
    assert labels(owner)[-2:] == ["No night shifts", "Other"]
    assert post(owner, f"/{code}/rename", label="Night shifts not possible").status_code == 303
    assert code_of(owner, "Night shifts not possible") == code, "the code stays"
    assert post(owner, "/skills/remove").status_code == 303
    assert "Skills do not match the role" not in labels(owner)
    assert labels(owner, Meaning.ACCEPTED) == labels(outsider, Meaning.ACCEPTED)
    assert "Skills do not match the role" in labels(outsider)


@pytest.mark.parametrize(
    ("path", "data", "says"),
    [
        ("", {"meaning": "rejected", "label": " "}, "Enter the reason."),
        ("", {"meaning": "rejected", "label": "x" * 101}, "The maximum is 100."),
        ("", {"meaning": "rejected", "label": "role FILLED"}, "already exists."),
        ("", {"meaning": "open", "label": "New"}, "Choose the decision that the reason is for."),
        ("", {"meaning": "", "label": "New"}, "Choose the decision that the reason is for."),
        ("/skills/rename", {"label": "Other"}, "already exists."),
        ("/skills/rename", {"label": "a\x00b"}, ""),
    ],
)
def test_what_is_no_reason_is_refused(owner: Person, path: str, data: dict[str, str], says: str) -> None:
    before = labels(owner)
    answer = post(owner, path, **data)
    assert (answer.status_code, says in answer.text) == (422, True)
    assert labels(owner) == before


def test_a_refused_text_stays_in_its_field(owner: Person) -> None:
    added = post(owner, "", meaning="rejected", label="role FILLED")
    assert 'id="add-rejected" name="label" value="role FILLED"' in added.text
    assert added.text.count('value="role FILLED"') == 1
    renamed = post(owner, "/skills/rename", label="OTHER")
    assert renamed.text.count('value="OTHER"') == 1
    assert 'value="Skills do not match the role"' not in renamed.text


def test_the_last_reason_stays_and_an_unknown_one_is_not_found(owner: Person) -> None:
    for name in labels(owner)[:-1]:
        assert post(owner, f"/{code_of(owner, name)}/remove").status_code == 303
    last = post(owner, "/other/remove")
    assert (last.status_code, "Keep at least one reason" in last.text) == (422, True)
    for path in ("rename", "shift", "remove"):
        assert post(owner, f"/nonsense/{path}", label="New").status_code == 404


def test_a_reason_of_another_organization_cannot_be_changed(owner: Person, outsider: Person) -> None:
    post(outsider, "", meaning="rejected", label="Theirs")
    code = code_of(outsider, "Theirs")
    for path in ("rename", "shift", "remove"):
        assert post(owner, f"/{code}/{path}", label="Mine").status_code == 404
    assert "Theirs" in labels(outsider)


def test_a_reason_can_be_required_and_made_optional_again(owner: Person) -> None:
    assert post(owner, "/require", required="yes").status_code == 303
    assert 'value="yes" checked' in owner.browser.get("/candidates/reasons").text
    assert reasons.requires_reason(owner.organization)
    assert post(owner, "/require").status_code == 303
    db.session.expire_all()
    assert not reasons.requires_reason(owner.organization)
    assert 'value="yes" checked' not in owner.browser.get("/candidates/reasons").text
