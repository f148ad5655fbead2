"""Generated talks keep the promises that every talk makes (0240).

    TALKS=1000 TALKS_SEED=7 python -m pytest -n0 tests/browser/talks

A talk that fails is made as short as it can be; the seed is printed, and the same one gives the same talks.
TALKS_CHECKS=questions,answers holds these alone. TALKS_DROPS=1 plays talks over a line that breaks, and TALKS_AGAIN=1
those in which answers are said again.
"""

import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, Phase, given, seed, settings

from app.gateways import Gateways
from tests.factories import a_flow
from tests.people import Person

from . import invariants
from .moves import ONCE_BROKEN, SAID_AGAIN, SAID_AGAIN_ONCE, SCRIPTS, WITH_DROPS
from .stage import Script, Theatre

TALKS, AT_ONCE = int(os.environ.get("TALKS", "150")), 25
SEED = int(os.environ.get("TALKS_SEED", "1"))
GIVEN = [name for name in os.environ.get("TALKS_CHECKS", "").split(",") if name]
CHECKS = GIVEN or list(invariants.CHECKS)
PLAYED = WITH_DROPS if os.environ.get("TALKS_DROPS") else SAID_AGAIN if os.environ.get("TALKS_AGAIN") else SCRIPTS
SHORTENS = 120.0
"""Seconds for which a failing talk is made shorter; a test that takes five minutes is ended."""


@pytest.fixture
def theatre(app: Flask, engines: Gateways, owner: Person, page: Any) -> Theatre:
    return Theatre(app, page, engines, by=owner.organization, flow=a_flow(owner))


@pytest.mark.parametrize("part", range(-(-TALKS // AT_ONCE)))
def test_generated_talks(theatre: Theatre, part: int) -> None:
    play(theatre, PLAYED, seed_=SEED + part)


def test_talks_in_which_answers_are_said_again(theatre: Theatre) -> None:
    assert invariants.said_again(theatre.play(SAID_AGAIN_ONCE)) == 1, "or the others show nothing"
    play(theatre, SAID_AGAIN, seed_=SEED)


def play(theatre: Theatre, scripts: Any, *, seed_: int) -> None:
    """Talks of one seed, each with its promises held."""
    seen, began, failed = Counter[str](), time.monotonic(), list[Script]()

    @seed(seed_)
    @settings(
        max_examples=min(AT_ONCE, TALKS),
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(script=scripts)
    def keeps_its_promises(script: Script) -> None:
        if failed and script not in failed and time.monotonic() - began > SHORTENS:
            return
        played = theatre.play(script)
        seen.update(talks=1, seconds=round(played.report["seconds"]), back_channels=len(invariants.murmurs(played)))
        seen.update({"drops": played.report["drops"], "said again": invariants.said_again(played)})
        wrong = invariants.broken(played, CHECKS)
        if wrong:
            failed.append(script)
            pytest.fail("\n".join(map(str, [f"TALKS_SEED={SEED}", *wrong, *script.told, *played.report["log"]])))

    try:
        keeps_its_promises()
    finally:
        _note({**seen, "failed": bool(failed), "took": round(time.monotonic() - began, 1)})


@pytest.mark.parametrize("name", ONCE_BROKEN)
def test_talks_that_once_lost_something(theatre: Theatre, name: str) -> None:
    assert invariants.broken(theatre.play(ONCE_BROKEN[name]), CHECKS) == []


def _note(figures: dict[str, Any]) -> None:
    """For bench/talks.py."""
    print(f"TALKS_SEED={SEED}", figures)
    if path := os.environ.get("TALKS_FIGURES"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")
