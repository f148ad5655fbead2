"""Every setting is documented, checked, and reported together with all the others that are wrong."""

from pathlib import Path

import pytest

from app.settings import Settings, SettingsError, kept_secret

from .source import ROOT

SECRET = {"SECRET_KEY": "s" * 40}


def test_the_example_file_shows_every_setting() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == Settings.example(), (
        "renew it: .venv/bin/python -c "
        "'from app.settings import Settings; print(Settings.example(), end=\"\")' > .env.example"
    )


def test_every_setting_is_in_the_operations_guide() -> None:
    guide = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    variables = (line[1:].split("=")[0] for line in Settings.example().splitlines() if "=" in line)
    names = [name for name in variables if name.isupper()]
    assert len(names) > 40
    assert not [name for name in names if f"`{name}`" not in guide]


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    wrong = {
        "PORT": "70000",
        "LOG_LEVEL": "loud",
        "TTS_PROVIDER": "parrot",
        "DATABASE_URL": "mysql://x",
        "DATA_DIR": str(tmp_path),
    }
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({**wrong, **SECRET})
    assert {problem.split()[0] for problem in caught.value.problems} == {
        "PORT",
        "LOG_LEVEL",
        "TTS_PROVIDER",
        "DATABASE_URL",
    }


def test_a_short_secret_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="at least 32 characters"):
        Settings.from_env({"SECRET_KEY": "short", "DATA_DIR": str(tmp_path)})


def test_a_secret_is_generated_only_in_the_embedded_default(tmp_path: Path) -> None:
    embedded = Settings.from_env({"DATA_DIR": str(tmp_path)})
    assert len(embedded.secret_key) >= 32
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
    assert Settings.from_env({"DATA_DIR": str(tmp_path)}).secret_key == embedded.secret_key
    with pytest.raises(SettingsError, match="SECRET_KEY must be set"):
        Settings.from_env({"DATA_DIR": str(tmp_path), "DATABASE_URL": "postgresql://db/parley"})


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="DATA_DIR cannot be written"):
        Settings.from_env({"DATA_DIR": str(tmp_path / "file" / "below")})


def test_models_are_below_the_data_directory_unless_they_are_shared(tmp_path: Path) -> None:
    own = Settings.from_env({"DATA_DIR": str(tmp_path)})
    shared = Settings.from_env({"DATA_DIR": str(tmp_path), "MODELS_DIR": "/srv/models", "MODELS": "off"})
    assert (own.models_dir, own.models) == (tmp_path / "models", "auto")
    assert (shared.models_dir, shared.models) == (Path("/srv/models"), "off")


def test_two_first_starts_agree_on_one_secret(tmp_path: Path) -> None:
    assert kept_secret(tmp_path / "key") == kept_secret(tmp_path / "key")


def test_an_engine_without_its_server_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="STT_BASE_URL must be set when STT_PROVIDER contains openai"):
        Settings.from_env({"STT_PROVIDER": "openai,pocketsphinx", "DATA_DIR": str(tmp_path)})


def test_http_is_allowed_for_customers_while_the_platform_itself_is_http(tmp_path: Path) -> None:
    plain = Settings.from_env({"DATA_DIR": str(tmp_path)})
    secure = Settings.from_env({"DATA_DIR": str(tmp_path), "APP_URL": "https://parley.example.com/"})
    opened = Settings.from_env(
        {"DATA_DIR": str(tmp_path), "APP_URL": "https://parley.example.com", "OUTBOUND_HTTP": "on"}
    )
    assert (plain.http_allowed, secure.http_allowed, opened.http_allowed) == (True, False, True)
    assert secure.app_url == "https://parley.example.com"


def test_a_model_of_its_own_for_a_language(tmp_path: Path) -> None:
    settings = Settings.from_env({"DATA_DIR": str(tmp_path), "STT_MODEL_JA_JP": "kotoba", "TTS_MODEL_TH_TH": "siam"})
    assert settings.stt_overrides == {"MODEL_JA_JP": "kotoba"}
    assert settings.tts_overrides == {"MODEL_TH_TH": "siam"}


def test_the_speech_host_is_an_address_and_a_port(tmp_path: Path) -> None:
    def read(value: str) -> str:
        return Settings.from_env({"DATA_DIR": str(tmp_path), "SPEECH_HOST": value}).speech_host

    assert [read(value) for value in ("", "speech:8700", "127.0.0.1:08700", "[::1]:8700")] == [
        "",
        "speech:8700",
        "127.0.0.1:8700",
        "[::1]:8700",
    ]
    for wrong in ("speech", "8700", ":8700", "speech:0", "speech:70000", "::1:8700", "http://speech:8700"):
        with pytest.raises(SettingsError, match="SPEECH_HOST must be an address and a port"):
            read(wrong)
