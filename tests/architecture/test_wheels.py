"""The table of Pythons and platforms in docs/operations.md belongs to the lock, and agrees with all other places."""

import re
import tomllib
from types import ModuleType

import pytest

from .source import ROOT, ci_script

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("Linux x86-64", "Linux arm64", "macOS arm64")


@pytest.fixture(scope="module")
def wheels() -> ModuleType:
    return ci_script("wheels")


def rows(wheels: ModuleType) -> dict[tuple[str, str], set[str]]:
    """By platform and Python, the wheels that are missing."""
    table = PAGE.partition(wheels.BEGINS)[2].partition(wheels.ENDS)[0]
    found = {}
    for line in table.splitlines()[3:]:
        platform, span, names = (cell.strip() for cell in line.strip("|").split("|"))
        first, _, last = span.partition(" to ")
        for minor in range(int(first[2:]), int((last or first)[2:]) + 1):
            found[platform, f"3.{minor}"] = set() if names == wheels.NONE else set(names.split(", "))
    return found


def test_the_table_is_of_this_lock(wheels: ModuleType) -> None:
    (digest, _day) = re.findall(rf"{wheels.BEGINS}(\S+), (\d{{4}}-\d\d-\d\d) -->", PAGE)[0]
    assert digest == wheels.digest(wheels.LOCK), "the lock has changed; run .ci/wheels --write"


def test_the_table_has_every_place_and_names_what_the_lock_names(wheels: ModuleType) -> None:
    found = rows(wheels)
    assert set(found) == {(platform, python) for platform in wheels.PLATFORMS for python in wheels.PYTHONS}
    pins = {pin.split()[0].replace("==", " ") for pin in wheels.pins_of(wheels.LOCK.read_text(encoding="utf-8"))}
    assert set().union(*found.values()) <= pins
    assert len(pins) > 50


def test_what_is_supported_has_all_wheels_and_is_named_everywhere(wheels: ModuleType) -> None:
    found = rows(wheels)
    assert all(not found[platform, python] for platform in PLATFORMS for python in SUPPORTED)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={SUPPORTED[0]}"
    named = [one.rpartition(" ")[2] for one in project["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert tuple(named) == SUPPORTED
    script = (ROOT / ".ci" / "venv").read_text(encoding="utf-8")
    assert tuple(re.findall(r"python(3\.\d+)", re.findall(r'else asked="(.*?)"', script)[0])) == SUPPORTED[::-1]
    assert "(3, 11) <= sys.version_info[:2] <= (3, 14)" in script
    assert "Python 3.11 to 3.14" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Python 3.11 to 3.14" in PAGE


def test_wheels_are_looked_for_in_halves_until_the_missing_ones_are_named(
    wheels: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    oars = "oars==1.0 ; python_version < '3.14' \\\n    --hash=sha256:00\n"
    pins = wheels.pins_of(f"{oars}# a comment\nsails==2.0 \\\n    --hash=sha256:11 \\\n    --hash=sha256:22\n")
    assert len(pins) == 2
    monkeypatch.setattr(wheels, "_has_wheels", lambda some, **_: not any("sails" in one for one in some))
    assert wheels.missing(pins, python="3.14", platform="linux") == ["sails 2.0"]
    monkeypatch.setattr(wheels, "_has_wheels", lambda *_, **__: False)
    monkeypatch.setattr(wheels, "PLATFORMS", {"Linux": "linux"})
    with pytest.raises(wheels.NoAnswer):
        wheels.table(wheels.LOCK)
