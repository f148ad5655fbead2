"""``parley check``: what is there and what is not, in words, before or while Parley runs."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click

from app.core import clock, data_dir, rooms
from app.core.errors import DomainError
from app.operations.cli.console import AS_JSON, Failed, can_connect, database, settings, tell
from app.settings import Settings

JUST_NOW = timedelta(minutes=1)
"""So long after its next look a worker may take to write down what was erased, revoked or withdrawn."""


NO_WALL = (
    "but row-level security has no effect, because this role is a superuser or has BYPASSRLS. Use a role without "
    "these rights that owns the database (docs/operations.md)"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: whether Parley can work with it, and a sentence."""

    part: str
    good: bool
    words: str


@click.command()
@AS_JSON
def check(as_json: bool) -> None:
    """Check settings, database, migrations, Redis, storage, engines and journals. Exits with status 1 on failure."""
    known = settings()
    found = findings(known)
    lines = [f"{'ok  ' if one.good else 'FAIL'} {one.part}: {one.words}" for one in found]
    told = {
        "ok": all(one.good for one in found),
        "parts": {one.part: {"ok": one.good, "words": one.words} for one in found},
    }
    tell(told, as_json=as_json, words="\n".join(lines))
    if not told["ok"]:
        raise SystemExit(1)


def findings(known: Settings) -> list[Finding]:
    """All parts, each looked at although another one fails."""
    parts: dict[str, Callable[[Settings], tuple[bool, str]]] = {
        "settings": _settings,
        "data directory": _data_dir,
        "database": _database,
        "migrations": _migrations,
        "redis": _redis,
        "proxies": look_at_proxies,
        "storage": _storage,
        "engines": _engines,
        "word times": _word_times,
        "secret key": _secret_key,
        "audit log": _audit_log,
        "erasures": _erasures,
    }
    found = []
    for part, look in parts.items():
        try:
            good, words = look(known)
        except Failed as error:
            good, words = False, error.message
        except Exception as error:  # noqa: BLE001 - whatever a part raises is a finding about it
            said = error.message if isinstance(error, DomainError) else "failed"
            good, words = False, f"{type(error).__name__}: {said}"
        found.append(Finding(part, good, words))
    return found


def _settings(known: Settings) -> tuple[bool, str]:
    mode = "embedded, on one host" if known.is_embedded else "with external services"
    return True, f"valid; public address {known.app_url}; runs {mode}"


def _data_dir(known: Settings) -> tuple[bool, str]:
    """Whether other users of this machine are kept out of what belongs to candidates."""
    if not known.data_dir.exists():
        return True, f"{known.data_dir} is created at the first start, readable by one user only"
    if data_dir.is_open(known.data_dir):
        return False, (
            f"other users of this machine can open {known.data_dir}; start Parley as its owner, which restricts it, "
            f"or run: chmod -R go= {known.data_dir}"
        )
    places = [Path(known.database_url.removeprefix("sqlite:///")), Path(known.storage_url), known.erasure_journal]
    if exposed := [str(path) for path in places if path.exists() and data_dir.is_reachable(path)]:
        return False, f"other users of this machine can read {', '.join(exposed)}; run: chmod -R o= {' '.join(exposed)}"
    return True, f"only its owner can open {known.data_dir}"


def _database(known: Settings) -> tuple[bool, str]:
    kind = "SQLite" if known.database_url.startswith("sqlite") else "PostgreSQL"
    if kind == "SQLite":
        known.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not can_connect(known.database_url):
        return False, f"{kind} does not answer; check DATABASE_URL"
    if kind == "PostgreSQL" and _stands_above(known.database_url):
        return True, f"{kind} answers; {NO_WALL}"
    return True, f"{kind} answers"


def _stands_above(url: str) -> bool:
    """Whether the database lets this role see every row, whatever its row-level security says."""
    import sqlalchemy as sa

    from app.core import migrate

    engine = migrate.engine_for(url)
    try:
        with engine.connect() as connection:
            above = sa.text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
            return bool(connection.scalar(above))
    finally:
        engine.dispose()


def _migrations(known: Settings) -> tuple[bool, str]:
    from sqlalchemy.exc import SQLAlchemyError

    try:
        current, serves = _schema(known)
    except SQLAlchemyError as error:
        return False, f"cannot be read ({type(error).__name__})"
    if serves and not current:
        return True, "the database schema belongs to a newer release; start that release here too"
    return current, "up to date" if current else "out of date; run: parley migrate"


def _schema(known: Settings) -> tuple[bool, bool]:
    """Whether the database is at our newest revision, and whether we serve on it."""
    from app.core import migrate

    engine = migrate.engine_for(known.database_url)
    try:
        with engine.connect() as connection:
            return migrate.is_current(connection), migrate.may_serve(connection)
    finally:
        engine.dispose()


def _not_yet(known: Settings) -> str:
    """Why the rows are not looked at now; empty where they are."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        current, serves = _schema(known)
    except SQLAlchemyError:
        return "not checked: the database does not answer"
    if current:
        return ""
    return "not checked: run the check of the newer release" if serves else "not checked: run parley migrate first"


def _redis(known: Settings) -> tuple[bool, str]:
    from redis.exceptions import RedisError

    from app.core import queue
    from app.gateways.redis import embedded

    url = embedded.found_alive(known.data_dir, known.redis_url)
    if not url:
        return True, "the embedded server is not running; parley up starts it"
    redis = queue.connect(url)
    try:
        redis.get("parley:asked")
    except RedisError as error:
        return False, f"does not answer ({type(error).__name__}); check REDIS_URL"
    if why := queue.refusal(redis):
        return False, f"answers but accepts no writes ({why}); give it more memory (maxmemory) or disk space"
    return True, "answers" if known.redis_url else "the embedded server answers"


def look_at_proxies(known: Settings) -> tuple[bool, str]:
    """Whether limits and logs see callers' own addresses."""
    from app.gateways.redis import embedded
    from app.web import proxies

    if known.trusted_proxies:
        return True, f"{known.trusted_proxies} in front; their X-Forwarded-* headers are trusted"
    url = embedded.found_alive(known.data_dir, known.redis_url)
    if url and proxies.was_seen(url):
        return True, f"but in the last 24 hours {proxies.WARNING}"
    if known.is_https:
        return True, "but APP_URL is https, which needs a proxy in front; set TRUSTED_PROXIES to the number of proxies"
    return True, "none in front"


def _storage(known: Settings) -> tuple[bool, str]:
    from app.gateways.storage import build_storage

    storage = build_storage(known)
    storage.put("check/probe", b"parley")
    read = b"".join(storage.open("check/probe"))
    storage.delete("check/probe")
    if read != b"parley":
        return False, "a file was written but could not be read back"
    if not storage.has_room():
        return False, "the disk is nearly full; free some space. No new interview can start; running ones continue"
    return True, "files can be written, read and deleted"


def _engines(known: Settings) -> tuple[bool, str]:
    from app import gateways

    built = gateways.build(known)
    try:
        spoken = built.speaker.speak("Hello.", voice_id=None, language="en-US")
        heard = built.transcriber.supports("en-US")
        names = f"speech {built.speaker.name}, recognition {built.transcriber.name}, questions {built.interviewer.name}"
    finally:
        built.close()
    if not spoken.pcm:
        return False, f"{names}; speech synthesis returned no sound"
    return True, names if heard else f"{names}; English is not recognized, so candidates have to type their answers"


def _word_times(known: Settings) -> tuple[bool, str]:
    from app.gateways.speech_check import probe

    found = probe(known)
    if not found:
        return True, "no recognition server is configured" + (
            "; the embedded engine gives word times" if "pocketsphinx" in known.stt_provider else ""
        )
    return not any(one.failure for one in found), "; ".join(one.words for one in found)


def _secret_key(known: Settings) -> tuple[bool, str]:
    """Whether the key is the one that the database was used with."""
    from app.accounts.audit import check as audit_check
    from app.accounts.audit import entries
    from app.accounts.jobs import OTHER_KEY

    if words := _not_yet(known):
        return True, words
    with database(known):
        if any(audit_check.is_of_other_key(seal) for seal in entries.seals()):
            return False, f"SECRET_KEY does not belong to this database: {OTHER_KEY}"
    return True, "belongs to this database"


def _audit_log(known: Settings) -> tuple[bool, str]:
    from app.accounts import queries
    from app.accounts.jobs import look

    if words := _not_yet(known):
        return True, words
    with database(known):
        whole = 0
        for organization_id, name in queries.all_organizations():
            found = look(organization_id)
            if found.flaw:
                return False, f"the audit log of {name} is not intact: {found.flaw}"
            whole += found.number
    return True, f"intact, {whole} entries"


def _erasures(known: Settings) -> tuple[bool, str]:
    """The journal that keeps restores from bringing back what was erased, held against the database."""
    if words := _not_yet(known):
        return True, words
    with database(known):
        written = clock.now() - JUST_NOW - timedelta(seconds=known.sweep_seconds)
        done = {(act.what, act.interview) for act in rooms.erasures().acts() if act.at < written}
    if known.erasure_journal.exists():
        return _journal(known.erasure_journal, done)
    if not done:
        return True, "nothing has been erased, revoked or withdrawn yet"
    if not known.is_embedded:
        return True, f"no journal on this host; each worker writes its own, with {len(done)} entries by now"
    return (
        False,
        f"the journal {known.erasure_journal} does not exist, but the database has entries ({len(done)}); {_NO_WRITER}",
    )


def _journal(path: Path, done: set[tuple[str, str]]) -> tuple[bool, str]:
    from app.core.erasure_journal import BadJournal, Journal

    if not path.is_file():
        return False, f"{path} is not a file; set ERASURE_JOURNAL to a file"
    if not os.access(path, os.R_OK | os.W_OK):
        return (
            False,
            f"this user cannot read and write {path}; workers that run as this user cannot either",
        )
    try:
        kept = {(act.what, act.interview) for act in Journal(path).read()}
    except BadJournal as error:
        return False, f"{error}; move the file aside and keep it for restores: a worker writes a complete new one"
    if missing := done - kept:
        return False, f"{len(missing)} of {len(done)} entries are missing in {path}; {_NO_WRITER}"
    return True, f"{len(kept)} entries in {path}"


_NO_WRITER = "a worker writes them within seconds: check that one runs with the same settings and can write there"
