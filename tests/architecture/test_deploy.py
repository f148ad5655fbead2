"""The files in docs/deploy say nothing that the code does not know: names, commands, ports, paths, times."""

import configparser
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask

from app.operations.cli import parley
from app.operations.processes import refusal, web
from app.operations.processes.family import Family
from app.settings import Settings

from .source import ROOT

DEPLOY = ROOT / "docs" / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
OTHERS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION", "PATH", "PYTHONUNBUFFERED"}
"""Variables that our libraries read."""
LONGEST_STOP = 25.0
"""Seconds: the most patience that any of our processes has with its children."""


def known() -> set[str]:
    return {line[1:].split("=")[0] for line in Settings.example().splitlines() if re.match(r"#[A-Z0-9_]+=", line)}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


def ours(compose: dict[str, Any], command: str = "") -> dict[str, dict[str, Any]]:
    """The services that run Parley, or one command of it."""
    services: dict[str, dict[str, Any]] = compose["services"]
    return {
        name: service
        for name, service in services.items()
        if "build" in service and (not command or service["command"][0] == command)
    }


def needed(text: str) -> set[str]:
    return set(re.findall(r"\$\{([A-Z0-9_]+)", text))


def filled(values: dict[str, str]) -> dict[str, str]:
    return {name: re.sub(r"\$\{[^}]*\}", "0123456789abcdef" * 2, value) for name, value in values.items()}


def test_compose_sets_what_parley_reads_and_that_is_a_whole_installation(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    for name, service in ours(compose).items():
        environment = service["environment"]
        assert set(environment) <= known() | OTHERS, name
        built = Settings.from_env({**filled(environment), "DATA_DIR": str(tmp_path)})
        assert not built.is_embedded
        assert built.is_https, "browsers give no microphone without TLS"
        assert built.storage_url.startswith("s3://")
        assert built.trusted_proxies == 1, "the proxy of the same file"
        assert built.host == "0.0.0.0"


def test_compose_runs_two_of_each_and_migrates_first(compose: dict[str, Any]) -> None:
    assert (len(ours(compose, "web")), len(ours(compose, "worker")), len(ours(compose, "migrate"))) == (2, 2, 1)
    (host,) = ours(compose, "speech")
    assert all(service["environment"]["SPEECH_HOST"].startswith(f"{host}:") for service in ours(compose).values())
    commands = parley.list_commands(parley.make_context("parley", [], resilient_parsing=True))
    for name, service in ours(compose).items():
        command = service["command"][0]
        assert command in commands, name
        assert command not in {"web", "worker"} or service["depends_on"]["migrate"] == {
            "condition": "service_completed_successfully"
        }
        assert float(service["stop_grace_period"].removesuffix("s")) > LONGEST_STOP
    for service in compose["services"].values():
        assert set(service.get("depends_on", [])) <= set(compose["services"])
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in compose["volumes"] or (DEPLOY / source).is_file() or volume == "/tmp", volume


def test_compose_hears_with_models_that_are_in_a_volume(compose: dict[str, Any]) -> None:
    (fetches,) = ours(compose, "models").values()
    (serves,) = ours(compose, "speech").values()
    place = serves["environment"]["MODELS_DIR"]
    assert fetches["command"] == ["models", "install", "default"]
    assert fetches["volumes"] == [f"models:{place}"]
    assert serves["volumes"] == [f"models:{place}:ro"]
    for name, service in ours(compose).items():
        target = "speech" if service in (fetches, serves) else "parley"
        assert service["build"]["target"] == target, name
        assert service["image"].partition(":")[0] == {"speech": "parley-speech"}.get(target, target)
    assert not serves["depends_on"], "it serves what is there, and what arrives later"
    built = Settings.from_env({**filled(serves["environment"]), "DATA_DIR": "/tmp"})
    assert (built.stt_provider[0], built.models_dir) == ("whisper", Path(place))


def test_what_compose_runs_of_us_writes_nowhere_else(compose: dict[str, Any]) -> None:
    image = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    (places,) = re.findall(r"install -d -m 1777 (.*)$", image, re.MULTILINE)
    for name, service in ours(compose).items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        written = {one.split(":")[0] for one in service["tmpfs"]}
        volumes = {one.rpartition(":")[2] for one in service.get("volumes", []) if not one.endswith(":ro")}
        assert written | volumes >= {"/tmp", str(Path(service["environment"]["DATA_DIR"]).parent)}, name
        assert written | volumes <= {"/tmp", *places.split()}, "only these belong to any user"
        assert "/tmp" in volumes or service["command"] != ["worker"], "joined recordings do not fit into memory"


def test_the_bucket_is_there_before_parley_starts(compose: dict[str, Any]) -> None:
    endpoint = compose["services"]["s3"]
    made = endpoint["environment"]
    for name, service in ours(compose).items():
        environment = service["environment"]
        assert environment["STORAGE_URL"].split("/")[2] == made["S3_BUCKET"], name
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            assert needed(environment[variable]) == needed(made[variable]), (name, variable)
        assert environment["AWS_ACCESS_KEY_ID"] == made["AWS_ACCESS_KEY_ID"]
        is_user = service["command"][0] in {"web", "worker"}
        assert not is_user or service["depends_on"]["s3"] == {"condition": "service_healthy"}
        port = environment["S3_ENDPOINT_URL"].rpartition(":")[2]
        assert f"http://127.0.0.1:{port}/healthz" in endpoint["healthcheck"]["test"], "the port that Parley calls"


# Deleted by their publishers: MinIO's in September 2026, Bitnami's free ones in August 2025.
WITHDRAWN = ("docker.io/minio/", "docker.io/bitnami/")


def test_no_image_is_one_that_was_withdrawn(compose: dict[str, Any]) -> None:
    others = {service["image"] for service in compose["services"].values() if "build" not in service}
    assert [image for image in others if image.startswith(WITHDRAWN) or ":" not in image] == []


def test_no_secret_has_a_value_that_a_stranger_knows(compose: dict[str, Any]) -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    example = (DEPLOY / "parley.env.example").read_text(encoding="utf-8")
    assert re.findall(r"\$\{[A-Z0-9_]+:?-", text) == [], "a default"
    assert set(re.findall(r"^([A-Z0-9_]+)=$", example, re.MULTILINE)) == needed(text)
    assert re.findall(r"^[A-Z0-9_]+=.+$", example, re.MULTILINE) == []
    for name, service in compose["services"].items():
        for variable, value in (service.get("environment") or {}).items():
            if re.search(r"SECRET|PASSWORD|TOKEN", variable):
                assert str(value).startswith("${"), (name, variable)
            assert service.get("ports") is None or name == "proxy", "nothing else is reached from outside"


def test_ports_agree_and_health_is_readiness(compose: dict[str, Any], app: Flask) -> None:
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    caddy = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    image = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    webs = ours(compose, "web")
    for name, service in webs.items():
        port = service["environment"]["PORT"]
        assert service["expose"] == [port]
        assert f"EXPOSE {port}\n" in image
        assert f"PORT={port} " in image
        asked = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", " ".join(service["healthcheck"]["test"]))
        assert asked is not None
        assert asked.groups() == (port, "/readyz"), name
    (upstreams,) = re.findall(r"reverse_proxy (.*) \{", caddy)
    assert upstreams.split() == [f"{name}:{service['environment']['PORT']}" for name, service in webs.items()]
    assert re.findall(r"health_uri (\S+)", caddy) == ["/healthz"], "a full disk must not end what goes on"
    assert re.findall(r"respond (\S+) 404", caddy) == ["/metrics"]
    assert {"/readyz", "/healthz", "/metrics"} <= rules
    (size,) = re.findall(r"max_size (\d+)MiB", caddy)
    assert int(size) * 1024 * 1024 == refusal.LARGEST_UPLOAD
    assert set(re.findall(r"\{\$(\w+)\}", caddy)) <= set(compose["services"]["proxy"]["environment"])


def test_the_image_has_all_that_parley_reads_and_runs_as_nobody() -> None:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    copied = {word for line in re.findall(r"^COPY (?!--)(.*)$", text, re.MULTILINE) for word in shlex.split(line)[:-1]}
    assert all((ROOT / name).exists() for name in copied)
    assert copied >= {"app", "templates", "static", "migrations", "requirements.lock", "pyproject.toml"}
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text(encoding="utf-8").split()
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    ((version, slim),) = re.findall(
        r"^FROM \S+/python:(\S+) AS build$(?:.|\n)*^FROM \S+/python:(\S+) AS parley$", text, re.MULTILINE
    )
    assert slim == f"{version}-slim", "the stage with compilers is not the one that is kept"
    supported = re.findall(r"python(3\.\d+)", (ROOT / ".ci" / "venv").read_text(encoding="utf-8"))
    assert version in supported
    assert set(re.findall(r"python(3\.\d+)", text)) == {version}
    # As root, the second image only gets its engines.
    assert re.findall(r"^(?:FROM .*|USER .*)$", text, re.MULTILINE)[1:] == [
        f"FROM docker.io/library/python:{slim} AS parley",
        "USER 10001",
        "FROM parley AS speech",
        "USER 0",
        "USER 10001",
        "FROM parley",
    ]
    assert 'ENTRYPOINT ["parley"]' in text
    (block,) = re.findall(r"^ENV ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    assert set(re.findall(r"([A-Z_]+)=", block)) <= known() | OTHERS


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_start_what_exists_and_give_it_time_to_stop(path: Path) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(path, encoding="utf-8")
    service = unit["Service"]
    program, command = service["ExecStart"].split()
    assert program == "/opt/parley/.venv/bin/parley"
    assert command in parley.commands
    assert command == (path.stem.partition("-")[2] or "up")
    assert float(service["TimeoutStopSec"]) > LONGEST_STOP
    name, _, folder = service["Environment"].partition("=")
    assert (name, folder) == ("DATA_DIR", f"/var/lib/{service['StateDirectory']}")
    assert name in known()
    assert {"user", "net"} <= set(service["RestrictNamespaces"].split()), "decoding cuts itself off from the network"


def test_the_variables_of_the_units_exist() -> None:
    text = (DEPLOY / "systemd" / "parley.env.example").read_text(encoding="utf-8")
    names = re.findall(r"^#?([A-Z0-9_]+)=", text, re.MULTILINE)
    assert set(names) <= known() | OTHERS
    assert {"APP_URL", "SECRET_KEY", "DATABASE_URL", "REDIS_URL", "STORAGE_URL"} <= set(names)


def test_no_process_has_more_patience_than_the_files_allow() -> None:
    patience = Family.__init__.__kwdefaults__["patience"]
    text = (ROOT / "app" / "operations" / "processes" / "up.py").read_text(encoding="utf-8")
    asked = [float(value) for value in re.findall(r"patience=([\d.]+)", text)]
    assert max([patience, web._STOP_SECONDS, *asked]) <= LONGEST_STOP


def test_the_guide_names_every_file() -> None:
    guide = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    for path in (*DEPLOY.iterdir(), *(DEPLOY / "kubernetes").iterdir()):
        is_named = path.name in guide or (path.parent.name == "kubernetes" and path.suffix == ".yaml")
        assert is_named or path.name in {"Containerfile.dockerignore", "secrets.env"}, path
