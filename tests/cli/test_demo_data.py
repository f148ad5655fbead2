"""Demo data: what the product itself makes of invented talks, all of it there at once, and all of it removable."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import Result

from app.core import migrate
from app.core.db import Base
from app.flows.criteria import PREFIX
from app.interviews.models import InterviewData
from app.operations.demo import cast, cli_fill, cli_keep
from app.operations.demo.cast import FATES, Fate
from app.operations.demo.content import scripts

NOW = datetime(2026, 9, 1, 15, tzinfo=UTC)
FEW = (Fate.VOICE, Fate.TEXT, Fate.BOOKED, Fate.LEFT, Fate.FAILED)


def counts(url: str) -> dict[str, int]:
    """Rows by table."""
    engine = migrate.engine_for(url)
    with engine.connect() as connection:
        found = {
            table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in Base.metadata.sorted_tables
        }
    engine.dispose()
    return found


def own_scores(url: str) -> int:
    """How many values there are for flows' own criteria."""
    engine = migrate.engine_for(url)
    with engine.connect() as connection:
        found = [scores or {} for scores in connection.scalars(sa.select(InterviewData.scores))]
    engine.dispose()
    return sum(key.startswith(PREFIX) and value is not None for scores in found for key, value in scores.items())


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "speech" not in path.parts]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of each kind that matters, so that a test takes seconds."""
    everybody = cast.cast

    def small(*given, **named):  # type: ignore[no-untyped-def]
        parts = everybody(*given, **named)
        chosen = [next(part for part in parts if part.fate is fate) for fate in FEW]
        with_files = [replace(part, has_document=part.script.documents) for part in chosen]
        return sorted(with_files, key=lambda part: part.booked)

    monkeypatch.setattr(cast, "cast", small)


@pytest.mark.usefixtures("few", "founded")
def test_everything_appears_at_once_and_goes_again_without_a_trace(
    parley: Callable[..., Result],
    home: Path,
    own_database: str,
) -> None:
    before = counts(own_database)
    made = parley("demo", "--data")
    assert made.exit_code == 0, made.output
    assert "/sign-in" in made.stdout
    after = counts(own_database)
    assert after["interview"] == len(FEW)
    for table in ("candidate", "interview_data", "recording", "agreement", "utterance", "turn", "feedback"):
        assert after[table] > 0, table
    assert after["organization"] == before["organization"] + 1
    assert own_scores(own_database) >= 2
    assert files(home / "data" / "files")
    again = parley("demo", "--data")
    assert again.exit_code == 1
    assert "--again" in again.stderr
    assert json.loads(parley("check", "--json").stdout)["parts"]["audit log"]["ok"]
    gone = parley("demo", "--data", "--remove")
    assert gone.exit_code == 0, gone.output
    assert counts(own_database) == before
    assert files(home / "data" / "files") == []
    assert parley("demo", "--data", "--remove").exit_code == 1


@pytest.mark.parametrize("was_set_up", [True, False])
def test_who_has_not_set_up_yet_is_told_what_becomes_of_it(
    parley: Callable[..., Result], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, was_set_up: bool
) -> None:
    if was_set_up:
        request.getfixturevalue("founded")
    filled = cli_fill.Filled("id", "demo@example.com", "word", 3)
    monkeypatch.setattr(cli_fill, "fill", lambda *_given, **_named: filled)
    monkeypatch.setattr(cli_keep, "take_over", lambda *_given, **_named: None)
    monkeypatch.setattr(cli_keep, "scratch", lambda room: f"sqlite:///{room}/none.db")
    made = parley("demo", "--data")
    assert made.exit_code == 0, made.output
    assert ("first set-up; its address works again afterwards" in made.stdout) is not was_set_up


def test_the_same_seed_brings_the_same_people() -> None:
    def told(seed: int) -> list[tuple[object, ...]]:
        return [(one.email, one.fate, one.booked, one.answers) for one in cast.cast(scripts(), seed=seed, now=NOW)]

    assert told(7) == told(7)
    assert told(7) != told(8)


@pytest.mark.parametrize("seed", range(20))
def test_everybody_is_invented_and_nothing_lies_in_the_future(seed: int) -> None:
    parts = cast.cast(scripts(), seed=seed, now=NOW)
    assert {fate: sum(part.fate is fate for part in parts) for fate in Fate} == FATES
    assert len({part.email for part in parts}) == len(parts)
    for part in parts:
        assert part.email.endswith("@example.com")
        assert part.email.isascii()
        assert part.booked < part.begun < NOW or part.fate in {Fate.BOOKED, Fate.ENDING}
        assert part.booked < NOW


def test_every_quote_was_really_said() -> None:
    for script in scripts():
        for question in script.questions:
            for answer in question.answers:
                assert answer.quote in answer.text
