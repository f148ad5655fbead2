"""An interview that was taken by text in a browser, processed, and looked back at by that browser."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Interview
from tests.conversation.conftest import (  # noqa: F401 - fixtures
    asks,
    book,
    candidates,
    hears,
    interview_of,
    path_of,
    scripted,
    speaks,
)
from tests.conversation.test_documents import CV, send
from tests.factories import Made
from tests.interviews.fakes import ScriptedAnalyst
from tests.mailing import Postbox
from tests.people import Browser

ANSWERS = ["I like to help people.", "We were five."]


@dataclass
class Taken:
    """The interview, the browser that took it, and the address of its own page."""

    interview_id: str
    browser: Browser
    own: str

    @property
    def interview(self) -> Interview:
        db.session.expire_all()
        return db.session.get_one(Interview, self.interview_id)

    def page(self, path: str = "", browser: Browser | None = None) -> Any:
        return (browser or self.browser).get(self.own + path)

    def post(self, path: str, data: dict[str, Any] | None = None, browser: Browser | None = None) -> Any:
        return (browser or self.browser).post(self.own + path, data=data or {})


Takes = Callable[..., Taken]


@pytest.fixture
def takes(scripted: Flask, candidates: Any, book: Made) -> Takes:  # noqa: F811
    """``takes(process=True, **columns of the flow)``: an interview taken by text, with a document."""

    def made(*, process: bool = True, **columns: Any) -> Taken:
        interview = book(is_doc_upload_enabled=True, **columns)
        candidate = candidates(interview)
        candidate.open()
        candidate.start("text")
        send(candidate, CV, "my cv.pdf")
        candidate.write(ANSWERS)
        if process:
            engines = scripted.extensions["parley.gateways"]
            scripted.extensions["parley.gateways"] = replace(engines, analyst=ScriptedAnalyst())
            process_interview(interview.id)
        db.session.expire_all()
        return Taken(interview.id, candidate._session.browser, f"{path_of(interview)}/own")

    return made


@pytest.fixture
def taken(takes: Takes) -> Taken:
    return takes()


@pytest.fixture
def postbox(scripted: Flask, postbox: Postbox) -> Postbox:  # noqa: F811 - the engines first, then the mail server
    """The application of these tests with a mail server."""
    return postbox
