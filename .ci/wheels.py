"""Asks the resolver which wheels of a lock are missing, per Python and platform, and prints a table.

uv resolves for a Python and a platform other than its own, markers included, which pip's ``--python-version`` leaves as
they are. ``--write`` puts the table into docs/operations.md, where a test holds it against the lock. Needs uv and a
package index.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK, PAGE = ROOT / "requirements.lock", ROOT / "docs" / "operations.md"
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
PLATFORMS = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux arm64": "aarch64-manylinux_2_28",
    "macOS arm64": "aarch64-apple-darwin",
    "macOS x86-64": "x86_64-apple-darwin",
    "Linux x86-64, musl": "x86_64-unknown-linux-musl",
}
MACOS = "14.0"
"""The oldest macOS that the table speaks of."""
NONE = "none"
BEGINS, ENDS = "<!-- wheels of requirements.lock ", "<!-- end of wheels -->"
_PIN = re.compile(r"^[^\s#].*?(?:\\\n.*?)*$", re.MULTILINE)


class NoAnswer(Exception):
    """uv could not ask: the message is what it said."""


def pins_of(lock: str) -> list[str]:
    """Each requirement of a lock with its marker and its hashes, as text."""
    return _PIN.findall(lock)


def missing(pins: list[str], *, python: str, platform: str) -> list[str]:
    """Those of ``pins`` without a wheel there, as ``name version``. Raises NoAnswer."""
    if not pins or _has_wheels(pins, python=python, platform=platform):
        return []
    if len(pins) == 1:
        name, version = pins[0].split()[0].split("==")
        return [f"{name} {version}"]
    middle = len(pins) // 2
    halves = (pins[:middle], pins[middle:])
    return [name for half in halves for name in missing(half, python=python, platform=platform)]


def _has_wheels(pins: list[str], *, python: str, platform: str) -> bool:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as wanted:
        wanted.write("\n".join(pins))
        wanted.flush()
        where = ["--target", f"{wanted.name}.none", "--python-version", python, "--python-platform", platform]
        what = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", wanted.name]
        asked = subprocess.run(  # noqa: S603 - our own arguments
            ["uv", "pip", "install", "--dry-run", "--quiet", *where, *what],  # noqa: S607 - whichever is on the path
            env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": MACOS},
            capture_output=True,
            text=True,
            check=False,
        )
    if asked.returncode in {0, 1}:  # 1: no solution; anything else: it could not look
        return asked.returncode == 0
    raise NoAnswer(asked.stderr.strip())


def table(lock: Path) -> str:
    """The table in Markdown: for each platform the Pythons for which the same wheels are missing. Raises NoAnswer."""
    pins = pins_of(lock.read_text(encoding="utf-8"))
    places = [(name, python) for name in PLATFORMS for python in PYTHONS]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda at: missing(pins, python=at[1], platform=PLATFORMS[at[0]]), places))
    if any(len(names) == len(pins) for names in found):
        raise NoAnswer("It has no wheel of any package.")
    lines = ["| Platform | Python | Wheels that are missing |", "|---|---|---|"]
    for (name, names), group in groupby(zip(places, found, strict=True), key=lambda each: (each[0][0], each[1])):
        pythons = [python for (_, python), _ in group]
        span = pythons[0] if len(pythons) == 1 else f"{pythons[0]} to {pythons[-1]}"
        lines.append(f"| {name} | {span} | {', '.join(names) or NONE} |")
    return "\n".join(lines)


def digest(lock: Path) -> str:
    """Names the content of a lock in sixteen characters."""
    return hashlib.sha256(lock.read_bytes()).hexdigest()[:16]


def write(found: str) -> None:
    """Replace the table in docs/operations.md, with the lock's digest and today's date beside it."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    head = f"{BEGINS}{digest(LOCK)}, {datetime.now(UTC):%Y-%m-%d} -->"
    PAGE.write_text(f"{before}{head}\n{found}\n{ENDS}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lock", nargs="?", type=Path, default=LOCK)
    parser.add_argument("--write", action="store_true", help="put it into docs/operations.md")
    given = parser.parse_args()
    if shutil.which("uv") is None:
        print("The wheels were not looked up: that needs uv (pipx install uv).", file=sys.stderr)
        return 1
    try:
        found = table(LOCK if given.write else given.lock)
    except NoAnswer as error:
        print(f"The wheels were not looked up, because the package index gave no answer:\n{error}", file=sys.stderr)
        return 1
    print(found)
    if given.write:
        write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
