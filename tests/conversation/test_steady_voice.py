"""A talk keeps the voice it began with, whatever is installed or preferred meanwhile."""

from flask import Flask

from app.core.db import db
from app.flows.flow_script import FlowScript
from app.interviews.models import Interview
from tests.factories import Made
from tests.people import Person

from .conftest import Candidates, started
from .fakes import ScriptedSpeaker
from .test_preview import Trial


def script_of(interview: Interview) -> FlowScript:
    db.session.expire_all()
    script = db.session.get(Interview, interview.id).script
    assert script is not None
    return script


def test_an_interview_keeps_its_voice_also_when_it_is_taken_over(
    scripted: Flask, candidates: Candidates, book: Made, speaks: ScriptedSpeaker
) -> None:
    interview = book(voice_id="vendora-Anna")
    candidate = started(candidates(interview))
    candidate.turn(1, "begin")
    speaks.name = "installed-meanwhile"
    candidate.turn(2, "text", text="I like it.")
    candidate.start()  # the same browser, again
    candidate.turn(3, "skip")
    assert set(speaks.steady) == {"scripted:vendora-Anna"}
    assert script_of(interview).voice == "scripted:vendora-Anna"


def test_an_interview_in_a_language_without_a_voice_has_none(
    scripted: Flask, candidates: Candidates, book: Made, speaks: ScriptedSpeaker
) -> None:
    interview = book(language="th-TH")
    started(candidates(interview))
    assert script_of(interview).voice is None


def test_a_preview_keeps_its_voice_too(
    scripted: Flask, owner: Person, make_flow: Made, speaks: ScriptedSpeaker
) -> None:
    flow = make_flow(voice_id="vendora-Amy").id
    db.session.rollback()
    trial = Trial(owner.browser, flow)
    trial.post("/start", mode="voice", consent="yes")
    trial.post("/segments", mime_type="audio/webm")
    trial.post("/turns/1", kind="begin")
    speaks.name = "installed-meanwhile"
    trial.post("/turns/2", kind="text", text="The people")
    assert set(speaks.steady) == {"scripted:vendora-Amy"}
