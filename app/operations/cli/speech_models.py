"""``parley models``: what there is for speech, what is here, and fetching it."""

from pathlib import Path

import click

from app.gateways.speech import catalogue
from app.gateways.speech.host.machine import this_machine
from app.gateways.speech.model_files import ModelStore, manifest, wanted
from app.gateways.speech.model_files.manifest import Model
from app.gateways.speech.model_files.store import ModelError
from app.operations.cli.console import AS_JSON, Failed, settings, tell

MB = 1_000_000
NAMES = click.argument("names", nargs=-1, required=True, metavar="NAME...")


@click.group()
def models() -> None:
    """Speech models: list, install, verify or remove them. They are stored in MODELS_DIR."""


@models.command("list")
@AS_JSON
def list_models(as_json: bool) -> None:
    """List the available models, and which of them are installed."""
    store = ModelStore(settings(makes_key=False).models_dir)
    installed = set(store.installed())
    listed = [_row(model, is_installed=model.name in installed) for model in manifest.MODELS.values()]
    width = max(len(model.name) for model in manifest.MODELS.values())
    lines = [
        f"{'*' if row['installed'] else ' '} {row['name']:{width}}  {row['mb']:>5} MB  {row['title']}; {row['licence']}"
        for row in listed
    ]
    words = "\n".join([*lines, "", f"* installed in {store.folder}"])
    tell({"directory": str(store.folder), "models": listed}, as_json=as_json, words=words)


def _row(model: Model, *, is_installed: bool) -> dict[str, object]:
    return {
        "name": model.name,
        "title": model.title,
        "kind": model.kind,
        "mb": round(model.bytes / MB),
        "memory_mb": model.memory_mb,
        "licence": model.licence,
        "commercial_use": model.commercial,
        "card": model.card,
        "languages": dict(model.languages),
        "installed": is_installed,
    }


@models.command()
@NAMES
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Copy from this directory, which has one directory per model, without using the network.",
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    type=click.Choice(catalogue.LANGUAGES),
    help="Language that `default` is for; may be repeated. Default: en-US.",
)
def install(names: tuple[str, ...], folder: Path | None, languages: tuple[str, ...]) -> None:
    """Fetch models by NAME. The name `default` stands for what this machine needs.

    Interrupted downloads continue where they stopped. A file is accepted only if its sha256 matches the manifest.
    """
    from app.gateways.speech.model_files.fetching import Fetcher
    from app.gateways.speech.model_files.progress import Steps

    chosen = settings(makes_key=False)
    default = wanted.defaults(languages or wanted.DEFAULT_LANGUAGES, this_machine())
    if languages and "default" not in names:
        raise Failed("--language only changes what the name `default` stands for; leave it out or add default")
    wished = [one for name in names for one in (default if name == "default" else (name,))]
    store = ModelStore(chosen.models_dir)
    fetcher = Fetcher(store, mirror=chosen.models_mirror, only=folder, say=click.echo, progress=Steps(click.echo))
    try:
        fetched = fetcher.install(wished)
    except ModelError as error:
        raise Failed(str(error)) from None
    here = [name for name in dict.fromkeys(wished) if name not in fetched]
    if fetched:
        click.echo(f"Installed in {store.folder}: {', '.join(fetched)}.")
    if here:
        click.echo(f"Already installed: {', '.join(here)}.")


@models.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
def verify(names: tuple[str, ...]) -> None:
    """Compare the files of all installed models, or of those named, with their hashes.

    Also accepts models that you copied to MODELS_DIR by hand. Exits with status 1 if a file is wrong.
    """
    store = ModelStore(settings(makes_key=False).models_dir)
    problems = []
    try:
        present = names or tuple(name for name in store.models if store.is_present(name))
        for name in present:
            wrong = store.verify(name)
            problems += wrong
            click.echo("\n".join(wrong) if wrong else f"{name}: complete")
    except ModelError as error:
        raise Failed(str(error)) from None
    except OSError as error:
        raise Failed(f"MODELS_DIR {store.folder} cannot be written ({error.strerror}); run this as its owner") from None
    if not present:
        click.echo(f"There are no models in {store.folder}.")
    if problems:
        raise Failed("run parley models install with the names above to fetch those models again")


@models.command()
@NAMES
def remove(names: tuple[str, ...]) -> None:
    """Delete models from MODELS_DIR. Running processes continue without them."""
    store = ModelStore(settings(makes_key=False).models_dir)
    try:
        for name in names:
            store.model(name)
        with store.lock(waiting=lambda: click.echo("Another process is changing the directory; waiting.")):
            for name in names:
                click.echo(f"{name}: removed" if store.remove(name) else f"{name}: was not installed")
    except ModelError as error:
        raise Failed(str(error)) from None
