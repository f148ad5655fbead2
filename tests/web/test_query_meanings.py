"""What a query means is worked out once, and never shared between calls."""

from typing import Any

import marshmallow as ma
import pytest
from flask import Flask, request
from werkzeug.exceptions import UnprocessableEntity

from app.web.body import LONGEST_QUERY, MOST_QUERIES, RepeatedQuery, StrictParser


class Query(RepeatedQuery):
    limit = ma.fields.Integer(load_default=20, validate=ma.validate.Range(1, 100))
    word = ma.fields.String(load_default=None)


class Counting(StrictParser):
    loaded = 0

    def load_querystring(self, req: Any, schema: ma.Schema) -> Any:
        self.loaded += 1
        return super().load_querystring(req, schema)


@pytest.fixture
def bare() -> Flask:
    return Flask("bare")


def asked(bare: Flask, parser: StrictParser, query: str, schema: ma.Schema) -> dict[str, Any]:
    with bare.test_request_context(f"/?{query}"):
        return dict(parser.parse(schema, request, location="query"))


def test_the_same_query_is_read_once_and_changing_what_it_meant_changes_no_other_call(bare: Flask) -> None:
    parser, schema = Counting(), Query()
    with bare.test_request_context("/?limit=5"):
        first = parser.parse(schema, request, location="query")
    assert first == {"limit": 5, "word": None}
    first["limit"] = 99
    assert asked(bare, parser, "limit=5", schema) == {"limit": 5, "word": None}
    assert parser.loaded == 1
    assert asked(bare, parser, "limit=6", schema)["limit"] == 6
    assert asked(bare, parser, "limit=5", Query()) == {"limit": 5, "word": None}
    assert parser.loaded == 3


def test_what_is_wrong_is_refused_each_time(bare: Flask) -> None:
    parser, schema = Counting(), Query()
    for _ in range(2):
        with pytest.raises(UnprocessableEntity):
            asked(bare, parser, "limit=0", schema)
        with pytest.raises(UnprocessableEntity):
            asked(bare, parser, "limit=1&limit=2", schema)
    assert parser.loaded == 4


def test_long_queries_are_not_kept_and_short_ones_only_so_many(bare: Flask) -> None:
    parser, schema = Counting(), Query()
    long = "word=" + LONGEST_QUERY * "a"
    assert asked(bare, parser, long, schema) == asked(bare, parser, long, schema)
    assert parser.loaded == 2
    for number in range(MOST_QUERIES + 1):
        asked(bare, parser, f"word={number}", schema)
    assert asked(bare, parser, f"word={MOST_QUERIES}", schema)["word"] == str(MOST_QUERIES)
    assert parser.loaded == MOST_QUERIES + 3
    assert len(parser._meanings) == 1


def test_a_query_that_may_name_a_person_is_not_kept(bare: Flask) -> None:
    class Personal(ma.Schema):
        email = ma.fields.String()

    parser, schema = Counting(), Personal()
    for _ in range(2):
        assert asked(bare, parser, "email=a%40b.example", schema) == {"email": "a@b.example"}
    assert parser.loaded == 2
    assert not parser._meanings
