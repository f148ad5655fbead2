"""Holds every locked version against published advisories, and says how old that knowledge is.

Reads the locks, ``.ci/advisories.json`` (a snapshot, so that the check needs no network) and ``.ci/accepted.toml``.
Fails when an advisory affects a locked version and is not accepted, when a package was never looked up, and when an
acceptance has ended or is for nothing. ``--renew`` fetches a new snapshot from OSV's interface.
"""

import argparse
import json
import re
import sys
import tomllib
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import requests
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]
SNAPSHOT, ACCEPTED = ROOT / ".ci" / "advisories.json", ROOT / ".ci" / "accepted.toml"
LOCKS = [ROOT / "requirements.lock", ROOT / "requirements-dev.lock", *sorted((ROOT / ".ci").glob("*.lock"))]
OSV = "https://api.osv.dev"
OLD_AFTER_DAYS = 90
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True)
class Pin:
    package: str
    version: str


def pins_of(locks: list[Path]) -> list[Pin]:
    """Every package and version that a lock names, each once."""
    found = {
        Pin(canonicalize_name(name), version)
        for lock in locks
        for name, version in _PIN.findall(lock.read_text(encoding="utf-8"))
    }
    return sorted(found, key=lambda pin: (pin.package, pin.version))


def affects(advisory: dict[str, Any], version: str) -> bool:
    """Whether a version is listed, or lies from ``introduced`` until before ``fixed`` or up to ``last_affected``."""
    if advisory.get("withdrawn"):
        return False
    return version in advisory.get("versions", ()) or any(
        _in_range(each, Version(version)) for each in advisory.get("ranges", ())
    )


def _in_range(each: dict[str, str], version: Version) -> bool:
    begins = each["introduced"] == "0" or version >= Version(each["introduced"])
    ends = ("fixed" in each and version >= Version(each["fixed"])) or (
        "last_affected" in each and version > Version(each["last_affected"])
    )
    return begins and not ends


def judged(
    pins: list[Pin], known: dict[str, Any], *, accepted: list[dict[str, Any]], today: date
) -> tuple[list[str], int]:
    """What is wrong, and how many advisories affect a pin but are accepted."""
    wrong, used = [], set()
    allowed = {(one["id"], canonicalize_name(one["package"]), one["version"]): one for one in accepted}
    for pin in pins:
        if pin.package not in known:
            wrong.append(f"{pin.package} {pin.version}: never looked up; run  make audit ONLINE=1")
            continue
        for advisory in known[pin.package]["advisories"]:
            if not affects(advisory, pin.version):
                continue
            names = [advisory["id"], *advisory["aliases"]]
            cases = [case for name in names if (case := (name, pin.package, pin.version)) in allowed]
            used.update(cases)
            if not cases:
                wrong.append(f"{pin.package} {pin.version} is affected by {', '.join(names)}: {_way_out(advisory)}")
            elif allowed[cases[0]]["until"] < today:
                wrong.append(f"{pin.package}: {cases[0][0]} was accepted until {allowed[cases[0]]['until']}")
    wrong += [f"{package}: {name} is accepted for nothing" for name, package, version in sorted(allowed.keys() - used)]
    return wrong, len(used)


def _way_out(advisory: dict[str, Any]) -> str:
    fixed = [each["fixed"] for each in advisory.get("ranges", ()) if "fixed" in each]
    return f"fixed in {', '.join(fixed)}" if fixed else "no fixed version is known"


def report(snapshot: dict[str, Any], pins: list[Pin], *, accepted: int, today: date) -> str:
    """One line that says what was compared with what, after a warning where that is old."""
    known = [snapshot["packages"].get(name, {}) for name in {pin.package for pin in pins}]
    read = sum(len(one.get("advisories", ())) for one in known)
    unread = sum(len(one.get("unread", ())) for one in known)
    more = f" ({unread} more are listed and were not read)" if unread else ""
    affect = f"{accepted} affect these locks and are accepted" if accepted else "none affects these locks"
    told = f"{len(known)} packages, {read} advisories known{more}, data of {snapshot['date']}, {affect}"
    age = (today - date.fromisoformat(snapshot["date"])).days
    old = f"WARNING: the advisories are {age} days old; run  make audit ONLINE=1  with a network\n"
    return (old if age > OLD_AFTER_DAYS else "") + told


def renewed(packages: list[str], base: str, today: date) -> dict[str, Any]:
    """The snapshot as OSV has it now: one question for all packages, then each advisory by its id."""
    found: dict[str, list[str]] = {package: [] for package in packages}
    asked = [{"package": {"name": package, "ecosystem": "PyPI"}} for package in packages]
    names = list(packages)
    while asked:
        answer = requests.post(f"{base}/v1/querybatch", json={"queries": asked}, timeout=60)
        answer.raise_for_status()
        results = answer.json()["results"]
        if len(results) != len(asked):
            raise SystemExit(f"OSV answered {len(results)} of {len(asked)} questions")
        more = []
        for name, question, result in zip(names, asked, results, strict=True):
            found[name] += [one["id"] for one in result.get("vulns", ())]
            if token := result.get("next_page_token"):
                more.append((name, {**question, "page_token": token}))
        names, asked = [name for name, _ in more], [question for _, question in more]
    told = {one: _fetched(one, base) for one in sorted({one for ids in found.values() for one in ids})}
    advisories = {name: [facts(told[one], name) for one in sorted(ids)] for name, ids in found.items()}
    return {
        "source": f"OSV ({base}), which carries the Python Packaging Advisory Database and GitHub's; CC-BY-4.0",
        "date": today.isoformat(),
        "packages": {name: {"advisories": advisories[name]} for name in sorted(advisories)},
    }


def _fetched(name: str, base: str) -> dict[str, Any]:
    answer = requests.get(f"{base}/v1/vulns/{name}", timeout=60)
    answer.raise_for_status()
    told: dict[str, Any] = answer.json()
    return told


def facts(record: dict[str, Any], package: str) -> dict[str, Any]:
    """What the check needs of an OSV record: ids, ranges and dates, none of its prose."""
    ranges, versions = [], []
    for affected in record.get("affected", ()):
        if canonicalize_name(affected["package"]["name"]) != package or affected["package"]["ecosystem"] != "PyPI":
            continue
        told = [each["events"] for each in affected.get("ranges", ()) if each["type"] == "ECOSYSTEM"]
        mine = [span for events in told for span in spans(events)]
        ranges += mine
        versions += [] if mine else [one for one in affected.get("versions", ()) if _is_version(one)]
    kept: dict[str, Any] = {
        "id": record["id"],
        "aliases": sorted(set(record.get("aliases", ()))),
        "modified": record["modified"][:10],
        "ranges": ranges,
    }
    if versions:
        kept["versions"] = versions
    return kept | ({"withdrawn": True} if record.get("withdrawn") else {})


def spans(events: list[dict[str, str]]) -> list[dict[str, str]]:
    """The events of a range in the order of their versions, as beginnings with their ends; an end may be missing."""
    known = [(kind, at) for event in events for kind, at in event.items() if kind != "limit"]
    found: list[dict[str, str]] = []
    for kind, at in sorted(known, key=lambda one: (one[1] != "0", Version(one[1]), one[0] != "introduced")):
        if kind == "introduced":
            if not found or len(found[-1]) == 2:
                found.append({kind: at})
        elif found and len(found[-1]) == 1:
            found[-1][kind] = at
    return found


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--renew", action="store_true", help="fetch a new snapshot; needs a network")
    parser.add_argument("--osv", default=OSV, help="where OSV's interface is")
    given = parser.parse_args(words)
    today, pins = datetime.now(UTC).date(), pins_of(LOCKS)
    if given.renew:
        snapshot = renewed(sorted({pin.package for pin in pins}), given.osv, today)
        SNAPSHOT.write_text(json.dumps(snapshot, indent=1) + "\n", encoding="utf-8")
    snapshot = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    accepted = tomllib.loads(ACCEPTED.read_text(encoding="utf-8")).get("accepted", [])
    wrong, allowed = judged(pins, snapshot["packages"], accepted=accepted, today=today)
    print("\n".join([*wrong, report(snapshot, pins, accepted=allowed, today=today)]))
    return bool(wrong) or not pins


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
