"""Preview as candidate: the same talk, and nothing of it anywhere afterwards."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.conversation import speaking
from app.conversation.preview import sittings
from app.conversation.preview.sittings import MOST_CHUNKS, MOST_PREVIEWS
from app.core.db import Base, db
from app.core.errors import GatewayError
from app.gateways.speech.ports import FollowUp
from app.operations.demo.candidate import Candidate
from tests.factories import Made
from tests.people import Browser, Person

from .conftest import sound
from .fakes import ScriptedInterviewer, ScriptedSpeaker, ScriptedTranscriber


@pytest.fixture(autouse=True)
def _none_left() -> None:
    sittings._previews.clear()


def everything(app: Flask) -> tuple[dict[str, int], list[str], list[object]]:
    """Rows of every table (jobs' claims, webhooks, mail and the audit log are rows), stored files, rung jobs."""
    counts = {
        table.name: db.session.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        for table in Base.metadata.sorted_tables
    }
    db.session.rollback()
    root = Path(app.extensions["parley.settings"].data_dir)
    files = sorted(str(path) for path in root.rglob("*") if path.is_file() and ".db" not in path.name)
    return counts, files, list(app.extensions["parley.bell"].enqueued)


class Trial:
    """One member's preview of a flow."""

    def __init__(self, browser: Browser, flow_id: str) -> None:
        self.browser = browser
        page = browser.get(f"/flows/{flow_id}/preview")
        assert page.status_code == 200
        self.base = page.text.split('data-base="')[1].split('"')[0]

    def get(self, path: str) -> Any:
        return self.browser.get(f"{self.base}{path}")

    def post(self, path: str, **body: Any) -> Any:
        return self.browser.post(f"{self.base}{path}", json=body)

    def send(self, pcm: bytes, *, first: int = 0) -> int:
        """Speech, from this chunk on; gives the number of its last."""
        chunks = [pcm[at : at + 16_000].ljust(16_000, b"\0") for at in range(0, len(pcm), 16_000)]
        for at, chunk in enumerate(chunks):
            answer = self.browser.put(
                f"{self.base}/segments/1/chunks/{first + at}?track=voice",
                data=chunk,
                headers={"X-Content-SHA256": hashlib.sha256(chunk).hexdigest()},
                content_type="application/octet-stream",
            )
            assert answer.status_code == 200
        return first + len(chunks) - 1

    def say(self, number: int, pcm: bytes, *, first: int = 0) -> Any:
        last = self.send(pcm, first=first)
        return self.post(f"/turns/{number}", kind="answer", segment=1, first_chunk=first, last_chunk=last)


@pytest.fixture
def trial(scripted: Flask, owner: Person, make_flow: Made) -> Trial:
    flow = make_flow(is_doc_upload_enabled=True, redirect_url="https://customer.example/thanks")
    found = flow.id
    db.session.rollback()
    return Trial(owner.browser, found)


def test_a_whole_preview_leaves_nothing(
    trial: Trial, scripted: Flask, hears: ScriptedTranscriber, speaks: ScriptedSpeaker, asks: ScriptedInterviewer
) -> None:
    trial.get("")
    before = everything(scripted)
    assert "Preview: nothing is stored." in trial.get("").text
    assert trial.post("/start", mode="voice", consent="yes").json["turn"] == 1
    assert trial.post("/segments", mime_type="audio/webm").json == {"segment": 1, "is_heard_well": True}
    first = trial.post("/turns/1", kind="begin").json
    assert first["question"] == "Why do you want this job?"
    assert first["audio_url"].startswith(trial.base)
    assert trial.browser.get(first["audio_url"]).mimetype == "audio/wav"
    asks.follow_ups.append(FollowUp("What exactly do you like?"))
    asked = trial.say(2, sound(1.0)).json
    assert (asked["text"], asked["heard"]["text"]) == ("What exactly do you like?", "i like this work very much")
    assert trial.browser.get(asked["audio_url"]).status_code == 200
    assert "Tell me about your last team." in trial.post("/turns/3", kind="text", text="The people").json["text"]
    page = trial.get("").text
    assert 'data-view="live"' in page
    content = b"a cv"
    told = trial.post("/uploads", name="cv.txt", size=4, sha256=hashlib.sha256(content).hexdigest()).json
    assert trial.browser.put(f"{trial.base}/uploads/{told['id']}/parts/0", data=content).status_code == 200
    assert trial.post(f"/uploads/{told['id']}/finish").json["name"] == "cv.txt"
    assert [one["name"] for one in trial.get("/state").json["documents"]] == ["cv.txt"]
    assert trial.post("/turns/4", kind="skip").json["expects"] == "finish"
    assert trial.post("/finish", segments=[]).json == {"redirect_url": None}
    end = trial.get("").text
    assert "Thank you" in end
    assert "1 document" in end
    assert 'href="https://customer.example/thanks"' in end
    assert 'data-module="redirect"' not in end
    sent = trial.browser.post(f"{trial.base}/feedback", data={"rating": "4"})
    assert "Thank you, this has arrived." in sent.text
    assert 'data-module="redirect"' not in sent.text
    assert everything(scripted) == before
    assert {remember for _, remember in speaks.spoken} == {False}


def test_the_same_turn_gets_the_same_reply_and_a_wrong_one_is_named(trial: Trial) -> None:
    trial.post("/start", mode="text")
    first = trial.post("/turns/1", kind="begin").json
    assert trial.post("/turns/1", kind="begin").json == first
    wrong = trial.post("/turns/5", kind="skip")
    assert (wrong.status_code, wrong.json["expected"]) == (409, 2)
    assert trial.post("/turns/2", kind="text", text=" ").json["field"] == "text"
    missing = trial.post("/turns/2", kind="answer", segment=1, first_chunk=0, last_chunk=3)
    assert (missing.status_code, missing.json["missing"]) == (409, [0, 1, 2, 3])


def test_the_state_says_what_a_real_interview_says(trial: Trial, candidate: Candidate) -> None:
    trial.post("/start", mode="text")
    trial.post("/turns/1", kind="begin")
    mine, real = trial.get("/state").json, candidate.call("GET", "/state")
    assert set(mine) == set(real)
    candidate.ask("POST", "/turns/1", json={"kind": "begin"})
    assert set(mine["prompt"]) == set(candidate.call("GET", "/state")["prompt"])


def test_a_talk_goes_on_without_engines(trial: Trial, hears: ScriptedTranscriber, speaks: ScriptedSpeaker) -> None:
    speaks.error = GatewayError("away", retryable=True)
    hears.texts.append(GatewayError("away", retryable=True))
    trial.post("/start", mode="voice")
    trial.post("/segments", mime_type="audio/webm")
    silent = trial.post("/turns/1", kind="begin").json
    assert (silent["audio_url"], silent["question_index"]) == (None, 0)
    assert trial.get("/turns/1/audio").status_code in {404, 409}
    assert trial.say(2, sound(1.0)).status_code == 200


@pytest.mark.parametrize(("text", "counts"), [("mm hm", False), ("i do not agree with that", True)])
def test_words_over_the_agent_are_judged_as_in_an_interview(
    trial: Trial, hears: ScriptedTranscriber, text: str, counts: bool
) -> None:
    trial.post("/start", mode="voice")
    trial.post("/segments", mime_type="audio/webm")
    trial.post("/turns/1", kind="begin")
    last = trial.send(sound(1.0))
    hears.texts = [text]
    told = trial.post("/turns/2/silence", segment=1, first_chunk=0, last_chunk=last, interrupts=True).json
    assert told == {"text": text, "patience_ms": None, "at_rest_ms": None, "in_the_air_ms": None, "counts": counts}
    assert bool(hears.dropped) is not counts, "what was no answer stays out of the answer's words"
    last = trial.send(sound(4.0), first=last + 1)
    for first_chunk, last_chunk in ((0, last), (last, last + 1)):  # too long to be a call; not arrived
        asked = {"segment": 1, "first_chunk": first_chunk, "last_chunk": last_chunk, "interrupts": True}
        assert trial.post("/turns/2/silence", **asked).json["counts"] is None


def test_a_piece_that_no_voice_speaks_is_only_shown(
    trial: Trial, asks: ScriptedInterviewer, speaks: ScriptedSpeaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speaking, "SOON", 0.0)
    trial.post("/start", mode="text")
    trial.post("/turns/1", kind="begin")
    asks.follow_ups.append(
        FollowUp("Thank you, now I know more about the work. Which of these tasks would you do in another way?")
    )
    reply = trial.post("/turns/2", kind="text", text="The people").json
    first, second = reply["audio_urls"]
    assert trial.browser.get(first).status_code == 200
    speaks.error = GatewayError("away", retryable=True)
    assert trial.browser.get(second).status_code == 404
    speaks.error = None
    assert trial.browser.get(second).mimetype == "audio/wav"


def test_pause_and_more_time_work(trial: Trial) -> None:
    trial.post("/start", mode="text")
    limit = trial.get("/state").json["time_limit_seconds"]
    assert trial.post("/pause", paused=True).json["paused"] is True
    assert trial.post("/pause", paused=False).json["paused"] is False
    for _ in range(2):
        assert trial.post("/time", extension=1).json["time_limit_seconds"] > limit
    assert trial.get("/state").json["extensions"] == 1
    assert trial.post("/heartbeat").status_code == 204


def test_nothing_reaches_a_recruiter(trial: Trial, scripted: Flask) -> None:
    before = everything(scripted)
    assert "That is fine" in trial.browser.post(f"{trial.base}/decline").text
    empty = trial.browser.post(f"{trial.base}/different", data={"choice": ""})
    assert (empty.status_code, "Please choose what you need." in empty.text) == (422, True)
    asked = trial.browser.post(f"{trial.base}/different", data={"choice": "person", "text": "By phone"})
    assert (asked.status_code, "no request was sent" in asked.text, "By phone" in asked.text) == (200, True, True)
    trial.post("/start", mode="text")
    assert "no request was sent" in trial.post("/different", choice="person").json["message"]
    assert trial.post("/different", choice="x").json["field"] == "choice"
    assert trial.browser.post(f"{trial.base}/documents").status_code == 422
    assert trial.browser.post(f"{trial.base}/feedback", data={"rating": "4"}).status_code == 303  # not over yet
    assert everything(scripted) == before


def test_a_preview_that_is_over_takes_nothing_more(trial: Trial) -> None:
    trial.post("/start", mode="text")
    trial.post("/turns/1", kind="begin")
    for _ in range(2):
        assert trial.post("/finish", segments=[]).status_code == 200
    late = trial.post("/turns/2", kind="skip")
    assert (late.status_code, late.json["reason"]) == (409, "finished")
    assert trial.get("/state").json["stage"] == "finished"
    assert trial.browser.post(f"{trial.base}/feedback", data={}).status_code == 422


def test_nothing_that_was_said_stays_in_memory_after_the_end(trial: Trial) -> None:
    trial.post("/start", mode="text")
    trial.post("/turns/1", kind="begin")
    for turn in (2, 3):
        trial.post(f"/turns/{turn}", kind="text", text="I drove a wheelchair taxi.")
    kept = next(reversed(sittings._previews.values()))
    assert "taxi" in repr(kept.place)
    trial.post("/finish", segments=[])
    assert "taxi" not in repr(kept)


def test_a_chosen_language_stays_until_the_end(trial: Trial) -> None:
    assert 'lang="de-DE" selected' in trial.get("?lang=de-DE").text
    trial.post("/start", mode="text")
    trial.post("/finish", segments=[])
    assert "Thank you" not in trial.get("").text


def test_speech_that_arrives_while_a_reply_is_made_is_kept(trial: Trial) -> None:
    trial.post("/start", mode="voice")
    trial.post("/segments", mime_type="audio/webm")
    trial.post("/turns/1", kind="begin")
    trial.say(2, sound(1.0))
    kept = next(reversed(sittings._previews.values()))
    kept.hear(1, 2, sound(0.5))
    longer = trial.post("/turns/3", kind="answer", segment=1, first_chunk=0, last_chunk=2, continues=True)
    assert longer.status_code == 200


def test_a_forgotten_preview_says_so(trial: Trial) -> None:
    trial.post("/start", mode="text")
    sittings._previews.clear()
    answer = trial.post("/turns/1", kind="begin")
    assert (answer.status_code, answer.json["reason"]) == (409, "finished")
    assert 'data-view="invitation"' in trial.get("").text


def test_only_members_who_may_see_the_flow(
    trial: Trial, outsider: Person, colleague: Person, viewer: Person, scripted: Flask
) -> None:
    trial.post("/start", mode="text")
    assert outsider.browser.get(trial.base).status_code == 403
    assert scripted.test_client().get(trial.base).status_code in {302, 303}
    assert viewer.browser.get(trial.base).status_code == 200
    assert colleague.browser.get(f"{trial.base}/state").status_code == 409  # someone else's try is not theirs


def test_memory_is_bounded(trial: Trial, owner: Person) -> None:
    names = [Trial(trial.browser, trial.base.split("/")[2]) for _ in range(MOST_PREVIEWS + 1)]
    for one in names:
        one.post("/start", mode="text")
    assert names[0].get("/state").status_code == 409
    assert names[-1].get("/state").status_code == 200
    kept = next(reversed(sittings._previews.values()))
    for number in range(MOST_CHUNKS + 5):
        kept.hear(1, number, b"")
    assert len(kept.voice) == MOST_CHUNKS
    assert (1, 4) not in kept.voice


def test_a_preview_has_the_accent_color_of_the_flow(scripted: Flask, owner: Person, make_flow: Made) -> None:
    flow_id = make_flow(accent="#7a1f5c").id
    db.session.rollback()
    assert '<link rel="stylesheet" href="/accent/7a1f5c.css">' in owner.browser.get(f"/flows/{flow_id}/preview").text
