"""A restore: what was erased since stays erased, nothing is overwritten, hostile and foreign archives are refused."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app import gateways
from app.accounts import actions as accounts
from app.accounts.models import AuditEntry, Login
from app.candidate_requests.actions import ask_afterwards
from app.candidate_requests.models import CandidateRequest, RequestKind
from app.core import data_dir, migrate
from app.core.db import db
from app.gateways.redis import embedded
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.queries import is_revoked
from app.operations.backups import making, snapshot, unpacking
from app.operations.backups.archive import HEADER, MANIFEST
from app.operations.cli.backup import in_words
from app.privacy import actions as compliance
from app.privacy.jobs import sweeps as jobs
from app.privacy.models import Erasure

from .conftest import Installation, Reopen, files_of, members_of, packed, rows_of, told


def let_go() -> None:
    db.session.remove()
    db.engine.dispose()


def erase(installation: Installation, interview_id: str) -> None:
    compliance.erase(installation.interview(interview_id), by=installation.owner.member)
    db.session.commit()
    assert compliance.sweep_files(interview_id, storage=gateways.current().storage) == 0
    compliance.gone(interview_id)
    db.session.commit()


@pytest.fixture
def after(installation: Installation, home: Path) -> dict[str, str]:
    """A backup, and what happened to its interviews since; the journal knows of it."""
    found = {
        name: installation.book(email=f"{name}@example.com") for name in ("erased", "revoked", "withdrawn", "kept")
    }
    accounts.sign_in(installation.owner.member, address="127.0.0.1", browser="test")
    db.session.commit()
    told(installation.parley("backup", home / "copy.tar", "--json"))
    erase(installation, found["erased"])
    interviews.revoke_recordings(installation.interview(found["revoked"]))
    db.session.commit()
    recordings.destroy(found["revoked"], storage=gateways.current().storage)
    ask_afterwards(installation.interview(found["withdrawn"]), RequestKind.WITHDRAWAL, None)
    db.session.commit()
    found["unknown"] = installation.book()
    erase(installation, found["unknown"])
    assert jobs.keep_journal() == 6  # an erasure revokes the recordings too
    assert jobs.keep_journal() == 0
    let_go()
    return found


def is_done_again(installation: Installation, found: dict[str, str]) -> None:
    """In the application that is open: three are as they were made, the fourth is whole."""
    kept = files_of(installation.data / "files")
    assert not [key for key in kept if found["erased"] in key]
    assert not [key for key in kept if found["revoked"] in key and key.startswith("recordings/")]
    assert len([key for key in kept if found["kept"] in key]) == 3
    assert b"erased@example.com" not in installation.database.read_bytes()
    erasure = db.session.get_one(Erasure, found["erased"])
    assert erasure.receipt == compliance.receipt_of(erasure, erasure.gone_at or erasure.erased_at)
    assert is_revoked(found["revoked"])
    assert db.session.get_one(Interview, found["withdrawn"]).withdrawn_at is not None
    assert [
        candidate_request.interview_id for candidate_request in db.session.scalars(sa.select(CandidateRequest))
    ] == [found["withdrawn"]]
    kept_one = db.session.get_one(Interview, found["kept"])
    assert (kept_one.interviewee_email_address, kept_one.erased_at, kept_one.withdrawn_at) == (
        "kept@example.com",
        None,
        None,
    )
    assert not is_revoked(found["kept"])


def test_over_an_installation_that_is_there(
    installation: Installation, home: Path, after: dict[str, str], reopen: Reopen
) -> None:
    before, files = rows_of(installation.database), files_of(installation.data)
    refused = installation.parley("restore", home / "copy.tar")
    assert (refused.exit_code, "is not empty" in refused.output) == (1, True)
    assert files_of(installation.data).keys() == files.keys()
    back = told(installation.parley("restore", home / "copy.tar", "--force", "--json"))
    assert (back["erased_again"], back["known"], back["not_in_it"], back["sessions"]) == (3, 0, 1, 1)
    aside = Path(back["aside"])
    assert aside.parent == home
    assert rows_of(aside / "parley.db") == before
    assert {name: files_of(aside)[name] for name in files if name.startswith("files/")} == {
        name: content for name, content in files.items() if name.startswith("files/")
    }
    assert not list(aside.glob(".restoring*"))
    with reopen(installation.data).app_context():
        is_done_again(installation, after)
        assert db.session.scalar(sa.select(sa.func.count()).where(Login.ended_at.is_(None))) == 0
        written = set(db.session.scalars(sa.select(AuditEntry.action)))
        assert {"organization.restored", "interview.erased", "recordings.revoked"} <= written


@pytest.mark.parametrize("kept_elsewhere", [True, False])
def test_on_an_empty_machine_the_journal_is_asked_for(
    installation: Installation, home: Path, after: dict[str, str], *, kept_elsewhere: bool, reopen: Reopen
) -> None:
    shutil.copy(installation.data / "erasures.jsonl", home / "journal")
    shutil.rmtree(installation.data)
    refused = installation.parley("restore", home / "copy.tar")
    assert refused.exit_code == 1
    assert "--journal FILE" in refused.output
    given = ("--journal", home / "journal") if kept_elsewhere else ("--no-journal",)
    back = told(installation.parley("restore", home / "copy.tar", *given, "--json"))
    assert back["erased_again"] == (3 if kept_elsewhere else 0)
    with reopen(installation.data).app_context():
        if kept_elsewhere:
            is_done_again(installation, after)
        else:
            assert db.session.get(Erasure, after["erased"]) is None


def test_a_second_restore_still_knows(
    installation: Installation, home: Path, after: dict[str, str], reopen: Reopen
) -> None:
    told(installation.parley("restore", home / "copy.tar", "--force", "--json"))
    lines = (installation.data / "erasures.jsonl").read_text().splitlines()
    assert {json.loads(line)["interview"] for line in lines} == {
        after[name] for name in ("erased", "revoked", "withdrawn", "unknown")
    }
    assert not any(name in line for line in lines for name in ("example.com", "@"))
    (home / "data.old").mkdir()
    installation.data.rename(home / "data.old" / "first")
    journal = home / "data.old" / "first" / "erasures.jsonl"
    told(installation.parley("restore", home / "copy.tar", "--journal", journal, "--json"))
    with reopen(installation.data).app_context():
        is_done_again(installation, after)


def test_an_old_database_that_is_broken_leaves_the_journal(
    installation: Installation, home: Path, after: dict[str, str]
) -> None:
    installation.database.write_bytes(b"no database" * 1000)
    back = told(installation.parley("restore", home / "copy.tar", "--force", "--json"))
    assert back["erased_again"] == 3


def test_without_a_journal_the_old_database_tells(
    installation: Installation, home: Path, after: dict[str, str]
) -> None:
    (installation.data / "erasures.jsonl").unlink()
    back = told(installation.parley("restore", home / "copy.tar", "--force", "--json"))
    assert back["erased_again"] == 3


def test_it_may_be_repeated_on_any_database(
    installation: Installation, home: Path, after: dict[str, str], reopen: Reopen
) -> None:
    """What ``parley erase-again`` does where PostgreSQL was restored by its own means."""
    shutil.copy(installation.data / "erasures.jsonl", home / "journal")
    shutil.rmtree(installation.data)
    told(installation.parley("restore", home / "copy.tar", "--no-journal", "--json"))
    first = told(installation.parley("erase-again", home / "journal", "--json"))
    assert first == {"erased_again": 3, "known": 0, "not_in_it": 1}
    second = told(installation.parley("erase-again", home / "journal", "--json"))
    assert second == {"erased_again": 0, "known": 3, "not_in_it": 1}
    with reopen(installation.data).app_context():
        is_done_again(installation, after)


def test_an_older_backup_is_migrated(installation: Installation, home: Path, reopen: Reopen) -> None:
    booked = installation.book()
    let_go()
    migrate.downgrade(f"sqlite:///{installation.database}", "0021")
    place = making.Place(installation.database, installation.data / "files", "a secret key that is long enough")
    making.make(home / "old.tar", place, header={"revision": "0021", "has_key": True})
    back = told(installation.parley("restore", home / "old.tar", "--force", "--json"))
    assert back["rows"] > 0
    assert snapshot.revision(installation.database) == migrate.head()
    with reopen(installation.data).app_context():
        assert db.session.get_one(Interview, booked).erased_at is None


@pytest.fixture
def copy(installation: Installation, home: Path) -> Path:
    """A backup; the installation is gone."""
    installation.book()
    told(installation.parley("backup", home / "copy.tar", "--json"))
    let_go()
    shutil.rmtree(installation.data)
    return home / "copy.tar"


def refused(installation: Installation, archive: Path, *words: str) -> None:
    """The archive is refused, and nothing of it is anywhere."""
    home = archive.parent
    before = {path.name for path in home.iterdir()} - {"data"}
    found = installation.parley("restore", archive, "--no-journal")
    assert found.exit_code == 1, found.output
    assert "Traceback" not in found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)
    for word in words:
        assert word in found.output
    assert {path.name for path in home.iterdir()} - {"data"} == before
    assert not installation.data.exists() or not list(installation.data.iterdir())


def repacked(copy: Path, **changed: Any) -> Path:
    """The archive with other content in some members: a header of other words, or bytes."""
    members = members_of(copy)
    members[HEADER] = json.dumps({**json.loads(members[HEADER]), **changed}).encode()
    return packed(
        copy.with_name("changed.tar"), [(tarfile.TarInfo(name), content) for name, content in members.items()]
    )


def test_a_newer_schema_is_refused_with_its_version(installation: Installation, copy: Path) -> None:
    refused(installation, repacked(copy, revision="9999", parley="7.0"), "newer Parley (7.0, schema 9999)", "Install")
    refused(installation, repacked(copy, format=2), "its format is 2")


def test_a_database_of_a_newer_schema_is_refused_whatever_the_header_says(
    installation: Installation, home: Path
) -> None:
    db.session.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    db.session.commit()
    let_go()
    place = making.Place(installation.database, installation.data / "files", "a secret key that is long enough")
    making.make(home / "new.tar", place, header={"revision": migrate.head(), "has_key": True})
    shutil.rmtree(installation.data)
    refused(installation, home / "new.tar", "schema 9999, which this version of Parley does not support")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_an_archive_that_was_cut_off_is_refused(installation: Installation, copy: Path, share: float) -> None:
    whole = copy.read_bytes()
    cut = copy.with_name("cut.tar")
    cut.write_bytes(whole[: int(len(whole.rstrip(b"\0")) * share)])
    refused(installation, cut, "cannot be restored")


def test_every_flipped_member_is_found(installation: Installation, copy: Path) -> None:
    names = [name for name in members_of(copy) if name not in {HEADER, MANIFEST}]
    assert {"database.sqlite", "secret_key"} < set(names)
    for name in names:
        members = members_of(copy)
        members[name] = bytes([members[name][0] ^ 1]) + members[name][1:]
        changed = [(tarfile.TarInfo(one), content) for one, content in members.items()]
        refused(installation, packed(copy.with_name("flipped.tar"), changed), f"{name} does not match the manifest")
        copy.with_name("flipped.tar").unlink()


def test_a_member_too_many_or_too_few_is_found(installation: Installation, copy: Path) -> None:
    members = [(tarfile.TarInfo(name), content) for name, content in members_of(copy).items()]
    refused(installation, packed(copy.with_name("few.tar"), [members[0], *members[2:]]), "manifest")
    more = [members[0], (tarfile.TarInfo("files/documents/x/more"), b"x"), *members[1:]]
    refused(installation, packed(copy.with_name("more.tar"), more), "manifest")
    twice = [members[0], members[1], *members[1:]]
    refused(installation, packed(copy.with_name("twice.tar"), twice), "appears twice")
    after_it = [*members, (tarfile.TarInfo("files/documents/x/more"), b"x")]
    refused(installation, packed(copy.with_name("after.tar"), after_it), "after the end")


HOSTILE = [
    "../outside",
    "files/../../outside",
    "/tmp/parley-outside",
    "files//outside",
    "files/./outside",
    "files/a/../../b",
    "outside",
    "files/",
    "files/.hidden",
    "files/a\nb",
    "files/" + "a" * 300,
    "database.sqlite/x",
    "files\\..\\outside",
    "./database.sqlite",
    "parley-backup.json",
    "files/-/..",
    "secret_key/../../x",
    "files/a b",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_lead_elsewhere_are_refused(installation: Installation, copy: Path, name: str) -> None:
    members = [(tarfile.TarInfo(one), content) for one, content in members_of(copy).items()]
    hostile = [members[0], (tarfile.TarInfo(name), b"mine"), *members[1:]]
    refused(installation, packed(copy.with_name("hostile.tar"), hostile), "cannot be restored")
    assert not Path("/tmp/parley-outside").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_links_devices_and_folders_are_refused(installation: Installation, copy: Path, kind: bytes) -> None:
    members = [(tarfile.TarInfo(one), content) for one, content in members_of(copy).items()]
    link = tarfile.TarInfo("files/documents")
    link.type, link.linkname = kind, str(copy.parent)
    refused(
        installation, packed(copy.with_name("hostile.tar"), [members[0], (link, b""), *members[1:]]), "regular file"
    )


def test_what_is_no_archive_is_refused(installation: Installation, copy: Path) -> None:
    for content in (b"", b"PK\x03\x04" * 1000, os.urandom(100_000), json.dumps({"format": 1}).encode()):
        other = copy.with_name("other.tar")
        other.write_bytes(content)
        refused(installation, other, "not an archive made by parley backup")
        other.unlink()


def test_a_foreign_key_is_refused_unless_it_is_lost(
    installation: Installation, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "another secret key, long enough to be one")
    refused(installation, copy, "not the one that the backup was made with", "webhook secrets", "--other-key")
    told(installation.parley("restore", copy, "--no-journal", "--other-key", "--json"))


def test_a_backup_without_its_key_asks_for_it(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = (installation.data / "secret_key").read_text().strip()
    told(installation.parley("backup", home / "keyless.tar", "--without-key", "--json"))
    let_go()
    shutil.rmtree(installation.data)
    refused(installation, home / "keyless.tar", "set SECRET_KEY to it")
    monkeypatch.setenv("SECRET_KEY", key)
    told(installation.parley("restore", home / "keyless.tar", "--no-journal", "--json"))


def test_a_full_disk_is_told_before_anything_is_written(
    installation: Installation, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SimpleNamespace(total=100, used=90, free=10)
    with monkeypatch.context() as full:
        full.setattr(unpacking.shutil, "disk_usage", lambda _path: usage)
        refused(installation, copy, "the disk is full: the backup needs", "10 are free", "run parley restore again")
    told(installation.parley("restore", copy, "--no-journal", "--json"))


def test_what_a_killed_restore_left_does_not_stand_in_the_way(installation: Installation, copy: Path) -> None:
    left = installation.data / f"{unpacking.STAGING}left"
    left.mkdir(parents=True)
    (left / "parley.db").write_text("half")
    told(installation.parley("restore", copy, "--no-journal", "--json"))
    assert not left.exists()


def test_what_was_there_comes_back_when_the_new_one_cannot_take_its_place(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "parley.db").write_text("old")
    with pytest.raises(OSError, match="No such file"):
        unpacking.put_in_place(data / f"{unpacking.STAGING}gone", data, aside=tmp_path / "aside")
    assert (data / "parley.db").read_text() == "old"
    assert not (tmp_path / "aside").exists()


def test_where_the_old_data_is_when_it_cannot_be_moved_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, aside, rename = tmp_path / "data", tmp_path / "aside", Path.rename
    (data / unpacking.STAGING).mkdir(parents=True)
    (data / "parley.db").write_text("old")

    def once(path: Path, target: Path) -> Path:
        if path.name != "data":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", once)
    with (
        pytest.raises(click.ClickException, match=f"what was in {data} is in {aside}: move it back") as failed,
        in_words("restore"),
    ):
        unpacking.put_in_place(data / unpacking.STAGING, data, aside=aside)
    assert "nothing was changed" not in str(failed.value)
    assert (aside / "parley.db").read_text() == "old"


def test_speech_models_stay_and_do_not_stand_in_the_way(installation: Installation, copy: Path) -> None:
    model = installation.data / "models" / "whisper-base" / "model.bin"
    model.parent.mkdir(parents=True)
    model.write_text("fetched")
    told(installation.parley("restore", copy, "--no-journal", "--json"))
    assert model.read_text() == "fetched"
    told(installation.parley("restore", copy, "--no-journal", "--force", "--json"))
    assert model.read_text() == "fetched"


def test_a_running_installation_is_left_alone(
    installation: Installation, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "found_alive", lambda _data, _url: "unix:///there")
    refused(installation, copy, "is running", "stop it first")


@pytest.mark.parametrize("force", [False, True], ids=["empty", "moved aside"])
def test_parley_does_not_start_on_a_directory_that_is_being_restored(
    installation: Installation, copy: Path, monkeypatch: pytest.MonkeyPatch, *, force: bool
) -> None:
    start = "import pathlib, sys, app.core.data_dir as d\nwith d.held_alone(pathlib.Path(sys.argv[1])): pass"
    said, put_in_place = [], unpacking.put_in_place

    def started() -> str:
        command = [sys.executable, "-c", start, installation.data]
        return subprocess.run(command, capture_output=True, text=True, check=False).stderr

    def put_in_place_meanwhile(folder: Path, data: Path, *, aside: Path) -> bool:
        said.append(started())
        moved = put_in_place(folder, data, aside=aside)
        said.append(started())
        return moved

    if force:
        told(installation.parley("restore", copy, "--no-journal", "--json"))
    monkeypatch.setattr(unpacking, "put_in_place", put_in_place_meanwhile)
    told(installation.parley("restore", copy, "--no-journal", "--json", *(["--force"] if force else [])))
    assert len(said) == 2
    assert all(f"Another parley up or parley restore (process {os.getpid()}) is using" in one for one in said)
    assert not (installation.data / data_dir.LOCK).exists()
    assert started() == ""


def test_files_outside_of_the_directory_are_not_written(
    installation: Installation, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORAGE_URL", str(copy.parent / "elsewhere"))
    refused(installation, copy, "is outside DATA_DIR")


def test_programs_that_follow_the_changes_start_over(installation: Installation, home: Path, reopen: Reopen) -> None:
    """Also after the same backup was restored twice: what was read between the two may not be there any more."""
    _row, key = accounts.issue_api_key(installation.owner.organization, name="feed", by=installation.owner.member)
    interview_id = installation.book()
    told(installation.parley("backup", home / "copy.tar", "--json"))
    app, cursors = installation.app, []
    for _restored in range(2):
        let_go()
        cursors.append(followed(app, key).json["next"])
        told(installation.parley("restore", "--force", "--no-journal", home / "copy.tar", "--json"))
        shutil.rmtree(next(home.glob("data.before-*")))
        app = reopen(installation.data)
        for cursor in cursors:
            refused = followed(app, key, after=cursor)
            assert (refused.status_code, refused.headers["X-Parley-Error"]) == (410, "cursor_expired")
        assert interview_id in [one["object_id"] for one in followed(app, key).json["changes"]]


def followed(app: Flask, key: str, **query: str) -> TestResponse:
    with app.app_context():
        return app.test_client().get("/v1/changes", query_string=query, headers={"Authorization": f"Bearer {key}"})
