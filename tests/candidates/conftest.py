"""Candidates for the tests of this room."""

from typing import Any

import pytest
from flask import Flask

from app.candidates import actions
from app.candidates.models import Candidate
from app.core.db import db
from app.flows.models import InterviewFlow
from tests.factories import Made


@pytest.fixture
def make_candidate(app: Flask, make_flow: Made) -> Made:
    """``make_candidate(email, flow=…)``: someone invited, of the owner's flow unless another one is given."""

    def make(email: str = "ada@candidates.example", *, flow: InterviewFlow | None = None, **values: Any) -> Candidate:
        given = {"first_name": "Ada", "last_name": "Byron", "recruiter": None, **values}
        candidate = actions.enrol(flow or make_flow(), email=email, **given)
        db.session.commit()
        return candidate

    return make
