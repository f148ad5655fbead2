"""How often the rules are right about a CV, and that they are never wrong about one silently."""

import re

import pytest

from app.outreach.cvs.rules import found_in
from tests.outreach.cvs.samples import RIGHT_NAMES, SAMPLES, UNSURE, Sample


def _digits(number: str | None) -> str:
    return re.sub(r"\D", "", number or "")


def _answers(sample: Sample) -> list[tuple[str, str, str]]:
    """Each answer of the rules with the right one, by kind."""
    found = found_in(sample.text)
    name = " ".join(part for part in (found.first_name, found.last_name) if part)
    right = RIGHT_NAMES.get(sample.name, sample.name)
    phone = ("phone", _digits(found.phone), _digits(sample.phone))
    return [("name", name, right), ("email", found.email or "", sample.email), phone]


def test_most_answers_are_right_and_none_is_wrong() -> None:
    answers = [(sample.name, *answer) for sample in SAMPLES for answer in _answers(sample)]
    wrong = [answer for answer in answers if answer[2] not in {"", answer[3]}]
    share = {
        kind: sum(found == right for _, of, found, right in answers if of == kind) / len(SAMPLES)
        for kind in ("email", "name", "phone")
    }
    print(f"{len(SAMPLES)} CVs: " + ", ".join(f"{kind} {100 * value:.0f}%" for kind, value in share.items()))
    print([answer for answer in answers if answer[2] != answer[3]])
    assert len(SAMPLES) >= 30
    assert wrong == []
    assert share["email"] >= 0.95
    assert share["name"] >= 0.85
    assert share["phone"] >= 0.85


@pytest.mark.parametrize("sample", UNSURE)
def test_where_more_than_one_answer_fits_there_is_none(sample: Sample) -> None:
    assert {found for _, found, _ in _answers(sample)} == {""}


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("Sabine von der Heide", "Sabine", "von der Heide"),
        ("Carlos de la Cruz", "Carlos", "de la Cruz"),
        ("Anna-Lena Müller", "Anna-Lena", "Müller"),
        ("Lucía Fernández Ruiz", "Lucía Fernández", "Ruiz"),
    ],
)
def test_a_name_is_divided_for_a_person_to_check(name: str, first: str, last: str) -> None:
    found = found_in(f"Name: {name}")
    assert (found.first_name, found.last_name) == (first, last)


def test_long_and_hostile_text_takes_no_time() -> None:
    for text in ("a@" * 50_000, "Name: " + "A " * 50_000, "+1 " * 33_000, "\n" * 100_000, "A.B@c." + "d." * 40_000):
        found_in(text)
