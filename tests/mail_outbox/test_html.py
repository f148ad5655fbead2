"""The HTML of mails: the words of the text, nothing that runs or tells who has read it."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from flask import Flask

from app.gateways.mail import Mail
from app.mail_outbox.html_part import html_of
from app.web.languages import LANGUAGES, RIGHT_TO_LEFT

LINK = "https://parley.example/interview/api/1/2?a=1&b=2"
MAIL = Mail(
    "ada@candidate.example",
    "Come",
    f"Hello Ada,\n\nYour link: {LINK}\n\nUntil May 1.\nBye",
    link=LINK,
    button="Start",
    sender="First Ltd",
)


class Page(HTMLParser):
    """Collects what a document shows, its tags, and its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] not in {"style", "title"}:
            self.words.append(data)

    @property
    def shown(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, name: str) -> list[str]:
        return [values[name] or "" for _, values in self.tags if name in values]


def test_the_html_has_the_words_of_the_text_and_a_button(app: Flask) -> None:
    page = Page(html_of(MAIL))
    assert page.shown == f"First Ltd Hello Ada, Your link: Start {LINK} Until May 1. Bye"
    assert page.all("href") == [LINK, LINK]
    assert [tag for tag, _ in page.tags].count("br") == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Go here:\n{LINK}\n\nBye\n", f"Go here: Start {LINK} Bye"),
        (f"{LINK}", f"Start {LINK}"),
        (f"Click {LINK} to begin.", f"Click {LINK} to begin. Start"),
        (f"At {LINK}\n\nor {LINK}", f"At Start {LINK} or {LINK}"),
        ("No link", "No link"),
        ("\n\n\n\nA\n\n\n\nB", "A B"),
    ],
)
def test_the_first_link_becomes_the_button(app: Flask, text: str, shown: str) -> None:
    assert Page(html_of(replace(MAIL, text=text))).shown == f"First Ltd {shown}"


def test_a_code_is_shown_large(app: Flask) -> None:
    page = html_of(Mail("a@e.com", "Your code", "Your code is:\n\n123\n\nBye\n", code="123"))
    assert re.search(r'<p class="code" style="[^"]*font-size: 28px[^"]*">123</p>', page)


EVIL = '"><script>alert(1)</script><img src=//e.com/x.gif onerror=a()><style>p{}</style>{{ 7*7 }}</p></html>'


@pytest.mark.parametrize("field", ["text", "subject", "sender", "button", "code"])
def test_what_people_write_is_text(app: Flask, field: str) -> None:
    value = f"Hi {EVIL}\n\n{LINK}" if field == "text" else EVIL
    page = Page(html_of(replace(MAIL, **{field: value})))
    names = [tag for tag, _ in page.tags]
    assert not {"script", "img", "link", "iframe", "form"} & set(names)
    assert names.count("style") == 1
    assert not [name for _, values in page.tags for name in values if name.startswith("on")]
    assert set(page.all("href")) == {LINK}
    if field in {"text", "sender", "button"}:
        assert " ".join(EVIL.split()) in page.shown


def test_nothing_is_loaded_but_the_logo(app: Flask) -> None:
    without, with_logo = html_of(MAIL), html_of(replace(MAIL, logo="https://parley.example/flows/1/logo"))
    assert not re.search(r"<img|url\(|@import|<link|src=|background=", without)
    page = Page(with_logo)
    assert page.all("src") == ["https://parley.example/flows/1/logo"]
    assert page.all("alt") == ["First Ltd"]


def test_styles_are_attributes_but_for_dark_mode_and_small_screens(app: Flask) -> None:
    page = html_of(MAIL)
    (kept,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert re.findall(r"@media \(([^)]*)\)", kept) == ["max-width: 480px", "prefers-color-scheme: dark"]
    assert not kept.split("@media")[0].strip()
    assert re.search(r'<a class="button" [^>]*style="[^"]*background-color: #0d655e', page)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_its_direction(app: Flask, language: str) -> None:
    direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
    page = html_of(replace(MAIL, language=language))
    assert f'<html lang="{language}" dir="{direction}">' in page
    assert not re.search(r"(left|right)\b", page), "sides follow the direction"
