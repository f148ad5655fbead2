"""What makes `make check` fail for semgrep, shown without it: no proof, no excuse, an excuse for nothing."""

import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.architecture.source import ci_script

RULE = "rules:\n  - {id: no-eval, languages: [python], severity: ERROR, message: No., pattern: eval(...)}\n"


@pytest.fixture
def checker(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ci_script("semgrep")
    monkeypatch.setattr(module, "semgrep", lambda *words: subprocess.CompletedProcess(words, 0, "", ""))
    return module


def test_every_rule_of_the_house_has_lines_that_it_finds_and_lines_that_it_leaves(checker: ModuleType) -> None:
    rules = checker.known_rules()
    assert len(rules) >= 40
    assert checker.unproved(rules) == []


@pytest.mark.parametrize(("marks", "missing"), [("", 2), ("# ruleid: no-eval", 1), ("# ok: no-eval-at-all", 2)])
def test_a_rule_without_both_fails(
    checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: str, missing: int
) -> None:
    (tmp_path / "code.yaml").write_text(RULE)
    (tmp_path / "code.py").write_text(marks)
    monkeypatch.setattr(checker, "RULES", tmp_path)
    assert len(checker.unproved(checker.known_rules())) == missing


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("eval(x)", ["no-eval"]),
        ("eval(x)  # nosemgrep: no-eval - a calculator of our own", []),
        ("# nosemgrep: no-eval - a calculator of our own\neval(x)", []),
        ("eval(x)  # nosemgrep: no-eval", ["write it as", "no-eval"]),
        ("eval(x)  # nosemgrep", ["write it as", "no-eval"]),
        ("eval(x)  # nosemgrep: no-evil - a calculator of our own", ["write it as", "no-eval"]),
        ("eval(x)\n\nprint(x)  # nosemgrep: no-eval - a calculator of our own", ["no-eval", "an excuse for nothing"]),
    ],
)
def test_a_finding_needs_an_excuse_and_an_excuse_a_finding(
    checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, wrong: list[str]
) -> None:
    (tmp_path / "code.py").write_text(line)
    monkeypatch.setattr(checker, "ROOT", tmp_path)
    at = next(number for number, text in enumerate(line.splitlines(), 1) if text.startswith("eval"))
    found: dict[str, Any] = {
        "check_id": ".ci.no-eval",
        "path": "code.py",
        "start": {"line": at},
        "extra": {"message": "No."},
    }
    told = checker.unexcused([found], {"no-eval": tmp_path / "code.yaml"}, {"code.py"})
    assert len(told) == len(wrong)
    assert all(any(word in one for one in told) for word in wrong)
