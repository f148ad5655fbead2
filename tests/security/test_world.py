"""The world of the matrix sees what changes, and puts it back."""

import os

import pytest
import sqlalchemy as sa

from app.accounts.models import Organization
from app.db import db

from .conftest import World


def test_a_changed_row_is_seen_and_gone_afterwards(world: World) -> None:
    before = world.state()
    with world.undone():
        world.watch("renaming everyone")
        db.session.execute(sa.update(Organization).values(name="Somebody else"))
        db.session.commit()
        with pytest.raises(AssertionError, match="organization"):
            world.settle()
    assert world.state() == before


@pytest.mark.parametrize("how", ["written", "of the same size", "deleted", "new"])
def test_a_changed_file_is_put_back(world: World, how: str) -> None:
    before = {path: path.read_bytes() for path in world.files.rglob("*") if path.is_file()}
    chosen = next(iter(before))
    with world.undone():
        if how == "deleted":
            chosen.unlink()
        elif how == "of the same size":
            chosen.write_bytes(os.urandom(len(before[chosen])))
        else:
            (chosen if how == "written" else chosen.with_name("new")).write_bytes(b"something else")
    assert {path: path.read_bytes() for path in world.files.rglob("*") if path.is_file()} == before
