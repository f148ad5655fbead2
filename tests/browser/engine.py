"""The three browser engines behind one small interface, each with the sound card's microphone, loudspeaker and screen.

Tests that hold in every engine are written once. Chromium is driven by Playwright, Firefox by Marionette, WebKit by
``webkit_window.py`` and clicks of the screen's own pointer, so that the rule about taps holds as on a phone.
"""

import importlib
import json
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .limits import Unanswered, within
from .sound_card import SoundCard

PATIENT = 120.0  # seconds for something to come true; only bounds a hang
ANSWER = 60.0  # seconds for one call; only bounds a hang
PHONE = (390, 844)
DESK = (1280, 800)
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)
PYTHON = "/usr/bin/python3"
"""Debian's own: what WebKit's bindings belong to is no package of an index."""
CLICKABLE = """
    const one = document.querySelector({selector});
    if (!one) return null;
    one.scrollIntoView({{ block: "center", behavior: "instant" }});
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const box = one.getBoundingClientRect();
    const [x, y] = [box.x + Math.min(box.width / 2, 60), box.y + box.height / 2];
    const there = document.elementFromPoint(x, y);
    const hits = there && (one.contains(there) || there.contains(one) || there.closest("label")?.control === one);
    return hits && !one.disabled ? [Math.round(x), Math.round(y)] : null;
"""


class NoAnswer(Exception):
    """The page gave no value: the script failed, or the page was left meanwhile."""


class Engine(ABC):
    """One window. An expression may be a promise; its value comes back through JSON."""

    name: str
    version: str
    answer_seconds = ANSWER
    _was_ended = False

    @contextmanager
    def _answers(self, what: str) -> Iterator[None]:
        """One call. If it takes too long, the engine is ended. Raises Unanswered then."""
        sentence = f"{self.name} did not answer within {self.answer_seconds:.0f} s and was ended: {what[:300]}"
        try:
            with within(self.answer_seconds, sentence):
                yield
        except Unanswered:
            self._was_ended = True
            raise

    @property
    def is_ended(self) -> bool:
        """Whether it was ended because something took too long."""
        return self._was_ended or not self._runs()

    @abstractmethod
    def _runs(self) -> bool:
        """Whether its process is there."""

    @abstractmethod
    def open(self, url: str) -> None:
        """Load a page."""

    @abstractmethod
    def reload(self) -> None:
        """Load the page once more."""

    @abstractmethod
    def ask(self, script: str) -> Any:
        """What an expression is on the page. Raises NoAnswer."""

    @abstractmethod
    def run(self, source: str) -> None:
        """Run a script on the page, as its own policy would not let it in."""

    @abstractmethod
    def click(self, selector: str) -> None:
        """A click as a person makes it: what is hidden or covered cannot be clicked."""

    @abstractmethod
    def type(self, selector: str, text: str) -> None:
        """Text into a field."""

    @abstractmethod
    def allow(self, microphone: bool) -> None:
        """What the person says when a page asks for the microphone."""

    @abstractmethod
    def camera(self, there: bool) -> None:
        """Whether there is an imitated camera. In Chromium and WebKit the microphone is imitated along with it."""

    @property
    def records_pictures(self) -> bool:
        """Whether what the camera sees can be recorded on this machine."""
        return True

    @abstractmethod
    def resize(self, width: int, height: int) -> None:
        """The page's size in CSS pixels."""

    @abstractmethod
    def trouble(self) -> list[str]:
        """Script errors and breaches of the content security policy since the last call."""

    @abstractmethod
    def close(self) -> None:
        """End it."""

    def until(self, script: str) -> None:
        """Poll until an expression holds; the time only bounds a hang."""
        deadline, problem = time.monotonic() + PATIENT, ""
        while True:
            try:
                if self.ask(script):
                    return
            except NoAnswer as error:
                problem = str(error)
            if time.monotonic() > deadline:
                shown = self.ask("document.querySelector('main')?.innerText ?? document.body.innerText")
                raise AssertionError(f"{self.name}: {script}; {problem}; {shown[:1200]}")
            time.sleep(0.1)

    def text(self, selector: str) -> str:
        """What an element says; empty where there is none."""
        return str(self.ask(f"document.querySelector({json.dumps(selector)})?.textContent.trim() ?? ''"))


def _is_trouble(line: Any) -> bool:
    """An error on the console. That something could not be loaded is none: a test takes the network away."""
    return line.type == "error" and not line.text.startswith("Failed to load resource")


class Chromium(Engine):
    """Chromium without its fake devices."""

    name = "Chromium"

    def __init__(self, playwright: Any, path: str, card: SoundCard) -> None:
        self._playwright, self._path, self._card = playwright, path, card
        self._error = importlib.import_module("playwright.sync_api").Error
        self._launch()

    def _launch(self, *flags: str) -> None:
        with self._answers("start"):
            self._start(*flags)

    def _start(self, *flags: str) -> None:
        self._browser = self._playwright.chromium.launch(
            executable_path=self._path,
            args=["--no-sandbox", "--disable-dev-shm-usage", "--autoplay-policy=user-gesture-required", *flags],
            ignore_default_args=["--mute-audio"],
            env=self._card.env,
        )
        self.version = self._browser.version
        self._trouble: list[str] = []
        self._context = self._browser.new_context(viewport={"width": DESK[0], "height": DESK[1]})
        self._page = self._context.new_page()
        self._page.on("pageerror", lambda error: self._trouble.append(str(error)))
        self._page.on("console", lambda line: self._trouble.append(line.text) if _is_trouble(line) else None)
        self._permit(True)

    def _runs(self) -> bool:
        return bool(self._browser.is_connected())

    def camera(self, there: bool) -> None:
        self.close()
        self._launch(*(["--use-fake-device-for-media-stream"] if there else []))

    def open(self, url: str) -> None:
        with self._answers(url):
            self._page.goto(url)

    def reload(self) -> None:
        with self._answers("reload"):
            self._page.reload()

    def ask(self, script: str) -> Any:
        with self._answers(script):
            try:
                return self._page.evaluate(f"async () => ({script})")
            except self._error as error:
                raise NoAnswer(str(error)) from error

    def run(self, source: str) -> None:
        with self._answers(source):
            self._page.evaluate(source)

    def click(self, selector: str) -> None:
        with self._answers(f"click on {selector}"):
            self._page.click(selector)

    def type(self, selector: str, text: str) -> None:
        with self._answers(f"text into {selector}"):
            self._page.type(selector, text)

    def allow(self, microphone: bool) -> None:
        with self._answers("permissions"):
            self._permit(microphone)

    def _permit(self, microphone: bool) -> None:
        self._context.clear_permissions()
        if microphone:  # what was not granted is denied: there is no one to ask
            self._context.grant_permissions(["microphone", "camera"])

    def resize(self, width: int, height: int) -> None:
        with self._answers("size"):
            self._page.set_viewport_size({"width": width, "height": height})

    def trouble(self) -> list[str]:
        with self._answers("what the page has sent meanwhile"):
            self._page.wait_for_timeout(1)
        found, self._trouble = self._trouble, []
        return found

    def close(self) -> None:
        with self._answers("end"):
            self._browser.close()


class WebKit(Engine):
    """WebKitGTK as a phone: its size, its user agent, and no sound before a tap."""

    name = "WebKit"

    def __init__(self, card: SoundCard) -> None:
        self._card = card
        own = {"NO_AT_BRIDGE": "1", "HOME": str(card.folder), "GST_REGISTRY": str(card.folder / "gstreamer")}
        with (card.folder / "webkit.log").open("wb") as log:
            self._process = subprocess.Popen(
                [PYTHON, str(Path(__file__).with_name("webkit_window.py"))],
                env={**card.env, **own},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            with self._answers("start"):
                self._send(user_agent=IPHONE, size=PHONE)
                self.version = self._answer()
        except BaseException:
            self.close()
            raise

    def _runs(self) -> bool:
        return self._process.poll() is None

    def _send(self, **told: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the window ended: {(self._card.folder / 'webkit.log').read_text()[-2000:]}"
        answer = json.loads(line)
        if "error" in answer:
            raise NoAnswer(answer["error"])
        return answer["value"]

    def _do(self, name: str, value: Any = None) -> Any:
        with self._answers(f"{name} {value}"):
            self._send(do=name, value=value)
            return self._answer()

    def open(self, url: str) -> None:
        self._do("open", url)

    def reload(self) -> None:
        self._do("reload")

    def ask(self, script: str) -> Any:
        return self._do("ask", f"return ({script})")

    def run(self, source: str) -> None:
        self._do("ask", source)

    def click(self, selector: str) -> None:
        deadline = time.monotonic() + PATIENT
        script = CLICKABLE.format(selector=json.dumps(selector))
        while (place := self._do("ask", script)) is None:
            assert time.monotonic() < deadline, f"{selector} cannot be tapped"
            time.sleep(0.1)
        subprocess.run(
            ["xdotool", "mousemove", *map(str, place), "click", "1"], env=self._card.env, check=True, timeout=ANSWER
        )

    def type(self, selector: str, text: str) -> None:
        self.run(
            f"const field = document.querySelector({json.dumps(selector)}); field.focus();"
            f"document.execCommand('insertText', false, {json.dumps(text)});"
        )

    def allow(self, microphone: bool) -> None:
        self._do("allow", microphone)

    def camera(self, there: bool) -> None:
        self._do("mock", there)

    @property
    def records_pictures(self) -> bool:
        """WebKit needs GStreamer's autovideoflip for that. Before 1.24, the folder gstreamer has one."""
        return bool(self._do("records pictures"))

    def resize(self, width: int, height: int) -> None:
        self._do("size", [width, height])
        self.until(f"innerWidth === {width}")

    def trouble(self) -> list[str]:
        return list(self._do("trouble"))

    def close(self) -> None:
        with suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
