"""The size budgets of the house: alarms at 400 lines a module and 40 a function."""

import ast
import re

import pytest

from .source import ROOT, functions, length, modules

MODULE_ALARM = 400
FUNCTION_ALARM = 40
POSITIONAL_ALARM = 3

LONGER_MODULES: dict[str, tuple[int, str]] = {}
MORE_PARAMETERS = {
    "app/core/db/__init__.py:_on_execute": "SQLAlchemy hands its listeners six",
    "app/settings/__init__.py:var": "a setting reads as a line of a table",
}
LONGER_FUNCTIONS: dict[str, tuple[int, str]] = {
    "app/interviews/actions/lifecycle.py:book": (41, "one row with all its columns"),
    "app/review/exports/queries.py:_facts": (43, "one literal that shows the shape of an export"),
}
UNFORMATTED = 10
"""Places in the whole repository that the formatter may leave alone."""


def test_no_module_is_longer_than_the_alarm() -> None:
    for path, tree in modules():
        allowed, _reason = LONGER_MODULES.get(str(path), (MODULE_ALARM, ""))
        lines = max((node.end_lineno or 0 for node in ast.walk(tree) if hasattr(node, "end_lineno")), default=0)
        assert lines <= allowed, f"{path} has {lines} lines, {allowed} are allowed: split it by what its parts are for"


def test_no_function_is_longer_than_the_alarm() -> None:
    for path, tree in modules():
        for function in functions(tree):
            allowed, _reason = LONGER_FUNCTIONS.get(f"{path}:{function.name}", (FUNCTION_ALARM, ""))
            assert length(function) <= allowed, f"{path}:{function.name} has {length(function)} lines"


def test_exceptions_stay_below_the_last_limit_and_are_still_needed() -> None:
    assert all(limit <= 400 and reason for limit, reason in LONGER_MODULES.values())
    assert all(limit <= 80 and reason for limit, reason in LONGER_FUNCTIONS.values())


def test_functions_take_at_most_three_positional_parameters() -> None:
    too_many = []
    for path, tree in modules():
        for function in functions(tree):
            given = [a.arg for a in function.args.posonlyargs + function.args.args if a.arg not in {"self", "cls"}]
            if len(given) > POSITIONAL_ALARM and f"{path}:{function.name}" not in MORE_PARAMETERS:
                too_many.append(f"{path}:{function.name} takes {given}; make the later ones keyword-only")
    assert too_many == []


def test_every_module_says_why_it_exists() -> None:
    for path, tree in modules():
        assert ast.get_docstring(tree), f"{path} has no docstring"


@pytest.mark.parametrize("word", ["utils", "common", "manager", "service", "handler", "base", "helpers"])
def test_no_module_has_a_name_that_says_nothing(word: str) -> None:
    assert not [str(path) for path, _tree in modules() if word == path.stem]


def test_generated_cases_are_named_alike_in_every_process() -> None:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize":
                given = ast.dump(node)
                random = [name for name in ("'uuid4'", "'new_id'", "'random'", "'urandom'") if name in given]
                assert not random, (
                    f"{path.relative_to(ROOT)}:{node.lineno}: two processes would name this test differently"
                )


def test_the_formatter_lays_out_the_code() -> None:
    marks = re.compile(r"# fmt: (skip|off)")
    folders = ("app", "tests", "bench", "migrations", ".ci")
    sources = [path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert sum(len(marks.findall(source)) for source in sources) <= UNFORMATTED
