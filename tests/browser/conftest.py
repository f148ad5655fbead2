"""Chromium, its fake microphone, and the checks that every page has to pass."""

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import warnings
import wave
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests

from tests import leftovers

from . import sound_card
from .engine import Chromium, Engine, WebKit
from .fake_server import Running, Story
from .firefox import FIREFOX, Firefox
from .limits import within
from .sound_card import SoundCard
from .wcag import axe

NAMES = (os.environ.get("CHROMIUM") or "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
HEADLESS = CHROMIUM if "CHROMIUM" in os.environ else shutil.which("chromium-headless-shell") or CHROMIUM
"""Chromium without windows, where it is installed: half the work, because Chromium itself draws a window for each
context, even if it is not shown. What a browser asks its user is tested in CHROMIUM."""
FLAGS = [
    "--no-sandbox",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--disable-dev-shm-usage",
]
ROOT = Path(__file__).resolve().parents[2]
PARLEY = (sys.executable, "-m", "app.operations.cli")
PASSWORD = "a long enough password"
ADMINISTRATORS = itertools.count(1)


def new_organization() -> tuple[str, list[str]]:
    """The address of its administrator, and what makes it after ``parley org create``."""
    email = f"admin{next(ADMINISTRATORS)}@freight.example"
    return email, ["Example Freight", "--team", "Main", "--admin-email", email, "--admin-password", PASSWORD, "--json"]


LONGEST = 280.0
"""Seconds that a test may take, from setup to teardown: after 300 pytest ends the whole process."""
LEAST = 80.0
"""Seconds that ``--within`` leaves to each test that begins."""
STARTED = time.monotonic()
BEGAN = pytest.StashKey[float]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in mine:
        item.add_marker(pytest.mark.browser)


def _left(item: pytest.Item) -> float:
    """Seconds until the whole run has to be over, by ``--within``."""
    seconds = item.config.getoption("--within")
    return STARTED + seconds - time.monotonic() if seconds else float("inf")


def _bounded(item: pytest.Item) -> Generator[None, Any, Any]:
    left = min(item.stash.setdefault(BEGAN, time.monotonic()) + LONGEST - time.monotonic(), _left(item))
    sentence = f"{item.name} was not over in time, so the browsers that it waited for were ended"
    with within(max(5.0, left), sentence):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    if _left(item) < LEAST:
        pytest.skip(f"fewer than {LEAST:.0f} s of --within were left; make browsers-test runs it without a limit")
    return (yield from _bounded(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _bounded(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _bounded(item))


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    """The driver. Per module, because its event loop would be in the way of other tests' own."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install -e '.[dev]'")
    if CHROMIUM is None:
        pytest.skip("Chromium is missing: apt-get install chromium")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with api.sync_playwright() as running:
            yield running


@pytest.fixture(scope="module")
def chromium(playwright: Any) -> Iterator[Any]:
    """A browser whose microphone beeps once a second."""
    browser = playwright.chromium.launch(executable_path=HEADLESS, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture
def strict_chromium(playwright: Any) -> Iterator[Any]:
    """A browser in which nothing sounds before somebody has pressed something."""
    flags = [*FLAGS, "--autoplay-policy=user-gesture-required"]
    browser = playwright.chromium.launch(executable_path=HEADLESS, args=flags)
    yield browser
    browser.close()


@pytest.fixture
def with_microphone(playwright: Any) -> Iterator[Callable[[Path], Any]]:
    """A browser whose microphone plays a WAV file, again and again."""
    browsers = []

    def launch(path: Path) -> Any:
        flags = [*FLAGS, f"--use-file-for-fake-audio-capture={path}", "--autoplay-policy=user-gesture-required"]
        browsers.append(playwright.chromium.launch(executable_path=HEADLESS, args=flags))
        return browsers[-1]

    yield launch
    for browser in browsers:
        browser.close()


@pytest.fixture(scope="module")
def card() -> Iterator[SoundCard]:
    """A sound card with a microphone, and a screen."""
    if lacks := sorted(sound_card.PACKAGES & {*sound_card.missing()}):
        pytest.skip(f"A sound card is missing: apt-get install {' '.join(lacks)}")
    with sound_card.running() as running:
        yield running


@pytest.fixture(scope="module", params=["chromium", "firefox", "webkit"])
def window(request: pytest.FixtureRequest, card: SoundCard) -> Iterator[Callable[[], Engine]]:
    """``window()``: that of the engine that the parameter names, the same for a module unless it had to be ended."""
    start = _starter(request, card)
    opened: list[Engine] = []

    def current() -> Engine:
        if opened and opened[-1].is_ended:
            opened.pop().close()
        if not opened:
            opened.append(start())
        return opened[-1]

    yield current
    for engine in opened:
        engine.close()


def _starter(request: pytest.FixtureRequest, card: SoundCard) -> Callable[[], Engine]:
    """Skips, by name, where the engine is missing."""
    if request.param == "firefox":
        if FIREFOX is None:
            pytest.skip("Firefox is missing: apt-get install firefox-esr")
        return lambda: Firefox(card)
    if request.param == "webkit":
        if lacks := sorted(sound_card.missing()):
            pytest.skip(f"WebKit needs more packages: apt-get install {' '.join(lacks)}")
        return lambda: WebKit(card)
    playwright = request.getfixturevalue("playwright")
    return lambda: Chromium(playwright, str(CHROMIUM), card)


@pytest.fixture
def engine(window: Callable[[], Engine]) -> Iterator[Engine]:
    """Each of the three engines. No page of a test complains."""
    running = window()
    running.trouble()
    yield running
    if running.is_ended:
        return
    running.allow(True)
    assert running.trouble() == []


@pytest.fixture
def server() -> Iterator[Running]:
    """The fake candidate's server."""
    running = Running(Story())
    yield running
    running.stop()


UNFETCHED = "Failed to fetch dynamically imported module"


@pytest.fixture
def errors() -> list[str]:
    """What pages complained about; ``watch`` fills it."""
    return []


@pytest.fixture
def watch(errors: list[str]) -> Iterator[Callable[[Any], Any]]:
    """Fails the test for a script error or a breach of the content security policy on the page."""
    given_up, refused = set(), set()

    def listen(page: Any) -> Any:
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda one: given_up.add(one.url) if one.failure == "net::ERR_ABORTED" else None)
        page.on("response", lambda one: refused.add(one.url) if one.status >= 400 else None)
        page.on("console", lambda line: errors.append(line.text) if "Security Policy" in line.text else None)
        return page

    yield listen
    # A page that is left gives up the modules on their way, and says so. One that does not exist was refused.
    assert [error for error in errors if error.removeprefix(f"{UNFETCHED}: ") not in given_up - refused] == []


@dataclass(frozen=True)
class Installation:
    """A running platform for one of its organizations."""

    url: str
    api_key: str
    team_id: str
    email: str
    data: Path
    """DATA_DIR."""

    def api(self, method: str, path: str, **kwargs: Any) -> Any:
        answer = requests.request(
            method, f"{self.url}/v1{path}", headers={"Authorization": f"Bearer {self.api_key}"}, timeout=30, **kwargs
        )
        assert answer.status_code == 200, answer.text
        return answer.json()


@dataclass(frozen=True)
class Platform:
    """A running ``parley up``."""

    url: str
    data: Path
    """DATA_DIR."""
    env: dict[str, str]

    def organization(self) -> Installation:
        """The platform for the administrator of a new organization."""
        email, about = new_organization()
        command = [*PARLEY, "org", "create", *about]
        made = subprocess.run(command, env=self.env, cwd=ROOT, capture_output=True, check=True)
        known = json.loads(made.stdout)
        return Installation(self.url, known["api_key"], known["team_id"], email, self.data)


@contextmanager
def _up(folder: Path, more_settings: dict[str, str]) -> Iterator[Platform]:
    """``parley up`` with its data in ``folder``, ended by its process id."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    url, data = f"http://127.0.0.1:{port}", folder / "data"
    env = {
        **os.environ,
        "DATA_DIR": str(data),
        "PORT": str(port),
        "APP_URL": url,
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "STT_PROCESSES": "1",
        **more_settings,
    }
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen([*PARLEY, "up"], env=env, cwd=ROOT, stdout=log, stderr=log)
    try:
        wait_until(lambda: _answers(f"{url}/readyz"), seconds=120, what="parley up is ready")
        yield Platform(url, data, env)
    finally:
        leftovers.end(running)


@pytest.fixture(scope="session")
def shared_platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """One platform for all modules of a process, because starting one costs more than most of their tests."""
    with _up(tmp_path_factory.mktemp("platform"), {}) as running:
        yield running


@pytest.fixture(scope="module")
def more_settings() -> dict[str, str]:
    """Environment variables for a platform of the module's own; override it there."""
    return {}


@pytest.fixture(scope="module")
def installation(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, more_settings: dict[str, str]
) -> Iterator[Installation]:
    """An organization of the module's own on the shared platform, or on one of its own if it needs other settings."""
    if not more_settings:
        platform: Platform = request.getfixturevalue("shared_platform")
        yield platform.organization()
        return
    with _up(tmp_path_factory.mktemp("platform"), more_settings) as own:
        yield own.organization()


def sign_in(page: Any, installation: Installation) -> None:
    """As the installation's administrator; the dashboard stands there then."""
    page.goto(f"{installation.url}/sign-in")
    page.fill("#email", installation.email)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url("**/dashboard")


@pytest.fixture
def signed_in(chromium: Any, installation: Installation, watch: Callable[[Any], Any]) -> Iterator[Callable[..., Any]]:
    """``signed_in(path, **context)``: the administrator's page at ``path``, in a browser context of its own."""
    contexts = []

    def opened(path: str, **options: Any) -> Any:
        contexts.append(chromium.new_context(**options))
        page = watch(contexts[-1].new_page())
        sign_in(page, installation)
        page.goto(f"{installation.url}{path}")
        return page

    yield opened
    for context in contexts:
        context.close()


def _answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=2).status_code == 200
    except requests.RequestException:
        return False


def wait_until(holds: Callable[[], object], *, seconds: float, what: str) -> None:
    """Poll until ``holds()``; the time only bounds a hang, it decides nothing."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.2)


def write_wav(path: Path, samples: np.ndarray, *, rate: int) -> Path:
    """One channel, 16 bit, at 48 kHz as Chromium's fake microphone likes it."""
    places = np.arange(0, len(samples), rate / 48000)
    resampled = np.interp(places, np.arange(len(samples)), samples)
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, 48000, 0, "NONE", ""))
        out.writeframes(np.clip(resampled, -32768, 32767).astype("<i2").tobytes())
    return path


def assert_accessible(page: Any) -> None:
    """axe-core finds nothing, and the page does not scroll sideways, once the page and its styles are there."""
    page.wait_for_load_state("load")
    assert axe(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{page.url} scrolls sideways by {wide} px"
