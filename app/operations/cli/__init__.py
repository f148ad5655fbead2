"""The ``parley`` command: starts everything, looks after accounts, checks, shows."""

import json
import os
import sys

import click

from app.accounts import queries
from app.accounts.access import setup_address
from app.core import data_dir, queue
from app.operations.cli import accounts, backup, check, demo, restore
from app.operations.cli.console import Failed, configure_logging, database, migrated, settings
from app.settings import Settings


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="parley", message="%(version)s")
def parley() -> None:
    """Voice interviews on your own machines. Settings are environment variables; see .env.example."""


@parley.command()
def up() -> None:
    """Run everything on this host: migrations, Redis, web server and workers. Press Ctrl-C to stop."""
    from app.core.data_dir import InUse
    from app.gateways.redis.embedded import NoServer
    from app.operations.processes import run_up
    from app.operations.processes.web import PortTaken

    known = settings()
    configure_logging(known)
    try:
        run_up(known, migrate=migrated, set_up_address=set_up_address, say=_say)
    except (InUse, PortTaken, NoServer) as error:
        raise Failed(str(error)) from None


def _say(words: str) -> None:
    click.echo(words)
    sys.stdout.flush()


def set_up_address(known: Settings) -> str | None:
    """The one-time address of the first set-up, None once an organization exists."""
    with database(known):
        return None if queries.has_organization() else setup_address(known)


@parley.command()
def web() -> None:
    """Run the web server."""
    from app.operations.processes import run_web
    from app.operations.processes.web import PortTaken

    known = settings()
    configure_logging(known)
    try:
        run_web(known)
    except PortTaken as error:
        raise Failed(str(error)) from None


@parley.command()
def worker() -> None:
    """Run the background jobs."""
    from app.gateways.redis.embedded import NoServer
    from app.operations.processes import run_worker

    known = settings()
    configure_logging(known)
    try:
        run_worker(known)
    except NoServer as error:
        raise Failed(str(error)) from None


@parley.command("migrate")
def migrate_command() -> None:
    """Migrate the database to the current schema."""
    known = settings()
    data_dir.make_private(known.data_dir)
    migrated(known.database_url)
    click.echo("The database schema is up to date.")


@parley.command()
def openapi() -> None:
    """Print the OpenAPI document of /v1."""
    from app import create_app

    known = settings()
    application = create_app(known, waker=queue.SilentWaker())
    document = application.extensions["parley.api"].document(known.app_url)
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


for command in (
    accounts.org,
    accounts.team,
    accounts.member,
    accounts.api_key,
    check.check,
    backup.backup,
    restore.restore,
    restore.erase_again,
    demo.demo,
):
    parley.add_command(command)


def main() -> None:
    """Entry point of the console script."""
    os.umask(data_dir.UMASK)
    parley(prog_name="parley")
