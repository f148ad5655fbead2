"""What the commands share: settings, a database without the rest of the application, and output.

A file ``.env`` in the working directory is read; variables of the environment take precedence.
"""

import json
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pythonjsonlogger.json import JsonFormatter

from app.core import data_dir
from app.core.errors import DomainError, Rejected
from app.settings import SHORTEST_SECRET, Settings, SettingsError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

AS_JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else to standard output."
)


class Failed(click.ClickException):
    """The command failed; the message goes to standard error."""


def environment(folder: Path | None = None) -> dict[str, str]:
    """The process's variables, and those of ``.env`` that it does not have."""
    path = (folder or Path.cwd()) / ".env"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return {**parsed(text), **os.environ}


def parsed(text: str) -> dict[str, str]:
    """Parse ``NAME=value`` lines: quotes around a value are removed, ``#`` begins a comment, nothing is expanded."""
    variables = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            cleaned = value.strip()
            is_quoted = len(cleaned) > 1 and cleaned[0] == cleaned[-1] and cleaned[0] in "\"'"
            variables[name.strip()] = cleaned[1:-1] if is_quoted else cleaned
    return variables


def settings(*, makes_key: bool = True) -> Settings:
    """The settings. Raises Failed with everything that is wrong with them.

    Without ``makes_key``, nothing is written into DATA_DIR, and a missing SECRET_KEY is a placeholder.
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


def installed() -> Settings:
    """The settings of an installation that is there. Raises Failed if there is none, and then has created nothing."""
    if words := absence(settings(makes_key=False)):
        raise Failed(words)
    return settings()


def absence(config: Settings) -> str | None:
    """A sentence that names where there is no Parley; None if there is one, or if the database does not respond.

    Creates nothing. The command that opens the database next says why it does not respond.
    """
    import sqlalchemy as sa

    url = sa.make_url(config.database_url)
    try:
        if _has_schema(url):
            return None
    except (OSError, sa.exc.SQLAlchemyError):
        return None
    file = _file_of(url)
    if file is None:
        address = url.set(drivername=url.get_backend_name(), password=None, query={}).render_as_string()
        return _ABSENT.format(place=f"the database {address}", setting="DATABASE_URL", command="parley migrate")
    is_ours = config.data_dir in file.parents
    place, setting = (config.data_dir, "DATA_DIR") if is_ours else (f"the database {file}", "DATABASE_URL")
    return _ABSENT.format(place=place, setting=setting, command="parley up")


_ABSENT = (
    "there is no Parley in {place}. Is {setting} the same as for the running Parley? To begin a new installation "
    "there, run: {command}"
)


def _has_schema(url: "URL") -> bool:
    """Whether anything has ever migrated the database. Raises OSError and SQLAlchemyError."""
    from app.core import migrate
    from app.core.db import reading

    file = _file_of(url)
    if file is not None and not _has_bytes(file):  # SQLite would create it
        return False
    engine = migrate.engine_for(url.render_as_string(hide_password=False))
    try:
        with reading(), engine.connect() as connection:  # who only looks does not wait for the one writer of SQLite
            return migrate.revision_of(connection) is not None
    finally:
        engine.dispose()


def _file_of(url: "URL") -> Path | None:
    return Path(str(url.database)).absolute() if url.get_backend_name() == "sqlite" else None


def _has_bytes(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False


class JsonLines(JsonFormatter):
    """One JSON object per line. ``event`` is the message without its values, so that equal events have equal text."""

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        """The fields of the record, and Parley's."""
        super().add_fields(log_data, record, message_dict)
        log_data["event"] = str(record.msg)


def configure_logging(config: Settings) -> None:
    """Log one line per event to standard error, with its request id; ids only."""
    from app.core import request_id

    handler = logging.StreamHandler()
    if config.log_format == "json":
        names = {"levelname": "level", "name": "logger"}
        handler.setFormatter(JsonLines("%(levelname)s %(name)s %(message)s", rename_fields=names, timestamp="time"))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s [%(request_id)s]: %(message)s"))
    handler.addFilter(request_id.RequestIdFilter())
    logging.basicConfig(level=config.log_level.upper(), handlers=[handler], force=True)
    for noisy in ("urllib3", "botocore", "boto3", "alembic", "rq.worker", "waitress.queue", "fontTools"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


@contextmanager
def database(config: Settings) -> Iterator[None]:
    """An application context with the migrated database and nothing else, so that commands start at once."""
    from flask import Flask
    from sqlalchemy.exc import SQLAlchemyError

    from app.core import queue
    from app.core.db import db, engine_options, prepare, row_security

    data_dir.make_private(config.data_dir)
    app = Flask("parley")
    app.config.update(
        SECRET_KEY=config.secret_key,
        SQLALCHEMY_DATABASE_URI=config.database_url,
        SQLALCHEMY_ENGINE_OPTIONS=engine_options(config.database_url),
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
            raise Failed(f"the database does not respond ({type(error).__name__}); run: parley check") from None
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
    """Migrate the database to the newest revision. Raises Failed with a sentence if that is not possible."""
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


def wait_until_migrated(url: str, *, pause: float = 2.0) -> None:
    """Return once this release can serve on the database; ask every ``pause`` seconds. Nothing is changed."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.core import migrate

    engine = migrate.engine_for(url)
    told = ""
    try:
        while True:
            try:
                with engine.connect() as connection:
                    if migrate.may_serve(connection):
                        return
                reason = "it is migrated (parley migrate)"
            except SQLAlchemyError:
                reason = "it responds"
            if reason != told:
                click.echo(f"Waiting for the database until {reason}.", err=True)
                told = reason
            time.sleep(pause)
    finally:
        engine.dispose()


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
