"""The ``parley`` command: starts the processes, manages accounts, checks and shows.

A command loads what it needs when it runs, so that help and small commands start at once.
"""

import json
import os
import sys

import click

from app.core import data_dir
from app.core.rooms import resolve
from app.operations.cli.console import (
    Failed,
    configure_logging,
    database,
    migrated,
    settings,
    wait_until_migrated,
)
from app.settings import Settings

LATER = {
    "api-key": ("app.operations.cli.accounts.api_key", "API keys for /v1."),
    "backup": (
        "app.operations.cli.backup.backup",
        "Write database, files and secret key to a new archive FILE. Parley may be running.",
    ),
    "check": (
        "app.operations.cli.check.check",
        "Check settings, database, migrations, Redis, storage, engines and journals. Exits with status 1 on failure.",
    ),
    "hear": (
        "app.operations.cli.speech.hear",
        "Recognize the speech in FILE (sound or video), and print text, word times, engine and time taken.",
    ),
    "say": (
        "app.operations.cli.speech.say",
        "Write TEXT as speech to FILE (WAV), and print the engine and the time taken.",
    ),
    "demo": (
        "app.operations.cli.demo.demo",
        "Run one interview from start to finish on the running platform, or on one started for it.",
    ),
    "erase-again": (
        "app.operations.cli.restore.erase_again",
        "Repeat the erasures recorded in JOURNALS, after you have restored PostgreSQL or a bucket with other tools.",
    ),
    "mcp": (
        "app.operations.cli.mcp_server.mcp",
        "Serve tools for AI assistants over the Model Context Protocol (MCP).",
    ),
    "member": ("app.operations.cli.accounts.member", "Members, who sign in to the platform."),
    "models": (
        "app.operations.cli.speech_models.models",
        "Speech models: list, install, verify or remove them. They are stored in MODELS_DIR.",
    ),
    "org": ("app.operations.cli.accounts.org", "Organizations."),
    "restore": (
        "app.operations.cli.restore.restore",
        "Restore the backup FILE, and repeat erasures made since then. Parley must not be running.",
    ),
    "team": ("app.operations.cli.accounts.team", "Teams."),
}
"""Commands of other modules: the path of each and the first words of its help, so that listing them loads none."""


class _Commands(click.Group):
    """The commands of this module and those of other modules, which are loaded when they run or show their help."""

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
    """Voice interviews on your own machines. Settings are environment variables; parley settings lists them."""


@parley.command()
def up() -> None:
    """Run everything on this host: migrations, Redis, web server and workers. Press Ctrl-C to stop."""
    from app.core.data_dir import InUse
    from app.gateways.redis.embedded import NoServer
    from app.operations.processes import run_up
    from app.operations.processes.web import PortTaken

    config = settings()
    configure_logging(config)
    try:
        run_up(config, migrate=migrated, set_up_address=set_up_address, say=_say)
    except InUse as error:
        raise Failed(f"{error} To add capacity, start parley web and parley worker.") from None
    except (PortTaken, NoServer) as error:
        raise Failed(str(error)) from None


def _say(words: str) -> None:
    click.echo(words)
    sys.stdout.flush()


def set_up_address(config: Settings) -> str | None:
    """The one-time URL of the first set-up; None once an organization exists."""
    from app.accounts import queries
    from app.accounts.access import setup_address

    with database(config):
        return None if queries.has_organization() else setup_address(config)


@parley.command()
def web() -> None:
    """Run the web server."""
    from app.operations.processes import run_web
    from app.operations.processes.web import PortTaken

    config = settings()
    configure_logging(config)
    try:
        run_web(config)
    except PortTaken as error:
        raise Failed(str(error)) from None


@parley.command()
def worker() -> None:
    """Run the background jobs."""
    from app.gateways.redis.embedded import NoServer
    from app.operations.processes import run_worker

    config = settings()
    configure_logging(config)
    try:
        run_worker(config)
    except NoServer as error:
        raise Failed(str(error)) from None


@parley.command()
def speech() -> None:
    """Run the speech host, which loads each speech model once per machine."""
    from app.operations.processes import CannotServe, run_speech

    config = settings()
    configure_logging(config)
    try:
        run_speech(config, say=_say)
    except CannotServe as error:
        raise Failed(str(error)) from None


@parley.command("migrate")
@click.option("--wait", "only_waits", is_flag=True, help="Only wait until another process has migrated the database.")
def migrate_command(*, only_waits: bool) -> None:
    """Migrate the database to the current schema."""
    config = settings()
    if only_waits:
        wait_until_migrated(config.database_url)
        return
    data_dir.make_private(config.data_dir)
    migrated(config.database_url)
    click.echo("The database schema is up to date.")


@parley.command("settings")
def settings_command() -> None:
    """Print all settings with their defaults, as the text of a .env file."""
    click.echo(Settings.example(), nl=False)


@parley.command()
def openapi() -> None:
    """Print the OpenAPI document of /v1."""
    from app import create_app
    from app.core import queue

    config = settings()
    application = create_app(config, waker=queue.SilentWaker())
    document = application.extensions["parley.api"].document(config.app_url)
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def main() -> None:
    """Entry point of the console script."""
    os.umask(data_dir.UMASK)
    parley(prog_name="parley")
