"""Habits that keep holes from coming back, read from the source: each rule names the module that may do it.

What follows values, or asks where a line stands, is read by semgrep in ``make check`` (``.ci/semgrep``).
"""

import ast
import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("sources")
ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "app").rglob("*.py"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))

Test = Callable[[ast.AST], bool]


@functools.lru_cache(maxsize=1)
def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _keywords(node: ast.AST) -> dict[str, str]:
    return {one.arg or "": ast.unparse(one.value) for one in node.keywords} if isinstance(node, ast.Call) else {}


def _imports(*modules: str) -> Test:
    def found(node: ast.AST) -> bool:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        return any(name == module or name.startswith(f"{module}.") for name in names for module in modules)

    return found


def _calls(*names: str) -> Test:
    return lambda node: _called(node) in names


def _raw_sql(node: ast.AST) -> bool:
    """Text that is put together at run time and given to the database."""
    if _called(node).rsplit(".", 1)[-1] not in {"text", "exec_driver_sql"} or not isinstance(node, ast.Call):
        return False
    return bool(node.args) and not isinstance(node.args[0], ast.Constant) and not _is_choice_of_texts(node.args[0])


def _is_choice_of_texts(node: ast.AST) -> bool:
    return isinstance(node, ast.IfExp) and all(isinstance(one, ast.Constant) for one in (node.body, node.orelse))


def _runs_a_shell(node: ast.AST) -> bool:
    return _keywords(node).get("shell") == "True" or _called(node) in {"os.system", "os.popen"}


def _parses_xml(node: ast.AST) -> bool:
    """Python's own parsers within reach: a module of ``xml``, or more of it than names of handlers and errors."""
    if isinstance(node, ast.Import):
        return _imports("xml", "lxml")(node)
    if not isinstance(node, ast.ImportFrom) or node.level or not _imports("xml", "lxml")(node):
        return False
    return node.module != "xml.sax" or not {alias.name for alias in node.names} <= {"ContentHandler", "SAXException"}


JITTER = frozenset(
    {
        "app/operations/processes/worker.py",
        "app/operations/processes/rows.py",
        "app/webhooks/schedule.py",
        "app/webhooks/actions/results.py",
        "app/web/retry_on_deadlock.py",
    }
)
"""Pauses that are spread by chance guard nothing."""

REQUEST_IDS = frozenset({"app/core/request_id.py"})
"""An id by which log lines are found opens nothing."""

PLAIN_ONLY = frozenset({"app/gateways/speech/engines/exchange.py"})
"""What engines send is read by an unpickler that refuses every class."""

RULES: dict[str, tuple[Test, frozenset[str]]] = {
    # What is forbidden, and the files that may do it because it is their task.
    "a shell": (_runs_a_shell, frozenset()),
    "code from text": (_calls("eval", "exec", "compile", "__import__"), frozenset()),
    "code from bytes": (_imports("pickle", "marshal", "shelve", "dill", "yaml"), PLAIN_ONLY),
    "XML without its guard": (_parses_xml, frozenset()),
    "templates from text": (_calls("render_template_string", "Template", "Environment.from_string"), frozenset()),
    "marking text as safe": (_calls("Markup", "markupsafe.Markup"), frozenset({"app/web/templating.py"})),
    "numbers that can be guessed for secrets": (_imports("random"), JITTER | REQUEST_IDS),
    "certificates unchecked": (
        lambda node: (
            _keywords(node).get("verify") == "False"
            or _called(node) in {"ssl._create_unverified_context", "ssl._create_stdlib_context"}
        ),
        frozenset(),
    ),
    # One of two tables, and numbered places: SQLAlchemy would compile an INSERT of several rows each time.
    # And LOCK TABLE, which it does not know.
    "SQL put together": (
        _raw_sql,
        frozenset({"app/core/db/commit_order.py", "app/interviews/actions/list_counters.py"}),
    ),
}


@functools.cache
def _offences() -> dict[str, list[tuple[str, int]]]:
    """Where what is found: every source is read once, for all rules."""
    found: dict[str, list[tuple[str, int]]] = {rule: [] for rule in RULES}
    for path in SOURCES:
        name = str(path.relative_to(ROOT))
        if name.startswith("app/operations/demo/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            for what, (test, _may) in RULES.items():
                if test(node):
                    found[what].append((name, getattr(node, "lineno", 0)))
    return found


@pytest.mark.parametrize("rule", RULES)
def test_the_code_does_without(rule: str) -> None:
    _test, may = RULES[rule]
    offences = [(name, line) for name, line in _offences()[rule] if name not in may]
    assert offences == []


def test_templates_never_switch_escaping_off() -> None:
    """Only a text that stands in the template itself is safe as it is, and the icons, which stand there too."""
    for path in TEMPLATES:
        text = path.read_text()
        marked = re.findall(r"(\S)\s*\|\s*safe\b", text)
        assert set(marked) <= {'"'} or path.name == "icons.html", path
        assert "autoescape false" not in text, path


def test_every_form_that_posts_carries_its_token() -> None:
    for path in TEMPLATES:
        text = path.read_text()
        forms = text.lower().count('method="post"')
        tokens = text.count("csrf(") + text.count("csrf_token") + text.count("hidden_tag()")
        assert tokens >= forms or "components" in path.parts, path
