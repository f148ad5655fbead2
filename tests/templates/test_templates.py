"""Whole templates: they parse, they obey the content security policy, and what they show has names for everyone."""

import re
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes

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
    if name.startswith("api/"):
        return  # the API documentation has a frame of its own
    assert re.search(r'\{% extends "layouts/(platform|lone|voice)\.html" %\}', text)
    assert "{% block title %}" in text


def test_macros_of_the_design_system_say_what_they_do() -> None:
    for name in ALL:
        if not name.startswith("components/"):
            continue
        raw = (TEMPLATES / name).read_text(encoding="utf-8")
        for macro in re.findall(r"\{% macro ([a-z]\w*)\(", raw):
            assert re.search(rf"\{{# ?(?:[\w, ()=]*\b)?{macro}\(", raw), f"{name}: {macro} has no line that explains it"


def test_the_interview_s_own_styles_and_scripts_weigh_at_most_160_kilobytes() -> None:
    scripts = [*(STATIC / "js" / "voice").glob("*.js"), STATIC / "js" / "main.js", STATIC / "js" / "redirect.js"]
    styles = [STATIC / "css" / f"{name}.css" for name in ("tokens", "base", "components", "voice")]
    weight = sum(path.stat().st_size for path in (*scripts, *styles))
    assert weight <= 160 * 1024, f"{weight} bytes"


def test_every_module_says_why_it_exists() -> None:
    for path in STATIC.rglob("*.js"):
        assert path.read_text(encoding="utf-8").lstrip().startswith(("//", "/*")), path.name
