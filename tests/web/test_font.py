"""Inter, as the browser of a member fetches it, and pages without it."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from fontTools.ttLib import TTFont

from app.operations.processes.up import make_font
from app.web import font

MOST = 60_000

pytestmark = pytest.mark.xdist_group("font")  # the subset is made once


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("font") / "share" / "inter.woff2"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(font, "place", lambda: path)
        assert font.make_subset() == path
    return path


@pytest.fixture
def served(made: Path, app: Flask, monkeypatch: pytest.MonkeyPatch) -> Flask:
    monkeypatch.setattr(font, "place", lambda: made)
    return app


def test_the_subset_is_small_and_has_the_letters_of_names(made: Path) -> None:
    content = made.read_bytes()
    assert len(content) <= MOST
    subset = TTFont(io.BytesIO(content))
    letters = subset.getBestCmap()
    assert not [one for one in "aÅßçğıŁőřșțžƠếữ€–“”→" if ord(one) not in letters]
    axes = {axis.axisTag: (axis.minValue, axis.maxValue) for axis in subset["fvar"].axes}
    assert axes == {"wght": font.WEIGHTS}


def test_members_pages_name_the_style_and_ask_for_the_file_early(served: Flask, made: Path) -> None:
    client = served.test_client()
    page = client.get("/sign-in").get_data(as_text=True)
    preload = re.search(
        r'<link rel="preload" href="(/font/inter-\w+\.woff2)" as="font" type="font/woff2" crossorigin>', page
    )
    style = re.search(r'<link rel="stylesheet" href="(/font/inter-\w+\.css)">', page)
    assert preload
    assert style
    browser = {"Sec-Fetch-Site": "same-origin", "Accept-Encoding": "gzip, deflate, br"}
    rule = client.get(style[1], headers=browser)
    assert rule.mimetype == "text/css"
    assert f'url("{preload[1].rsplit("/", 1)[1]}")' in rule.get_data(as_text=True)
    file = client.get(preload[1], headers=browser)
    assert file.get_data() == made.read_bytes()
    for answer in (rule, file):
        assert "immutable" in answer.headers["Cache-Control"]
        assert "Set-Cookie" not in answer.headers
    assert client.get(preload[1], headers={"If-None-Match": file.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize("name", ["inter-000000000000.css", "inter-000000000000.woff2"])
def test_another_version_is_not_found(served: Flask, name: str) -> None:
    assert served.test_client().get(f"/font/{name}").status_code == 404


def test_pages_without_the_file_use_the_systems_font(
    app: Flask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(font, "place", lambda: tmp_path / "inter.woff2")
    answer = app.test_client().get("/sign-in")
    assert answer.status_code == 200
    assert "/font/" not in answer.get_data(as_text=True)


@pytest.mark.parametrize("error", [ImportError("no fontTools"), PermissionError("read-only")])
def test_a_start_that_cannot_make_it_says_so_and_goes_on(
    error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> Path:
        raise error

    monkeypatch.setattr(font, "make_subset", fails)
    with caplog.at_level("INFO"):
        make_font()
    assert str(error) in caplog.text


def test_the_log_of_the_first_start_has_no_line_about_each_table_of_the_font(
    configured: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(font, "place", lambda: tmp_path / "inter.woff2")
    configured("text")
    make_font()
    assert (tmp_path / "inter.woff2").exists()
    assert capsys.readouterr().err == ""
