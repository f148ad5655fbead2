"""Nonsense on every address a candidate's browser may call: each gets a clear answer, none breaks, the talk goes on."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from app.core.db import db
from app.interviews import actions
from app.interviews.models import Interview
from app.operations.demo.candidate import Candidate
from app.web import rate_limits
from tests.factories import Made
from tests.people import Browser, Person

from .conftest import interview_of, path_of

ROOT = "/interview/api/<flow_id>/<interview_id>"
SAFE = {"HEAD", "OPTIONS"}
HUGE = 10**400
FORM, PARTS = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"


def coded(**values: Any) -> bytes:
    return json.dumps(values).encode()


JSON_BODIES = {
    "nothing": b"",
    "not JSON": b"{",
    "a number": b"7",
    "null": b"null",
    "a list": b"[{}]",
    "no UTF-8": b'{"kind": "\xff\xfe"}',
    "a lone surrogate": b'{"kind": "text", "text": "\\ud800", "name": "\\ud800"}',
    "null characters": coded(kind="text", text="a\0b", name="\0", mime_type="\0", comment="\0", choice="\0"),
    "no numbers": b'{"kind": "text", "text": "a", "segment": NaN, "first_chunk": Infinity, "rating": NaN}',
    "a huge number": coded(
        kind="answer",
        segment=HUGE,
        first_chunk=HUGE,
        last_chunk=HUGE,
        extension=HUGE,
        size=HUGE,
        rating=HUGE,
        segments=[{"segment": HUGE, "last_mix_chunk": HUGE}],
        revision=HUGE,
    ),
    "wrong types": coded(
        kind=["text"],
        text={},
        mime_type={},
        paused="x",
        segments={},
        device=3,
        name=[],
        played=[],
        timing="now",
        sha256=5,
        choice={},
        rating={},
        comment=[],
        locale={},
        consent=[],
    ),
    "names twice": b'{"kind": "text", "kind": "end", "kind": 3}',
    "deep": b'{"device":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "long words": coded(kind="text", text="a" * 300_000, name="n" * 300_000, comment="c" * 300_000),
}
BODIES: dict[str, tuple[bytes, str]] = {
    **{name: (content, "application/json") for name, content in JSON_BODIES.items()},
    "a form": (b"kind=text&text=%00%ff&choice=%ff&comment=%00&rating=%ff&email_address=%00", FORM),
    "half a form": (b'--x\r\nContent-Disposition: form-data; name="file"; filename="a\r\n', PARTS),
    "another type": (b"<xml/>", "text/xml"),
    "a type that is none": (b"{}", "\x7f/;;;"),
}
NUMBERS = ("0", "1", "2", "99999999999999999999", "-1", "x", "%00")
NAMES = ("x", "%00", "%ff", "..%2f..", "a" * 3000, "00000000-0000-0000-0000-000000000000", "%F0%9F%98%80")


@pytest.fixture(autouse=True)
def _uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "count", lambda *_, **__: None)


def rules_of(app: Flask) -> list[Rule]:
    found = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith(ROOT)]
    assert len(found) > 25, "the protocol's addresses have moved"
    return found


def paths_of(rule: Rule, base: str) -> Iterator[str]:
    """The address with right and with wrong values for what is variable in it beyond the link."""
    rest = rule.rule.removeprefix(ROOT)
    names = sorted(rule.arguments - {"flow_id", "interview_id"})
    for at in range(max(len(NUMBERS), len(NAMES)) if names else 1):
        path = rest
        for name in names:
            values = NUMBERS if f"<int:{name}>" in rest else NAMES
            path = path.replace(f"<int:{name}>", values[at % len(values)]).replace(
                f"<{name}>", values[at % len(values)]
            )
        yield base + path


def assert_clear(answer: TestResponse, asked: str) -> None:
    assert answer.status_code < 500, f"{asked}: {answer.status_code} {answer.get_data(as_text=True)[:300]}"
    if answer.status_code < 400 or answer.status_code == 405:
        return
    if answer.is_json:
        assert answer.get_json()["message"], asked
    else:
        assert "<h1" in answer.get_data(as_text=True), f"{asked}: {answer.get_data(as_text=True)[:300]}"


def calls(app: Flask, base: str) -> Iterator[tuple[str, str]]:
    for rule in rules_of(app):
        for method in sorted((rule.methods or set()) - SAFE):
            for path in paths_of(rule, base):
                yield method, path


@pytest.mark.parametrize("body", BODIES)
def test_nonsense_from_the_holder_gets_a_clear_answer_and_the_talk_goes_on(
    scripted: Flask, candidate: Candidate, body: str
) -> None:
    candidate.turn(1, "begin")
    base, browser = path_of(interview_of(candidate)), browser_of(candidate)
    content, kind = BODIES[body]
    for method, path in calls(scripted, base):
        sent: dict[str, Any] = {} if method == "GET" else {"data": content, "content_type": kind}
        assert_clear(browser.open(path, method=method, **sent), f"{method} {path[-60:]} with {body}")
    assert goes_on_to_the_end(candidate) >= 1


def goes_on_to_the_end(candidate: Candidate) -> int:
    """Answer what is still open and hand in; how many answers that took."""
    state = candidate.call("GET", "/state")
    assert state["stage"] == "live"
    turn, prompt, answers = state["turn"], state["prompt"], 0
    while prompt["expects"] == "answer":
        prompt = candidate.turn(turn, "text", text="I like the people.")
        turn, answers = turn + 1, answers + 1
    candidate.call("POST", "/finish", json={"segments": []})
    assert candidate.call("GET", "/state")["stage"] == "finished"
    return answers


def browser_of(candidate: Candidate) -> Browser:
    browser: Browser = candidate._session.browser  # type: ignore[attr-defined]
    return browser


def links_of(interview: Interview, other: Interview) -> dict[str, str]:
    flow, mine, theirs = interview.flow_id, interview.id, other.flow_id
    return {
        "of another flow": f"/interview/api/{theirs}/{mine}",
        "of another organization's interview": f"/interview/api/{flow}/{other.id}",
        "with ids exchanged": f"/interview/api/{mine}/{flow}",
        "in capitals": f"/interview/api/{flow.upper()}/{mine.upper()}",
        "cut short": f"/interview/api/{flow}/{mine[:-1]}",
        "with a full stop from the mail": f"/interview/api/{flow}/{mine}.",
        "with a bracket from the mail": f"/interview/api/{flow}/{mine}%3E",
        "with a null character": f"/interview/api/{flow}/{mine}%00",
        "with no UTF-8": f"/interview/api/%ff%fe/{mine}",
        "of nobody": "/interview/api/00000000-0000-0000-0000-000000000000/00000000-0000-0000-0000-000000000000",
        "with other letters": f"/interview/api/{flow}/%F0%9F%98%80",
        "very long": f"/interview/api/{flow}/{'a' * 3000}",
    }


def test_links_that_lead_nowhere_say_so_on_every_address(
    scripted: Flask, client: Browser, book: Made, outsider: Person, make_flow: Made
) -> None:
    foreign = make_flow(by=outsider)
    theirs = actions.book(outsider.organization, foreign.id)
    db.session.commit()
    for name, link in links_of(book(), theirs).items():
        page = client.get(link)
        assert page.status_code == 404, name
        assert "<h1" in page.get_data(as_text=True), name
        for method, path in calls(scripted, link):
            sent: dict[str, Any] = {} if method == "GET" else {"json": {}}
            answer = client.open(path, method=method, **sent)
            assert answer.status_code in {404, 405}, f"{method} {path} {name}: {answer.status_code}"
            assert_clear(answer, f"{method} {path} {name}")


def test_nobody_but_the_holder_gets_anything_from_a_running_talk(
    scripted: Flask, candidate: Candidate, client: Browser
) -> None:
    candidate.turn(1, "begin")
    base = path_of(interview_of(candidate))
    for rule in rules_of(scripted):
        if not rule.endpoint.startswith("voice_api."):
            continue
        for method in sorted((rule.methods or set()) - SAFE):
            for path in paths_of(rule, base):
                answer = client.open(path, method=method, json={} if method != "GET" else None)
                assert answer.status_code in {403, 404, 405}, f"{method} {path}: {answer.status_code}"
                assert_clear(answer, f"{method} {path}")
    assert candidate.call("GET", "/state")["turn"] == 2


def test_after_the_end_every_address_answers_and_changes_nothing(scripted: Flask, candidate: Candidate) -> None:
    candidate.write(["It is near the river.", "I like the people."])
    base, browser = path_of(interview_of(candidate)), browser_of(candidate)
    before = candidate.call("GET", "/state")
    for method, path in calls(scripted, base):
        for body in ("nothing", "wrong types", "a huge number"):
            content, kind = BODIES[body]
            sent: dict[str, Any] = {} if method == "GET" else {"data": content, "content_type": kind}
            assert_clear(browser.open(path, method=method, **sent), f"{method} {path[-60:]} with {body}")
    after = candidate.call("GET", "/state")
    assert {**after, "elapsed_seconds": 0} == {**before, "elapsed_seconds": 0}
