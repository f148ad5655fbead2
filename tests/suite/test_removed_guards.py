"""Every row of docs/security.md has a guard that can be removed, and a test that is named to fail without it.

That the tests do fail takes minutes: `make guards` removes each guard and runs its test.
"""

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.suite.removed_guards import GUARDS, SECURITY, Guard, table

FIGURES = "docs/figures/guards.md"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that guards are removed from, and nothing else."""
    for file in {guard.file for guard in GUARDS}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes((ROOT / file).read_bytes())
    return tmp_path


def test_every_row_of_the_security_page_has_one() -> None:
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / SECURITY).read_text(), re.MULTILINE)
    assert [row for row in rows if row != "What"] == [guard.row for guard in GUARDS]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.row)
def test_each_can_still_be_removed_and_its_test_is_there(tree: Path, guard: Guard) -> None:
    guard.apply(tree)
    ast.parse((tree / guard.file).read_text())
    assert (tree / guard.file).read_text() != (ROOT / guard.file).read_text()
    module, _, name = guard.test.partition("::")
    defined = {
        node.name for node in ast.walk(ast.parse((ROOT / module).read_text())) if isinstance(node, ast.FunctionDef)
    }
    assert name in defined


def test_code_that_has_changed_is_named(tree: Path) -> None:
    (tree / GUARDS[0].file).write_text("")
    with pytest.raises(LookupError, match="has 0 times, not 1"):
        GUARDS[0].apply(tree)


def test_the_published_table_is_this_list() -> None:
    assert table(GUARDS) in (ROOT / FIGURES).read_text(), (
        f"put the output of  python -m tests.suite.removed_guards --table  into {FIGURES}"
    )
