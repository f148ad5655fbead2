"""The audit of locked versions: what it has to find, what it has to refuse, and how it asks OSV."""

import json
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from tests.architecture.source import ci_script

TODAY = date(2026, 6, 1)
LOCK = "boats==1.5 \\\n    --hash=sha256:00\nOar.Locks==2.0rc1 ; python_version < '3.13' \\\n    --hash=sha256:11\n"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    return ci_script("audit")


@pytest.fixture
def pins(audit: ModuleType, tmp_path: Path) -> Any:
    (tmp_path / "made-up.lock").write_text(LOCK)
    return audit.pins_of([tmp_path / "made-up.lock"])


def advisory(*ranges: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"id": "PYSEC-1", "aliases": ["CVE-1"], "modified": "2026-05-01", "ranges": list(ranges), **more}


def known(**boats: Any) -> dict[str, Any]:
    return {
        "boats": {"advisories": [advisory({"introduced": "0", "fixed": "1.6"}, **boats)]},
        "oar-locks": {"advisories": []},
    }


def test_a_lock_is_read_with_its_markers_and_names_in_one_spelling(pins):
    assert [(pin.package, pin.version) for pin in pins] == [("boats", "1.5"), ("oar-locks", "2.0rc1")]


def test_a_vulnerable_version_is_found_with_the_way_out(audit, pins):
    wrong, accepted = audit.judged(pins, known(), accepted=[], today=TODAY)
    assert wrong == ["boats 1.5 is affected by PYSEC-1, CVE-1: fixed in 1.6"]
    assert accepted == 0


def test_a_package_that_was_never_looked_up_fails(audit, pins):
    wrong, _ = audit.judged(pins, {"oar-locks": {"advisories": []}}, accepted=[], today=TODAY)
    assert wrong == ["boats 1.5: never looked up; run  make audit ONLINE=1"]


@pytest.mark.parametrize(
    ("version", "ranges", "more", "affected"),
    [
        ("1.5", [{"introduced": "0", "fixed": "1.5"}], {}, False),
        ("1.5rc1", [{"introduced": "0", "fixed": "1.5"}], {}, True),
        ("1.5", [{"introduced": "1.5", "fixed": "1.6"}], {}, True),
        ("1.5rc1", [{"introduced": "1.5", "fixed": "1.6"}], {}, False),
        ("1.10", [{"introduced": "1.9", "fixed": "1.11"}], {}, True),
        ("1.5", [{"introduced": "0", "last_affected": "1.5"}], {}, True),
        ("1.5.post1", [{"introduced": "0", "last_affected": "1.5"}], {}, False),
        ("9.0", [{"introduced": "0"}], {}, True),
        ("1.5", [{"introduced": "0", "fixed": "1.2"}, {"introduced": "1.4", "fixed": "1.6"}], {}, True),
        ("1.3", [{"introduced": "0", "fixed": "1.2"}, {"introduced": "1.4", "fixed": "1.6"}], {}, False),
        ("1.5", [], {"versions": ["1.5"]}, True),
        ("1.5", [{"introduced": "0"}], {"withdrawn": True}, False),
    ],
)
def test_ranges_are_read_as_they_are_meant(audit, version, ranges, more, affected):
    assert audit.affects(advisory(*ranges, **more), version) is affected


@pytest.mark.parametrize(
    ("until", "version", "wrong"),
    [
        (date(2026, 6, 1), "1.5", 0),
        (date(2026, 5, 31), "1.5", 1),  # it has ended
        (date(2026, 6, 1), "1.4", 2),  # of another version: for nothing, and the real one is not accepted
    ],
)
def test_an_acceptance_is_for_one_version_and_ends(audit, pins, until, version, wrong):
    accepted = [{"id": "PYSEC-1", "package": "Boats", "version": version, "reason": "x", "until": until}]
    assert len(audit.judged(pins, known(), accepted=accepted, today=TODAY)[0]) == wrong


def test_an_acceptance_may_name_the_flaw_itself_which_other_records_share(audit, pins):
    accepted = [{"id": "CVE-1", "package": "boats", "version": "1.5", "reason": "x", "until": TODAY}]
    assert audit.judged(pins, known(), accepted=accepted, today=TODAY) == ([], 1)


def test_an_acceptance_of_what_does_not_affect_fails(audit, pins):
    accepted = [{"id": "PYSEC-2", "package": "boats", "version": "1.5", "reason": "x", "until": TODAY}]
    told, _ = audit.judged(pins, known(withdrawn=True), accepted=accepted, today=TODAY)
    assert told == ["boats: PYSEC-2 is accepted for nothing"]


@pytest.mark.parametrize(("day", "warns"), [("2026-03-03", False), ("2026-03-02", True)])
def test_old_data_warns_and_the_date_is_told(audit, pins, day, warns):
    told = audit.report({"date": day, "packages": known()}, pins, accepted=0, today=TODAY)
    assert told.startswith("WARNING: the advisories are 91 days old") is warns
    assert told.endswith(f"2 packages, 1 advisories known, data of {day}, none affects these locks")


class Osv(BaseHTTPRequestHandler):
    """OSV's interface for two packages; the second page of one of them has to be asked for."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        assert self.path == "/v1/querybatch"
        self._say({"results": [self._found(one) for one in asked]})

    def _found(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert asked["package"]["ecosystem"] == "PyPI"
        if asked["package"]["name"] != "boats":
            return {}
        if "page_token" in asked:
            return {"vulns": [{"id": "GHSA-2", "modified": "2026-01-02T00:00:00Z"}]}
        return {"vulns": [{"id": "PYSEC-1", "modified": "2026-05-01T00:00:00Z"}], "next_page_token": "more"}

    def do_GET(self) -> None:
        name = self.path.rsplit("/", 1)[1]
        events = [{"fixed": "1.6"}, {"introduced": "1.2"}, {"introduced": "0"}, {"fixed": "1.1"}]
        affected = {
            "package": {"name": "Boats", "ecosystem": "PyPI"},
            "versions": ["1.3", "not a version"],
            "ranges": [
                {"type": "GIT", "events": [{"introduced": "0"}, {"fixed": "abc"}]},
                *([{"type": "ECOSYSTEM", "events": events}] if name == "PYSEC-1" else []),
            ],
        }
        other = {"package": {"name": "boats", "ecosystem": "npm"}, "ranges": [], "versions": ["9.9"]}
        self._say({"id": name, "modified": "2026-05-01T08:00:00Z", "aliases": ["CVE-1"], "affected": [affected, other]})

    def _say(self, told: dict[str, Any]) -> None:
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Silence."""


@pytest.fixture
def osv() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Osv) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_the_snapshot_is_renewed_from_osv(audit, osv):
    snapshot = audit.renewed(["boats", "oar-locks"], osv, TODAY)
    assert snapshot["date"] == "2026-06-01"  # whoever asks today knows what is known today
    assert snapshot["packages"] == {
        "boats": {
            "advisories": [
                {"id": "GHSA-2", "aliases": ["CVE-1"], "modified": "2026-05-01", "ranges": [], "versions": ["1.3"]},
                {
                    "id": "PYSEC-1",
                    "aliases": ["CVE-1"],
                    "modified": "2026-05-01",
                    "ranges": [{"introduced": "0", "fixed": "1.1"}, {"introduced": "1.2", "fixed": "1.6"}],
                },
            ]
        },
        "oar-locks": {"advisories": []},
    }


def test_the_house_has_looked_every_locked_package_up(audit):
    snapshot = json.loads(audit.SNAPSHOT.read_text())
    pins = audit.pins_of(audit.LOCKS)
    assert len(pins) > 150
    assert {pin.package for pin in pins} <= set(snapshot["packages"])
