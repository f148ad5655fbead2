"""Only edges commit, and across rooms only the agreed shelves are imported."""

import ast
import re

from app.core.rooms import rooms

from .source import APP, ROOT, modules

OPEN_SHELVES = {"actions", "events", "queries", "models", "access"}
OTHER_DOORS = {
    "app.accounts.idempotency",  # belongs to the guard: an endpoint with slow work says when its answer is final
    "app.accounts.key_guard",  # the same: a view says that it keeps to the scope of its key
    "app.accounts.key_scope",  # what a key may do, which every read for /v1 narrows itself to
    "app.accounts.pages.navigation",  # the pages that a member may open, which the palette finds too
    "app.candidates.decisions",  # what a move says about itself, and the rule by which its record is kept
    "app.candidates.forms",  # which candidates a form of the list names, for what others do with them
    "app.candidates.pages",  # the page of a candidate hangs on its blueprint
    "app.candidates.overall",  # the one figure of a result, which reads of rooms above show as well
    "app.flows.criteria",  # the value that results are scored with and that every page with scores shows
    "app.flows.forms",  # the form of the editor, whose background is shown as the agent may read it out
    "app.flows.forbidden_topics",  # pure rules of words, which drafts are held against too
    "app.flows.flow_script",  # the value that an interview takes along
    "app.flows.role_templates",  # the scripts to begin with, which the first steps offer
    "app.flows.length",  # how long its interviews take, as the agent and the page say it
    "app.candidates.neighbors",  # a read of the list, step by step
    "app.mail_outbox.html_part",  # a mail as it arrives, for pages that show it first
    "app.interviews.api",  # the operation that extends a link hangs on its blueprint
    "app.interviews.metadata",  # a read, for the candidate's archive
    "app.interviews.archive",  # all files of an interview as one, for recruiters and for the candidate
    "app.interviews.comparison",  # results as pages set them side by side; this and the next five are reads
    "app.interviews.distributions",
    "app.interviews.highlights",
    "app.interviews.insights",
    "app.interviews.quality",
    "app.interviews.trends",
    "app.interviews.documents.extraction",  # the separate process that reads a file, also of an advert
    "app.interviews.documents.file_types",  # which files it reads
    "app.interviews.download",  # the same, sent
    "app.interviews.pages",  # views of the review hang on its blueprint
    "app.interviews.pending",  # conditions that lists and counts share
    "app.interviews.schemas",  # the published input of a booking, which the lines of a list are held against
    "app.webhooks.schedule",  # when a receiver asks to be called again, which notices read as well
    "app.interviews.recordings.download",  # what sends a published file in parts, for other pages that show recordings
}
EDGES = {"pages", "api", "extensions", "jobs", "protocol", "preview", "cli"}

COMMITTING = {
    "app/accounts/access.py": "the guard writes when a key or a session was last used, before the view begins",
    "app/core/claims.py": "jobs on one row are run here: it commits the claim, then the outcome",
    "app/core/db/write_queue.py": "passes on what an edge has called, then lets the next writer in",
    "app/core/migrate.py": "migrations run outside sessions",
    "app/accounts/idempotency.py": "part of the guard: the first call of a key is on record before the view begins",
}


def _calls_commit(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "commit"
        for node in ast.walk(tree)
    )


def test_every_package_with_rows_declares_them() -> None:
    found = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in APP.rglob("models.py")}
    assert found == {room.tables for room in rooms().values() if room.tables}


def test_commit_is_called_in_edges_only() -> None:
    for path, tree in modules():
        is_edge = {part.removesuffix(".py") for part in path.parts} & EDGES or "cli_" in path.name
        is_edge = is_edge or str(path) in COMMITTING
        assert is_edge or not _calls_commit(tree), f"{path} commits; only pages, api, jobs and the command line may"


def test_across_rooms_only_the_agreed_shelves_are_imported() -> None:
    for path, tree in modules():
        room = _room_of(".".join(path.with_suffix("").parts))
        for imported in _imports(tree):
            other = _room_of(imported)
            if room and other and not _is_inside(room, other) and not _is_door(imported):
                shelf = imported.removeprefix(other + ".").split(".")[0]
                assert shelf in OPEN_SHELVES or shelf.isupper(), f"{path} imports {imported}"


def test_every_other_door_is_used() -> None:
    used = set()
    for path, tree in modules():
        room = _room_of(".".join(path.with_suffix("").parts))
        foreign = [one for one in _imports(tree) if (other := _room_of(one)) and not _is_inside(room, other)]
        used |= {door for door in OTHER_DOORS for one in foreign if one == door or one.startswith(door + ".")}
    assert used == OTHER_DOORS


def _room_of(dotted: str) -> str:
    """The innermost room or part that declares itself; empty for the ground, and for what runs the product."""
    if dotted.startswith("app.operations."):
        return ""
    return max((room for room in rooms() if f"{dotted}.".startswith(f"{room}.")), key=len, default="")


def _is_inside(room: str, other: str) -> bool:
    return f"{room}.".startswith(f"{other}.") or f"{other}.".startswith(f"{room}.")


def _is_door(imported: str) -> bool:
    return any(imported == door or imported.startswith(f"{door}.") for door in OTHER_DOORS)


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
    named = set(re.findall(r"`(\w+)/?`", " ".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert {path.parent.name for path in APP.glob("*/__init__.py")} <= named
