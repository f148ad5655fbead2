"""However a long answer ends, also one that nobody ever reads or closes, its place is free again."""

import gc
from collections.abc import Generator

import pytest
from flask import Flask, Response
from werkzeug.test import run_wsgi_app

from app.core.errors import NotFound
from app.web.streaming_slots import Lasting, Places, places


def body(told: list[str], *, fails: bool = False) -> Generator[bytes, None, None]:
    try:
        yield b"first"
        if fails:
            raise NotFound("it is gone")
        yield b"second"
    finally:
        told.append("over")


def lasting(among: Places, told: list[str], *, fails: bool = False) -> Lasting:
    place = among.take()
    assert place is not None
    return Lasting(body(told, fails=fails), place)


@pytest.fixture
def one() -> Places:
    return Places(1)


def test_there_are_no_more_places_than_were_made(one: Places) -> None:
    held = one.take()
    assert held is not None
    assert one.take() is None
    held.leave()
    held.leave()
    again = one.take()
    assert again is not None
    assert one.take() is None


def test_an_answer_that_was_read_is_over_before_anybody_closes_it(one: Places) -> None:
    told: list[str] = []
    answer = lasting(one, told)
    assert list(answer) == [b"first", b"second"]
    assert one.take() is not None
    assert told == ["over"]


def test_an_answer_that_fails_is_over(one: Places) -> None:
    told: list[str] = []
    answer = lasting(one, told, fails=True)
    assert next(answer) == b"first"
    with pytest.raises(NotFound):
        next(answer)
    assert one.take() is not None


def test_a_reader_that_goes_away_ends_the_work_behind_the_answer(one: Places) -> None:
    told: list[str] = []
    answer = lasting(one, told)
    assert next(answer) == b"first"
    assert one.take() is None
    answer.close()
    answer.close()
    assert told == ["over"]
    assert one.take() is not None


def test_an_answer_that_was_never_begun_nor_closed_costs_nothing(one: Places) -> None:
    answer = Response(lasting(one, []))
    assert one.take() is None
    del answer
    gc.collect()
    assert one.take() is not None


def test_a_server_that_only_closes_gives_the_place_back(one: Places, app: Flask) -> None:
    told: list[str] = []
    app_iter, _status, _headers = run_wsgi_app(Response(lasting(one, told)), app.test_request_context().request.environ)
    assert one.take() is None
    app_iter.close()  # type: ignore[attr-defined]
    assert one.take() is not None


def test_the_first_piece_is_made_before_the_answer_begins(one: Places) -> None:
    told: list[str] = []
    answer = lasting(one, told).begun()
    assert list(answer) == [b"first", b"second"]

    def broken() -> Generator[bytes, None, None]:
        raise NotFound("it is gone")
        yield b""

    with pytest.raises(NotFound):
        Lasting(broken(), one.take()).begun()
    assert one.take() is not None


def test_a_share_of_the_threads_is_kept_by_name(app: Flask) -> None:
    assert places("tried", share=2) is places("tried", share=2)
    held = [places("tried", share=8).take() for _ in range(app.extensions["parley.settings"].web_threads)]
    assert sum(one is not None for one in held) == app.extensions["parley.settings"].web_threads // 2
