"""Every setting once: its variable, its type, its default, and a sentence for the operator.

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
    app_url: str = var("APP_URL", address, "", "Public address of Parley. Default: http://HOST:PORT.")
    data_dir: Path = var(
        "DATA_DIR",
        Path,
        Path("instance"),
        "Directory for the database, files, Redis data and keys of an embedded installation.",
    )
    database_url: str = var(
        "DATABASE_URL", text, "", "sqlite:///… or postgresql://… Default: an SQLite file in DATA_DIR."
    )
    redis_url: str = var("REDIS_URL", text, "", "redis://… Default: an embedded server that Parley starts.")
    storage_url: str = var(
        "STORAGE_URL", text, "", "A directory or s3://bucket/prefix. Default: a directory in DATA_DIR."
    )
    erasure_journal: Path = var(
        "ERASURE_JOURNAL",
        Path,
        None,
        "File that records erasures, so that a restore can repeat them. Default: erasures.jsonl in DATA_DIR.",
    )
    s3_endpoint_url: str = var(
        "S3_ENDPOINT_URL",
        text,
        "",
        "Endpoint of an S3-compatible service. Set its keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    )
    secret_key: str = var(
        "SECRET_KEY",
        text,
        "",
        "Key that signs cookies and URLs and encrypts secrets; at least 32 characters. Generated only for an embedded installation.",
    )
    log_level: str = var(
        "LOG_LEVEL", one_of("debug", "info", "warning", "error"), "info", "Least severe level that is logged."
    )
    log_format: str = var(
        "LOG_FORMAT",
        one_of("text", "json"),
        "text",
        "Format of the log; json writes one JSON object per line, for log collectors.",
    )
    metrics_token: str = var(
        "METRICS_TOKEN",
        token,
        "",
        "Bearer token for reading /metrics; at least 16 characters. Without it, /metrics answers only this machine, and only while APP_URL is a local address.",
    )

    web_server: str = var(
        "WEB_SERVER",
        one_of("waitress", "granian"),
        "waitress",
        "Web server; granian is faster, but needs a proxy in front that buffers requests.",
    )
    web_threads: int = var(
        "WEB_THREADS", number(1, 256), 16, "Number of requests that one web process serves at the same time."
    )
    trusted_proxies: int = var(
        "TRUSTED_PROXIES",
        number(0, 10),
        0,
        "Number of proxies in front of Parley whose X-Forwarded-* headers are trusted.",
    )
    allowed_hosts: tuple[str, ...] = var(
        "ALLOWED_HOSTS",
        hosts,
        (),
        "Host names that Parley answers for, comma-separated. Default: the host of APP_URL, and localhost.",
    )
    rate_limit_per_minute: int = var(
        "RATE_LIMIT_PER_MINUTE",
        number(0, 1_000_000),
        600,
        "Requests to /v1 per minute and API key, and requests without sign-in per minute and IP address. 0 turns all rate limits off.",
    )

    compatible_input: bool = var(
        "COMPATIBLE_INPUT",
        boolean,
        False,  # noqa: FBT003 - a setting reads as a line of a table
        "Whether /v1 accepts requests written for the original service: old fields are ignored and voices mapped.",
    )

    outbound_allow: tuple[Network, ...] = var(
        "OUTBOUND_ALLOW",
        networks,
        (),
        "Private networks that webhooks and media downloads may reach, as comma-separated CIDR ranges.",
    )
    outbound_http: bool | None = var(
        "OUTBOUND_HTTP",
        boolean,
        None,
        "Whether customers' URLs may use http://. Default: only when APP_URL does.",
    )
    egress_proxy: str = var(
        "EGRESS_PROXY",
        address,
        "",
        "Proxy for all requests to customers' URLs, for example to give them one source address.",
    )
    egress_source_address: str = var(
        "EGRESS_SOURCE_ADDRESS", text, "", "Local IP address that requests to customers' URLs are sent from."
    )

    smtp_host: str = var("SMTP_HOST", text, "", "Mail server. Without one, people copy links and send them themselves.")
    smtp_port: int = var("SMTP_PORT", number(1, 65535), 587, "Port of the mail server.")
    smtp_username: str = var("SMTP_USERNAME", text, "", "User name for the mail server, if it needs one.")
    smtp_password: str = var("SMTP_PASSWORD", text, "", "Password for the mail server.")
    smtp_security: str = var(
        "SMTP_SECURITY",
        one_of("starttls", "tls", "none"),
        "starttls",
        "How the connection to the mail server is encrypted.",
    )
    smtp_from: str = var("SMTP_FROM", text, "", "Sender address of mail.")

    link_expiry_days: int = var(
        "LINK_EXPIRY_DAYS", number(1, 3650), 30, "Days after its creation during which an interview can be started."
    )
    sweep_seconds: float = var(
        "SWEEP_SECONDS",
        seconds,
        5.0,
        "Seconds between two searches of the database for overdue work: the longest delay when Redis loses a wake-up or is down.",
    )
    session_idle_minutes: int = var(
        "SESSION_IDLE_MINUTES", number(1, 1440), 30, "Minutes without activity after which a member is signed out."
    )
    session_hours: int = var(
        "SESSION_HOURS", number(1, 168), 12, "Hours after which a member is signed out in any case."
    )
    admin_totp: bool | None = var(
        "ADMIN_TOTP",
        boolean,
        None,
        "Whether administrators need a code from an authenticator app to sign in. Default: only when APP_URL is https.",
    )
    interview_minutes: int = var(
        "INTERVIEW_MINUTES", number(1, 120), 60, "Time limit of an interview in minutes, unless its flow sets one."
    )
    answer_minutes: int = var("ANSWER_MINUTES", number(1, 30), 5, "Time limit of an answer in minutes.")

    llm_base_url: str = var(
        "LLM_BASE_URL",
        text,
        "",
        "OpenAI-compatible server for follow-up questions, summaries and scores, for example http://127.0.0.1:11434/v1. Without one, the agent asks the scripted questions only.",
    )
    llm_api_key: str = var("LLM_API_KEY", text, "", "API key for LLM_BASE_URL.")
    llm_model: str = var("LLM_MODEL", text, "", "Model to use at LLM_BASE_URL.")
    llm_json_mode: str = var(
        "LLM_JSON_MODE",
        one_of("schema", "object", "prompt"),
        "schema",
        "How the language model is asked for JSON: by a schema, as an object, or in the prompt.",
    )
    llm_timeout: float = var("LLM_TIMEOUT", seconds, 20.0, "Time limit of one call to the language model, in seconds.")
    stt_provider: tuple[str, ...] = var(
        "STT_PROVIDER",
        engines("pocketsphinx", "openai", "elevenlabs", "none"),
        ("pocketsphinx",),
        "Speech recognition engines, comma-separated, in the order they are tried.",
    )
    stt_base_url: str = var("STT_BASE_URL", text, "", "OpenAI-compatible server for speech recognition.")
    stt_api_key: str = var("STT_API_KEY", text, "", "API key for STT_BASE_URL.")
    stt_model: str = var(
        "STT_MODEL", text, "", "Model to use at STT_BASE_URL. STT_MODEL_JA_JP and so on set it for one language."
    )
    stt_words: str = var(
        "STT_WORDS", one_of("auto", "always", "never"), "auto", "Whether to ask STT_BASE_URL for word times."
    )
    stt_timeout: float = var("STT_TIMEOUT", seconds, 60.0, "Time limit of one transcription, in seconds.")
    stt_processes: int = var(
        "STT_PROCESSES",
        number(1, 64),
        2,
        "Number of embedded recognition processes per web or worker process; each needs about 140 MB.",
    )
    tts_provider: tuple[str, ...] = var(
        "TTS_PROVIDER",
        engines("espeak", "openai", "elevenlabs"),
        ("espeak",),
        "Speech synthesis engines, comma-separated, in the order they are tried.",
    )
    tts_base_url: str = var("TTS_BASE_URL", text, "", "OpenAI-compatible server for speech synthesis.")
    tts_api_key: str = var("TTS_API_KEY", text, "", "API key for TTS_BASE_URL.")
    tts_model: str = var(
        "TTS_MODEL", text, "", "Model to use at TTS_BASE_URL. TTS_MODEL_TH_TH and so on set it for one language."
    )
    tts_voice_map: dict[str, str] = var(
        "TTS_VOICE_MAP",
        mapping,
        "{}",
        'Voices of the API mapped to voices of the server, as JSON: {"vendora-Kate": "alloy"}.',
    )
    tts_timeout: float = var("TTS_TIMEOUT", seconds, 20.0, "Time limit of one synthesis, in seconds.")
    elevenlabs_base_url: str = var(
        "ELEVENLABS_BASE_URL", address, "https://api.elevenlabs.io", "Server with the ElevenLabs API."
    )
    elevenlabs_api_key: str = var("ELEVENLABS_API_KEY", text, "", "API key for ELEVENLABS_BASE_URL.")

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
        lines = ["# Every setting of Parley with its default. Uncomment a line to change its value.", ""]
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
        problems.append("LLM_MODEL must be set when LLM_BASE_URL is set")
    if values["smtp_host"] and not values["smtp_from"]:
        problems.append("SMTP_FROM must be set when SMTP_HOST is set")


def _need(values: dict[str, Any], problems: list[str], provider: str, *, needs: dict[str, str]) -> None:
    for engine, variable in needs.items():
        if engine in values[provider] and not values[variable]:
            problems.append(f"{variable.upper()} must be set when {provider.upper()} contains {engine}")


def _database_url(url: str, problems: list[str]) -> str:
    if url.startswith(("postgres://", "postgresql://")):
        return "postgresql+psycopg://" + url.split("://", 1)[1]
    if not url.startswith(("sqlite:///", "postgresql+psycopg://")):
        problems.append("DATABASE_URL must start with sqlite:/// or postgresql://")
    return url


def _secret_key(given: str, data_dir: Path, *, embedded: bool, problems: list[str]) -> str:
    if given:
        if len(given) < SHORTEST_SECRET:
            problems.append(f"SECRET_KEY must have at least {SHORTEST_SECRET} characters")
        return given
    if not embedded:
        problems.append(
            "SECRET_KEY must be set: it is generated only for an embedded installation (SQLite and no REDIS_URL)"
        )
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
