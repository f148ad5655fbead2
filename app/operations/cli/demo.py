"""``parley demo``: one interview from end to end, or an organization full of them."""

import logging
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from app.core import clock
from app.operations.cli.console import Failed, database, installed, settings
from app.settings import Settings

UNTIL_THEN = (
    "\nUntil then, the demo replaces the first set-up; its address works again afterwards. To have both, create "
    "your own organization with: parley org create"
)


@click.command()
@click.option("--data", "wants_data", is_flag=True, help="Create an organization with demo data instead.")
@click.option("--again", is_flag=True, help="With --data: add more even if there is demo data already.")
@click.option("--seed", default=7, show_default=True, help="With --data: the same seed creates the same candidates.")
@click.option("--remove", is_flag=True, help="With --data: delete all demo data and nothing else.")
def demo(*, wants_data: bool, again: bool, seed: int, remove: bool) -> None:
    """Run one interview from start to finish on the running platform, or on one started for it.

    With --data: create a separate organization with invented candidates, interviews and results to look around in.
    """
    logging.basicConfig(level="ERROR" if wants_data else "WARNING")
    if not wants_data:
        if again or remove:
            raise Failed("--again and --remove need --data")
        from app.operations.demo import story
        from app.operations.demo.platform import Stuck

        try:
            raise SystemExit(story.main(settings()))
        except Stuck as error:
            raise Failed(str(error)) from None
    if remove:
        _remove(installed())
    else:
        _fill(installed(), seed=seed, again=again)


def _fill(config: Settings, *, seed: int, again: bool) -> None:
    from app.accounts import queries
    from app.gateways.storage import build_storage
    from app.operations.demo import cast, cli_fill, cli_keep, content

    with database(config):
        is_there, is_first = bool(cli_keep.filled()), not queries.has_organization()
    if is_there and not again:
        raise Failed("there is demo data already; use --again to add more, or --remove to delete it")
    click.echo("Running interviews with the embedded voice. This takes about a minute.")
    scripts, now = content.scripts(), clock.now()
    with tempfile.TemporaryDirectory(prefix="parley-demo-") as folder:
        room = Path(folder)
        # A separate database and files, so that nothing is shown or processed before everything is there.
        own = replace(
            config, data_dir=room, database_url=cli_keep.scratch(room), storage_url=str(room / "files"), redis_url=""
        )
        parts = cast.cast(scripts, seed=seed, now=now)
        filled = cli_fill.fill(own, scripts, parts, now=now, say=click.echo)
        with database(config):
            cli_keep.take_over(own.database_url, source=build_storage(own), storage=build_storage(config))
    click.echo(
        f"Created {filled.interviews} interviews in the organization “{cli_fill.NAME}”.\n\nIf Parley is not "
        f"running, start it (parley up). Sign in at\n  {config.app_url}/sign-in\n  address   {filled.email}\n  "
        f"password  {filled.password}\n\nTo delete all demo data: parley demo --data --remove"
        + (UNTIL_THEN if is_first else "")
    )


def _remove(config: Settings) -> None:
    from app.gateways.storage import build_storage
    from app.operations.demo import cli_keep

    storage = build_storage(config)
    with database(config):
        filled = cli_keep.filled()
        if not filled:
            raise Failed("there is no demo data")
        removed = sum(cli_keep.remove(organization, storage=storage) for organization in filled)
    organizations = "1 organization" if len(filled) == 1 else f"{len(filled)} organizations"
    click.echo(f"Removed: {organizations}, {removed} interview{'' if removed == 1 else 's'}.")
