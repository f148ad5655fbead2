"""Values that follow from other settings, and problems that show only when several are read together."""

import os
import secrets
from pathlib import Path
from typing import Any

SHORTEST_SECRET = 32


def derive(values: dict[str, Any], problems: list[str]) -> None:
    """Fill in what is empty in ``values``, make paths absolute, and add a sentence for everything that does not fit."""
    data_dir = Path(values["data_dir"]).absolute()
    shown_host = "127.0.0.1" if values["host"] in {"0.0.0.0", "::"} else values["host"]  # noqa: S104 - compared, not bound
    values["data_dir"] = data_dir
    values["erasure_journal"] = Path(values["erasure_journal"] or data_dir / "erasures.jsonl").absolute()
    values["app_url"] = values["app_url"] or f"http://{shown_host}:{values['port']}"
    values["database_url"] = _database_url(values["database_url"] or f"sqlite:///{data_dir / 'parley.db'}", problems)
    values["storage_url"] = values["storage_url"] or str(data_dir / "files")
    values["models_dir"] = Path(values["models_dir"] or data_dir / "models").absolute()
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


def _secret_key(secret: str, data_dir: Path, *, embedded: bool, problems: list[str]) -> str:
    if secret:
        if len(secret) < SHORTEST_SECRET:
            problems.append(f"SECRET_KEY must have at least {SHORTEST_SECRET} characters")
        return secret
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
