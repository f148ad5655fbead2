"""Parts of the gateways are built when they are first used, once, and only what was built is closed."""

import threading
from dataclasses import replace

from app import gateways
from app.settings import Settings


def test_many_threads_at_once_get_one_and_the_same_part(settings: Settings) -> None:
    built = gateways.build(settings)
    start, seen = threading.Barrier(8), []

    def use() -> None:
        start.wait()
        seen.append((built.http, built.speaker))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(id(http), id(speaker)) for http, speaker in seen} == {(id(built.http), id(built.speaker))}
    built.close()


def test_another_part_can_take_the_place_of_one(settings: Settings) -> None:
    built = gateways.build(settings)
    storage = object()
    other = replace(built, storage=storage)
    assert (other.storage, other.http) == (storage, built.http)


def test_closing_builds_nothing(settings: Settings, monkeypatch) -> None:
    built = gateways.build(settings)
    monkeypatch.setattr("app.gateways._engine", lambda *_arguments, **_options: 1 / 0)
    built.close()
    assert not hasattr(built, "unheard_of")
