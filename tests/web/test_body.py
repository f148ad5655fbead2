"""Bodies and queries of /v1: whatever is sent, the answer is a clear 4xx."""

import gzip
import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.web.body import BODY_BYTES, MOST_LEVELS, Broken, load_json

GOOD = {"name": "Night shift"}


def _post(probe, raw, content_type="application/json", **headers):
    return probe("POST", "/v1/probe", data=raw, content_type=content_type, headers=headers)


def test_a_right_body_is_taken(probe):
    body = {
        **GOOD,
        "note": None,
        "wanted": False,
        "kind": None,
        "email": "Some.One@first.example",
        "ref": None,
        "parts": [],
    }
    assert _post(probe, json.dumps(body)).status_code == 200


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", 422),
        (b"[]", 422),
        (b"[{}]", 422),
        (b"null", 422),
        (b"1", 422),
        (b'"text"', 422),
        (b"true", 422),
        (b"{}", 422),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"{'a': 1}", 400),
        (b'{"name": NaN}', 400),
        (b'{"name": Infinity}', 400),
        (b'{"name": "a", "name": "b"}', 400),
        (b'{"name": ' + b"9" * 5000 + b"}", 400),
        (b"[" * 100_000, 400),
        (b'{"name": "a"}{}', 400),
        ('{"name": "a"}'.encode("utf-16"), 400),
        (b'{"name": "\x01"}', 400),
        (b'{"name": 1e999}', 422),
        (b'{"name": ' + b"[" * 500 + b"]" * 500 + b"}", 422),
        (b'{"name": "a\\u0000b"}', 422),
        (b'{"name": "\\ud800"}', 422),
        (b'{"\\ud800": 1, "name": "a"}', 422),
        (b'{"name": "a", "extra": 1}', 422),
    ],
)
def test_impossible_bodies_get_a_clear_answer(probe, raw, code):
    before = probe.teams()
    response = _post(probe, raw)
    assert response.status_code == response.json["code"] == code
    assert response.json["message"]
    assert probe.teams() == before


@pytest.mark.parametrize(("levels", "code"), [(MOST_LEVELS - 1, 422), (MOST_LEVELS, 400), (50_000, 400)])
def test_very_deep_nesting_below_a_known_field_is_no_crash(probe, levels, code):
    assert _post(probe, b'{"name": ' + b"[" * levels + b"]" * levels + b"}").status_code == code


def test_many_brackets_side_by_side_are_not_deep(probe):
    assert _post(probe, b'{"name": [' + b"[]," * 5_000 + b"[]]}").status_code == 422


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_another_content_type_is_415(probe, content_type):
    response = _post(probe, json.dumps(GOOD), content_type)
    assert (response.status_code, response.json["code"]) == (415, 415)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, identity", "GZIP"])
def test_a_compressed_body_is_415_and_says_so(probe, encoding):
    response = _post(probe, gzip.compress(json.dumps(GOOD).encode()), **{"Content-Encoding": encoding})
    assert (response.status_code, "Content-Encoding" in response.json["message"]) == (415, True)


@pytest.mark.parametrize("encoding", ["identity", "Identity", ""])
def test_a_body_that_is_called_uncompressed_is_taken(probe, encoding):
    assert _post(probe, json.dumps(GOOD), **{"Content-Encoding": encoding}).status_code == 200


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'\xef\xbb\xbf{"name": "a"}', "byte order mark"),
        (b'{"name": "a", "note": "b", "name": "c"}', 'the key "name" twice'),
        (b'{"name" "a"}', "line 1, column 9: Expecting ':'"),
        (b'{"name": "a"}\n}', "line 2, column 1: Extra data"),
        ('{"name": "ä"}'.encode("latin-1"), "UTF-8"),
    ],
)
def test_broken_json_says_what_to_mend(probe, raw, words):
    response = _post(probe, raw)
    assert response.status_code == 400
    assert words in response.json["message"]


@pytest.mark.parametrize(
    "raw",
    [
        b'{"name": "a", "parts": [' + b",".join([b"1"] * 300_000) + b"]}",
        b'{"name": "a", ' + b",".join(b'"%x": 1' % number for number in range(50_000)) + b"}",
        b'{"name": "a", "' + b"k" * 500_000 + b'": 1}',
        b'{"name": "a", "a": 1, "a": 2, "' + b"k" * 500_000 + b'": 1}',
    ],
    ids=["items", "fields", "one long name", "a long name and one twice"],
)
def test_a_body_with_very_many_flaws_gets_a_short_answer(probe, raw):
    response = _post(probe, raw)
    assert response.status_code in {400, 422}
    assert len(response.data) < 1_000
    assert response.json["message"]


def test_a_list_that_is_too_long_is_named_before_its_items(probe):
    response = _post(probe, json.dumps({**GOOD, "parts": [1] * 4}))
    assert response.json["message"] == "parts: At most 3 parts."


def test_a_json_content_type_with_parameters_is_taken(probe):
    assert _post(probe, json.dumps(GOOD), "application/json; charset=utf-8").status_code == 200


def test_a_body_that_is_too_large_is_413(probe):
    response = _post(probe, b'{"name": "' + b"x" * BODY_BYTES + b'"}')
    assert (response.status_code, response.json["code"]) == (413, 413)
    assert response.json["message"] == "The request is larger than this URL accepts: at most 2 MiB."


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({}, "name", "Missing data for required field."),
        ({"name": ""}, "name", "Must not be blank."),
        ({"name": " \t "}, "name", "Must not be blank."),
        ({"name": "x" * 51}, "name", "Longer than 50 characters."),
        ({"name": None}, "name", "Field may not be null."),
        ({"name": 5}, "name", "Not a valid string."),
        ({**GOOD, "wanted": 1}, "wanted", "Not a valid boolean."),
        ({**GOOD, "wanted": "true"}, "wanted", "Not a valid boolean."),
        ({**GOOD, "wanted": None}, "wanted", "Field may not be null."),
        ({**GOOD, "kind": "oval"}, "kind", "Must be one of: round, square."),
        ({**GOOD, "kind": []}, "kind", "Must be one of: round, square."),
        ({**GOOD, "email": "nobody"}, "email", "Not a valid email address."),
        ({**GOOD, "email": ""}, "email", "Not a valid email address."),
        ({**GOOD, "ref": "123"}, "ref", "Must be an id of the form 8-4-4-4-12 hex digits."),
        ({**GOOD, "unknown": 1}, "unknown", "Unknown field."),
        ({**GOOD, "parts": ["a"] * 4}, "parts", "At most 3 parts."),
    ],
)
def test_invalid_fields_are_named_in_errors_and_message(probe, body, field, words):
    response = probe("POST", "/v1/probe", json=body)
    assert response.status_code == 422
    assert response.json["errors"]["json"][field] == [words]
    assert response.json["message"] == f"{field}: {words}"


def test_a_field_inside_a_list_is_named_with_its_place(probe):
    response = probe("POST", "/v1/probe", json={**GOOD, "parts": ["a", " "]})
    assert response.json["message"] == "parts.1: Must not be blank."


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=", "limit"),
        ("limit=1.0", "limit"),
        ("limit=%2B5", "limit"),
        ("limit=1_0", "limit"),
        ("limit=%D9%A3", "limit"),
        ("limit=null", "limit"),
        ("limit=1&limit=2", "limit"),
        ("limit=" + "9" * 5000, "limit"),
        ("offset=-1", "offset"),
        ("offset=1000000001", "offset"),
        ("offset=", "offset"),
        ("status=", "status"),
        ("status=open", "status"),
        ("team_id=", "team_id"),
        ("limit=5%00", "limit"),
        ("limit= 5", "limit"),
    ],
)
def test_invalid_queries_are_named(probe, query, field):
    response = probe("GET", f"/v1/probe?{query}")
    assert response.status_code == 422
    assert list(response.json["errors"]["query"]) == [field]
    assert response.json["message"].startswith(f"{field}: ")


@pytest.mark.parametrize("value", ["", "ten", "1.0", "0", "1001", "-5"])
def test_a_wrong_limit_is_told_the_range(probe, value):
    response = probe("GET", f"/v1/probe?limit={value}")
    assert response.json["message"] == "limit: Must be a whole number from 1 to 1000."


def test_queries_have_defaults_bounds_and_null(probe):
    assert probe("GET", "/v1/probe").json == {"limit": 20, "offset": 0, "status": None, "team_id": None}
    asked = probe("GET", "/v1/probe?limit=1000&offset=1000000000&status=null&team_id=null&unknown=1").json
    assert asked == {"limit": 1000, "offset": 1_000_000_000, "status": None, "team_id": None}


any_text = st.text(st.characters(codec=None), max_size=60)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | any_text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec=None), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
names = st.sampled_from(["name", "note", "wanted", "kind", "email", "ref", "parts"]) | st.text(max_size=6)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(body=st.dictionaries(names, json_values, max_size=6) | json_values)
def test_no_json_value_ever_leads_to_a_500(probe, body):
    response = _post(probe, json.dumps(body))
    assert response.status_code in {200, 400, 422}
    if response.status_code != 200:
        assert {"code", "status", "message"} <= set(response.json)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(raw=st.binary(max_size=200))
def test_no_bytes_ever_lead_to_a_500(probe, raw):
    assert _post(probe, raw).status_code in {200, 400, 422}


@settings(max_examples=200, deadline=None)
@given(raw=st.binary(max_size=300) | st.text('[]{}":,0123456789eE.-ntfu\\', max_size=300).map(str.encode))
def test_bytes_are_json_or_broken_and_nothing_else(raw):
    with suppress(Broken):
        json.dumps(load_json(raw))  # 1e999 is JSON; the field that it lands in names it
