"""A release says one version everywhere, and is not built before its changelog is written."""

import hashlib
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

from .source import ROOT, ci_script

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


@pytest.fixture(scope="module")
def release() -> ModuleType:
    return ci_script("release")


def test_every_place_names_the_same_version() -> None:
    places = [*(ROOT / "docs" / "deploy").iterdir(), ROOT / "docs" / "operations.md"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in places if path.is_file()}
    named = {(name, found) for name, text in texts.items() for found in re.findall(r"\bparley:(\d[\w.]*\w)", text)}
    assert {name for name, _ in named} == {"Containerfile", "compose.yaml", "operations.md"}
    assert {found for _, found in named} == {VERSION}
    assert version("parley") == VERSION, "install Parley again: make install-dev"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# Changelog\n\n## 1.2.0 (2026-11-23)\n\n- One\n\n## 1.1.0 (2026-01-01)\n\n- Old\n", None),
        ("# Changelog\n\n## Unreleased\n\n## 1.2.0 (2026-11-23)\n\n### API\n\n- One\n", None),
        ("# Changelog\n\n## Unreleased\n\n- New\n\n## 1.2.0 (2026-11-23)\n\n- One\n", "under “Unreleased”"),
        ("# Changelog\n\n## Unreleased\n\n## 1.1.0 (2026-01-01)\n\n- Old\n", "no section “## 1.2.0 (YYYY-MM-DD)”"),
        ("# Changelog\n\n## 1.2.0\n\n- One\n", "no section “## 1.2.0 (YYYY-MM-DD)”"),
        ("# Changelog\n\n## 1.2.0 (2026-11-23)\n\n## 1.1.0 (2026-01-01)\n\n- Old\n", "is empty"),
        ("# Changelog\n\n## 1.3.0 (2026-12-01)\n\n- X\n\n## 1.2.0 (2026-11-23)\n\n- One\n", "newest section"),
    ],
)
def test_the_changelog_is_ready_or_says_what_is_missing(release: ModuleType, text: str, problem: str | None) -> None:
    found = release.changelog_problem(text, "1.2.0")
    assert found is None if problem is None else problem in found


def test_checksums_name_every_file_but_their_own(release: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"wheel")
    (tmp_path / "a.json").write_bytes(b"{}")
    (tmp_path / "SHA256SUMS").write_text("old")
    lines = [line.split("  ") for line in release.checksums(tmp_path).splitlines()]
    assert lines == [[hashlib.sha256(b"{}").hexdigest(), "a.json"], [hashlib.sha256(b"wheel").hexdigest(), "b.whl"]]
