"""Reads JSON bodies and queries strictly: whatever is sent, the answer is a clear 4xx, never a 500.

webargs catches neither ``RecursionError`` (deep nesting) nor the ``ValueError`` of very long integers, takes NaN,
and lets the last of two equal keys win.
"""

import json
from collections import Counter
from functools import partial
from typing import Any, NoReturn

import marshmallow as ma
from flask import Request, request
from flask_smorest import abort
from webargs import core
from webargs.flaskparser import FlaskParser
from werkzeug.datastructures import MultiDict

BODY_BYTES = 2 * 1024 * 1024
"""Largest body under /v1: the longest flow with every letter escaped needs about 1.2 MB."""


MOST_FIELDS = 100
LONGEST_FIELD_NAME = 100
"""Both far above any schema's, so that an answer which names every unknown field stays short."""

MOST_LEVELS = 600
"""Of nesting. Python's own limit differs from version to version."""

MOST_QUERIES = 500
"""How many queries' meanings are kept; then all are forgotten."""
LONGEST_QUERY = 200
"""Bytes of a query whose meaning is kept."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TOO_DEEP = "Invalid JSON body: it is nested too deeply."


class Broken(Exception):
    """The bytes are no JSON that we take; the text says what is wrong, without quoting values."""


def load_json(raw: bytes) -> Any:
    """Parse RFC 8259 JSON in UTF-8, without NaN, double keys, very long numbers or very deep nesting. Raises Broken."""
    if raw.startswith(_BYTE_ORDER_MARK):
        raise Broken("Invalid JSON body: it starts with a byte order mark. Send UTF-8 without one.")
    try:
        parsed = json.loads(raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError:
        raise Broken("Invalid JSON body: it is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Broken(f"Invalid JSON body at line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise Broken(_TOO_DEEP) from None
    except ValueError:
        raise Broken("Invalid JSON body: a number is too long.") from None
    if raw.count(b"[") + raw.count(b"{") > MOST_LEVELS and _is_deep(parsed):
        raise Broken(_TOO_DEEP)
    return parsed


def _is_deep(parsed: Any) -> bool:
    """Whether it has more than MOST_LEVELS levels; without recursion."""
    level = [parsed]
    for _ in range(MOST_LEVELS):
        holders = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [inner for holder in holders for inner in holder]
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed = dict(pairs)
    if len(parsed) < len(pairs):
        twice = Counter(name for name, _value in pairs).most_common(1)[0][0]
        raise Broken(f'Invalid JSON body: an object contains the key "{twice[:LONGEST_FIELD_NAME]}" twice.')
    return parsed


def _constant(_word: str) -> NoReturn:
    raise Broken("Invalid JSON body: NaN and Infinity are not JSON numbers.")


def invalid(location: str, errors: dict[str, Any], *, code: str = "invalid_input") -> NoReturn:
    """422 with ``errors`` under ``location``."""
    abort(422, errors={location: errors}, error=code)
    raise AssertionError("abort returned")


class RepeatedQuery(ma.Schema):
    """A query that programs send again and again: what it means is worked out once. One instance for each endpoint.

    Its values are immutable, depend on nothing but the query, and name no person.
    """


class StrictParser(FlaskParser):
    """The parser behind ``@blp.arguments``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._meanings: dict[tuple[ma.Schema, bytes], dict[str, Any]] = {}

    def parse(self, argmap: Any, req: Request | None = None, *, location: str | None = None, **more: Any) -> Any:
        parse = partial(super().parse, argmap, req, location=location, **more)
        if location != "query" or not isinstance(argmap, RepeatedQuery):
            return parse()
        query = (req or request).query_string
        if len(query) > LONGEST_QUERY:
            return parse()
        meaning = self._meanings.get((argmap, query))
        if meaning is None:
            meaning = parse()
            if len(self._meanings) >= MOST_QUERIES:
                self._meanings.clear()
            self._meanings[argmap, query] = meaning
        return dict(meaning)

    def load_json(self, req: Request, schema: ma.Schema) -> Any:
        req.max_content_length = BODY_BYTES
        raw = req.get_data(cache=True)
        if not raw:
            invalid("json", {"_schema": ["The body must be a JSON object."]})
        _refuse_other_forms(req)
        try:
            parsed = load_json(raw)
        except Broken as error:
            abort(400, message=str(error), errors={"json": [str(error)]}, error="invalid_json")
        if not isinstance(parsed, dict):
            invalid("json", {"_schema": ["The body must be a JSON object."]})
        if len(parsed) > MOST_FIELDS or any(len(name) > LONGEST_FIELD_NAME for name in parsed):
            words = (
                f"Contains more than {MOST_FIELDS} fields, or a name with more than {LONGEST_FIELD_NAME} characters."
            )
            invalid("json", {"_schema": [words]})
        return parsed

    def load_querystring(self, req: Request, schema: ma.Schema) -> Any:
        twice = [name for name in schema.fields if len(req.args.getlist(name)) > 1]
        if twice:
            invalid("query", {twice[0]: ["Given more than once."]})
        return self._makeproxy(MultiDict(_without_nulls(req, schema)), schema)


def _refuse_other_forms(req: Request) -> None:
    if not core.is_json(req.mimetype):
        abort(415, message="The content type of the body must be application/json.")
    if req.headers.get("Content-Encoding", "").strip().lower() not in {"", "identity"}:
        abort(415, message="The body must not be compressed. Send it without Content-Encoding.")


def _without_nulls(req: Request, schema: ma.Schema) -> list[tuple[str, str]]:
    """In a query the word ``null`` means absent, for fields that may be null."""
    nullable = {name for name, field in schema.fields.items() if field.allow_none}
    return [(name, value) for name, value in req.args.items(multi=True) if value != "null" or name not in nullable]
