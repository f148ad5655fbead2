"""Recordings made to do harm, sent chunk by chunk and taken through processing: limited, visible, and nobody hangs."""

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flask import Flask

from app.core.db import db
from app.gateways import Gateways
from app.interviews import actions
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Interview, Role, Stage, Utterance
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Track
from tests.factories import Made
from tests.guards import Guarded
from tests.interviews.fakes import ScriptedAnalyst, ScriptedTranscriber
from tests.people import Person
from tests.recordings.conftest import send

EBML = b"\x1aE\xdf\xa3"
HEADER = EBML + b"\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webmB\x87\x81\x04B\x85\x81\x02"
FTYP = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom"
ENDLESS = b"\x01\xff\xff\xff\xff\xff\xff\xff"
PICTURE = b"\xb0\x82\xff\xff\xba\x82\xff\xff"
TRACK = b"\xae" + bytes([0x80 | 33]) + b"\xd7\x81\x01\x73\xc5\x81\x01\x83\x81\x01\x86\x85V_VP8" + b"\xe0\x88" + PICTURE
"""A picture that claims 65,535 pixels each way."""
NOISE = np.random.default_rng(5).bytes(60_000)

HOSTILE = {
    "noise behind a WebM header": HEADER + NOISE,
    "noise behind an MP4 header": FTYP + NOISE,
    "segment that never ends": HEADER + b"\x18\x53\x80\x67" + ENDLESS + NOISE,
    "segments in segments": HEADER + (b"\x18\x53\x80\x67" + ENDLESS) * 5_000,
    "element longer than the file": HEADER + b"\x18\x53\x80\x67\x08\xff\xff\xff\xff" + NOISE[:100],
    "picture of 65,535 pixels": HEADER + b"\x18\x53\x80\x67" + ENDLESS + b"\x16\x54\xae\x6b\xa5" + TRACK,
    "megabytes of zeros": HEADER + bytes(3_000_000),
    "box of 16 exabytes": FTYP + struct.pack(">I4sQ", 1, b"moov", 2**64 - 1) + NOISE[:5000],
    "boxes in boxes": FTYP + b"".join(struct.pack(">I4s", 8 * (3000 - n), b"moov") for n in range(2999)),
    "box of no size": FTYP + b"\0\0\0\0moov" * 2000,
    "reference to a file": FTYP + b"\0\0\0\x2cmoov\0\0\0\x24rmra\0\0\0\x1crmda\0\0\0\x14rdrffile:///etc/passwd\0",
    "play list": b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
    "play list with a key": b'#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="http://127.0.0.1:9/k"\n#EXTINF:1,\nx.ts\n',
    "list of files": b"ffconcat version 1.0\nfile /etc/passwd\n",
    "session description": b"v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
    "page": b"<!doctype html><script>alert(1)</script>",
    "DASH": b'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><MPD>&a;</MPD>',
    "program": b"\x7fELF" + bytes(2000),
    "one byte": b"\x1a",
}


@pytest.fixture
def worker(app: Flask, engines: Gateways) -> Iterator[Callable[[str], None]]:
    """Processing with scripted engines and the real workshop."""
    kept = app.extensions["parley.gateways"]
    scripted: dict[str, Any] = {"transcriber": Guarded(ScriptedTranscriber()), "analyst": Guarded(ScriptedAnalyst())}
    app.extensions["parley.gateways"] = replace(engines, **scripted)
    yield process_interview
    app.extensions["parley.gateways"] = kept


def _handed_in(owner: Person, make_flow: Made, recording: bytes | None) -> str:
    interview = actions.book(owner.organization, make_flow(is_video_enabled=True).id, email="x@candidate.example")
    actions.begin(interview)
    interview_id = interview.id
    db.session.commit()
    spoken: dict[str, Any] = {"typed": True}
    if recording is not None:
        recordings.open_run(interview_id, mime_type="video/webm;codecs=vp8,opus")
        db.session.commit()
        size = 2 * 1024 * 1024
        for number, at in enumerate(range(0, len(recording), size)):
            send(interview_id, recording[at : at + size], number=number)
        send(interview_id, bytes(16_000), track=Track.VOICE)
        spoken = {"segment": 1, "start": 0.0, "end": 0.5}
    said = (Role.AGENT, "Why?", {"typed": False}), (Role.USER, "Because I like to help people.", spoken)
    for number, (role, content, how) in enumerate(said, 1):
        db.session.add(
            Utterance(interview_id=interview_id, number=number, role=role, question_index=0, content=content, **how)
        )
    actions.submit(db.session.get_one(Interview, interview_id))
    db.session.commit()
    return interview_id


def _stage(interview_id: str) -> tuple[Stage, str]:
    found = db.session.get_one(Interview, interview_id, populate_existing=True)
    return found.stage, found.failure or ""


@pytest.mark.parametrize("recording", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_harmful_recording_ends_in_a_visible_state_with_a_reason(
    owner: Person, make_flow: Made, worker: Callable[[str], None], recording: bytes
) -> None:
    interview_id = _handed_in(owner, make_flow, recording)
    worker(interview_id)
    stage, failure = _stage(interview_id)
    page = owner.browser.get(f"/interviews/{interview_id}").get_data(as_text=True)
    answer = owner.api("GET", f"/v1/interviews/{interview_id}")
    assert answer.status_code == 200
    assert "root:" not in page + answer.get_data(as_text=True)
    if stage is Stage.PROCESSING_FAILED:
        assert failure
        assert failure.split(".", maxsplit=1)[0] in page.replace("&#39;", "'")
        assert answer.get_json()["status"] == "incomplete"
        assert owner.browser.post(f"/interviews/{interview_id}/retry").status_code == 303  # and there is a way on
    else:
        # Nothing of it can be played: what was said is kept, and no recording is claimed.
        assert stage is Stage.COMPLETED
        assert answer.get_json()["interview_data"]["audio_url"] is None
        assert "Because I like to help people." in answer.get_data(as_text=True)


def test_the_worker_goes_on_with_the_next_interview(
    owner: Person, make_flow: Made, worker: Callable[[str], None]
) -> None:
    harmful = _handed_in(owner, make_flow, HOSTILE["play list"])
    harmless = _handed_in(owner, make_flow, None)
    worker(harmful)
    worker(harmless)
    assert _stage(harmless)[0] is Stage.COMPLETED
    assert _stage(harmful)[0] is not Stage.COMPLETED
