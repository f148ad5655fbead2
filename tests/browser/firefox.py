"""Firefox as Debian ships it, driven by its own remote protocol (Marionette): no driver has to be installed.

The protocol: lengths and JSON over a socket. A command is ``[0, number, name, parameters]``, its answer
``[1, number, error, value]``.
"""

import json
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from .engine import ANSWER, DESK, Engine, NoAnswer
from .sound_card import SoundCard

FIREFOX = shutil.which("firefox-esr")
LIMITS = {"pageLoad": round(500 * ANSWER), "script": round(500 * ANSWER)}
"""Milliseconds. Without it Firefox waits five minutes for a page."""
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PREFERENCES = {
    "media.audio_loopback_dev": "Microphone",
    "permissions.default.camera": 1,
    "network.proxy.type": 0,
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
"""The sound card's microphone, an imitated camera, no first page, no call to anybody."""


class Firefox(Engine):
    """One window of Firefox with the sound card's microphone, in a profile of its own."""

    name = "Firefox"

    def __init__(self, card: SoundCard) -> None:
        profile = Path(tempfile.mkdtemp(prefix="firefox-", dir=card.folder))
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        wanted = {**PREFERENCES, "marionette.port": port}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in wanted.items()]
        (profile / "user.js").write_text("\n".join(lines))
        command = [
            str(FIREFOX),
            "--no-remote",
            "--marionette",
            "--remote-allow-system-access",
            "--profile",
            str(profile),
        ]
        with (profile / "log").open("wb") as log:
            self._process = subprocess.Popen(command, env={**card.env, "HOME": str(profile)}, stdout=log, stderr=log)
        self._number, self._rest = 0, b""
        try:
            self._socket = self._connect(port)
            self._read()
            self.version = self.do("WebDriver:NewSession", capabilities={})["capabilities"]["browserVersion"]
            self.do("WebDriver:SetTimeouts", **LIMITS)
            self.allow(True)
            self.resize(*DESK)
        except BaseException:
            self.close()
            raise

    def _connect(self, port: int) -> socket.socket:
        deadline = time.monotonic() + ANSWER
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=ANSWER)
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.2)

    def _runs(self) -> bool:
        return self._process.poll() is None

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
        """One command and its value. Raises NoAnswer."""
        self._number += 1
        body = json.dumps([0, self._number, name, parameters]).encode()
        with self._answers(f"{name} {json.dumps(parameters)}"):
            self._socket.sendall(f"{len(body)}:".encode() + body)
            _, _, error, value = self._read()
        if error:
            raise NoAnswer(error.get("message"))
        return value

    def open(self, url: str) -> None:
        self.do("WebDriver:Navigate", url=url)

    def reload(self) -> None:
        self.do("WebDriver:Refresh")

    def ask(self, script: str) -> Any:
        return self.do("WebDriver:ExecuteScript", script=f"return {script};", args=[])["value"]

    def run(self, source: str) -> None:
        self.do("WebDriver:ExecuteScript", script=source, args=[], sandbox=None)

    def click(self, selector: str) -> None:
        self.do("WebDriver:ElementClick", id=self._found(selector))

    def type(self, selector: str, text: str) -> None:
        self.do("WebDriver:ElementSendKeys", id=self._found(selector), text=text)

    def _found(self, selector: str) -> str:
        return str(self.do("WebDriver:FindElement", using="css selector", value=selector)["value"][ELEMENT])

    def allow(self, microphone: bool) -> None:
        said = 1 if microphone else 2
        self._of_the_browser(f"Services.prefs.setIntPref('permissions.default.microphone', {said})")

    def camera(self, there: bool) -> None:
        self._of_the_browser(f"Services.prefs.setBoolPref('media.navigator.streams.fake', {json.dumps(there)})")

    def resize(self, width: int, height: int) -> None:
        edge = self.do("WebDriver:GetWindowRect")
        inside = self.ask("[innerWidth, innerHeight]")
        size = {"width": edge["width"] - inside[0] + width, "height": edge["height"] - inside[1] + height}
        self.do("WebDriver:SetWindowRect", x=0, y=0, **size)

    def trouble(self) -> list[str]:
        found = self._of_the_browser("""(() => {
            const all = Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError);
            Services.console.reset();
            return all.filter((one) => /^http/.test(one.sourceName) && !(one.flags & Ci.nsIScriptError.warningFlag))
                .map((one) => `${one.sourceName}:${one.lineNumber}: ${one.errorMessage}`);
        })()""")
        return list(found)

    def _of_the_browser(self, script: str) -> Any:
        self.do("Marionette:SetContext", value="chrome")
        try:
            return self.ask(script)
        finally:
            self.do("Marionette:SetContext", value="content")

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if hasattr(self, "_socket"):
            self._socket.close()
