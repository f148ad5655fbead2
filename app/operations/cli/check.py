"""``parley check``: what is there and what is not, in words, before or while Parley runs."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click

from app.core import clock, data_dir, rooms
from app.core.errors import DomainError
from app.operations.cli.console import AS_JSON, Failed, absence, can_connect, database, settings, tell
from app.settings import Settings

HOST_SECONDS = 3.0
"""For the speech host to answer."""
JUST_NOW = timedelta(minutes=1)
"""So long after its next look a worker may take to write down what was erased, revoked or withdrawn."""


NO_ROW_SECURITY = (
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
    config = settings()
    results = findings(config)
    lines = [f"{'ok  ' if one.good else 'FAIL'} {one.part}: {one.words}" for one in results]
    report = {
        "ok": all(one.good for one in results),
        "parts": {one.part: {"ok": one.good, "words": one.words} for one in results},
    }
    tell(report, as_json=as_json, words="\n".join(lines))
    if not report["ok"]:
        raise SystemExit(1)


def findings(config: Settings) -> list[Finding]:
    """All parts, each looked at although another one fails."""
    parts: dict[str, Callable[[Settings], tuple[bool, str]]] = {
        "settings": _settings,
        "data directory": _data_dir,
        "database": _database,
        "migrations": _migrations,
        "redis": _redis,
        "proxies": look_at_proxies,
        "storage": _storage,
        "decoders": look_at_decoders,
        "speech host": _speech_host,
        "speech models": _speech_models,
        "languages": _languages,
        "engines": _engines,
        "language model": _language_model,
        "word times": _word_times,
        "secret key": _secret_key,
        "audit log": _audit_log,
        "erasures": _erasures,
    }
    results = []
    for part, look in parts.items():
        try:
            good, words = look(config)
        except Failed as error:
            good, words = False, error.message
        except Exception as error:  # noqa: BLE001 - whatever a part raises is a finding about it
            said = error.message if isinstance(error, DomainError) else "failed"
            good, words = False, f"{type(error).__name__}: {said}"
        results.append(Finding(part, good, words))
    return results


def _settings(config: Settings) -> tuple[bool, str]:
    mode = "embedded, on one host" if config.is_embedded else "with external services"
    return True, f"valid; public address {config.app_url}; runs {mode}"


def _data_dir(config: Settings) -> tuple[bool, str]:
    """Whether other users of this machine are kept out of what belongs to candidates."""
    if not config.data_dir.exists():
        return True, f"{config.data_dir} is created at the first start, readable by one user only"
    if data_dir.is_open(config.data_dir):
        return False, (
            f"other users of this machine can open {config.data_dir}; start Parley as its owner, which restricts it, "
            f"or run: chmod -R go= {config.data_dir}"
        )
    places = [Path(config.database_url.removeprefix("sqlite:///")), Path(config.storage_url), config.erasure_journal]
    if exposed := [str(path) for path in places if path.exists() and data_dir.is_reachable(path)]:
        return False, f"other users of this machine can read {', '.join(exposed)}; run: chmod -R o= {' '.join(exposed)}"
    return True, f"only its owner can open {config.data_dir}"


def _database(config: Settings) -> tuple[bool, str]:
    kind = "SQLite" if config.database_url.startswith("sqlite") else "PostgreSQL"
    if kind == "SQLite" and absence(config):
        return True, f"{kind} creates it at the first start"
    if not can_connect(config.database_url):
        return False, f"{kind} does not respond; check DATABASE_URL"
    if kind == "PostgreSQL" and _bypasses_row_security(config.database_url):
        return True, f"{kind} responds; {NO_ROW_SECURITY}"
    return True, f"{kind} answers"


def _bypasses_row_security(url: str) -> bool:
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


def _migrations(config: Settings) -> tuple[bool, str]:
    from sqlalchemy.exc import SQLAlchemyError

    if words := absence(config):
        return False, words
    try:
        current, serves = _schema(config)
    except SQLAlchemyError as error:
        return False, f"cannot be read ({type(error).__name__})"
    if serves and not current:
        return True, "the database schema belongs to a newer release; start that release here too"
    return current, "up to date" if current else "out of date; run: parley migrate"


def _schema(config: Settings) -> tuple[bool, bool]:
    """Whether the database is at our newest revision, and whether we serve on it."""
    from app.core import migrate

    engine = migrate.engine_for(config.database_url)
    try:
        with engine.connect() as connection:
            return migrate.is_current(connection), migrate.may_serve(connection)
    finally:
        engine.dispose()


def _not_yet(config: Settings) -> str:
    """Why the rows are not looked at now; empty where they are."""
    from sqlalchemy.exc import SQLAlchemyError

    if absence(config):
        return "not checked: there is no Parley in this database yet"
    try:
        current, serves = _schema(config)
    except SQLAlchemyError:
        return "not checked: the database does not respond"
    if current:
        return ""
    return "not checked: run the check of the newer release" if serves else "not checked: run parley migrate first"


def _redis(config: Settings) -> tuple[bool, str]:
    from redis.exceptions import RedisError

    from app.core import queue
    from app.gateways.redis import embedded

    url = embedded.found_alive(config.data_dir, config.redis_url)
    if not url:
        return True, "the embedded server is not running; parley up starts it"
    redis = queue.connect(url)
    try:
        redis.get("parley:asked")
    except RedisError as error:
        return False, f"does not respond ({type(error).__name__}); check REDIS_URL"
    if why := queue.refusal(redis):
        return False, f"responds but accepts no writes ({why}); give it more memory (maxmemory) or disk space"
    return True, "responds" if config.redis_url else "the embedded server responds"


def look_at_proxies(config: Settings) -> tuple[bool, str]:
    """Whether limits and logs see callers' own addresses."""
    from app.gateways.redis import embedded
    from app.web import proxies

    if config.trusted_proxies:
        return True, f"{config.trusted_proxies} in front; their X-Forwarded-* headers are trusted"
    url = embedded.found_alive(config.data_dir, config.redis_url)
    if url and proxies.was_seen(url):
        return True, f"but in the last 24 hours {proxies.WARNING}"
    if config.is_https:
        return True, "but APP_URL is https, which needs a proxy in front; set TRUSTED_PROXIES to the number of proxies"
    return True, "none in front"


def _storage(config: Settings) -> tuple[bool, str]:
    from app.gateways.storage import build_storage

    storage = build_storage(config)
    storage.put("check/probe", b"parley")
    read = b"".join(storage.open("check/probe"))
    storage.delete("check/probe")
    if read != b"parley":
        return False, "a file was written but could not be read back"
    if not storage.has_room():
        return False, "the disk is nearly full; free some space. No new interview can start; running ones continue"
    return True, "files can be written, read and deleted"


def look_at_decoders(_config: Settings) -> tuple[bool, str]:
    """Whether what decodes untrusted recordings and documents gives up the network first."""
    from app.interviews.recordings import video

    if video.is_cut_off():
        return True, "run without a network"
    return True, (
        "keep the network, because this system does not give them a separate network namespace; restrict what this "
        "host can reach (docs/operations.md, Containers)"
    )


def _speech_host(config: Settings) -> tuple[bool, str]:
    """Whether the process that has the speech models answers, and for how many languages each engine has one."""
    from app.gateways.speech.host.client import SpeechHost
    from app.operations.processes.speech import has_host_engines

    if not has_host_engines(config):
        return True, "not needed: no installed engine of STT_PROVIDER or TTS_PROVIDER runs in it"
    host = SpeechHost(config)
    try:
        offers = host.state(wait=HOST_SECONDS)
        is_there = host.is_reached
    finally:
        host.close()
    if not is_there and config.speech_host:
        return False, f"does not respond at {config.speech_host}; run parley speech there, with the same SECRET_KEY"
    if not is_there:
        return True, "not running; parley up starts it, and parley speech runs it next to parley web and parley worker"
    counts = ", ".join(f"{engine} in {len(languages)} languages" for engine, languages in sorted(offers.items()))
    return True, f"responds; {counts}" if counts else "responds; no model is installed (parley models list)"


def _speech_models(config: Settings) -> tuple[bool, str]:
    from app.operations.cli.speech_check import look_at_models

    return look_at_models(config)


def _languages(config: Settings) -> tuple[bool, str]:
    from app.operations.cli.speech_check import look_at_languages

    return look_at_languages(config)


def _engines(config: Settings) -> tuple[bool, str]:
    from app import gateways
    from app.operations.cli.speech_check import left_out

    built = gateways.build(config)
    try:
        spoken = built.speaker.speak("Hello.", voice_id=None, language="en-US")
        heard = built.transcriber.supports("en-US")
        names = f"speech {built.speaker.name}, recognition {built.transcriber.name}, questions {built.interviewer.name}"
    finally:
        built.close()
    if not spoken.pcm:
        return False, f"{names}; speech synthesis returned no sound"
    if without := left_out(config):
        names += f"; {without}"
    return True, names if heard else f"{names}; English is not recognized, so candidates have to type their answers"


def _language_model(config: Settings) -> tuple[bool, str]:
    from app.operations.cli.model_check import look_at_language_model

    return look_at_language_model(config)


def _word_times(config: Settings) -> tuple[bool, str]:
    from app.gateways.speech.engines.pocketsphinx import is_installed
    from app.gateways.speech_check import probe

    probes = probe(config)
    if not probes:
        return True, "no recognition server is configured" + (
            "; the embedded engine gives word times" if "pocketsphinx" in config.stt_provider and is_installed() else ""
        )
    return not any(one.failure or one.live_failure for one in probes), "; ".join(one.words for one in probes)


def _secret_key(config: Settings) -> tuple[bool, str]:
    """Whether the key is the one that the database was used with."""
    from app.accounts.audit import check as audit_check
    from app.accounts.audit import entries
    from app.accounts.jobs import OTHER_KEY

    if words := _not_yet(config):
        return True, words
    with database(config):
        if any(audit_check.is_of_other_key(seal) for seal in entries.seals()):
            return False, f"SECRET_KEY does not belong to this database: {OTHER_KEY}"
    return True, "belongs to this database"


def _audit_log(config: Settings) -> tuple[bool, str]:
    from app.accounts import queries
    from app.accounts.jobs import look

    if words := _not_yet(config):
        return True, words
    with database(config):
        whole = 0
        for organization_id, name in queries.all_organizations():
            log = look(organization_id)
            if log.flaw:
                return False, f"the audit log of {name} is not intact: {log.flaw}"
            whole += log.number
    return True, f"intact, {_entries(whole)}"


def _erasures(config: Settings) -> tuple[bool, str]:
    """The journal that keeps restores from bringing back what was erased, held against the database."""
    if words := _not_yet(config):
        return True, words
    with database(config):
        written = clock.now() - JUST_NOW - timedelta(seconds=config.sweep_seconds)
        done = {(act.what, act.interview) for act in rooms.erasures().acts() if act.at < written}
    if config.erasure_journal.exists():
        return _journal(config.erasure_journal, done)
    if not done:
        return True, "nothing has been erased, revoked or withdrawn yet"
    if not config.is_embedded:
        return True, f"no journal on this host; each worker writes its own, with {_entries(len(done))} by now"
    without = f"the journal {config.erasure_journal} does not exist, but the database has entries ({len(done)})"
    return False, f"{without}; {_NO_WRITER}"


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
        entries = {(act.what, act.interview) for act in Journal(path).read()}
    except BadJournal as error:
        return False, f"{error}; move the file aside and keep it for restores: a worker writes a complete new one"
    if missing := done - entries:
        return False, f"{len(missing)} of {_entries(len(done))} missing in {path}; {_NO_WRITER}"
    return True, f"{_entries(len(entries))} in {path}"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


_NO_WRITER = "a worker writes them within seconds: check that one runs with the same settings and can write there"
