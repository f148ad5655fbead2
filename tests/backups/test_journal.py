"""The journal of erasures: only added to, each act once, readable after a power cut, and never without being told."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask

from app.core import clock
from app.core.db import db
from app.core.erasure_journal import ERASED, REVOKED, BadJournal, Journal, Kept
from app.operations import cli
from app.operations.cli import check
from app.privacy import actions, queries
from app.privacy.jobs import sweeps as jobs
from app.privacy.models import Erasure
from app.settings import Settings
from tests.people import Person, person
from tests.recordings.conftest import an_interview

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


def acts(number: int, what: str = ERASED) -> list[Kept]:
    return [Kept(what, f"{what}-{one}", AT + timedelta(seconds=one)) for one in range(number)]


def test_each_act_is_written_once_and_read_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "journal")
    assert journal.read() == []
    assert journal.add([]) == 0
    assert journal.path.read_bytes() == b""
    assert journal.add(acts(3)) == 3
    assert journal.add(acts(5)) == 2
    assert journal.add(acts(2, REVOKED)) == 2
    assert journal.read() == [*acts(5), *acts(2, REVOKED)]
    assert Journal(journal.path).read() == journal.read()
    assert journal.path.stat().st_mode & 0o777 == 0o600
    assert len(journal.path.read_text().splitlines()) == 7


def test_two_writers_write_each_act_once(tmp_path: Path) -> None:
    path = tmp_path / "journal"

    def write() -> None:
        mine = Journal(path)
        for number in range(40):
            mine.add(acts(number))

    writers = [threading.Thread(target=write) for _number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
    assert len(path.read_text().splitlines()) == 39
    assert Journal(path).read() == acts(39)


@pytest.mark.parametrize("cut", range(1, 100, 7))
def test_a_line_that_a_power_cut_ended_costs_that_line_alone(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal"
    Journal(path).add(acts(2))
    whole = path.read_bytes()
    length = len(whole) // 2
    path.write_bytes(whole[: length + min(cut, length - 2)])
    assert Journal(path).read() == acts(1)
    assert Journal(path).add(acts(3)) == 2
    assert Journal(path).read() == acts(3)


@pytest.mark.parametrize(
    "line", ["nonsense", '{"what": "erased"}', '{"what": "sold", "interview": "x", "at": "2026-01-01"}']
)
def test_what_is_not_ours_is_refused_and_not_passed_over(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal"
    Journal(path).add(acts(1))
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(BadJournal):
        Journal(path).read()


def test_a_journal_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.add(acts(3))
    journal.path.unlink()
    assert journal.add(acts(2)) == 2
    assert journal.read() == acts(2)


@pytest.fixture
def kept(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the worker of this test keeps its journal."""
    known = replace(app.extensions["parley.settings"], erasure_journal=tmp_path / "journal")
    monkeypatch.setitem(app.extensions, "parley.settings", known)
    return tmp_path / "journal"


def test_the_tick_writes_what_has_come_and_makes_the_file_at_once(owner: Person, kept: Path) -> None:
    interview = an_interview(owner)
    assert jobs.keep_journal() == 0
    assert kept.is_file()
    actions.erase(interview, by=owner.member)
    db.session.commit()
    assert jobs.keep_journal() == 2
    assert jobs.keep_journal() == 0
    told = [json.loads(line) for line in kept.read_text().splitlines()]
    assert {(one["what"], one["interview"]) for one in told} == {(ERASED, interview.id), (REVOKED, interview.id)}
    assert all(set(one) == {"what", "interview", "at"} for one in told)


def test_an_erasure_under_a_clock_that_goes_behind_is_written_too(owner: Person, kept: Path) -> None:
    first, second = an_interview(owner), an_interview(owner)
    actions.erase(first, by=owner.member)
    db.session.commit()
    assert [jobs.keep_journal() for _time in range(3)] == [2, 0, 0]
    now = clock.now()
    with clock.replaced(lambda: now - timedelta(hours=30)):
        actions.erase(second, by=owner.member)
        db.session.commit()
    jobs.keep_journal()
    assert second.id in kept.read_text()


def test_withdrawals_are_found_by_their_requests(owner: Person, app: Flask) -> None:
    from app.candidate_requests.actions import ask_afterwards
    from app.candidate_requests.models import RequestKind

    interview = an_interview(owner)
    ask_afterwards(interview, RequestKind.WITHDRAWAL, None)
    db.session.commit()
    ever = queries.acts()
    lately = queries.acts(since=clock.now() - timedelta(hours=1))
    assert [(act.what, act.interview) for act in ever] == [("withdrawn", interview.id)]
    assert lately == ever
    assert queries.acts(since=clock.now() + timedelta(hours=1)) == []


def test_a_disk_that_refuses_is_logged_and_tried_again(
    owner: Person, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    actions.erase(an_interview(owner), by=owner.member)
    db.session.commit()
    kept.mkdir()
    assert jobs.keep_journal() == 0
    assert "could not be written" in caplog.text
    kept.rmdir()
    assert jobs.keep_journal() == 2


def test_every_act_is_done_again_once_and_by_nobody(owner: Person, app: Flask) -> None:
    """On either database, as this is what ``parley erase-again`` does to one that was restored by its own means."""
    erased, revoked, withdrawn = an_interview(owner), an_interview(owner), an_interview(owner)
    told = [(ERASED, erased.id), (REVOKED, revoked.id), ("withdrawn", withdrawn.id), (ERASED, owner.organization.id)]
    for outcomes in ([True, True, True, None], [False, False, False, None]):
        found = []
        for what, interview_id in told:
            found.append(actions.repeat(what, interview_id))
            db.session.commit()
        assert found == outcomes
    proof = db.session.get_one(Erasure, erased.id)
    assert proof.by_id is None
    assert withdrawn.withdrawn_at is not None
    assert [actions.repeat(what, erased.id) for what in (REVOKED, "withdrawn")] == [False, False]


def test_a_journal_is_run_on_the_database_that_is_configured(
    own_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", own_database)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SECRET_KEY", "a secret key that is long enough")
    monkeypatch.chdir(tmp_path)
    Journal(tmp_path / "journal").add(acts(2))
    done = CliRunner().invoke(cli.parley, ["erase-again", str(tmp_path / "journal"), "--json"])
    assert json.loads(done.stdout) == {"erased_again": 0, "known": 0, "not_in_it": 2}
    (tmp_path / "journal").write_text("nonsense\n")
    refused = CliRunner().invoke(cli.parley, ["erase-again", str(tmp_path / "journal")])
    assert (refused.exit_code, "was not written by Parley" in refused.output) == (1, True)


@pytest.fixture
def known(own_app: Flask, tmp_path: Path) -> Settings:
    """Settings of a database in which one interview was withdrawn an hour ago, and one this moment."""
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        for hours in (1, 0):
            an_interview(owner, withdrawn_at=clock.now() - timedelta(hours=hours))
    return replace(own_app.extensions["parley.settings"], erasure_journal=tmp_path / "journal", redis_url="")


def test_check_misses_a_journal_and_what_is_not_in_it(known: Settings, own_app: Flask, tmp_path: Path) -> None:
    good, words = check._erasures(known)
    assert good is not known.is_embedded, "on many hosts it is another one's that has it"
    assert words.startswith("the journal " if known.is_embedded else "no journal on")
    Journal(known.erasure_journal).add(acts(1))
    good, words = check._erasures(known)
    assert not good
    assert "1 of 1 entry missing in" in words
    assert "a worker writes them within seconds" in words
    with own_app.app_context():
        own_app.extensions["parley.settings"] = known
        assert jobs.keep_journal() == 2
    assert check._erasures(known) == (True, f"3 entries in {known.erasure_journal}")


def test_check_explains_a_journal_that_cannot_be_read(known: Settings) -> None:
    known.erasure_journal.write_text("nonsense\n")
    good, words = check._erasures(known)
    assert not good
    assert "the line at byte 0 was not written by Parley; move the file aside" in words
    known.erasure_journal.unlink()
    known.erasure_journal.mkdir()
    good, words = check._erasures(known)
    assert not good
    assert "is not a file" in words


def test_check_expects_no_journal_where_nothing_was_erased(own_app: Flask, tmp_path: Path) -> None:
    known = replace(own_app.extensions["parley.settings"], erasure_journal=tmp_path / "journal")
    assert check._erasures(known) == (True, "nothing has been erased, revoked or withdrawn yet")
