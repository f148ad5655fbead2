"""``parley check``, ``migrate``, ``openapi``, and how settings are read."""

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import fields
from threading import Thread

import click
import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from app.accounts import members
from app.accounts.audit import check
from app.accounts.models import Organization, Role
from app.core import migrate
from app.core.db import db
from app.interviews.recordings import video
from app.operations import cli
from app.operations.cli import accounts, console
from app.operations.cli.console import database, environment, parsed, settings
from app.settings import Settings
from tests.contract.test_openapi import GOLDEN as SERVED


def _run(*arguments):
    return CliRunner().invoke(cli.parley, list(arguments))


def test_all_wrong_settings_are_listed_at_once(home, monkeypatch):
    monkeypatch.setenv("PORT", "many")
    monkeypatch.setenv("LOG_LEVEL", "loud")
    monkeypatch.setenv("SECRET_KEY", "short")
    told = _run("check", "--json")
    assert told.exit_code == 1
    assert all(name in told.stderr for name in ("PORT", "LOG_LEVEL", "SECRET_KEY"))
    assert told.stdout == ""


def test_check_tells_in_words_what_is_there(parley):
    told = parley("check")
    assert told.exit_code == 0, told.output
    for part in (
        "settings",
        "database",
        "migrations",
        "redis",
        "storage",
        "decoders",
        "engines",
        "audit log",
        "erasures",
    ):
        assert f"ok   {part}: " in told.stdout


def test_check_names_what_is_not_there(home, monkeypatch, free_port):
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{free_port}/0")
    told = _run("check", "--json")
    parts = json.loads(told.stdout)["parts"]
    assert told.exit_code == 1
    assert [name for name, part in parts.items() if not part["ok"]] == ["migrations", "redis"]
    assert parts["migrations"]["words"].startswith(f"there is no Parley in {home / 'data'}.")
    assert not (home / "data" / "parley.db").exists()


@pytest.mark.parametrize(("is_cut_off", "words"), [(True, "run without a network"), (False, "keep the network")])
def test_check_says_whether_decoders_keep_the_network(home, monkeypatch, is_cut_off, words):
    monkeypatch.setattr(video, "is_cut_off", lambda: is_cut_off)
    part = json.loads(_run("check", "--json").stdout)["parts"]["decoders"]
    assert part["ok"], "most containers forbid namespaces"
    assert part["words"].startswith(words)


def test_check_finds_an_audit_log_that_was_changed(parley, founded, own_database):
    whole = json.loads(parley("check", "--json").stdout)["parts"]["audit log"]
    assert whole == {"ok": True, "words": "intact, 4 entries"}
    engine = migrate.engine_for(own_database)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE audit_entry SET subject = 'x' WHERE number = 3"))
    engine.dispose()
    told = parley("check", "--json")
    part = json.loads(told.stdout)["parts"]["audit log"]
    assert (told.exit_code, part["ok"]) == (1, False)
    assert part["words"] == "the audit log of First Ltd is not intact: Entry 3 was changed after it was written."


def test_a_database_that_is_behind_is_told_apart(parley, own_database):
    engine = migrate.engine_for(own_database)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
    engine.dispose()
    refused = parley("api-key", "list")
    assert refused.exit_code == 1
    assert refused.stderr == "Error: the database schema is out of date; run: parley migrate\n"


NEEDS_PARLEY = [
    ["api-key", "create"],
    ["api-key", "list"],
    ["org", "create", "Ltd", "--team", "T", "--admin-email", "a@b.example", "--admin-password", "a staple and a horse"],
    ["demo", "--data"],
    ["demo", "--data", "--remove"],
    ["backup", "copy.tar"],
    ["erase-again", "journal"],
]


@pytest.mark.parametrize("command", NEEDS_PARLEY, ids=" ".join)
def test_the_wrong_data_dir_is_named_and_nothing_is_created(home, monkeypatch, command):
    monkeypatch.delenv("SECRET_KEY")
    (home / "journal").touch()
    refused = _run(*command)
    assert refused.exit_code == 1
    sentence = f"there is no Parley in {home / 'data'}. Is DATA_DIR the same as for the running Parley?"
    assert sentence in refused.stderr
    assert [path.name for path in home.iterdir()] == ["journal"]


def test_a_database_file_without_a_schema_is_no_parley(home, monkeypatch):
    monkeypatch.delenv("SECRET_KEY")
    (home / "data").mkdir()
    (home / "data" / "parley.db").touch()
    assert f"there is no Parley in {home / 'data'}." in _run("api-key", "list").stderr
    assert [path.name for path in (home / "data").iterdir()] == ["parley.db"]
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{home}/other.db")
    assert f"no Parley in the database {home / 'other.db'}. Is DATABASE_URL the same" in _run("api-key", "list").stderr
    assert not (home / "other.db").exists()


def test_whether_there_is_a_parley_is_known_while_another_process_writes(home, monkeypatch):
    monkeypatch.setattr("app.core.db.BUSY_SECONDS", 0)
    file = home / "other.db"
    with closing(sqlite3.connect(file)) as writer:
        writer.executescript("PRAGMA journal_mode = wal; CREATE TABLE other (id)")
        writer.execute("BEGIN IMMEDIATE")
        monkeypatch.setenv("DATABASE_URL", f"sqlite:///{file}")
        assert f"no Parley in the database {file}" in _run("api-key", "list").stderr


def test_migrate_brings_an_empty_database_up_and_may_be_repeated(home):
    assert _run("migrate").exit_code == 0
    assert _run("migrate").exit_code == 0
    assert _run("api-key", "list").stderr.startswith("Error: --org")


def test_a_process_can_wait_for_the_migration_of_another(home, own_database, capsys):
    engine = migrate.engine_for(own_database)
    revise = sa.text("UPDATE alembic_version SET version_num = :revision")
    with engine.begin() as connection:
        connection.execute(revise, {"revision": "0001"})
    waiting = Thread(target=console.wait_until_migrated, args=(own_database,), kwargs={"pause": 0.1})
    waiting.start()
    waiting.join(timeout=1)
    assert waiting.is_alive(), "the schema is an older one"
    with engine.begin() as connection:
        connection.execute(revise, {"revision": migrate.head()})
    engine.dispose()
    waiting.join(timeout=20)
    assert not waiting.is_alive()
    assert capsys.readouterr().err == "Waiting for the database until it is migrated (parley migrate).\n"


def test_waiting_changes_nothing_and_ends_at_once_where_all_is_migrated(parley):
    assert (parley("migrate", "--wait").exit_code, parley("migrate", "--wait").output) == (0, "")


def test_waiting_for_a_migration_outlasts_a_database_that_does_not_answer(home, monkeypatch, free_port, capsys):
    class Enough(Exception):
        """The third look."""

    looks = []

    def sleep(seconds):
        looks.append(seconds)
        if len(looks) == 3:
            raise Enough

    monkeypatch.setattr(console.time, "sleep", sleep)
    with pytest.raises(Enough):
        console.wait_until_migrated(f"postgresql://parley:secret-word@127.0.0.1:{free_port}/parley")
    assert capsys.readouterr().err == "Waiting for the database until it responds.\n", "once, and without the password"


def test_commands_of_an_old_release_know_that_a_newer_one_has_migrated(parley, own_database, monkeypatch, free_port):
    monkeypatch.setenv("PORT", str(free_port))
    engine = migrate.engine_for(own_database)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    told = parley("check", "--json")
    parts = json.loads(told.stdout)["parts"]
    assert told.exit_code == 0, told.stdout
    assert parts["migrations"]["words"].startswith("the database schema belongs to a newer release")
    assert (
        parts["audit log"]["words"] == parts["erasures"]["words"] == "not checked: run the check of the newer release"
    )
    for command, words in ((["migrate"], "revision 9999"), (["up"], "Start the newer"), (["api-key", "list"], "newer")):
        refused = parley(*command)
        assert (refused.exit_code, words in refused.stderr) == (1, True), refused.output


def test_migrate_says_why_it_cannot(home, monkeypatch, free_port):
    monkeypatch.setenv("DATABASE_URL", f"postgresql://parley:secret-word@127.0.0.1:{free_port}/parley")
    refused = _run("migrate")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: the database could not be migrated: connection failed")
    assert "secret-word" not in refused.output


def test_openapi_prints_the_document(parley):
    document = json.loads(parley("openapi").stdout)
    assert document["openapi"] == "3.1.0"
    served = json.loads(SERVED.read_text(encoding="utf-8"))
    assert document == served | {"servers": document["servers"]}
    assert document["servers"] != served["servers"]
    assert "/v1/ping" in document["paths"]


def test_all_settings_are_printed_as_a_file_that_is_read_back(home):
    printed = _run("settings").stdout
    lines = [line.removeprefix("#") for line in printed.splitlines() if not line.startswith("# ")]
    names = parsed("\n".join(lines))
    assert names["PORT"] == "8000"
    assert len(names) == sum("name" in declared.metadata for declared in fields(Settings))
    assert parsed(printed) == {}, "a default is a remark until someone changes it"


def test_a_file_of_settings_is_read_and_the_environment_counts_more(home, monkeypatch):
    (home / ".env").write_text("PORT=8123\nHOST='0.0.0.0'\n")
    monkeypatch.setenv("PORT", "9000")
    found = environment()
    assert (found["PORT"], found["HOST"]) == ("9000", "0.0.0.0")
    assert "HOST" not in os.environ


def test_lines_of_a_settings_file():
    text = "# remark\n\nexport A=1\nB = \"two words\" \nC='x=y'\nbroken line\n#D=4\nE=\n"
    assert parsed(text) == {"A": "1", "B": "two words", "C": "x=y", "E": ""}


@pytest.mark.parametrize(
    "command", ["up", "web", "worker", "migrate", "check", "org", "team", "member", "api-key", "demo", "openapi"]
)
def test_every_command_explains_itself(command):
    told = _run(command, "--help")
    assert told.exit_code == 0
    assert len(told.stdout.splitlines()) > 3


def test_check_says_that_the_secret_key_was_changed_and_not_that_the_log_is_broken(parley, founded, monkeypatch):
    with database(settings()):
        organization = db.session.get(Organization, founded["organization_id"])
        check.keep_check(organization, check.followed(organization))
        db.session.commit()
    assert json.loads(parley("check", "--json").stdout)["parts"]["secret key"]["ok"]
    monkeypatch.setenv("SECRET_KEY", "another secret key that is long enough")
    told = parley("check", "--json")
    parts = json.loads(told.stdout)["parts"]
    assert told.exit_code == 1
    assert [name for name, part in parts.items() if not part["ok"]] == ["secret key"]
    assert "Set SECRET_KEY to the previous value" in parts["secret key"]["words"]


@pytest.mark.parametrize("name", cli.LATER)
def test_a_command_is_listed_with_the_words_of_its_own_help(name):
    command = cli.parley.get_command(click.Context(cli.parley), name)
    assert (command.name, cli.LATER[name][1]) == (name, command.help.partition("\n\n")[0])


def test_help_offers_the_choices_that_the_rooms_have():
    assert (tuple(Role), tuple(members.OVERLAPS)) == (accounts.ROLES, accounts.ENDS)
