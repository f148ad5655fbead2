"""flask-smorest for ``/v1``: strict bodies, one error shape, an OpenAPI document that names every answer, and its docs.

Rooms declare their endpoints on ``Blueprint`` from here. One thing of flask-smorest is replaced: its application-wide
handler for HTTP errors, which would answer HTML pages with JSON (``app.web.errors`` decides by path instead).
"""

import re
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import flask_smorest
import flask_swagger_ui
import marshmallow as ma
from flask import Blueprint as PlainBlueprint
from flask import Flask, Response, abort, json, render_template, request, send_from_directory
from werkzeug.http import parse_accept_header

from app.settings import Settings
from app.web import rate_limits, spec
from app.web.body import StrictParser, invalid
from app.web.errors import is_api_path
from app.web.fields import flaw_of
from app.web.json_splice import Fragment, Part, inflate, make_fragment, spliced

__all__ = ["Api", "Blueprint", "Fragment", "Part", "inflate", "make_fragment", "spliced", "takes_gzip"]

TITLE = "Parley"
_CANNOT_BE_FLAWED = re.compile(rb"[!-$&-~]*\Z")
"""Queries of printable ASCII, in which nothing is percent-encoded."""
DOCS_PATH = "/v1/docs"
CHANGES_PATH = f"{DOCS_PATH}/changes"
DOCS_FILES = frozenset(
    {"swagger-ui.css", "index.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "favicon-32x32.png"}
)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """Endpoints of one room under ``/v1``, with the strict parser."""

    ARGUMENTS_PARSER = StrictParser()

    def arguments(self, schema: type[ma.Schema], **options: Any) -> Any:
        """As flask-smorest's, but the schema is built once: webargs would copy a class's fields for every request."""
        return super().arguments(schema(), **options)

    def register_views_in_doc(self, api: "Api", app: Flask, spec: Any, **options: Any) -> None:
        """Called by flask-smorest at the start of every process, though few are ever asked for the document."""
        api.describe_later(partial(super().register_views_in_doc, api, app, spec, **options))


class Api(flask_smorest.Api):  # type: ignore[misc]
    """The ``/v1`` of one application."""

    ERROR_SCHEMA = spec.ErrorSchema

    def __init__(self, app: Flask) -> None:
        settings: Settings = app.extensions["parley.settings"]
        app.config.update(_configuration(settings))
        app.extensions["parley.api"] = self
        self._undescribed: list[Callable[[], None]] = []
        self._describing = Lock()
        rate_limits.register(app)
        app.before_request(_refuse_impossible_text)
        app.after_request(_without_body)
        app.register_blueprint(docs)
        super().__init__(app, spec_kwargs={"extra_plugins": [spec.StandardAnswers()]})
        spec.describe(self.spec)
        self.ma_plugin.converter.add_attribute_function(spec.choice_by_name)
        self.ma_plugin.converter.add_attribute_function(spec.shapes_by_name)
        self.ma_plugin.converter.add_attribute_function(spec.constant)

    def register_blueprint(self, blp: Any, **options: Any) -> None:
        """Add a room's endpoints. Only ``Blueprint`` from this module reads bodies strictly."""
        if not isinstance(blp, Blueprint):
            raise TypeError(f"{blp.name} must be an app.web.api.Blueprint")
        super().register_blueprint(blp, **options)

    def describe_later(self, describe: Callable[[], None]) -> None:
        """Call ``describe``, which adds to the document, when the document is first asked for."""
        self._undescribed.append(describe)

    def document(self, server: str) -> dict[str, Any]:
        """The OpenAPI document of an installation that is reached at the address ``server``."""
        with self._describing:  # two threads may be asked at once
            while self._undescribed:
                self._undescribed[0]()  # if it fails, it fails for the next one too: no document lacks a part
                del self._undescribed[0]
        document = {**self.spec.to_dict(), "servers": [{"url": server}]}
        spec.without_defaults(document["components"]["schemas"])
        return document

    def _openapi_json(self) -> Response:
        """The document, with the address under which the caller has reached it."""
        settings: Settings = self._app.extensions["parley.settings"]
        here = spec.server(settings.app_url, asked_at=request.host_url.rstrip("/"))
        return Response(json.dumps(self.document(here), sort_keys=False), mimetype="application/json")

    def _register_error_handlers(self) -> None:
        """Nothing: ``app.web.errors`` answers for the whole application."""


def _configuration(settings: Settings) -> dict[str, Any]:
    return {
        "API_TITLE": TITLE,
        "API_VERSION": "v1",
        "OPENAPI_VERSION": "3.1.0",
        "OPENAPI_URL_PREFIX": "/v1",
        "API_SPEC_OPTIONS": spec.options(settings.app_url),
        "JSON_SORT_KEYS": False,
    }


def takes_gzip() -> bool:
    """Whether the caller of this request accepts gzip."""
    return _accepts_gzip(request.headers.get("Accept-Encoding", ""))


@lru_cache(maxsize=1_000)
def _accepts_gzip(header: str) -> bool:
    return parse_accept_header(header)["gzip"] > 0


def _refuse_impossible_text() -> None:
    """NUL and half surrogate pairs in path or query never reach a database."""
    if not is_api_path(request.path):
        return
    for name, value in (request.view_args or {}).items():
        flaw = flaw_of(str(value))
        if flaw:
            invalid("path", {name: [flaw]})
    if _CANNOT_BE_FLAWED.match(request.query_string):
        return
    for name, value in request.args.items(multi=True):
        flaw = flaw_of(name) or flaw_of(value)
        if flaw:
            invalid("query", {name if flaw_of(name) is None else "_schema": [flaw]})


def _without_body(response: Response) -> Response:
    """OPTIONS under ``/v1`` says in ``Allow`` what an address takes, and nothing else: Flask calls that HTML."""
    if request.method == "OPTIONS" and is_api_path(request.path) and response.status_code == 200:
        response.status_code = 204
        response.headers.pop("Content-Type", None)
        response.headers.pop("Content-Length", None)
    return response


docs = PlainBlueprint("api_docs", __name__)


@docs.get(DOCS_PATH)
def page() -> str:
    """The readable documentation, from the wheel's files and our own initialiser."""
    return render_template("api/docs.html", title=TITLE)


@docs.get(CHANGES_PATH)
def changes() -> Response:
    """What may change in ``/v1``, what never does, and what was added."""
    text = Path(__file__).with_name("api_changes.md").read_text(encoding="utf-8")
    return Response(text, mimetype="text/plain")


@docs.get(f"{DOCS_PATH}/<name>")
def file(name: str) -> Response:
    """One of the documentation's own files."""
    if name not in DOCS_FILES:
        abort(404)
    # nosemgrep: file-sent-by-path - a name of our list, from a public package
    response = send_from_directory(Path(flask_swagger_ui.__file__).parent / "dist", name)
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
