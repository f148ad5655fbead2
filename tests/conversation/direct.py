"""Lets ``app.operations.demo.candidate`` talk to the application without a server in between."""

from typing import Any
from urllib.parse import urlsplit

import requests

from tests.people import Browser


class Answer:
    """The parts of a ``requests`` answer that are used."""

    def __init__(self, response: Any) -> None:
        self.status_code: int = response.status_code
        self.content: bytes = response.get_data()
        self.headers = response.headers
        self._response = response

    def json(self) -> Any:
        return self._response.get_json()


class Direct:
    """A session of one browser."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def request(self, method: str, url: str, **given: Any) -> Answer:
        headers = {k: v for k, v in given.get("headers", {}).items() if k != "X-CSRFToken"}
        parts = urlsplit(url)
        passed: dict[str, Any] = {"method": method, "headers": headers}
        if "json" in given:
            passed["json"] = given["json"]
        elif "files" in given:
            prepared = requests.Request("POST", url, files=given["files"]).prepare()
            passed["data"], passed["content_type"] = prepared.body, prepared.headers["Content-Type"]
        elif "data" in given:
            passed["data"] = given["data"]
        return Answer(self.browser.open(parts.path + (f"?{parts.query}" if parts.query else ""), **passed))
