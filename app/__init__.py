"""Parley: voice interviews that anyone can run. This module puts the application together and knows every room."""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask

if TYPE_CHECKING:
    from app.core.counters import Counters
    from app.core.queue import Bell
    from app.gateways import Gateways
    from app.settings import Settings

ROOT = Path(__file__).resolve().parent.parent

ROOMS_WITH_PAGES = (
    "accounts",
    "flows",
    "webhooks",
    "candidates",
    "recordings",
    "interviews",
    "wishes",
    "reviews",
    "notes",
    "permits",
    "outreach",
    "flowlinks",
    "exports",
    "shares",
    "voice",
    "portal",
    "compliance",
    "overview",
    "metrics",
)
MORE_PAGES = (
    "app.interviews.pages.documents",
    "app.review.pages.triage",
    "app.review.pages.insights",
    "app.review.pages.compare",
    "app.flows.pages_more",
    "app.webhooks.pages_more",
    "app.privacy.pages.retention",
    "app.review.dashboard.usage",
    "app.conversation.pages.before",
    "app.conversation.pages.after",
)
"""Views that hang on the blueprint of their room, and so come before it."""
ROOMS_WITH_API = ("accounts", "flows", "interviews")


def create_app(settings: Settings, *, gateways: Gateways | None = None, bell: Bell | None = None) -> Flask:
    """The application. Tests hand in gateways and a bell of their own; processes take what the settings name."""
    # Imported here, so that one module of a room can be used (and tested) without loading all the others.
    from app import gateways as built
    from app.accounts import access
    from app.core.db import db, prepare
    from app.metrics import requests
    from app.web import (
        api,
        compress,
        errors,
        hosts,
        languages,
        pages,
        proxies,
        retry_on_deadlock,
        security,
        templating,
        tracing,
    )

    app = retry_on_deadlock.Application("app", root_path=str(ROOT), template_folder="templates", static_folder="static")
    app.config.update(_configuration(settings))
    app.extensions["parley.settings"] = settings
    app.extensions["parley.counters"] = counts = _counters(settings)
    app.extensions["parley.gateways"] = gateways or built.build(settings, counters=counts)
    app.extensions["parley.bell"] = bell or _bell(settings)
    db.init_app(app)
    with app.app_context():
        prepare(db.engine, shares_lock_time=True)
        requests.hand_over(app, counts, engine=db.engine)
    for part in (compress, tracing, proxies, requests, hosts, errors, security, templating, languages, pages):
        part.register(app)
    access.register(app)
    for module in MORE_PAGES:
        import_module(module)
    rest = api.Api(app)
    for room in ROOMS_WITH_API:
        rest.register_blueprint(import_module(f"app.{room}.api").blp)
    import_module("app.webhooks.schemas").describe(rest.spec)
    for room in ROOMS_WITH_PAGES:
        app.register_blueprint(import_module(f"app.{room}.pages").pages)
    _register_talk(app)
    app.register_blueprint(import_module("app.review.share_links.pages.shared").pages)
    return app


def _register_talk(app: Flask) -> None:
    """The protocol between the candidate's page and the server, the preview of it, and what both load."""
    for module in (
        "app.conversation.protocol.state",
        "app.conversation.protocol.chunks",
        "app.conversation.protocol.sound",
        "app.conversation.protocol.turns",
        "app.conversation.protocol.documents",
        "app.conversation.protocol.silences",
    ):
        import_module(module)
    app.register_blueprint(import_module("app.conversation.access").protocol)
    app.register_blueprint(import_module("app.outreach.apply_links.pages.apply").apply)
    import_module("app.conversation.preview.talk")
    app.register_blueprint(import_module("app.conversation.preview.documents").pages)
    app.register_blueprint(import_module("app.conversation.pages.detector").files)
    app.register_blueprint(import_module("app.conversation.pages.accessibility").statement)


def _configuration(settings: Settings) -> dict[str, object]:
    from app.core.db import engine_options

    return {
        "SECRET_KEY": settings.secret_key,
        "SQLALCHEMY_DATABASE_URI": settings.database_url,
        "SQLALCHEMY_ENGINE_OPTIONS": engine_options(settings.database_url),
    }


def _bell(settings: Settings) -> Bell:
    from app.core import queue

    if not settings.redis_url:
        logging.getLogger(__name__).warning("no REDIS_URL: workers are woken by their own clock only")
        return queue.SilentBell()
    return queue.RedisBell(queue.connect(settings.redis_url))


def _counters(settings: Settings) -> Counters:
    from app.core import counters

    return counters.Counters(counters.connect(settings.redis_url) if settings.redis_url else None)
