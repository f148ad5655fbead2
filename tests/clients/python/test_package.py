"""The wheel is complete, small and runs by itself; the command line and the README do what they say."""

import functools
import importlib.metadata
import io
import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import parley
import pytest
from flask import Flask
from parley import webhooks
from parley.__main__ import main
from parley.testing import event_body, sign

from .conftest import Served
from .test_types import PACKAGE, ROOT, blocks

BUDGET = 200_000
SECRET = "at-least-32-characters-of-randomness"


def run(*command: object, at: Path) -> str:
    done = subprocess.run([str(one) for one in command], cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", place, at=PACKAGE)
    (built,) = place.glob("parley_client-*.whl")
    return built


def test_the_wheel_installs_and_runs_without_anything_of_the_server(wheel, tmp_path):
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env", at=tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    run(sys.executable, "-m", "pip", "--python", python, *install, wheel, at=tmp_path)
    (packages,) = (tmp_path / "env" / "lib").glob("python3*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))  # httpx2 is there
    told = run(python, "-c", "import parley; print(parley.__file__, parley.__version__)", at=tmp_path).split()
    assert Path(told[0]).is_relative_to(tmp_path)
    assert told[1] == parley.__version__
    assert "verify-webhook" in run(python, "-m", "parley", "--help", at=tmp_path)
    (requirements,) = packages.glob("parley_client-*.dist-info")
    needed = importlib.metadata.PathDistribution(requirements)
    assert needed.requires == ["httpx2<3,>=2.10"]
    assert needed.metadata["License-Expression"] == "Apache-2.0"
    installed = sum(one.stat().st_size for one in (packages / "parley").glob("*.py"))
    print(f"{installed / 1000:.0f} KB of code, a wheel of {wheel.stat().st_size / 1000:.0f} KB")
    assert installed < BUDGET
    assert wheel.stat().st_size < BUDGET


def test_the_wheel_has_the_types_the_license_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "parley/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.partition("/")[0] for name in names} == {"parley", f"parley_client-{parley.__version__}.dist-info"}
    assert (PACKAGE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_package_and_the_server_share_no_module_and_no_command():
    ours, server = (tomllib.loads((at / "pyproject.toml").read_text()) for at in (PACKAGE, ROOT))
    assert ours["project"]["name"] != server["project"]["name"]
    assert "scripts" not in ours["project"]
    assert not any(
        "parley" in Path(one).parts for one in server["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    )


def test_everything_that_is_exported_is_there_and_has_a_text():
    for name in parley.__all__:
        assert getattr(parley, name).__doc__ or name == "__version__", name


@pytest.fixture
def environment(served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setenv("PARLEY_BASE_URL", served.url)
    monkeypatch.setenv("PARLEY_API_KEY", served.key)
    return served


def test_the_command_line(environment, capsys):
    def said(*arguments: str) -> list[str]:
        assert main(list(arguments)) == 0
        return capsys.readouterr().out.splitlines()

    assert said("ping") == ["pong"]
    client = environment.client()
    flow = client.flows.create(org_name="F", title="Ü", questions=["Why?"], webhook_secret_key=SECRET)
    made = client.interviews.create(flow.interview_flow_id)
    (line,) = said("flows")
    assert (json.loads(line)["title"], SECRET in line) == ("Ü", False)
    assert said("flows", flow.interview_flow_id) == [line]
    assert [json.loads(line)["interview_id"] for line in said("interviews", "--max", "5")] == [made.interview_id]
    assert said("interviews", "--status", "completed") == []
    (line,) = said("interviews", made.interview_id, "--transcript", "text")
    assert json.loads(line)["status"] == "incomplete"
    assert main(["interviews", "no such id"]) == 1
    assert "422 not_found: " in capsys.readouterr().err


def test_the_command_line_verifies_webhooks(monkeypatch, capsys):
    body = event_body()
    monkeypatch.setenv("PARLEY_WEBHOOK_SECRET", SECRET)

    def exit_of(headers: dict[str, str], *options: str) -> int:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(body)))
        given = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
        return main(["verify-webhook", *given, *options])

    assert exit_of(sign(body, SECRET)) == 0
    assert json.loads(capsys.readouterr().out)["event_type"] == "interview_processed"
    old = sign(body, SECRET, timestamp=1_700_000_000)
    assert exit_of(old) == 1
    assert capsys.readouterr().err.startswith("too_old: ")
    assert exit_of(old, "--any-time") == 0
    alone = {"x-service-signature": old["x-service-signature"]}
    assert exit_of(alone) == 1
    assert exit_of(alone, "--signature", "x-service-signature") == 0
    monkeypatch.delenv("PARLEY_WEBHOOK_SECRET")
    capsys.readouterr()
    assert exit_of(old) == 1
    assert capsys.readouterr().err.startswith("Set PARLEY_WEBHOOK_SECRET to ")
    with pytest.raises(SystemExit) as refused:
        main(["verify-webhook", "-H", "nonsense"])
    assert (refused.value.code, "'nonsense' is not a header" in capsys.readouterr().err) == (2, True)


def test_the_command_line_ends_quietly_when_no_one_reads_on(environment):
    environment.client().flows.create(org_name="F", title="T", questions=["Why?"])
    command = ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m parley flows | true"]
    from_here = {**os.environ, "PYTHONPATH": str(PACKAGE / "src")}
    done = subprocess.run(command, env=from_here, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder to work in, where following changes ends with the latest one."""
    monkeypatch.setattr(parley.Parley, "changes", functools.partialmethod(parley.Parley.changes, follow=False))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_blocks_of_the_readme_run(environment, capsys, ending):
    for code in blocks(PACKAGE / "README.md"):
        names: dict[str, object] = {"__name__": "readme"}
        exec(compile(code, "README.md", "exec"), names)
        if isinstance(names.get("app"), Flask):
            body = event_body()
            post = names["app"].test_client().post
            assert post("/parley", data=body, headers=sign(body, SECRET)).status_code == 204
            assert post("/parley", data=body).status_code == 401
    said = capsys.readouterr().out
    assert "/interview/api/" in said
    assert "gone" in said
    assert list(environment.client().changes(after=(ending / "cursor").read_text())) == []
    assert webhooks.TOLERANCE == 300


def test_the_blocks_of_the_guide_run(environment, capsys, ending):
    client = environment.client()
    for code in blocks(ROOT / "docs" / "api.md"):
        here = code.replace('api_key="…", base_url="http://127.0.0.1:8000"', "")
        names: dict[str, object] = {}
        exec(compile(here, "docs/api.md", "exec"), names)
        if event_of := names.get("event_of"):
            body = event_body()
            assert isinstance(event_of(sign(body, SECRET), body), webhooks.InterviewProcessed)
            assert event_of(sign(body, SECRET), body + b" ") is None
    (made,) = client.interviews.list()
    assert made.interview_id in capsys.readouterr().out
    copied = json.loads((ending / "copy" / f"interview-{made.interview_id}.json").read_text())
    assert (copied["status"], (ending / "copy" / "next").exists()) == ("incomplete", True)
