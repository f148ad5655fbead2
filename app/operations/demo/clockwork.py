"""The demo's own clock, and a candidate's browser inside this process that uses it."""

import io
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from flask import Flask


@dataclass
class Time:
    """The demo's own clock: it only goes forward."""

    now: datetime

    def at(self, moment: datetime) -> None:
        """Move on to ``moment`` if it is later."""
        self.now = max(self.now, moment)

    def spend(self, seconds: float) -> None:
        """Move on by some seconds."""
        self.now += timedelta(seconds=seconds)


class Browser:
    """A candidate's browser inside this process; time passes as if someone thought and spoke."""

    def __init__(self, app: Flask, time: Time, pace: float) -> None:
        self._client, self._time, self._pace = app.test_client(), time, pace
        self._base = app.extensions["parley.settings"].app_url

    def request(self, method: str, url: str, **options: Any) -> Any:
        """As ``requests.Session``, as far as ``Candidate`` needs it."""
        parts = urlsplit(url)
        self._time.spend(0.5 if "track=voice" in parts.query else self._pace if "/turns/" in parts.path else 0.2)
        passed = {name: options[name] for name in ("json", "data", "headers") if name in options}
        if "files" in options:
            (label, (name, content)), *_ = options["files"].items()
            passed["data"] = {label: (io.BytesIO(content), name)}
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        return _Answer(self._client.open(path, method=method, base_url=self._base, **passed))


class _Answer:
    def __init__(self, response: Any) -> None:
        self.status_code, self.headers = response.status_code, response.headers
        self.content: bytes = response.get_data()
        self._response = response

    def json(self) -> Any:
        return self._response.get_json()
