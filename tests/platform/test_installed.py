"""The wheel is the whole product: installed away from the repository it starts, serves and is complete."""

import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
import requests

from . import installed
from .conftest import ROOT, Start, a_free_port, answers, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform")]

INSIDE = {"app": "app", "migrations": "app/migrations", "static": "app/static", "templates": "app/templates"}
"""Directories of the repository, and where the wheel has them."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed.build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed.build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed.install(wheel, tmp_path_factory.mktemp("environment") / "venv")


def test_the_wheel_has_every_file_of_the_product(wheel: Path) -> None:
    expected = {
        f"{place}/{path.relative_to(ROOT / name)}"
        for name, place in INSIDE.items()
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if name.startswith("app/")}
    assert names == expected


def test_the_source_archive_builds_the_same_wheel(archive: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
        opened.extractall(tmp_path)
    (source,) = tmp_path.glob("parley-*")
    again = installed.build(source, "wheel", tmp_path / "again")
    assert again.read_bytes() == wheel.read_bytes()


def test_up_in_an_empty_folder(commands: Path, start: Start, tmp_path: Path) -> None:
    folder, port = tmp_path / "empty", a_free_port()
    folder.mkdir()
    env = {"PORT": str(port), "STT_PROCESSES": "1", "DATABASE_URL": "", "REDIS_URL": "", "PYTHONPATH": ""}
    where = [commands / "python", "-c", "import app; print(app.__file__)"]
    place = subprocess.run(where, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(place).is_relative_to(commands.parent)
    process = start(str(commands / "parley"), "up", env=env, name="up", cwd=folder)
    url, log = f"http://127.0.0.1:{port}", tmp_path / "up.log"
    wait_until(lambda: answers(f"{url}/readyz"), seconds=60, what="the platform is ready")
    wait_until(lambda: "/setup/" in log.read_text(), seconds=30, what="the set-up address is printed")
    address = re.search(r"http\S+/setup/\S+", log.read_text())
    assert address
    page = requests.get(address.group(), timeout=10)
    assert page.status_code == 200
    sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page.text)
    assert sheets
    assert [requests.get(f"{url}{sheet}", timeout=10).status_code for sheet in sheets] == [200] * len(sheets)
    german = requests.get(f"{url}/interview/api/accessibility?lang=de-DE", timeout=10)
    assert "Barrierefreiheit" in german.text
    assert requests.get(f"{url}/v1/docs", timeout=10).status_code == 200
    assert {path.name for path in folder.iterdir()} == {"instance"}
    process.terminate()
    assert process.wait(timeout=40) == 0


def test_the_other_web_server_finds_the_application(commands: Path, start: Start, tmp_path: Path) -> None:
    folder, port = tmp_path / "empty", a_free_port()
    folder.mkdir()
    env = {"PORT": str(port), "DATABASE_URL": "", "WEB_SERVER": "granian", "PYTHONPATH": ""}
    subprocess.run([commands / "parley", "migrate"], cwd=folder, env=env, check=True)
    start(str(commands / "parley"), "web", env=env, name="web", cwd=folder)
    wait_until(lambda: answers(f"http://127.0.0.1:{port}/healthz"), seconds=60, what="the web server answers")
