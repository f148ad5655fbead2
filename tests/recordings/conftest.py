"""Interviews with chunks and published files."""

import hashlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from app import gateways
from app.core.db import db
from app.interviews.models import Interview
from app.interviews.recordings import actions, queries
from app.interviews.recordings.media import keep
from app.interviews.recordings.models import Media, Track
from tests.factories import a_flow

_sequence = itertools.count(1)


def an_interview(person: Any, **values: Any) -> Interview:
    """A booked interview of the person's organization."""
    number = next(_sequence)
    flow = a_flow(person)
    interview = Interview(
        organization_id=person.organization.id,
        team_id=person.team.id,
        flow_id=flow.id,
        org_seq=number,
        team_seq=number,
        **values,
    )
    db.session.add(interview)
    db.session.commit()
    return interview


def send(interview_id: str, content: bytes, *, segment: int = 1, track: Track = Track.MIX, number: int = 0) -> Any:
    """What the page does with a chunk: bytes first, then the row, then the answer."""
    sha256 = hashlib.sha256(content).hexdigest()
    key = queries.chunk_key(interview_id, segment=segment, track=track, number=number, sha256=sha256)
    db.session.commit()
    stored = gateways.current().storage.put(key, content)
    chunk = actions.keep_chunk(
        interview_id,
        segment=segment,
        track=track,
        number=number,
        sha256=stored.sha256,
        size=stored.size,
        storage_key=key,
    )
    db.session.commit()
    return chunk


@pytest.fixture
def interview(owner) -> Interview:
    return an_interview(owner)


@pytest.fixture
def open_run(interview) -> Callable[..., Any]:
    def begin(mime_type: str = "audio/webm;codecs=opus"):
        run = actions.open_run(interview.id, mime_type=mime_type)
        db.session.commit()
        return run

    return begin


@pytest.fixture
def publish(interview, tmp_path) -> Callable[..., Any]:
    """``publish(b"…")``: a published file with just these bytes."""

    def made(content: bytes, media: Media = Media.AUDIO):
        path = tmp_path / f"{media}.bin"
        path.write_bytes(content)
        interview_id, organization_id = interview.id, interview.organization_id
        db.session.commit()
        file = keep(path, media, interview_id=interview_id, duration=12.5, storage=gateways.current().storage)
        recording = actions.publish(interview_id, organization_id=organization_id, file=file)
        db.session.commit()
        return recording

    return made
