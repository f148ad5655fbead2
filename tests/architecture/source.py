"""Reads the source of the product for tests about the whole of it."""

import ast
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app"
CI = ROOT / ".ci"


@cache
def modules() -> tuple[tuple[Path, ast.Module], ...]:
    """Every module of the product, parsed once per process."""
    return tuple(
        (path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(APP.rglob("*.py"))
    )


def ci_script(name: str) -> ModuleType:
    """The script ``.ci/NAME.py``, loaded again at each call: a test may replace its names."""
    spec = importlib.util.spec_from_file_location(f"ci_{name}", CI / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a module, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
