"""``parley restore`` restores a backup without what was erased since; ``parley erase-again`` repeats erasures only."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.core import clock, data_dir
from app.core.rooms import erasures
from app.gateways.storage import build_storage
from app.operations.backups import Broken, Journal, Kept, snapshot, unpacking
from app.operations.backups.archive import SECRET
from app.operations.cli.backup import check_of, in_words, layout_of, text_of
from app.operations.cli.console import AS_JSON, Failed, database, environment, installed, settings, tell
from app.settings import Settings, kept_secret

JOURNAL = click.Path(exists=True, dir_okay=False, path_type=Path)
FOREIGN_KEY = (
    "With a different secret key than the backup's, sessions, API keys, webhook secrets, authenticator codes and "
    "signed URLs stop working."
)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Move an existing DATA_DIR aside. Nothing in it is deleted.")
@click.option(
    "--journal",
    "journals",
    type=JOURNAL,
    multiple=True,
    help="Path of the erasure journal, if you stored it somewhere else.",
)
@click.option("--no-journal", is_flag=True, help="Restore without a journal. Data erased after the backup comes back.")
@click.option("--other-key", is_flag=True, help="Continue without the backup's own secret key.")
@AS_JSON
def restore(
    *, file: Path, force: bool, journals: tuple[Path, ...], no_journal: bool, other_key: bool, as_json: bool
) -> None:
    """Restore the backup FILE, and repeat erasures made since then. Parley must not be running."""
    config = settings(makes_key=False)
    where = layout_of(config, "restore")
    layout = unpacking.Layout(_below(where.database, config), _below(where.files, config))
    with in_words("restore"), _held_alone(config.data_dir) as held:
        if unpacking.holds_something(config.data_dir) and not force:
            raise Failed(f"{config.data_dir} is not empty; use --force to move it aside first (nothing is deleted)")
        acts = _acts_of((config.erasure_journal, *journals), where.database)
        if acts is None and not no_journal:
            raise Failed(
                "data erased after the backup would come back, because there is no erasure journal at "
                f"{config.erasure_journal}; pass it with --journal FILE, or use --no-journal"
            )
        fits = _fitting(other_key=other_key)
        with unpacking.unpacked(file.absolute(), config.data_dir, layout, fits=fits) as backup:
            held.enter_context(data_dir.held_alone(backup.folder))  # it becomes DATA_DIR
            outcome = _brought_back(backup, config, layout=layout, acts=acts or [])
    tell(outcome, as_json=as_json, words=_words(outcome, config))


@contextmanager
def _held_alone(folder: Path) -> Iterator[ExitStack]:
    """Hold DATA_DIR, and what enters the stack, so that Parley does not start on half of a backup. Raises Failed."""
    from app.gateways.redis import embedded

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as held:
        try:
            held.enter_context(data_dir.held_alone(folder))
        except data_dir.InUse as used:
            raise Failed(str(used)) from None
        try:
            if embedded.found_alive(folder, ""):
                raise Failed(f"Parley is running on {folder}; stop it first")
            yield held
        finally:
            (folder / data_dir.LOCK).unlink(missing_ok=True)  # while it is locked: see data_dir._locked


def _brought_back(
    backup: unpacking.Unpacked, config: Settings, *, layout: unpacking.Layout, acts: list[Kept]
) -> dict[str, Any]:
    """Prepare the backup where it was unpacked, then move it into place."""
    key = environment().get("SECRET_KEY") or text_of(backup.folder / SECRET) or kept_secret(backup.folder / SECRET)
    path, taken_at = backup.folder / layout.database, str(backup.manifest.get("taken_at"))
    staged = replace(
        config,
        data_dir=backup.folder,
        database_url=f"sqlite:///{path}",
        storage_url=str(backup.folder / layout.files),
        secret_key=key,
    )
    outcome = _made_ready(staged, path, acts=acts, taken_at=taken_at)
    journal = config.erasure_journal
    if config.data_dir in journal.parents:
        journal = backup.folder / journal.relative_to(config.data_dir)
    Journal(journal).add([*acts, *snapshot.destroyed(path)])
    snapshot.settle(path)
    aside = config.data_dir.with_name(f"{config.data_dir.name}.before-{clock.now():%Y%m%dT%H%M%SZ}")
    moved = unpacking.put_in_place(backup.folder, config.data_dir, aside=aside)
    return {
        **outcome,
        "aside": str(aside) if moved else None,
        "rows": sum(backup.manifest.get("rows", {}).values()),
        "files": backup.manifest.get("files"),
        "taken_at": taken_at,
    }


@click.command("erase-again")
@click.argument("journals", type=JOURNAL, nargs=-1, required=True)
@AS_JSON
def erase_again(journals: tuple[Path, ...], as_json: bool) -> None:
    """Repeat the erasures recorded in JOURNALS, after you have restored PostgreSQL or a bucket with other tools.

    Programs that follow /v1/changes start over.
    """
    from app.core.db import db
    from app.webhooks.changes import actions as changes

    config = installed()
    with in_words("erase-again"):
        acts = [act for path in journals for act in Journal(path).read()]
        with database(config):
            changes.restored()
            db.session.commit()
            outcome = erasures().repeat(acts, build_storage(config))
    tell(outcome, as_json=as_json, words=_done_again(outcome))


def _below(path: Path, config: Settings) -> Path:
    if config.data_dir not in path.parents:
        raise Failed(
            f"{path} is outside DATA_DIR ({config.data_dir}), and a restore writes only there; unset DATABASE_URL "
            "and STORAGE_URL, restore, then move the files"
        )
    return path.relative_to(config.data_dir)


def _acts_of(paths: Iterable[Path], old: Path) -> list[Kept] | None:
    """All known acts: those of the journals and of the database that will be replaced. None if there are no sources."""
    there = [path for path in paths if path.is_file()]
    acts = [act for path in there for act in Journal(path).read()]
    if not old.is_file():
        return acts if there else None
    try:
        return acts + snapshot.destroyed(old)
    except snapshot.Unreadable:  # it may be replaced because it is broken
        return acts if there else None


def _fitting(*, other_key: bool) -> Callable[[dict[str, Any]], None]:
    """A check that raises Broken for a backup that this release or this key cannot use, before it is unpacked."""
    from app.core import migrate

    secret = environment().get("SECRET_KEY")

    def fits(header: dict[str, Any]) -> None:
        if not migrate.knows(str(header.get("revision"))):
            raise Broken(
                f"it was made by a newer Parley ({header.get('parley')}, schema {header.get('revision')}); this one "
                f"supports schemas up to {migrate.head()}. Install that version, then restore"
            )
        if secret and header.get("key_check") not in {None, check_of(secret)} and not other_key:
            raise Broken(
                f"SECRET_KEY is not the one that the backup was made with. {FOREIGN_KEY} --other-key continues anyway"
            )
        if not secret and not header.get("has_key") and not other_key:
            raise Broken(
                f"it does not contain the secret key; set SECRET_KEY to it. {FOREIGN_KEY} --other-key continues anyway"
            )

    return fits


def _made_ready(staged: Settings, path: Path, *, acts: list[Kept], taken_at: str) -> dict[str, Any]:
    """Migrate the unpacked database to the newest schema, end every session, and repeat all acts."""
    from app.accounts import members
    from app.core import migrate
    from app.core.db import db
    from app.webhooks.changes import actions as changes

    snapshot.check(path)
    if not migrate.knows(snapshot.revision(path)):
        raise Broken(
            f"its database has schema {snapshot.revision(path)}, which this version of Parley does not support"
        )
    migrate.upgrade(staged.database_url)
    with database(staged):
        sessions = members.restored(taken_at=taken_at)
        changes.restored()
        db.session.commit()
        outcome = erasures().repeat([*acts, *snapshot.destroyed(path)], build_storage(staged))
    return {**outcome, "sessions": sessions}


def _done_again(outcome: dict[str, Any]) -> str:
    return (
        f"Erased, revoked or withdrawn again: {outcome['erased_again']}. Already done: {outcome['known']}. Not in the "
        f"backup: {outcome['not_in_it']}."
    )


def _words(outcome: dict[str, Any], config: Settings) -> str:
    aside = outcome["aside"]
    moved = f"\nThe previous data is in {aside}. Delete it when you no longer need it." if aside else ""
    return (
        f"Restored to {config.data_dir}: {outcome['rows']:,} rows, {outcome['files']:,} files, as of "
        f"{outcome['taken_at']}.\n{_done_again(outcome)}\nAll {outcome['sessions']} sessions ended; members have to "
        "sign in again. API keys, members and flows are as they were then: revoke again what was revoked "
        f"since.{moved}\nStart Parley with: parley up"
    )
