"""What the commands share: reading the settings, a database without the rest of the application, and how they speak.

A file ``.env`` in the working directory is read; what the environment says counts more.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from pythonjsonlogger.json import JsonFormatter

from app.core import data_dir
from app.core.errors import DomainError, Rejected
from app.settings import SHORTEST_SECRET, Settings, SettingsError

AS_JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else to standard output."
)


class Failed(click.ClickException):
    """The command could not do what it was asked; the message goes to standard error."""


def environment(folder: Path | None = None) -> dict[str, str]:
    """The process's variables, and those of ``.env`` that it does not have."""
    path = (folder or Path.cwd()) / ".env"
    kept = path.read_text(encoding="utf-8") if path.is_file() else ""
    return {**parsed(kept), **os.environ}


def parsed(text: str) -> dict[str, str]:
    """``NAME=value`` lines; quotes round a value are taken off, ``#`` begins a line of remarks, nothing is expanded."""
    found = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            cleaned = value.strip()
            is_quoted = len(cleaned) > 1 and cleaned[0] == cleaned[-1] and cleaned[0] in "\"'"
            found[name.strip()] = cleaned[1:-1] if is_quoted else cleaned
    return found


def settings(*, makes_key: bool = True) -> Settings:
    """The settings, or the full list of what is wrong with them.

    Without ``makes_key`` nothing is written into DATA_DIR, and a key that is not set is a placeholder.
    """
    variables = environment()
    if not makes_key and not variables.get("SECRET_KEY"):
        variables["SECRET_KEY"] = "x" * SHORTEST_SECRET
        os.environ.setdefault("SECRET_KEY", "")
    os.environ.update({name: value for name, value in variables.items() if name not in os.environ})
    try:
        return Settings.from_env(variables)
    except SettingsError as error:
        listed = "\n".join(f"  - {problem}" for problem in error.problems)
        raise Failed(f"invalid settings:\n{listed}") from None


class JsonLines(JsonFormatter):
    """One JSON object a line. ``event`` is the message before its values are put in, so that equal events are equal."""

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        """The fields of the record, and Parley's."""
        super().add_fields(log_data, record, message_dict)
        log_data["event"] = str(record.msg)


def configure_logging(known: Settings) -> None:
    """One line per event on standard error, with the request it belongs to; ids only."""
    from app.core import request_id

    handler = logging.StreamHandler()
    if known.log_format == "json":
        names = {"levelname": "level", "name": "logger"}
        handler.setFormatter(JsonLines("%(levelname)s %(name)s %(message)s", rename_fields=names, timestamp="time"))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s [%(request_id)s]: %(message)s"))
    handler.addFilter(request_id.RequestIdFilter())
    logging.basicConfig(level=known.log_level.upper(), handlers=[handler], force=True)
    for noisy in ("urllib3", "botocore", "boto3", "alembic", "rq.worker", "waitress.queue"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


@contextmanager
def database(known: Settings) -> Iterator[None]:
    """An application context with the migrated database and nothing else, so that commands start at once."""
    from flask import Flask
    from sqlalchemy.exc import SQLAlchemyError

    from app.core import queue
    from app.core.db import db, engine_options, prepare, row_security

    data_dir.make_private(known.data_dir)
    app = Flask("parley")
    app.config.update(
        SECRET_KEY=known.secret_key,
        SQLALCHEMY_DATABASE_URI=known.database_url,
        SQLALCHEMY_ENGINE_OPTIONS=engine_options(known.database_url),
    )
    app.extensions["parley.bell"] = queue.SilentWaker()
    db.init_app(app)
    with app.app_context(), row_security.everyone():
        prepare(db.engine)
        try:
            _refuse_old_schema()
            yield
        except DomainError as error:
            raise Failed(_sentence(error)) from None
        except SQLAlchemyError as error:
            raise Failed(f"the database does not answer ({type(error).__name__}); run: parley check") from None
        finally:
            db.session.remove()
            db.engine.dispose()


def _refuse_old_schema() -> None:
    from app.core import migrate
    from app.core.db import db

    with db.engine.connect() as connection:
        if migrate.is_current(connection):
            return
        if migrate.may_serve(connection):
            raise Failed("the database schema belongs to a newer release; use the parley command of that release")
        raise Failed("the database schema is out of date; run: parley migrate")


def migrated(url: str) -> None:
    """Bring the database to the newest revision, or say in a sentence why that cannot be."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.core import migrate

    try:
        migrate.upgrade(url)
    except migrate.Refused as error:
        raise Failed(str(error)) from None
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise Failed(
            f"the database could not be migrated: {said}. The failed step was rolled back; fix the cause and run it "
            "again"
        ) from None


def _sentence(error: DomainError) -> str:
    return f"{error.field}: {error.message}" if isinstance(error, Rejected) and error.field else error.message


def tell(result: Mapping[str, Any], *, as_json: bool, words: str) -> None:
    """One JSON object, or words for people."""
    click.echo(json.dumps(result, ensure_ascii=False) if as_json else words)


def can_connect(url: str) -> bool:
    """Whether the database answers, without an application."""
    import sqlalchemy as sa

    from app.core import migrate

    engine = migrate.engine_for(url)
    try:
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT 1"))
    except sa.exc.SQLAlchemyError:
        return False
    finally:
        engine.dispose()
    return True
