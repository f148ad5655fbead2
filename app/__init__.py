"""Parley: voice interviews that anyone can run. This module puts the application together out of what rooms declare."""

from __future__ import annotations

import logging
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from app.core.counters import Counters
    from app.core.queue import Waker
    from app.gateways import Gateways
    from app.settings import Settings
    from app.web.api import Api


def create_app(settings: Settings, *, gateways: Gateways | None = None, waker: Waker | None = None) -> Flask:
    """The application. Tests hand in gateways and a bell of their own; processes take what the settings name."""
    from app.core.memory import without_searches

    with without_searches():
        return _put_together(settings, gateways, waker)


def _put_together(settings: Settings, gateways: Gateways | None, waker: Waker | None) -> Flask:
    # Imported here, so that one module of a room can be used (and tested) without loading all the others.
    from app import gateways as built
    from app.accounts import access
    from app.core import product_files
    from app.core.db import db, prepare
    from app.operations.metrics import requests
    from app.web import (
        api,
        compress,
        errors,
        font,
        hosts,
        languages,
        pages,
        proxies,
        retry_on_deadlock,
        security,
        templating,
        tracing,
    )

    app = retry_on_deadlock.Application(
        "app", root_path=str(product_files.root()), template_folder="templates", static_folder="static"
    )
    app.config.update(_configuration(settings))
    app.extensions["parley.settings"] = settings
    app.extensions["parley.counters"] = counts = _counters(settings)
    app.extensions["parley.gateways"] = gateways or built.build(settings, counters=counts)
    app.extensions["parley.bell"] = waker or _waker(settings)
    db.init_app(app)
    with app.app_context():
        prepare(db.engine, is_serving=True)
        requests.hand_over(app, counts, engine=db.engine)
    for part in (compress, tracing, proxies, requests, hosts, errors):
        part.register(app)
    access.accept_uploads(app)
    for part in (security, templating, languages, font, pages):
        part.register(app)
    access.register(app)
    _register_rooms(app, api.Api(app))
    return app


def _register_rooms(app: Flask, rest: Api) -> None:
    """All views come before the blueprints that they hang on."""
    from app.core.rooms import resolve, rooms

    declared = rooms().values()
    for path in (path for room in declared for path in room.views):
        import_module(path)
    for path in (path for room in declared for path in room.api):
        rest.register_blueprint(resolve(path))
    for path in (room.openapi for room in declared if room.openapi):
        rest.describe_later(partial(_describe, path, rest))
    for path in (path for room in declared for path in room.blueprints):
        app.register_blueprint(resolve(path))


def _describe(path: str, rest: Api) -> None:
    from app.core.rooms import resolve

    resolve(path)(rest.spec)


def _configuration(settings: Settings) -> dict[str, object]:
    from app.core.db import engine_options

    return {
        "SECRET_KEY": settings.secret_key,
        "SQLALCHEMY_DATABASE_URI": settings.database_url,
        "SQLALCHEMY_ENGINE_OPTIONS": engine_options(settings.database_url, is_serving=True),
    }


def _waker(settings: Settings) -> Waker:
    from app.core import queue

    if not settings.redis_url:
        logging.getLogger(__name__).warning("no REDIS_URL: workers only look for work at regular intervals")
        return queue.SilentWaker()
    return queue.RedisWaker(queue.connect(settings.redis_url))


def _counters(settings: Settings) -> Counters:
    from app.core import counters

    return counters.Counters(counters.connect(settings.redis_url) if settings.redis_url else None)
