"""``parley models``: list, install, verify, remove."""

import json
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from app.gateways.speech.model_files import manifest
from app.operations import cli
from tests.speech.model_sources import FILES, Publisher, folder_of, models, serving


@pytest.fixture
def publisher(monkeypatch) -> Iterator[Publisher]:
    """A server with one generated model, ``whisper-base``, which is all there is."""
    with serving(Publisher()) as one:
        monkeypatch.setattr(manifest, "MODELS", models(one.address, name="whisper-base"))
        yield one


@pytest.fixture
def run(home, publisher) -> Callable[..., Result]:
    return lambda *arguments: CliRunner().invoke(cli.parley, ["models", *[str(one) for one in arguments]])


@pytest.fixture
def place(home):
    return home / "data" / "models" / "whisper-base"


def test_the_default_is_installed_once(run, place):
    done = run("install", "default")
    assert done.exit_code == 0, done.output
    assert f"Installed in {place.parent}: whisper-base." in done.output
    assert all((place / name).read_bytes() == body for name, body in FILES.items())
    assert "Already installed: whisper-base." in run("install", "whisper-base").output


def test_the_list_says_what_is_installed(run):
    before = json.loads(run("list", "--json").stdout)
    run("install", "whisper-base")
    after = json.loads(run("list", "--json").stdout)
    assert [model["installed"] for model in (*before["models"], *after["models"])] == [False, True]
    assert after["models"][0]["licence"] == "MIT"
    assert "* whisper-base" in run("list").output


def test_a_directory_replaces_the_network(run, home, place, publisher):
    folder_of(home / "stick", "whisper-base")
    assert run("install", "whisper-base", "--from", home / "stick").exit_code == 0
    assert (place / "model.bin").read_bytes() == FILES["model.bin"]
    assert publisher.asked == []


def test_verify_takes_in_a_copied_directory_and_names_damage(run, place):
    assert "There are no models" in run("verify").output
    folder_of(place.parent, "whisper-base")
    assert "whisper-base: complete" in run("verify").output
    (place / "config.json").write_bytes(b"x")
    done = run("verify")
    assert done.exit_code == 1
    assert "whisper-base/config.json has 1 bytes instead of 3,000" in done.output


def test_remove_deletes_the_directory(run, place):
    run("install", "whisper-base")
    assert run("remove", "whisper-base").output == "whisper-base: removed\n"
    assert not place.exists()
    assert run("remove", "whisper-base").output == "whisper-base: was not installed\n"


@pytest.mark.parametrize("command", ["install", "verify", "remove"])
def test_an_unknown_name_gets_the_names(run, command):
    done = run(command, "parrot")
    assert done.exit_code == 1
    assert "There is no model parrot. The names are: whisper-base." in done.output


def test_a_model_that_cannot_be_had_names_the_ways_on(run, publisher):
    publisher.status = 503
    done = run("install", "whisper-base")
    assert done.exit_code == 1
    assert "responded with 503" in done.output
    assert "MODELS_MIRROR" in done.output


def test_a_language_belongs_to_the_default(run):
    done = run("install", "whisper-base", "--language", "de-DE")
    assert done.exit_code == 1
    assert "--language only changes what the name `default` stands for" in done.output
