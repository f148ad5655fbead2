"""The archive as it is made: who may have it is asked again and again."""

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import pytest

from app.core import clock
from app.interviews.archive import Closed, Part, archive


class Endless:
    """A storage whose files take their time."""

    def open(self, key: str) -> Iterator[bytes]:
        yield from itertools.repeat(key.encode(), 100)


def test_the_end_of_access_is_noticed_in_the_middle_of_a_file() -> None:
    began, seconds, is_open = clock.now(), itertools.count(), [True]
    with clock.replaced(lambda: began + timedelta(seconds=next(seconds))):
        pieces = archive([Part("long", key="k")], cast("Any", Endless()), is_open=lambda: is_open[0])
        next(pieces)
        is_open[0] = False
        with pytest.raises(Closed):
            assert len(list(itertools.islice(pieces, 3))) < 3


def test_it_is_not_asked_for_every_piece() -> None:
    asked: list[bool] = []
    parts = [Part("one", key="k"), Part("two", content=b"2")]
    pieces = archive(parts, cast("Any", Endless()), is_open=lambda: not asked.append(True))  # type: ignore[func-returns-value]
    assert sum(len(piece) for piece in pieces) > 100
    assert len(asked) < 20, "once for each file, and every two seconds"
