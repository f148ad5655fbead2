"""What mails say, and what may be filled into them."""

import re

import pytest
from flask import Flask
from flask_babel import force_locale

from app.core.errors import Rejected
from app.outreach.models import Step
from app.outreach.words import PLACES, Words, checked, default_words, filled
from app.web.languages import LOCALES

VALUES = {"name": "Ada", "organization": "First Ltd", "title": "Nurse", "link": "https://p.example/x", "until": "May 1"}


@pytest.mark.parametrize("language", sorted(LOCALES))
@pytest.mark.parametrize("step", list(Step))
def test_the_products_words_are_whole_in_every_language(app: Flask, language: str, step: Step) -> None:
    with force_locale(LOCALES[language]):
        words = default_words(step)
    assert checked(words.subject, words.text) == words
    full = filled(words, VALUES)
    assert VALUES["link"] in full.text
    assert "{" not in full.subject + full.text
    assert VALUES["until"] in full.text


def test_an_unknown_name_leaves_no_gap() -> None:
    words = Words("Dear {name}: {title}", "Hello {name},\n\n{link}")
    assert filled(words, {**VALUES, "name": ""}) == Words("Dear: Nurse", "Hello,\n\nhttps://p.example/x")
    assert filled(words, VALUES).text.startswith("Hello Ada,")


@pytest.mark.parametrize("language", sorted(LOCALES))
def test_an_unknown_name_leaves_a_whole_greeting_in_every_language(app: Flask, language: str) -> None:
    with force_locale(LOCALES[language]):
        words = default_words(Step.INVITATION)
    with_name, without = filled(words, VALUES).text, filled(words, {**VALUES, "name": ""}).text
    greeting = with_name.partition("\n")[0]
    assert VALUES["name"] in greeting
    shorter = without.partition("\n")[0]
    assert shorter.strip()
    assert not re.search(r"\s$|[\s,.:!،。，]{2,}|さん|님|คุณ", shorter), shorter
    assert without.partition("\n")[2] == with_name.partition("\n")[2]


def test_what_is_filled_in_is_not_read_again() -> None:
    assert filled(Words("x", "{name} {link}"), {**VALUES, "name": "{link}"}).text == "{link} https://p.example/x"


def test_a_title_of_several_lines_makes_no_second_header() -> None:
    assert "\n" not in filled(Words("{title}", "{link}"), {**VALUES, "title": "Nurse\r\nBcc: x@e.com"}).subject


@pytest.mark.parametrize(
    ("subject", "text", "field", "words"),
    [
        ("", "{link}", "subject", "empty"),
        ("Hi", " ", "text", "empty"),
        ("Hi", "Come here", "text", "Add {link}"),
        ("Hi {salary}", "{link}", "subject", "{salary}"),
        ("Hi", "{link} {}", "text", "{}"),
        ("x" * 201, "{link}", "subject", "201"),
        ("Hi", "{link}" + "x" * 5000, "text", "5006"),
    ],
)
def test_words_that_cannot_be_kept(subject: str, text: str, field: str, words: str) -> None:
    with pytest.raises(Rejected) as refused:
        checked(subject, text)
    assert refused.value.field == field
    assert words in refused.value.message


def test_every_place_is_explained() -> None:
    assert set(PLACES) == set(VALUES)
