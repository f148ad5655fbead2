"""The ``parley`` command: starts everything, looks after accounts, checks, shows.

A command loads what it works with when it runs, so that help and small commands start at once.
"""

import json
import os
import sys

import click

from app.core import data_dir
from app.core.rooms import resolve
from app.operations.cli.console import Failed, configure_logging, database, migrated, settings
from app.settings import Settings

LATER = {
    "api-key": ("app.operations.cli.accounts.api_key", "API keys of /v1."),
    "backup": (
        "app.operations.cli.backup.backup",
        "Write database, files and secret key to a new archive FILE. Parley may be running.",
    ),
    "check": (
        "app.operations.cli.check.check",
        "Check settings, database, migrations, Redis, storage, engines and journals. Exits with status 1 on failure.",
    ),
    "demo": (
        "app.operations.cli.demo.demo",
        "Take one interview from end to end against the running platform, or one started for it.",
    ),
    "erase-again": (
        "app.operations.cli.restore.erase_again",
        "Do again what JOURNALS tell, after PostgreSQL or a bucket was restored by its own means.",
    ),
    "member": ("app.operations.cli.accounts.member", "Members, who sign in to the platform."),
    "org": ("app.operations.cli.accounts.org", "Organizations."),
    "restore": (
        "app.operations.cli.restore.restore",
        "Bring back what FILE holds, and erase again what was erased since. Parley must not be running.",
    ),
    "team": ("app.operations.cli.accounts.team", "Teams."),
}
"""Commands of other modules: where each is, and the first words of its help, so that listing them loads none."""


class _Commands(click.Group):
    """Its own commands, and those of other modules, which are loaded when they are run or asked for help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *LATER})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in LATER and cmd_name not in self.commands:
            self.add_command(resolve(LATER[cmd_name][0]))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        listed = {name: click.Command(name, help=words) for name, (_, words) in LATER.items()}
        click.Group(commands={**self.commands, **listed}).format_commands(ctx, formatter)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
    from app.accounts import queries
    from app.accounts.access import setup_address

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
    from app.core import queue

    known = settings()
    application = create_app(known, waker=queue.SilentWaker())
    document = application.extensions["parley.api"].document(known.app_url)
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def main() -> None:
    """Entry point of the console script."""
    os.umask(data_dir.UMASK)
    parley(prog_name="parley")
