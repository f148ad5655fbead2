"""Messages after an action speak one vocabulary: good, info, warn, bad."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask, flash, render_template_string

APP = Path(__file__).resolve().parents[2] / "app"
TONES = {"good", "info", "warn", "bad"}


def flashes() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(APP.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "flash":
                yield f"{path.relative_to(APP)}:{node.lineno}", node


def tones(node: ast.expr) -> set[str]:
    """The strings that the expression can be; empty for a name, which its callers choose."""
    if isinstance(node, ast.IfExp):
        return tones(node.body) | tones(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) else set()


def test_every_message_has_a_tone_of_the_vocabulary() -> None:
    calls = list(flashes())
    assert len(calls) > 80
    assert not [place for place, call in calls if len(call.args) != 2 or tones(call.args[1]) - TONES]


@pytest.mark.parametrize("tone", sorted(TONES))
def test_a_message_is_shown_in_its_tone(shared_app: Flask, tone: str) -> None:
    template = '{% from "components/page.html" import flash_messages %}{{ flash_messages() }}'
    with shared_app.test_request_context("/"):
        flash("Saved.", tone)
        html = render_template_string(template)
    assert f'class="notice notice-{tone}" role="{"alert" if tone == "bad" else "status"}"' in html
