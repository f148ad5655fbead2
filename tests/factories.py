"""One function per row, offered as fixtures; each commits, so that requests see what it made."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.flows.models import InterviewFlow, InterviewType

from .people import Person

Made = Callable[..., Any]


def a_flow(person: Person, **values: Any) -> InterviewFlow:
    """An open recruitment flow of the person's team with two questions."""
    given = {
        "organization_id": person.organization.id,
        "team_id": person.team.id,
        "org_name": "First Ltd",
        "title": "Nurse",
        "questions": ["Why do you want this job?", "Tell me about your last team."],
        "language": "en-US",
        "voice_id": "vendora-Kate",
        "interview_type": InterviewType.RECRUITMENT,
        "is_video_enabled": False,
        "is_doc_upload_enabled": False,
        **values,
    }
    flow = InterviewFlow(**given)
    db.session.add(flow)
    db.session.commit()
    return flow


@pytest.fixture
def make_flow(app: Flask, owner: Person) -> Made:
    """``make_flow(**columns)``, of the owner unless ``by=`` names someone else."""

    def make(by: Person | None = None, **values: Any) -> InterviewFlow:
        return a_flow(by or owner, **values)

    return make
