"""The macros of the design system, rendered: labels, descriptions and errors are tied to their fields."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask, render_template_string
from flask_wtf import FlaskForm
from wtforms import BooleanField, RadioField, SelectField, StringField, TextAreaField
from wtforms.validators import DataRequired

FORMS = '{% from "components/forms.html" import field, fields, error_summary, text_input %}'


class Sample(FlaskForm):
    title = StringField("Title", [DataRequired()], description="What candidates see.")
    note = TextAreaField("Note")
    language = SelectField("Language", choices=["en-US"])
    kind = RadioField("Kind", choices=["first", "second"])
    video = BooleanField("Record video", description="Needs a camera.")


@pytest.fixture
def render(shared_app: Flask) -> Any:
    def rendered(template: str, **values: Any) -> str:
        with shared_app.test_request_context("/flows?status=open&offset=20", method="POST"):
            form = Sample(meta={"csrf": False})
            return render_template_string(template, form=form, **values)

    return rendered


def test_a_field_has_its_label_help_and_mark_of_being_optional(render: Any) -> None:
    html = render(FORMS + '{{ fields(form, ["title", "note", "language"]) }}')
    assert '<label for="title">Title</label>' in html
    assert 'aria-describedby="title-help"' in html
    assert '<p class="help" id="title-help">What candidates see.</p>' in html
    assert re.search(r'<label for="note">Note <span class="optional">\(optional\)</span>', html)
    assert '<label for="language">Language</label>' in html


def test_an_error_is_tied_to_its_field_and_listed_on_top(render: Any) -> None:
    html = render(FORMS + "{% set ok = form.validate() %}{{ error_summary(form) }}{{ field(form.title) }}")
    assert '<a href="#title">Title</a>: This field is required.' in html
    assert 'aria-describedby="title-help title-error"' in html
    assert 'aria-invalid="true"' in html
    assert 'id="title-error"' in html


def test_tick_boxes_and_choices_have_labels_of_their_own(render: Any) -> None:
    html = render(FORMS + "{{ field(form.video) }}{{ field(form.kind) }}")
    assert '<label for="video">Record video</label>' in html
    assert "<legend>Kind</legend>" in html
    assert html.count('type="radio"') == 2
    for identity in re.findall(r'<input id="(kind-\d)"', html):
        assert f'<label for="{identity}">' in html


def test_what_is_shown_is_escaped(render: Any) -> None:
    html = render(
        '{% from "components/page.html" import page_header, facts, copy_field %}'
        '{% from "components/badges.html" import badge %}'
        '{{ page_header(x) }}{{ facts([("Label", x)]) }}{{ copy_field("i", "L", x) }}{{ badge(x) }}',
        x='<img src=x onerror="alert(1)">',
    )
    assert "<img" not in html
    assert html.count("&lt;img") == 4


def test_a_missing_score_is_never_zero(render: Any) -> None:
    html = render(
        '{% from "components/page.html" import score %}{{ score("Skills", none) }}{{ score("Grammar", 0.0) }}'
    )
    assert "Not assessed" in html
    assert html.count("<meter") == 1
    assert "0.0" in html


def test_the_pager_keeps_the_filters(shared_app: Flask) -> None:
    template = '{% from "components/pager.html" import pager %}{{ pager(20, 20, 50, things="flows") }}'
    with shared_app.test_request_context("/flows?status=open&offset=20"):
        html = render_template_string(template)
    assert "21–40 of 50 flows" in html
    links = re.findall(r'rel="(\w+)" href="([^"]+)"', html)
    assert [rel for rel, _ in links] == ["prev", "next"]
    assert all("status=open" in address for _, address in links)
    assert "offset=40" in links[1][1]


def test_the_pager_keeps_a_filter_that_is_given_twice_and_any_name(shared_app: Flask) -> None:
    template = '{% from "components/pager.html" import pager %}{{ pager(20, 20, 50, things="flows") }}'
    with shared_app.test_request_context("/flows?status=open&status=closed&endpoint=x&_method=y&q=%22a%26b&offset=20"):
        html = render_template_string(template)
    (address,) = re.findall(r'rel="next" href="([^"]+)"', html)
    assert parse_qs(urlsplit(unescape(address)).query) == {
        "status": ["open", "closed"],
        "endpoint": ["x"],
        "_method": ["y"],
        "q": ['"a&b'],
        "offset": ["40"],
    }


@pytest.mark.parametrize(
    ("things", "one"), [("deliveries", "1 delivery<"), ("flows", "1 flow<"), ("entries", "1 entry<")]
)
def test_one_thing_is_counted_in_the_singular(render: Any, things: str, one: str) -> None:
    template = '{% from "components/pager.html" import pager %}{{ pager(0, 20, total=1, things=things) }}'
    assert one in render(template, things=things)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("20, 20, total=21", "21 of 21 flows"),
        ("20, 20, total=22", "21–22 of 22 flows"),
        ("20, 20, shown=20", "Flows 21–40"),
        ("20, 20, shown=1", "Flow 21"),
    ],
)
def test_the_pager_says_which_rows_a_page_has(shared_app: Flask, given: str, said: str) -> None:
    template = '{% from "components/pager.html" import pager %}{{ pager(' + given + ', things="flows") }}'
    with shared_app.test_request_context("/flows?offset=20"):
        html = render_template_string(template)
    assert f"<p> {said} </p>" in " ".join(html.split())


def test_a_confirmation_posts_with_a_token_only_after_a_second_press(render: Any) -> None:
    html = render(
        '{% from "components/dialogs.html" import confirm %}'
        '{{ confirm("x", "Delete…", "Delete it?", "For good.", "/go", "Delete", fields={"id": 7}) }}'
    )
    assert 'popovertarget="x"' in html
    assert 'aria-labelledby="x-title"' in html
    assert 'name="csrf_token"' in html
    assert '<input type="hidden" name="id" value="7">' in html
    assert html.count('type="submit"') == 1
