"""The twelve candidates of bench/interview on a virtual clock: what the rules alone must reach, whatever the machine.

    INTERVIEW_FOLDER=/tmp/talks python -m pytest -n0 tests/browser/talks/test_scenarios.py

leaves a stereo recording and a log of each. INTERVIEW_PATIENCE multiplies what the page waits.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.gateways import Gateways
from bench.interview import measures, virtual
from bench.interview.scenarios import SCENARIOS, Scenario
from tests.factories import a_flow
from tests.people import Person

from .stage import Theatre

SILENT_AFTER = 0.18
"""Seconds after which the agent is silent once someone interrupts it, at most."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(os.environ.get("INTERVIEW_FOLDER") or tmp_path)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_no_question_and_no_word_is_lost(
    app: Flask, engines: Gateways, owner: Person, page: Any, folder: Path, scenario: Scenario
) -> None:
    theatre = Theatre(app, page, engines, by=owner.organization, flow=a_flow(owner))
    if factor := os.environ.get("INTERVIEW_PATIENCE"):
        page.add_init_script(f"({virtual.VARY})({float(factor)})")
    played = theatre.play(virtual.script_of(scenario))
    tape = theatre.evaluate("() => world.candidate.tape")
    assert played.report["over"] == "finished", played.report["log"]
    figures = measures.of([virtual.keep(scenario, played, tape, folder=folder)])
    assert figures.lost == 0
    assert (figures.at_borders, figures.untaken) == (0, pytest.approx(0, abs=0.005))
    assert figures.kept_on == 0
    assert not any(figures.strays), "the agent stopped for words to someone else"
    assert all(seconds <= SILENT_AFTER for seconds in figures.stops), figures.stops
    assert figures.replies, "nobody said anything"
