"""The floor plan: few rooms, which only look down, and one habit inside of them (docs/architecture.md)."""

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache

from .source import APP, ROOT, modules

MOST_NAMES = 18
MOST_FLOORS = 10
MOST_CONTRACT_LINES = 20
MOST_SHELVES = 10


def test_few_names_stand_directly_under_app() -> None:
    names = {path.name for path in APP.iterdir() if path.name not in {"__init__.py", "__pycache__"}}
    assert len(names) <= MOST_NAMES, sorted(names)


def test_a_room_stands_above_all_that_it_imports_also_for_types() -> None:
    floors: dict[str, int] = {}
    below = _imports_between_rooms()

    def floor(room: str, above: tuple[str, ...] = ()) -> int:
        assert room not in above, f"a circle: {' -> '.join((*above, room))}"
        if room not in floors:
            floors[room] = 1 + max((floor(other, (*above, room)) for other in below[room]), default=0)
        return floors[room]

    assert max(floor(room) for room in sorted(below)) <= MOST_FLOORS, floors


def test_the_contracts_of_rooms_and_shelves_stay_short() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    assert not settings.get("exclude_type_checking_imports")
    rooms, shelves = (contract["layers"] for contract in settings["contracts"] if contract["type"] == "layers")
    assert len(rooms) <= MOST_CONTRACT_LINES
    assert len(shelves) <= MOST_SHELVES


def test_rooms_have_packages_instead_of_prefixes() -> None:
    prefixed = re.compile(r"^(pages|api|jobs)_|_more$")
    assert not [path for path, _tree in modules() if prefixed.search(path.stem)]


@cache
def _imports_between_rooms() -> dict[str, set[str]]:
    """For each name under ``app``, the other names whose modules it imports, at any place in a module."""
    found: dict[str, set[str]] = defaultdict(set)
    for path, tree in modules():
        if len(path.parts) == 2:
            continue  # app/__init__.py puts the rooms together
        room = path.parts[1]
        found[room] |= {other for other in map(_room_in, _imported(tree)) if other not in {"", room}}
        for other in found[room].copy():
            found[other] |= set()
    return found


def _imported(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def _room_in(dotted: str) -> str:
    parts = dotted.split(".")
    is_room = parts[0] == "app" and len(parts) > 1 and (APP / parts[1]).is_dir()
    return parts[1] if is_room else ""
