"""Only edges commit, and across rooms only the agreed shelves are imported."""

import ast
import re

from app.core.migrate import ROOMS

from .source import APP, ROOT, modules

OPEN_SHELVES = {"actions", "events", "queries", "models", "access"}
OTHER_DOORS = {
    "app.accounts.idempotency",  # belongs to the guard: an endpoint with slow work says when its answer is final
    "app.interviews.analysis.alignment",
    "app.interviews.analysis.answers",
    "app.candidates.forms",  # which candidates a form of the list names, for what others do with them
    "app.interviews.documents.queries",  # reads, like queries: of documents
    "app.interviews.schemas",  # the published input of a booking, which the lines of a list are held against
    "app.interviews.recordings.download",  # what sends a published file in parts, for other pages that show recordings
    "app.interviews.recordings.media",  # the values that recordings' actions hand out: a workshop and its files
    "app.interviews.recordings.video",  # where a run was placed on the recording's clock, a value of the same workshop
}
EDGES = {"pages", "api", "jobs"}

COMMITTING = {
    "app/accounts/access.py": "the guard writes when a key or a session was last used, before the view begins",
    "app/core/db/write_queue.py": "passes on what an edge has called, then lets the next writer in",
    "app/core/migrate.py": "migrations run outside sessions",
    "app/accounts/idempotency.py": "part of the guard: the first call of a key is on record before the view begins",
}


def _calls_commit(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "commit"
        for node in ast.walk(tree)
    )


def test_every_package_with_rows_is_a_room() -> None:
    assert {path.parent.name for path in APP.glob("*/models.py")} == set(ROOMS)


def test_commit_is_called_in_edges_only() -> None:
    for path, tree in modules():
        is_edge = {part.removesuffix(".py").split("_")[0] for part in path.parts} & (EDGES | {"cli"})
        is_edge = is_edge or str(path) in COMMITTING
        assert is_edge or not _calls_commit(tree), f"{path} commits; only pages, api, jobs and the command line may"


def test_across_rooms_only_the_agreed_shelves_are_imported() -> None:
    for path, tree in modules():
        room = path.parts[1]
        for imported in _imports(tree):
            parts = imported.split(".")
            foreign = len(parts) > 2 and parts[0] == "app" and parts[1] in ROOMS and parts[1] != room
            is_door = ".".join(parts[:3]) in OTHER_DOORS
            if foreign and room in ROOMS and not is_door:
                assert parts[2] in OPEN_SHELVES, f"{path} imports {imported}"
            if imported.startswith("app.interviews.analysis.") and room != "analysis":
                assert imported in OTHER_DOORS or is_door, f"{path} imports {imported}"


def test_every_other_door_is_used() -> None:
    used = {
        ".".join(imported.split(".")[:3])
        for path, tree in modules()
        for imported in _imports(tree)
        if imported.split(".")[1:2] != [path.parts[1]]
    }
    assert used >= OTHER_DOORS


def _imports(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def test_the_page_about_rooms_names_each_of_them() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert {path.parent.name for path in (ROOT / "app").glob("*/__init__.py")} - named == set()
