"""Every setting once: its variable, its type, its default, and a sentence for the operator.

``Settings.from_env`` reads the environment, reports everything that is wrong in one go, and never starts half.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from app.settings.derived import SHORTEST_SECRET, derive, kept_secret
from app.settings.values import (
    Network,
    address,
    address_and_port,
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

__all__ = ["SHORTEST_SECRET", "Settings", "SettingsError", "kept_secret"]


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
    app_url: str = var("APP_URL", address, "", "Public URL of Parley. Default: http://HOST:PORT.")
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
        "LOG_LEVEL", one_of("debug", "info", "warning", "error"), "info", "Lowest severity that is logged."
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
        "Bearer token for reading /metrics; at least 16 characters. Without it, /metrics responds only to this machine, and only while APP_URL points to this machine.",
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

    smtp_host: str = var(
        "SMTP_HOST", text, "", "Mail server. Without one, members copy links and send them themselves."
    )
    smtp_port: int = var("SMTP_PORT", number(1, 65535), 587, "Port of the mail server.")
    smtp_username: str = var("SMTP_USERNAME", text, "", "User name for the mail server, if it needs one.")
    smtp_password: str = var("SMTP_PASSWORD", text, "", "Password for the mail server.")
    smtp_security: str = var(
        "SMTP_SECURITY",
        one_of("starttls", "tls", "none"),
        "starttls",
        "How the connection to the mail server is encrypted.",
    )
    smtp_from: str = var(
        "SMTP_FROM",
        text,
        "",
        "Sender address of mail. Its display name is used for email without an organization's name.",
    )

    link_expiry_days: int = var(
        "LINK_EXPIRY_DAYS", number(1, 3650), 30, "Days within which an interview can be started after it was created."
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
    models: str = var(
        "MODELS",
        one_of("auto", "off"),
        "auto",
        "Whether parley up downloads missing speech models. With off, it downloads nothing and uses the models that are installed.",
    )
    models_dir: Path = var(
        "MODELS_DIR",
        Path,
        None,
        "Directory of speech models; processes and machines may share it. Default: models in DATA_DIR.",
    )
    models_mirror: str = var(
        "MODELS_MIRROR",
        text,
        "",
        "Directory or URL of your own copies of speech models, tried before all other sources.",
    )
    speech_host: str = var(
        "SPEECH_HOST",
        address_and_port,
        "",
        "Address and port of the speech host (parley speech), for example speech:8700. Default: a socket in DATA_DIR.",
    )
    stt_provider: tuple[str, ...] = var(
        "STT_PROVIDER",
        engines("whisper", "pocketsphinx", "openai", "elevenlabs", "none"),
        ("whisper", "pocketsphinx"),
        "Speech recognition engines, comma-separated, in the order they are tried.",
    )
    stt_base_url: str = var("STT_BASE_URL", text, "", "OpenAI-compatible server for speech recognition.")
    stt_api_key: str = var("STT_API_KEY", text, "", "API key for STT_BASE_URL.")
    stt_model: str = var(
        "STT_MODEL", text, "", "Model to use at STT_BASE_URL. STT_MODEL_JA_JP and so on set it for one language."
    )
    stt_realtime_model: str = var(
        "STT_REALTIME_MODEL",
        text,
        "",
        "Model that recognizes answers while candidates speak, over the realtime API of the first server in STT_PROVIDER, for example gpt-live-transcribe or scribe_v2_realtime. Default: none; an answer is sent when it ends.",
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
    whisper_model: str = var(
        "WHISPER_MODEL",
        text,
        "",
        "Whisper model to use if it is installed, for example whisper-small. WHISPER_MODEL_DE_DE and so on set it for one language. Default: by language, processors and memory.",
    )
    tts_provider: tuple[str, ...] = var(
        "TTS_PROVIDER",
        engines("piper", "kokoro", "espeak", "openai", "elevenlabs"),
        ("piper", "kokoro", "espeak"),
        "Speech synthesis engines, comma-separated, in the order they are tried. In the default order, Kokoro is tried before Piper on four processors or more.",
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
    whisper_overrides: dict[str, str] = field(default_factory=dict)

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
        for kind in ("stt", "tts", "whisper"):
            prefix = f"{kind.upper()}_MODEL_"
            values[f"{kind}_overrides"] = {
                n[len(kind) + 1 :]: v for n, v in environment.items() if n.startswith(prefix)
            }
        derive(values, problems)
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
