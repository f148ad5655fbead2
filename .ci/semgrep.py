"""Reads the code with the rules of .ci/semgrep, after showing that every rule can fail.

A rule lies in ``<theme>.yaml``; ``<theme>.py``, ``.js`` or ``.html`` beside it holds what it has to find (``ruleid:``)
and what it has to leave alone (``ok:``). A line that is fine as it is says why, on itself or the line before:
``nosemgrep: <rule> - <reason>``; one that excuses nothing fails too. Everything is local: no account, no network.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
RULES = ROOT / ".ci" / "semgrep"
PROGRAM = ROOT / ".venv" / "semgrep" / "bin" / "semgrep"
TARGETS = {"app": ".py", "migrations": ".py", "static/js": ".js", "templates": ".html"}
_EXCUSE = re.compile(r"nosemgrep: (?P<rules>[a-z-]+(?:, [a-z-]+)*) - (?P<reason>\S.{9,})")


def semgrep(*words: str) -> "subprocess.CompletedProcess[str]":
    """Semgrep without its network: ``--experimental`` is the program inside its wheel, which needs no other package."""
    home = {"PATH": os.environ["PATH"], "HOME": str(PROGRAM.parents[1])}
    env = {**home, "SEMGREP_SEND_METRICS": "off", "SEMGREP_ENABLE_VERSION_CHECK": "0"}
    command = [str(PROGRAM), *words, "--experimental"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - our words


def known_rules() -> dict[str, Path]:
    """Every rule, and its file."""
    return {
        rule["id"]: path
        for path in sorted(RULES.glob("*.yaml"))
        for rule in yaml.safe_load(path.read_text(encoding="utf-8"))["rules"]
    }


def unproved(rules: dict[str, Path]) -> list[str]:
    """Rules without a line that they find, or without one that they leave alone."""
    missing = []
    for rule, path in rules.items():
        beside = [other for other in RULES.glob(f"{path.stem}.*") if other != path]
        marks = "\n".join(other.read_text(encoding="utf-8") for other in beside)
        missing += [
            f"{path.name}: {rule} has no example marked {mark}: beside it"
            for mark in ("ruleid", "ok")
            if not re.search(rf"\b{mark}: ([a-z-]+, )*{rule}\b(?!-)", marks)
        ]
    proved = semgrep("test", str(RULES))
    return missing + ([proved.stdout + proved.stderr] if proved.returncode else [])


def unexcused(findings: list[dict[str, Any]], rules: dict[str, Path], files: set[str]) -> list[str]:
    """Findings without an excuse, excuses that are none, and excuses for nothing."""
    wrong, used = [], set()
    excuses = {(name, number): words for name in sorted(files) for number, words in _excuses(name, rules, wrong)}
    for one in findings:
        rule, name, line = one["check_id"].rpartition(".")[2], one["path"], one["start"]["line"]
        places = [(name, at) for at in (line, line - 1) if rule in excuses.get((name, at), ())]
        used.update(places[:1])
        if not places:
            wrong.append(f"{name}:{line}: {rule}: {one['extra']['message']}")
    wrong += [f"{name}:{line}: an excuse for nothing" for name, line in sorted(excuses.keys() - used)]
    return sorted(set(wrong))


def _excuses(name: str, rules: dict[str, Path], wrong: list[str]) -> list[tuple[int, list[str]]]:
    found = []
    for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
        if "nosemgrep" not in line:
            continue
        excuse = _EXCUSE.search(line)
        words = excuse["rules"].split(", ") if excuse else []
        if words and not set(words) - rules.keys():
            found.append((number, words))
        else:
            wrong.append(f"{name}:{number}: write it as  nosemgrep: <rule> - <reason>")
    return found


def main() -> int:
    began, rules = time.monotonic(), known_rules()
    wrong = unproved(rules)
    words = ("--config", str(RULES), "--metrics", "off", "--disable-nosem", "--strict", "--json", "--no-git-ignore")
    run = semgrep("scan", "--jobs", "1", *words, *TARGETS)  # two threads take thrice as long
    told = json.loads(run.stdout or '{"errors": ["it told nothing"], "results": [], "paths": {"scanned": []}}')
    wrong += [f"semgrep: {error}" for error in told["errors"]] + ([run.stderr] if run.returncode not in {0, 1} else [])
    scanned = set(told["paths"]["scanned"])
    expected = {
        str(path.relative_to(ROOT))
        for folder, ending in TARGETS.items()
        for path in ((ROOT / folder).rglob(f"*{ending}") if (ROOT / folder).is_dir() else [ROOT / folder])
    }
    wrong += [f"{name} was not scanned" for name in sorted(expected - scanned)]
    wrong += unexcused(told["results"], rules, expected)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    took = f"{time.monotonic() - began:.0f} s"
    print(f"{len(rules)} rules, each shown to fail; {len(scanned)} files read, {len(told['results'])} findings; {took}")
    return bool(wrong) or not rules or not scanned


if __name__ == "__main__":
    sys.exit(main())
