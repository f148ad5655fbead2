"""Whole templates: they parse, they obey the content security policy, and what they show has names for everyone."""

import gzip
import re
from pathlib import Path

import jinja2
import jinja2.meta
import pytest
from flask import Flask
from jinja2 import nodes

from app.web import compress

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
STATIC = TEMPLATES.parent / "static"
ALL = sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.html"))
ENVIRONMENT = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True)

INLINE_HANDLER = re.compile(r"<[^>]*\son[a-z]+\s*=", re.IGNORECASE)
INLINE_STYLE = re.compile(r"<style|<[^>]*\sstyle\s*=", re.IGNORECASE)
SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.IGNORECASE | re.DOTALL)
COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
FORM = re.compile(r"<form[^>]*method=\"post\"[^>]*>.*?</form>", re.IGNORECASE | re.DOTALL)
FOREIGN = re.compile(r"(?:src|href)=\"(?:https?:)?//", re.IGNORECASE)


def source(name: str) -> str:
    return COMMENT.sub("", (TEMPLATES / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ALL)
def test_it_parses(name: str) -> None:
    ENVIRONMENT.parse((TEMPLATES / name).read_text(encoding="utf-8"), name)


@pytest.mark.parametrize("name", ALL)
def test_it_has_neither_inline_script_nor_style_nor_foreign_files(name: str) -> None:
    text = source(name)
    assert not INLINE_HANDLER.search(text)
    assert not INLINE_STYLE.search(text)
    assert not FOREIGN.search(text)
    for script in SCRIPT.finditer(text):
        assert "src=" in script["attributes"]
        assert script["body"].strip() == ""


@pytest.mark.parametrize("name", ALL)
def test_every_form_that_posts_carries_a_token(name: str) -> None:
    for form in FORM.findall(source(name)):
        assert "csrf" in form or "hidden_tag()" in form, form[:200]


@pytest.mark.parametrize("name", ALL)
def test_every_template_that_it_names_exists(name: str) -> None:
    tree = ENVIRONMENT.parse((TEMPLATES / name).read_text(encoding="utf-8"))
    for node in tree.find_all((nodes.Extends, nodes.Include, nodes.FromImport, nodes.Import)):
        if isinstance(node.template, nodes.Const):
            assert (TEMPLATES / node.template.value).is_file(), node.template.value
    for node in tree.find_all(nodes.FromImport):
        if isinstance(node.template, nodes.Const):
            named = ENVIRONMENT.parse(source(node.template.value))
            macros = {macro.name for macro in named.find_all(nodes.Macro)}
            macros |= {one.target.name for one in named.find_all(nodes.Assign) if isinstance(one.target, nodes.Name)}
            wanted = {one if isinstance(one, str) else one[0] for one in node.names}
            assert wanted <= macros, wanted - macros


@pytest.mark.parametrize(
    "name", [name for name in ALL if "/_" not in name and name.split("/")[0] not in {"layouts", "components"}]
)
def test_a_page_stands_in_a_layout_and_has_a_title(name: str) -> None:
    text = source(name)
    if name.startswith(("api/", "mail_outbox/")):
        return  # the API documentation and mails have a frame of their own
    assert re.search(r'\{% extends "layouts/(platform|lone|candidate)\.html" %\}', text)
    assert "{% block title %}" in text


def meanings(name: str) -> dict[str, str]:
    """Names that the top level of a template sets: imports by where they come from, the rest by the template."""
    found = {}
    for node in ENVIRONMENT.parse(source(name)).body:
        if isinstance(node, nodes.FromImport) and isinstance(node.template, nodes.Const):
            pairs = [(one, one) if isinstance(one, str) else one for one in node.names]
            found |= {alias: f"{node.template.value}: {original}" for original, alias in pairs}
        elif isinstance(node, nodes.Macro):
            found[node.name] = f"{name}: {node.name}"
        elif isinstance(node, nodes.Assign):
            targets = [node.target, *node.target.find_all(nodes.Name)]
            found |= {one.name: f"{name}: {one.name}" for one in targets if isinstance(one, nodes.Name)}
    return found


def named_in(name: str, kind: type[nodes.Extends | nodes.Include]) -> list[str]:
    found = ENVIRONMENT.parse(source(name)).find_all(kind)
    return [node.template.value for node in found if isinstance(node.template, nodes.Const)]


def hidden_from(page: str, environment: jinja2.Environment) -> set[str]:
    """Names that mean to the page, or to what it includes, something else than what its layouts put in their place."""
    layouts = named_in(page, nodes.Extends)
    for name in layouts:
        layouts += named_in(name, nodes.Extends)
    taken = {name: meaning for layout in layouts for name, meaning in meanings(layout).items()}
    own = meanings(page)
    hidden = {name for name, meaning in own.items() if taken.get(name, meaning) != meaning}
    parts = [page]
    for part in parts:
        parts += [one for one in named_in(part, nodes.Include) if one not in parts]
        wanted = jinja2.meta.find_undeclared_variables(environment.parse(source(part)))
        hidden |= (wanted - own.keys()) & taken.keys()
    return hidden


@pytest.mark.parametrize("name", [name for name in ALL if named_in(name, nodes.Extends)])
def test_no_layout_hides_a_variable_of_a_page(name: str, shared_app: Flask) -> None:
    """A layout's top level runs last, so a name there wins in every block, whatever the page was given or has set."""
    assert hidden_from(name, shared_app.jinja_env) == set()


def test_a_hidden_variable_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    written = {
        "layout": "{% macro waiting() %}{% endmacro %}{% set links = [] %}{% block content %}{% endblock %}",
        "page": "{% extends 'layout' %}{% set links = 1 %}{% block content %}{% include 'part' %}{% endblock %}",
        "part": "{{ waiting }}{{ told }}",
    }
    monkeypatch.setitem(globals(), "source", written.__getitem__)
    rendered = jinja2.Environment(loader=jinja2.DictLoader(written)).get_template("page").render(waiting="mine")
    assert "mine" not in rendered
    assert hidden_from("page", ENVIRONMENT) == {"waiting", "links"}


def test_macros_of_the_design_system_say_what_they_do() -> None:
    for name in ALL:
        if not name.startswith("components/"):
            continue
        raw = (TEMPLATES / name).read_text(encoding="utf-8")
        for macro in re.findall(r"\{% macro ([a-z]\w*)\(", raw):
            assert re.search(rf"\{{# ?(?:[\w, ()=]*\b)?{macro}\(", raw), f"{name}: {macro} has no line that explains it"


def test_the_interview_s_own_styles_and_scripts_weigh_at_most_64_kilobytes() -> None:
    """As they are sent: scripts without their comments, all compressed."""
    scripts = [*(STATIC / "js" / "voice").glob("*.js"), STATIC / "js" / "main.js", STATIC / "js" / "redirect.js"]
    styles = [STATIC / "css" / f"{name}.css" for name in ("tokens", "base", "components", "voice")]
    sent = (compress.COMMENTS.sub(b"", path.read_bytes()) for path in scripts)
    weight = sum(len(gzip.compress(file, compress.LEVEL)) for file in (*sent, *(path.read_bytes() for path in styles)))
    assert weight <= 64 * 1024, f"{weight} bytes"


def test_every_module_says_why_it_exists() -> None:
    for path in STATIC.rglob("*.js"):
        assert path.read_text(encoding="utf-8").lstrip().startswith(("//", "/*")), path.name
