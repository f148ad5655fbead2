"""Firefox as Debian ships it, driven by its own remote protocol (Marionette): no driver has to be installed.

The protocol: lengths and JSON over a socket. A command is ``[0, number, name, parameters]``, its answer
``[1, number, error, value]``.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr")
PATIENT = 240.0  # seconds; a busy machine needs a minute to start it
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PREFERENCES = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.autoplay.default": 0,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "startup.homepage_welcome_url": "about:blank",
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False,
    "services.settings.server": "data:,",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
"""A microphone that hums, no question, no first page, no call to anybody."""


class Firefox:
    """One window of a headless Firefox with a microphone that hums, in a profile of its own."""

    def __init__(self, profile: Path) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        wanted = {**PREFERENCES, "marionette.port": port}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in wanted.items()]
        (profile / "user.js").write_text("\n".join(lines))
        command = [str(FIREFOX), "--headless", "--no-remote", "--marionette", "--profile", str(profile)]
        with (profile / "log").open("wb") as log:
            self._process = subprocess.Popen(command, env={**os.environ, "HOME": str(profile)}, stdout=log, stderr=log)
        self._number, self._rest = 0, b""
        try:
            self._socket = self._connect(port)
            self._read()
            self.version = self.do("WebDriver:NewSession", capabilities={})["capabilities"]["browserVersion"]
        except BaseException:
            self.close()
            raise

    def _connect(self, port: int) -> socket.socket:
        deadline = time.monotonic() + PATIENT
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=PATIENT)
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.2)

    def _read(self) -> Any:
        while b":" not in self._rest:
            self._rest += self._more()
        length, _, self._rest = self._rest.partition(b":")
        while len(self._rest) < int(length):
            self._rest += self._more()
        message, self._rest = self._rest[: int(length)], self._rest[int(length) :]
        return json.loads(message)

    def _more(self) -> bytes:
        content = self._socket.recv(65536)
        if not content:
            raise ConnectionError("Firefox closed the connection")
        return content

    def do(self, name: str, **parameters: Any) -> Any:
        """One command and its value."""
        self._number += 1
        body = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(f"{len(body)}:".encode() + body)
        _, _, error, value = self._read()
        assert not error, error
        return value

    def open(self, url: str) -> None:
        """Load a page."""
        self.do("WebDriver:Navigate", url=url)

    def ask(self, script: str) -> Any:
        """What an expression is on the page."""
        return self.do("WebDriver:ExecuteScript", script=f"return {script};", args=[])["value"]

    def click(self, selector: str) -> None:
        """A click as a person makes it: what is hidden or covered cannot be clicked."""
        found = self.do("WebDriver:FindElement", using="css selector", value=selector)["value"][ELEMENT]
        self.do("WebDriver:ElementClick", id=found)

    def type(self, selector: str, text: str) -> None:
        """Keys into an element."""
        found = self.do("WebDriver:FindElement", using="css selector", value=selector)["value"][ELEMENT]
        self.do("WebDriver:ElementSendKeys", id=found, text=text)

    def until(self, script: str) -> None:
        """Poll until an expression holds; the time only bounds a hang."""
        deadline = time.monotonic() + PATIENT
        while not self.ask(script):
            assert time.monotonic() < deadline, f"{script}; {self.ask('document.body.innerText')[:800]}"
            time.sleep(0.1)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if hasattr(self, "_socket"):
            self._socket.close()
