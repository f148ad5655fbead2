"""mypy --strict over what integrators copy (guide, README, receivers) and what types have to find (``uses.py``)."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "clients" / "python"
OPTIONS = ["--strict", "--python-version", "3.11", "--allow-untyped-decorators", "--cache-dir", ".mypy_cache/clients"]
QUIET = ["--config-file", "", "--disable-error-code", "import-not-found", "--disable-error-code", "no-untyped-def"]


def blocks(file: Path) -> list[str]:
    """The Python of a text that uses this package."""
    found = re.findall(r"```python\n(.*?)```", file.read_text(encoding="utf-8"), re.DOTALL)
    return [one for one in found if "parley" in re.findall(r"^(?:import|from) (\w+)", one, re.MULTILINE)]


def checked(*files: Path) -> str:
    """What mypy says of these files, all under names of their own."""
    command = [sys.executable, "-m", "mypy", *OPTIONS, *QUIET, *map(str, files)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={"MYPYPATH": str(PACKAGE / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_what_integrators_copy_is_typed(tmp_path):
    copied = [*blocks(PACKAGE / "README.md"), *blocks(ROOT / "docs" / "api.md")]
    assert len(copied) >= 8
    files = []
    for number, code in enumerate(copied):
        files.append(tmp_path / f"block_{number}.py")
        files[-1].write_text(code, encoding="utf-8")
    told = checked(*files, *sorted((PACKAGE / "examples").glob("*.py")))
    assert told.startswith("Success: no issues found"), told


def test_types_know_results_and_find_mistakes():
    told = checked(Path(__file__).with_name("uses.py"))
    assert told.startswith("Success: no issues found"), told
