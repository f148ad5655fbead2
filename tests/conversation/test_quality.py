"""The report on quality: what is collected during the talk, what becomes of it, and that nobody is judged by it."""

# ruff: noqa: E501 - what browsers call themselves

import json
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversation.devices import browser_of
from app.core import clock
from app.core.db import db
from app.gateways.speech.ports import FollowUp, Heard, Word
from app.interviews import quality
from app.interviews.actions.hearing import weak
from app.interviews.models import QualityReport, Role
from app.interviews.queries import utterances_of
from app.interviews.recordings.queries import Arrived, runs_of
from app.operations.demo.candidate import Candidate, Refused, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made
from tests.people import Person

from .conftest import Candidates, interview_of
from .fakes import ScriptedInterviewer, ScriptedTranscriber

NOW = clock.now()
DEVICE = {"sample_rate": 48_000, "channels": 1, "echo_cancellation": True, "microphone": "headset"}


def words(*confidences: float | None) -> tuple[Word, ...]:
    return tuple(Word(f"w{n}", float(n), n + 0.5, value) for n, value in enumerate(confidences))


def test_several_unsure_words_in_a_row_are_worth_listening_to() -> None:
    assert weak(words(0.9, 0.9, 0.1, 0.2, 0.1, 0.2, 0.9, 0.9, 0.9)) == [(1.0, 5.5, "w1 w2 w3 w4 w5")]
    assert weak(words(0.9, 0.9, 0.0, 0.9, 0.9, 0.9)) == [], "one unsure word says little"
    assert weak(words(0.1, 0.2)) == [(0.0, 1.5, "w0 w1")]
    assert weak(words(None, None, None, None, None)) == weak(()) == [], "an engine that does not tell is not unsure"


@given(st.lists(st.none() | st.floats(0, 1), max_size=40))
def test_weak_parts_lie_in_order_and_apart(confidences: list[float | None]) -> None:
    parts = weak(words(*confidences))
    assert parts == sorted(parts)
    assert all(earlier[1] < later[0] for earlier, later in pairwise(parts))


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
            "Chrome 156 on Linux",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36 Edg/150.0",
            "Edge 150 on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Mobile/15E Safari/604.1",
            "Safari 19 on iOS",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0",
            "Firefox 140 on macOS",
        ),
        (
            "Mozilla/5.0 (Linux; Android 16; SM-S9) AppleWebKit/537.36 SamsungBrowser/29.0 Chrome/136.0 Mobile Safari/537.36",
            "Samsung Internet 29 on Android",
        ),
        ("", "Unknown browser on an unknown system"),
        ("<script>", "Unknown browser on an unknown system"),
    ],
)
def test_of_a_browser_only_the_family_is_kept(sent: str, shown: str) -> None:
    assert browser_of(sent) == shown


def turn(number: int, heard_ms: int | None, kind: str | None = "question") -> Any:
    shares = dict.fromkeys(
        ("detected_ms", "collected_ms", "recognised_ms", "decided_ms", "spoken_ms", "answered_ms"), 1
    )
    return SimpleNamespace(number=number, reply_kind=kind, heard_ms=heard_ms, interrupted=None, **shares)


def test_waits_are_counted_where_they_were_measured() -> None:
    found = quality.replies([turn(1, None), *(turn(n + 2, 100 * (n + 1)) for n in range(20)), turn(30, 9, kind=None)])
    assert (found["p50_ms"], found["p95_ms"], found["measured"], len(found["turns"])) == (1000, 1900, 20, 21)
    assert quality.replies([])["p95_ms"] is None


def test_breaks_between_runs_are_gaps() -> None:
    runs = [
        SimpleNamespace(number=n + 1, mime_type="audio/webm", device=None, created_at=NOW + timedelta(seconds=at))
        for n, at in enumerate((0, 61, 100))
    ]
    there = {1: Arrived(60, 59, NOW + timedelta(seconds=60)), 2: Arrived(8, 9, NOW + timedelta(seconds=70))}
    found = quality.recording(runs, there)
    assert found == {"runs": 3, "gaps": [{"after_run": 2, "seconds": 30.0}], "missing_chunks": 2}


def said(number: int, **given: Any) -> Any:
    plain = {"role": Role.USER, "typed": False, "engine": "e", "content": "a b", "confidence": None, "weak": None}
    return SimpleNamespace(
        **{"number": number, "segment": 1, "question_index": None, "obeyed": False, **plain, **given}
    )


def test_confidence_is_weighed_by_words() -> None:
    found = quality.recognition(
        [
            said(1, confidence=0.9),
            said(2, confidence=0.3, content="a b c d", weak=[[1.0, 2.0, "b c"]], question_index=0),
            said(3, typed=True, engine=None),
            said(4, content=None, engine=None),
            said(5, role=Role.AGENT, engine="voice"),
        ]
    )
    assert (found["confidence"], found["engines"], found["answers"], found["typed"]) == (0.5, ["e"], 4, 1)
    assert (found["unrecognised"], [part["words"] for part in found["weak"]]) == (1, ["b c"])
    assert quality.recognition([said(1, confidence=None)])["confidence"] is None


@pytest.fixture
def unsure(hears: ScriptedTranscriber, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recogniser that tells how sure it is: of the last four words not at all."""

    def heard() -> Heard:
        text = "i worked on a ferry in the north"
        told = tuple(Word(w, n * 0.3, n * 0.3 + 0.2, 0.9 if n < 4 else 0.1) for n, w in enumerate(text.split()))
        return Heard(text, told, "scripted", 0.5)

    monkeypatch.setattr(hears, "_next", heard)


@pytest.mark.usefixtures("unsure")
def test_a_talk_leaves_a_report_and_the_page_shows_it(
    candidates: Candidates, book: Made, asks: ScriptedInterviewer, owner: Person, real_speech: bytes
) -> None:
    candidate = candidates(book())
    candidate.start()
    candidate.call("POST", "/segments", json={"mime_type": "audio/webm", "device": DEVICE})
    asks.follow_ups = [FollowUp(), FollowUp(unknown=True)]
    talk = Talk(candidate, Tape(video=False))
    first = talk.listen(candidate.turn(1, "begin"), until=0.5)
    second = candidate.turn(2, "answer", **talk.answer(real_speech), played={**first, "latency_ms": 800})
    asked = candidate.turn(3, "text", text="How high is the pay?", played={**talk.listen(second), "latency_ms": 400})
    live = owner.browser.get(f"/interviews/{interview_of(candidate).id}").get_data(as_text=True)
    assert "Recording quality" in live
    ended = candidate.turn(4, "end", played=talk.listen(asked))
    candidate.finish([], played=talk.listen(ended))
    interview = interview_of(candidate)
    report = db.session.get_one(QualityReport, interview.id).report
    assert report == json.loads(json.dumps(quality.report_of(interview)))
    assert (report["interruptions"], report["replies"]["p50_ms"], report["replies"]["p95_ms"]) == (1, 400, 800)
    assert report["devices"][0] == {
        "run": 1,
        "recorder": "audio/webm",
        "browser": "Unknown browser on an unknown system",
        **DEVICE,
    }
    assert [part["words"] for part in report["recognition"]["weak"]] == ["a ferry in the north"]
    page = owner.browser.get(f"/interviews/{interview.id}").get_data(as_text=True)
    for shown in (
        "Listen before you decide",
        "a ferry in the north",
        "48.0 kHz",
        "the candidate interrupted 1 reply",
        "0.40 s",
    ):
        assert shown in page
    public = owner.api("GET", f"/v1/interviews/{interview.id}").get_data(as_text=True)
    assert not any(name in public for name in ("confidence", "sample_rate", "headset", "quality"))
    assert "How high is the pay?" in page.split("Questions from the candidate")[-1]


@pytest.mark.parametrize(
    ("device", "field"),
    [
        ({"sample_rate": 0}, "device"),
        ({"sample_rate": "48000"}, "device"),
        ({"channels": 65}, "device"),
        ({"microphone": "Anna's AirPods"}, "device"),
        ({"label": "Anna's AirPods"}, "device"),
        ({"echo_cancellation": "yes"}, "device"),
        ([], "device"),
        ("x", "device"),
    ],
)
def test_other_facts_about_devices_are_refused_by_name(candidate: Candidate, device: Any, field: str) -> None:
    with pytest.raises(Refused) as refusal:
        candidate.call("POST", "/segments", json={"mime_type": "audio/webm", "device": device})
    assert (refusal.value.status, refusal.value.body["field"]) == (422, field)
    assert runs_of(interview_of(candidate).id) == []


@pytest.mark.parametrize("device", [None, {}, {"sample_rate": None}])
def test_a_browser_need_not_tell(candidate: Candidate, device: Any) -> None:
    candidate.call("POST", "/segments", json={"mime_type": "audio/webm", "device": device})
    assert runs_of(interview_of(candidate).id)[0].device == {"browser": "Unknown browser on an unknown system"}


def test_typed_answers_carry_no_confidence(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book())
    candidate.start()
    candidate.write(["because", "so it goes"])
    told = [(one.confidence, one.weak) for one in utterances_of(interview_of(candidate).id) if one.typed]
    assert set(told) == {(None, None)}
