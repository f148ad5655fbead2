"""Every setting once: its variable, its type, its default, and a sentence for whoever runs Parley.

``Settings.from_env`` reads the environment, reports everything that is wrong in one go, and never starts half.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from app.settings.values import (
    Network,
    address,
    boolean,
    engines,
    hosts,
    mapping,
    networks,
    number,
    one_of,
    seconds,
    text,
    token,
)

SHORTEST_SECRET = 32


class SettingsError(Exception):
    """All that is wrong with the environment, one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def var(name: str, parse: Callable[[str], Any], default: Any, doc: str) -> Any:
    """A field read from the variable ``name``; ``default`` is a value, or a text that is parsed like the variable."""
    return field(default=default, metadata={"name": name, "parse": parse, "doc": doc})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The whole configuration of one process. Built by ``from_env``; tests use ``dataclasses.replace``."""

    host: str = var("HOST", text, "127.0.0.1", "Address the web server listens on.")
    port: int = var("PORT", number(1, 65535), 8000, "Port the web server listens on.")
    app_url: str = var("APP_URL", address, "", "Address people reach Parley at; default http://HOST:PORT.")
    data_dir: Path = var(
        "DATA_DIR", Path, Path("instance"), "Directory of database, files, Redis and keys in the embedded default."
    )
    database_url: str = var(
        "DATABASE_URL", text, "", "sqlite:///… or postgresql://…; default an SQLite file in DATA_DIR."
    )
    redis_url: str = var("REDIS_URL", text, "", "redis://…; default an embedded server that Parley starts itself.")
    storage_url: str = var("STORAGE_URL", text, "", "Directory or s3://bucket/prefix; default a directory in DATA_DIR.")
    erasure_journal: Path = var(
        "ERASURE_JOURNAL",
        Path,
        None,
        "File that says what was erased, read by restores; default erasures.jsonl in DATA_DIR.",
    )
    s3_endpoint_url: str = var(
        "S3_ENDPOINT_URL",
        text,
        "",
        "Endpoint of an S3-compatible service; keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    )
    secret_key: str = var(
        "SECRET_KEY",
        text,
        "",
        "At least 32 characters; signs cookies and addresses, seals secrets. Generated only in the embedded default.",
    )
    log_level: str = var("LOG_LEVEL", one_of("debug", "info", "warning", "error"), "info", "How much is logged.")
    log_format: str = var(
        "LOG_FORMAT", one_of("text", "json"), "text", "json: one JSON object a line, for systems that collect logs."
    )
    metrics_token: str = var(
        "METRICS_TOKEN",
        token,
        "",
        "At least 16 characters; who reads /metrics sends them as bearer token. Without it only this machine may, and only while APP_URL is an address of its own.",
    )

    web_server: str = var(
        "WEB_SERVER",
        one_of("waitress", "granian"),
        "waitress",
        "granian is faster, but needs a proxy in front that buffers requests.",
    )
    web_threads: int = var("WEB_THREADS", number(1, 256), 16, "Requests one web process serves at the same time.")
    trusted_proxies: int = var(
        "TRUSTED_PROXIES", number(0, 10), 0, "Number of proxies in front whose X-Forwarded-* headers are believed."
    )
    allowed_hosts: tuple[str, ...] = var(
        "ALLOWED_HOSTS",
        hosts,
        (),
        "Host names that requests may be for, comma separated; default the one of APP_URL, and localhost.",
    )
    rate_limit_per_minute: int = var(
        "RATE_LIMIT_PER_MINUTE",
        number(0, 1_000_000),
        600,
        "Calls of /v1 per key and minute, and of strangers per address; 0 turns all of these limits off.",
    )

    compatible_input: bool = var(
        "COMPATIBLE_INPUT",
        boolean,
        False,  # noqa: FBT003 - a setting reads as a line of a table
        "Whether /v1 takes what programs for the original service send: old fields are ignored, voices mapped.",
    )

    outbound_allow: tuple[Network, ...] = var(
        "OUTBOUND_ALLOW",
        networks,
        (),
        "Networks (CIDR, comma separated) that webhooks and media may reach although they are private.",
    )
    outbound_http: bool | None = var(
        "OUTBOUND_HTTP",
        boolean,
        None,
        "Whether http:// is allowed for customers' addresses; default only when APP_URL is http.",
    )
    egress_proxy: str = var(
        "EGRESS_PROXY",
        address,
        "",
        "Proxy that all calls to customers' addresses go through, for one fixed source address.",
    )
    egress_source_address: str = var(
        "EGRESS_SOURCE_ADDRESS", text, "", "Local address that calls to customers' addresses are bound to."
    )

    smtp_host: str = var("SMTP_HOST", text, "", "Mail server; without one, links are copied by hand.")
    smtp_port: int = var("SMTP_PORT", number(1, 65535), 587, "Its port.")
    smtp_username: str = var("SMTP_USERNAME", text, "", "Its user, if it asks for one.")
    smtp_password: str = var("SMTP_PASSWORD", text, "", "Its password.")
    smtp_security: str = var(
        "SMTP_SECURITY", one_of("starttls", "tls", "none"), "starttls", "How the connection is protected."
    )
    smtp_from: str = var("SMTP_FROM", text, "", "Sender of mails.")

    link_expiry_days: int = var(
        "LINK_EXPIRY_DAYS", number(1, 3650), 30, "Days an interview link can be started after its creation."
    )
    sweep_seconds: float = var(
        "SWEEP_SECONDS",
        seconds,
        5.0,
        "How often workers look in the database for overdue work: the worst delay when Redis loses a wake-up or is away.",
    )
    session_idle_minutes: int = var(
        "SESSION_IDLE_MINUTES", number(1, 1440), 30, "Idle time after which a recruiter signs in again."
    )
    session_hours: int = var("SESSION_HOURS", number(1, 168), 12, "Longest time a sign-in lasts.")
    admin_totp: bool | None = var(
        "ADMIN_TOTP",
        boolean,
        None,
        "Whether administrators need a code from an authenticator app to sign in; default only when APP_URL is https.",
    )
    interview_minutes: int = var(
        "INTERVIEW_MINUTES", number(1, 120), 60, "Longest time of one interview, where the flow sets none."
    )
    answer_minutes: int = var("ANSWER_MINUTES", number(1, 30), 5, "Longest time of one answer.")

    llm_base_url: str = var(
        "LLM_BASE_URL",
        text,
        "",
        "OpenAI-compatible server for follow-ups, summary and scores, for example http://127.0.0.1:11434/v1; without one the script is read as it is.",
    )
    llm_api_key: str = var("LLM_API_KEY", text, "", "Its key.")
    llm_model: str = var("LLM_MODEL", text, "", "Its model.")
    llm_json_mode: str = var(
        "LLM_JSON_MODE", one_of("schema", "object", "prompt"), "schema", "How the server is asked to answer in JSON."
    )
    llm_timeout: float = var("LLM_TIMEOUT", seconds, 20.0, "Seconds one call may take.")
    stt_provider: tuple[str, ...] = var(
        "STT_PROVIDER",
        engines("pocketsphinx", "openai", "elevenlabs", "none"),
        ("pocketsphinx",),
        "Recognisers in the order they are tried.",
    )
    stt_base_url: str = var("STT_BASE_URL", text, "", "OpenAI-compatible server for audio transcriptions.")
    stt_api_key: str = var("STT_API_KEY", text, "", "Its key.")
    stt_model: str = var(
        "STT_MODEL", text, "", "Its model; STT_MODEL_JA_JP and so on choose another one for a language."
    )
    stt_words: str = var(
        "STT_WORDS", one_of("auto", "always", "never"), "auto", "Whether the server is asked for word times."
    )
    stt_timeout: float = var("STT_TIMEOUT", seconds, 60.0, "Seconds one transcription may take.")
    stt_processes: int = var(
        "STT_PROCESSES", number(1, 64), 2, "Embedded recognisers per web or worker process; each takes about 140 MB."
    )
    tts_provider: tuple[str, ...] = var(
        "TTS_PROVIDER", engines("espeak", "openai", "elevenlabs"), ("espeak",), "Voices in the order they are tried."
    )
    tts_base_url: str = var("TTS_BASE_URL", text, "", "OpenAI-compatible server for speech.")
    tts_api_key: str = var("TTS_API_KEY", text, "", "Its key.")
    tts_model: str = var(
        "TTS_MODEL", text, "", "Its model; TTS_MODEL_TH_TH and so on choose another one for a language."
    )
    tts_voice_map: dict[str, str] = var(
        "TTS_VOICE_MAP",
        mapping,
        "{}",
        'Voices of the contract to voices of the server, as JSON: {"vendora-Kate": "alloy"}.',
    )
    tts_timeout: float = var("TTS_TIMEOUT", seconds, 20.0, "Seconds one synthesis may take.")
    elevenlabs_base_url: str = var(
        "ELEVENLABS_BASE_URL", address, "https://api.elevenlabs.io", "Server that speaks ElevenLabs' protocol."
    )
    elevenlabs_api_key: str = var("ELEVENLABS_API_KEY", text, "", "Its key.")

    stt_overrides: dict[str, str] = field(default_factory=dict)
    tts_overrides: dict[str, str] = field(default_factory=dict)

    @property
    def is_https(self) -> bool:
        """Whether people reach Parley over TLS: decides on cookie flags, HSTS and http webhooks."""
        return self.app_url.startswith("https://")

    @property
    def http_allowed(self) -> bool:
        """Whether customers' addresses may be plain http."""
        return (not self.is_https) if self.outbound_http is None else self.outbound_http

    @property
    def admins_need_totp(self) -> bool:
        """Whether administrators may do nothing before two-step sign-in is set up."""
        return self.is_https if self.admin_totp is None else self.admin_totp

    @property
    def is_embedded(self) -> bool:
        """The one-host default: SQLite and files below ``data_dir``, so a key may be generated there."""
        return not self.redis_url and self.database_url.startswith("sqlite")

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> "Settings":
        """Read and check everything. Raises SettingsError with the full list of problems."""
        problems: list[str] = []
        values: dict[str, Any] = {}
        for declared in fields(cls):
            if declared.metadata:
                values[declared.name] = _read(declared.metadata, declared.default, environment, problems=problems)
        for kind in ("stt", "tts"):
            prefix = f"{kind.upper()}_MODEL_"
            values[f"{kind}_overrides"] = {
                n[len(kind) + 1 :]: v for n, v in environment.items() if n.startswith(prefix)
            }
        _derive(values, problems)
        if problems:
            raise SettingsError(problems)
        return cls(**values)

    @classmethod
    def example(cls) -> str:
        """The text of ``.env.example``: every variable, its meaning, its default."""
        lines = ["# Every setting of Parley with its default. A variable that is not set keeps it.", ""]
        for declared in fields(cls):
            if declared.metadata:
                lines += [
                    f"# {declared.metadata['doc']}",
                    f"#{declared.metadata['name']}={_shown(declared.default)}",
                    "",
                ]
        return "\n".join(lines)


def _read(meta: Mapping[str, Any], default: Any, environment: Mapping[str, str], *, problems: list[str]) -> Any:
    raw = environment.get(meta["name"], "")
    if raw == "":
        return meta["parse"](default) if isinstance(default, str) and default and meta["parse"] is mapping else default
    try:
        return meta["parse"](raw)
    except ValueError as error:
        problems.append(f"{meta['name']} {error}")
        return None if default is MISSING else default


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    if default is None:
        return ""
    if isinstance(default, tuple):
        return ",".join(str(item) for item in default)
    return str(default)


def _derive(values: dict[str, Any], problems: list[str]) -> None:
    data_dir = Path(values["data_dir"]).absolute()
    shown_host = "127.0.0.1" if values["host"] in {"0.0.0.0", "::"} else values["host"]  # noqa: S104 - compared, not bound
    values["data_dir"] = data_dir
    values["erasure_journal"] = Path(values["erasure_journal"] or data_dir / "erasures.jsonl").absolute()
    values["app_url"] = values["app_url"] or f"http://{shown_host}:{values['port']}"
    values["database_url"] = _database_url(values["database_url"] or f"sqlite:///{data_dir / 'parley.db'}", problems)
    values["storage_url"] = values["storage_url"] or str(data_dir / "files")
    embedded = not values["redis_url"] and values["database_url"].startswith("sqlite")
    values["secret_key"] = _secret_key(values["secret_key"], data_dir, embedded=embedded, problems=problems)
    _need(values, problems, "stt_provider", needs={"openai": "stt_base_url", "elevenlabs": "elevenlabs_api_key"})
    _need(values, problems, "tts_provider", needs={"openai": "tts_base_url", "elevenlabs": "elevenlabs_api_key"})
    if values["llm_base_url"] and not values["llm_model"]:
        problems.append("LLM_MODEL must be set along with LLM_BASE_URL")
    if values["smtp_host"] and not values["smtp_from"]:
        problems.append("SMTP_FROM must be set along with SMTP_HOST")


def _need(values: dict[str, Any], problems: list[str], provider: str, *, needs: dict[str, str]) -> None:
    for engine, variable in needs.items():
        if engine in values[provider] and not values[variable]:
            problems.append(f"{variable.upper()} must be set because {provider.upper()} names {engine}")


def _database_url(url: str, problems: list[str]) -> str:
    if url.startswith(("postgres://", "postgresql://")):
        return "postgresql+psycopg://" + url.split("://", 1)[1]
    if not url.startswith(("sqlite:///", "postgresql+psycopg://")):
        problems.append("DATABASE_URL must begin with sqlite:/// or postgresql://")
    return url


def _secret_key(given: str, data_dir: Path, *, embedded: bool, problems: list[str]) -> str:
    if given:
        if len(given) < SHORTEST_SECRET:
            problems.append(f"SECRET_KEY must have at least {SHORTEST_SECRET} characters")
        return given
    if not embedded:
        problems.append("SECRET_KEY must be set: it is generated only in the embedded default (SQLite, no REDIS_URL)")
        return ""
    try:
        return kept_secret(data_dir / "secret_key")
    except OSError as error:
        problems.append(f"DATA_DIR cannot be written: {data_dir} ({error.strerror})")
        return ""


def kept_secret(path: Path) -> str:
    """The secret in ``path``, generated there with mode 600 at the first start; two first starts agree on one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    if not path.exists():
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
