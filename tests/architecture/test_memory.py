"""Python does not look for unreachable objects where there are none."""

import gc
from collections.abc import Iterator

import pytest

from app.core import memory


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.freeze()  # as the suite does once its tests are collected
    gc.enable()


def test_searches_go_on_after_a_start() -> None:
    with memory.without_searches():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_searches_go_on_after_a_start_that_failed() -> None:
    with pytest.raises(ValueError, match="no database"), memory.without_searches():
        raise ValueError("no database")
    assert gc.isenabled()


def test_searches_that_were_off_before_stay_off() -> None:
    gc.disable()
    with memory.without_searches():
        pass
    assert not gc.isenabled()


def test_what_a_started_process_has_is_never_looked_at_again() -> None:
    has = len(gc.get_objects())
    memory.keep_all()
    assert gc.get_freeze_count() > has / 2
    assert len(gc.get_objects()) < has / 2
