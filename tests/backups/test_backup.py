"""A backup while Parley writes: one moment, every file that rows name, nothing left behind when it cannot be made."""

import errno
import hashlib
import itertools
import json
import os
import sqlite3
import threading
import tracemalloc
from pathlib import Path

import pytest
import sqlalchemy as sa

from app import gateways
from app.core import migrate
from app.core.db import Base, db
from app.interviews.models import Interview
from app.interviews.recordings.queries import prefix_of
from app.operations.backups import Broken, Reader, Writer, making, snapshot
from app.privacy import actions as compliance

from .conftest import Installation, Reopen, files_of, members_of, rows_of, told

TOUCHED = {"audit_entry", "organization", "change_feed"}
"""Tables in which a restore writes: each organization's log says that it was restored, and cursors end."""


def test_everything_comes_back_as_it_was(installation: Installation, home: Path, reopen: Reopen) -> None:
    for _number in range(3):
        installation.book()
    db.session.remove()
    before, files = rows_of(installation.database), files_of(installation.data / "files")
    key = (installation.data / "secret_key").read_text()
    made = told(installation.parley("backup", home / "copy.tar", "--json"))
    assert (made["files"], made["missing"], made["has_key"]) == (len(files), [], True)
    assert made["rows"] == sum(len(rows) for rows in before.values())
    assert (home / "copy.tar").stat().st_mode & 0o777 == 0o600
    db.engine.dispose()
    installation.data.rename(home / "gone")
    back = told(installation.parley("restore", home / "copy.tar", "--no-journal", "--json"))
    assert (back["rows"], back["files"], back["aside"]) == (made["rows"], made["files"], None)
    after = rows_of(installation.database)
    assert {name: rows for name, rows in after.items() if name not in TOUCHED} == {
        name: rows for name, rows in before.items() if name not in TOUCHED
    }
    assert len(after["audit_entry"]) == len(before["audit_entry"]) + 1
    assert files_of(installation.data / "files") == files
    assert (installation.data / "secret_key").read_text().strip() == key.strip()
    assert sorted(path.name for path in installation.data.iterdir()) == [
        "erasures.jsonl",
        "files",
        "parley.db",
        "secret_key",
    ]
    with reopen(installation.data).app_context():
        found = db.session.scalars(sa.select(Interview)).all()
        assert len(found) == 3
        found[0].interviewee_first_name = "written after the restore"
        db.session.commit()


def test_the_manifest_tells_every_member(installation: Installation, home: Path) -> None:
    installation.book()
    told(installation.parley("backup", home / "copy.tar", "--json"))
    members = members_of(home / "copy.tar")
    assert next(iter(members)) == "parley-backup.json"
    assert list(members)[-1] == "manifest.jsonl"
    first, *others = [json.loads(line) for line in members.pop("manifest.jsonl").splitlines()]
    assert first["rows"]["interview"] == 1
    assert {one["name"]: (one["size"], one["sha256"]) for one in others} == {
        name: (len(content), hashlib.sha256(content).hexdigest()) for name, content in members.items()
    }


def test_a_backup_of_a_moment_in_the_middle_of_writing(installation: Installation, home: Path, reopen: Reopen) -> None:
    first = installation.book()
    db.session.remove()
    stop, wrote, failed = threading.Event(), threading.Semaphore(0), []

    def write() -> None:
        with installation.app.app_context():
            try:
                for number in itertools.count():
                    if stop.is_set():
                        return
                    made = installation.book(chunks=3)
                    interview = installation.interview(made)
                    if number % 2:
                        compliance.erase(interview, by=None)
                        db.session.commit()
                        compliance.sweep_files(made, storage=gateways.current().storage)
                    wrote.release()
            except Exception as error:  # noqa: BLE001 - told by the test
                failed.append(error)
                wrote.release()
            finally:
                db.session.remove()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = []
        for number in range(3):
            assert wrote.acquire(timeout=20)
            made.append(told(installation.parley("backup", home / f"{number}.tar", "--json")))
    finally:
        stop.set()
        writer.join(30)
    assert failed == []
    assert [one["missing"] for one in made] == [[], [], []]
    db.engine.dispose()
    for number in range(len(made)):
        installation.data.rename(home / f"old{number}")
        told(installation.parley("restore", home / f"{number}.tar", "--no-journal", "--json"))
        kept = files_of(installation.data / "files")
        named = set(snapshot.named(installation.database))
        assert named <= set(kept)
        assert any(key.startswith(prefix_of(first)) for key in named)
        with reopen(installation.data).app_context():
            for chunk in db.session.execute(sa.text("SELECT id, storage_key, sha256, interview_id FROM chunk")):
                assert hashlib.sha256(kept[chunk[1]]).hexdigest() == chunk[2]
        gone = {row[0] for row in rows_of(installation.database)["erasure"]}
        assert not [key for key in kept if key.split("/")[1] in gone], "files of an erased interview came back"


def place_of(installation: Installation) -> making.Place:
    return making.Place(installation.database, installation.data / "files", None)


def test_a_file_deleted_behind_the_snapshot_makes_a_newer_one(installation: Installation, home: Path) -> None:
    found = installation.book()
    (key,) = [key for key in snapshot.named(installation.database) if key.startswith("documents/")]
    (installation.data / "files" / key).unlink()  # what the snapshot names is gone before it could be copied
    later, times = f"documents/{found}/later", []

    def meanwhile() -> None:
        times.append(1)
        gateways.current().storage.put(later, b"a newer one")
        db.session.execute(sa.text("UPDATE document SET storage_key = :key"), {"key": later})
        db.session.commit()

    db.session.remove()
    made = making.make(home / "copy.tar", place_of(installation), header={}, snapped=meanwhile)
    assert (len(times), made.missing) == (2, ())
    assert members_of(home / "copy.tar")[f"files/{later}"] == b"a newer one"


def test_a_file_that_was_gone_before_is_told_and_stops_nothing(installation: Installation, home: Path) -> None:
    installation.book()
    key = next(iter(snapshot.named(installation.database)))
    (installation.data / "files" / key).unlink()
    made = told(installation.parley("backup", home / "copy.tar", "--json"))
    assert made["missing"] == [key]
    again = installation.parley("backup", home / "again.tar")
    assert "already missing" in again.output


def test_files_that_never_rest_are_given_up(installation: Installation, home: Path) -> None:
    installation.book(chunks=0)

    def meanwhile() -> None:
        name = f"documents/never/{os.urandom(4).hex()}"
        db.session.execute(sa.text("UPDATE document SET storage_key = :key"), {"key": name})
        db.session.commit()

    meanwhile()
    with pytest.raises(making.Restless):
        making.make(home / "copy.tar", place_of(installation), header={}, snapped=meanwhile)
    assert not (home / "copy.tar").exists()


def test_revoked_recordings_are_not_missed(installation: Installation, home: Path) -> None:
    from app.interviews.actions import revoke_recordings
    from app.interviews.recordings import actions as recordings

    found = installation.book()
    revoke_recordings(installation.interview(found))
    db.session.commit()
    recordings.destroy(found, storage=gateways.current().storage)
    assert told(installation.parley("backup", home / "copy.tar", "--json"))["missing"] == []


def test_what_is_erased_leaves_no_trace_in_the_copy(installation: Installation, home: Path) -> None:
    found = installation.book(email="zoltan@example.com")
    compliance.erase(installation.interview(found), by=None)
    db.session.commit()
    compliance.sweep_files(found, storage=gateways.current().storage)
    told(installation.parley("backup", home / "copy.tar", "--json"))
    assert b"zoltan" not in (home / "copy.tar").read_bytes()


def test_the_words_say_what_is_in_it(installation: Installation, home: Path) -> None:
    installation.book()
    said = installation.parley("backup", home / "copy.tar")
    assert "the secret key" in said.output
    assert "Store it encrypted" in said.output
    without = installation.parley("backup", home / "other.tar", "--without-key")
    assert "without it, sessions, API keys, webhook secrets" in without.output
    assert "secret_key" not in members_of(home / "other.tar")
    key = (installation.data / "secret_key").read_bytes()
    assert key not in (home / "other.tar").read_bytes()


def test_an_archive_that_is_there_is_not_touched(installation: Installation, home: Path) -> None:
    (home / "copy.tar").write_text("mine")
    refused = installation.parley("backup", home / "copy.tar")
    assert (refused.exit_code, "already exists" in refused.output) == (1, True)
    assert (home / "copy.tar").read_text() == "mine"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_leaves_nothing_and_says_so(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    installation.book()

    def fails(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(making.os, "fsync", fails)
        refused = installation.parley("backup", home / "copy.tar")
    assert refused.exit_code == 1
    assert ("the disk is full" if number == errno.ENOSPC else "disk error") in refused.output
    assert "run parley backup again" in refused.output
    assert [path.name for path in home.iterdir() if path.is_file() or path.name.startswith(".parley")] == []
    assert installation.parley("backup", home / "copy.tar").exit_code == 0


def test_nothing_to_back_up_and_a_schema_that_is_behind(home: Path, installation: Installation) -> None:
    db.session.remove()
    migrate.downgrade(f"sqlite:///{installation.database}", "0021")
    refused = installation.parley("backup", home / "copy.tar")
    assert "run: parley migrate" in refused.output
    db.session.remove()
    db.engine.dispose()
    installation.data.rename(home / "elsewhere")
    refused = installation.parley("backup", home / "copy.tar")
    assert (refused.exit_code, "nothing to back up" in refused.output) == (1, True)
    assert not installation.data.exists()


@pytest.mark.parametrize("command", ["backup", "restore"])
@pytest.mark.parametrize(
    "elsewhere", [{"DATABASE_URL": "postgresql://db.internal/parley"}, {"STORAGE_URL": "s3://bucket/prefix"}]
)
def test_postgresql_and_buckets_have_commands_of_their_own(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch, command: str, elsewhere: dict[str, str]
) -> None:
    monkeypatch.setenv("SECRET_KEY", "a secret key that is long enough")
    for name, value in elsewhere.items():
        monkeypatch.setenv(name, value)
    (home / "copy.tar").write_text("")
    refused = installation.parley(command, home / "copy.tar")
    assert refused.exit_code == 1
    for word in ("pg_dump", "pg_restore", "docs/operations.md", "parley erase-again"):
        assert word in refused.output


def test_a_large_file_passes_through_in_pieces(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(96 * 1024 * 1024)
    tracemalloc.start()
    try:
        with (tmp_path / "archive").open("wb") as target:
            writer = Writer(target, tmp_path, header={})
            writer.file("files/large", large)
            writer.finish()
            writer.close()
        with (tmp_path / "archive").open("rb") as source:
            (tmp_path / "room").mkdir()
            reader = Reader(source, tmp_path / "room")
            reader.extract(lambda name: tmp_path / "out" / name)
            reader.close()
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / "out/files/large").stat().st_size == 96 * 1024 * 1024
    assert peak < 8 * 1024 * 1024


def test_every_column_that_names_a_file_is_known() -> None:
    declared = {
        (table.name, column.name)
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if column.name.endswith("_key") and isinstance(column.type, sa.String) and column.type.length == 200
    }
    assert declared == set(snapshot.KEYS)


def test_a_database_that_is_damaged_is_not_backed_up(installation: Installation, home: Path) -> None:
    installation.book()
    db.session.remove()
    db.engine.dispose()
    with sqlite3.connect(installation.database) as damaged:
        damaged.execute("DELETE FROM interview")
    damaged.close()
    refused = installation.parley("backup", home / "copy.tar")
    assert (refused.exit_code, "is damaged" in refused.output) == (1, True)
    assert not (home / "copy.tar").exists()


def test_the_header_is_read_first(tmp_path: Path) -> None:
    (tmp_path / "none").write_bytes(os.urandom(4096))
    with (tmp_path / "none").open("rb") as source, pytest.raises(Broken, match="not an archive"):
        Reader(source, tmp_path)
