"""One interview to take away: what is in each file, who may have it, and what is said where there is nothing."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.accounts.models import AuditEntry, TeamMembership
from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import RequestKind, RequestState
from app.conversation.models import Agreement, Mode
from app.core.db import db
from app.gateways.speech.ports import Segment, Word
from app.interviews import actions
from app.interviews.analysis.mapping import QuestionPart
from app.interviews.archive import Closed
from app.interviews.documents.models import Document
from app.interviews.models import Interview, Role, Stage
from app.interviews.published_result import freeze_details
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.media import keep
from app.interviews.recordings.models import Media
from app.review.ratings import actions as ratings
from app.review.ratings.actions import Opinion
from tests.factories import Made
from tests.people import Person

from .test_pages import words_of

SOUND = bytes(range(256)) * 4000
CV = b"%PDF-1.7 a document"


def exported(person: Person, interview_id: str, kind: str) -> Any:
    return person.browser.post(f"/interviews/{interview_id}/export", data={"format": kind})


def told(person: Person, interview_id: str) -> dict[str, Any]:
    answer = exported(person, interview_id, "json")
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    found: dict[str, Any] = json.loads(answer.get_data())
    return found


def audited(action: str) -> list[dict[str, Any]]:
    rows = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == action).order_by(AuditEntry.number))
    return [row.details for row in rows]


def timed(interview: Interview) -> None:
    """Give the result the words' times, as an interview by voice has them."""
    segments = [
        Segment("agent", "Why do you want this job?", _words("Why do you want this job?", 0.5), 0.5, 2.0, 0),
        Segment("user", "=I like to help people.", _words("=I like to help people.", 65.25), 65.25, 68.0, 0),
    ]
    chapters = [
        QuestionPart(0, "Why do you want this job?", (0, 1), 0.5, 68.0),
        QuestionPart(1, "Tell me about your last team.", (), 0.0, 0.0),
    ]
    data = interview.data
    assert data is not None
    fragment = freeze_details(segments, chapters, duration=70.0)
    data.details, data.details_length, data.details_crc32 = fragment.deflated, fragment.length, fragment.crc
    db.session.commit()


def _words(text: str, start: float) -> tuple[Word, ...]:
    return tuple(Word(word, start + 0.25 * at, start + 0.25 * at + 0.2) for at, word in enumerate(text.split()))


@pytest.fixture
def judged(completed: Made, scripted: Any) -> Interview:
    """A result by voice with one score, and six that are not assessed."""
    scripted.judged = {"motivation": (4.2, "I like to help people", 1)}
    interview: Interview = completed()
    timed(interview)
    return interview


@pytest.fixture
def recorded(judged: Interview, tmp_path: Path) -> Interview:
    """The same with its sound, and with a document."""
    path = tmp_path / "sound"
    path.write_bytes(SOUND)
    interview_id, organization_id = judged.id, judged.organization_id
    db.session.rollback()
    storage = gateways.current().storage
    storage.put(f"documents/{interview_id}/cv", CV)
    file = keep(path, Media.AUDIO, interview_id=interview_id, duration=70.0, storage=storage)
    recordings.publish(interview_id, organization_id=organization_id, file=file)
    db.session.add(
        Document(
            interview_id=interview_id,
            name="../my cv.pdf",
            content_type="application/pdf",
            size=len(CV),
            storage_key=f"documents/{interview_id}/cv",
        )
    )
    db.session.commit()
    return db.session.get_one(Interview, interview_id, populate_existing=True)


def unpacked(answer: Any) -> dict[str, bytes]:
    assert (answer.status_code, answer.mimetype) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.get_data())) as packed:
        assert packed.testzip() is None
        files = {name: packed.read(name) for name in packed.namelist()}
    answer.close()
    return files


def test_json_is_what_the_page_shows(owner: Person, colleague: Person, judged: Interview) -> None:
    ratings.assess(judged, {"motivation": Opinion(2.0, "He said little.")}, by=colleague.member)
    assert judged.candidate is not None
    judged.candidate.phone = "+44 20 7946 0958"
    ratings.assess(judged, {"overall": Opinion(3.0, "")}, by=owner.member)  # else others' ratings are left out
    db.session.commit()
    found = told(owner, judged.id)
    assert found["candidate"]["email_address"] == "mary@candidate.example"
    assert found["candidate"]["phone"] == "+44 20 7946 0958"
    assert found["summary"]["text"] == "Likes to help people."
    scores = {one["competence"]: one for one in found["scores"]}
    assert len(scores) == 7
    assert 0 < scores["motivation"]["score"] <= 4.2
    assert scores["motivation"]["quotes"] == [{"text": "I like to help people", "segment": 1, "at": 65.25}]
    assert (scores["skills"]["score"], scores["skills"]["is_assessed"]) == (None, False)
    assert found["scorecard"][0]["people"][0]["name"] == "Colleague"
    assert found["scorecard"][0]["people"][0]["rating"] == 2.0
    assert [one["is_reached"] for one in found["answers"]] == [True, False]
    assert found["transcript"][1]["words"][0] == {"word": "=I", "start": 65.25, "end": 65.45}
    assert found["exported_by"] == "Owner"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["exported_at"])
    assert "support a person's decision" in found["note"]


def test_captions_name_the_voices_on_the_recording_s_clock(owner: Person, judged: Interview) -> None:
    answer = exported(owner, judged.id, "vtt")
    assert (answer.status_code, answer.mimetype) == (200, "text/vtt")
    assert answer.text.startswith("WEBVTT\n\n00:00:00.500 --> ")
    assert "<v Agent>Why do you want this job?" in answer.text
    assert "00:01:05.250 --> 00:01:06.450\n<v Candidate>=I like to help people." in answer.text


def test_the_video_on_the_interview_s_page_has_the_same_captions(
    owner: Person, judged: Interview, tmp_path: Path
) -> None:
    path = tmp_path / "video"
    path.write_bytes(SOUND)
    interview_id, organization_id = judged.id, judged.organization_id
    db.session.rollback()
    file = keep(path, Media.VIDEO, interview_id=interview_id, duration=70.0, storage=gateways.current().storage)
    recordings.publish(interview_id, organization_id=organization_id, file=file)
    db.session.commit()
    page = owner.browser.get(f"/interviews/{interview_id}").text
    tracks = re.findall(r'<track kind="captions" src="([^"]+)"\s+srclang="([\w-]+)" label="Captions">', page)
    assert tracks == [(f"/interviews/{interview_id}/captions.vtt", "en-US")]
    answer = owner.browser.get(tracks[0][0])
    assert (answer.status_code, answer.mimetype) == (200, "text/vtt")
    assert answer.text == exported(owner, interview_id, "vtt").text
    assert "<v Candidate>=I like to help people." in answer.text


def test_captions_keep_punctuation_where_words_are_counted_differently(owner: Person, judged: Interview) -> None:
    words = (Word("at a", 1.0, 1.2), Word("bank", 1.3, 1.5), Word("twenty", 1.6, 1.8), Word("five", 1.9, 2.1))
    fragment = freeze_details([Segment("user", "At a bank, 25.", words, 1.0, 2.1, 0)], (), duration=70.0)
    data = judged.data
    assert data is not None
    data.details, data.details_length, data.details_crc32 = fragment.deflated, fragment.length, fragment.crc
    db.session.commit()
    assert "00:00:01.000 --> 00:00:02.100\n<v Candidate>At a bank, 25.\n" in exported(owner, judged.id, "vtt").text
    assert [word["word"] for word in told(owner, judged.id)["transcript"][0]["words"]] == ["At a", "bank,", "25."]
    page = owner.browser.get(f"/interviews/{judged.id}")
    assert "At a bank, 25." in words_of(page)
    assert page.text.count('class="word"') == 3, "no word of nothing"


def test_the_table_runs_nothing(owner: Person, judged: Interview) -> None:
    answer = exported(owner, judged.id, "csv")
    raw = answer.get_data()
    assert raw.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))))
    assert [row["speaker"] for row in rows] == ["Agent", "Candidate", ""]
    assert rows[1]["text"] == "'=I like to help people."
    assert (rows[1]["question_number"], rows[1]["start_seconds"]) == ("1", "65.25")
    assert (rows[2]["question_number"], rows[2]["text"]) == ("2", "")


def test_the_report_says_how_each_score_was_judged(owner: Person, colleague: Person, judged: Interview) -> None:
    ratings.assess(judged, {"overall": Opinion(3.5, "Worth a second talk.")}, by=colleague.member)
    ratings.assess(judged, {"overall": Opinion(3.0, "")}, by=owner.member)
    db.session.commit()
    words = words_of(owner.browser.get(f"/interviews/{judged.id}/report"))
    for part in (
        "Mary Hall",
        "Nurse",
        "support a person's decision",
        "Likes to help people.",
        "“I like to help people” at 1:05",
        "Scored by scripted: said so",
        "Not assessed",
        "Worth a second talk.",
        "3.5 out of 5",
        "Colleague",
        "1. Why do you want this job?",
        "2. Tell me about your last team. Not reached.",
        "No consent is recorded.",
        "Exported on",
        "by Owner",
    ):
        assert part in words, part
    assert "0.0 of 5" not in words
    assert len(audited("interview.reported")) == 1


def test_text_from_outside_is_never_markup_in_any_file(owner: Person, completed: Made, scripted: Any) -> None:
    evil = "<script>alert(1)</script>"
    scripted.summary = evil
    interview = completed(said=((Role.AGENT, 0, "Why?"), (Role.USER, 0, evil)), first_name=evil)
    assert evil not in owner.browser.get(f"/interviews/{interview.id}/report").text
    report = unpacked(exported(owner, interview.id, "zip"))["report.html"].decode()
    assert "&lt;script&gt;" in report
    assert "<script" not in report


def test_the_archive_has_everything(owner: Person, recorded: Interview) -> None:
    answer = exported(owner, recorded.id, "zip")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="interview-{recorded.id[:8]}.zip"'
    files = unpacked(answer)
    assert set(files) == {
        "report.html",
        "report.pdf",
        "interview.json",
        "transcript.csv",
        "captions.vtt",
        "recording-audio.m4a",
        "documents/1-.._my cv.pdf",
    }
    assert files["recording-audio.m4a"] == SOUND
    assert files["documents/1-.._my cv.pdf"] == CV
    report = files["report.html"].decode()
    assert "Mary Hall" in report
    assert "@page" in report
    assert not re.search(r"(?:src|href)=|url\(|@import", report), "the file needs no other"
    assert json.loads(files["interview.json"])["recording"]["audio"] is True
    assert audited("interview.exported") == [{"format": "zip"}]


def test_the_archive_comes_in_pieces(owner: Person, recorded: Interview) -> None:
    answer = owner.browser.post(f"/interviews/{recorded.id}/export", data={"format": "zip"}, buffered=False)
    pieces = [len(piece) for piece in answer.iter_encoded()]
    answer.close()
    assert sum(pieces) > len(SOUND)
    assert max(pieces) < len(SOUND) // 2


def test_corrections_stand_beside_what_was_recognised(owner: Person, judged: Interview) -> None:
    details = {"segment": 1, "first": 3, "last": 3, "heard": "help", "suggestion": "heal"}
    candidate_request = candidate_requests.ask(judged, NewRequest(RequestKind.CORRECTION, None, None, details))
    db.session.commit()
    assert told(owner, judged.id)["transcript"][1]["corrections"] == [
        {"words": "help", "first": 3, "last": 3, "suggestion": "heal", "is_accepted": False}
    ]
    candidate_request.state = RequestState.DONE
    db.session.commit()
    assert "Corrected by the candidate: help became heal" in words_of(
        owner.browser.get(f"/interviews/{judged.id}/report")
    )
    assert "“help” to “heal”" in exported(owner, judged.id, "csv").text


def test_the_consent_is_kept_word_for_word(owner: Person, judged: Interview) -> None:
    shown = "You are recorded.\n\nA machine asks <b>you</b>."
    db.session.add(
        Agreement(
            interview_id=judged.id,
            fence=1,
            text_version="3",
            locale="en-US",
            mode=Mode.VOICE,
            shown=shown,
            agreed_at=datetime(2026, 1, 31, 9, 15, tzinfo=UTC),
        )
    )
    db.session.commit()
    given = told(owner, judged.id)["consents"]
    assert given == [
        {"agreed_at": "2026-01-31T09:15:00Z", "text_version": "3", "locale": "en-US", "mode": "voice", "text": shown}
    ]
    words = words_of(owner.browser.get(f"/interviews/{judged.id}/report"))
    assert "Given on 31 Jan 2026, 09:15 UTC. The candidate agreed to answer by voice." in words
    assert "Consent text, version 3, language en-US: You are recorded." in words
    assert "A machine asks <b>you</b>." in words


def test_each_export_is_in_the_audit_log(owner: Person, judged: Interview) -> None:
    for kind in ("json", "json", "csv", "vtt"):
        assert exported(owner, judged.id, kind).status_code == 200
    assert [one["format"] for one in audited("interview.exported")] == ["json", "json", "csv", "vtt"]


def test_viewers_and_strangers_export_nothing(
    owner: Person, viewer: Person, colleague: Person, outsider: Person, judged: Interview
) -> None:
    db.session.execute(sa.delete(TeamMembership).where(TeamMembership.member_id == colleague.member.id))
    db.session.commit()
    for person in (viewer, colleague, outsider):
        assert exported(person, judged.id, "json").status_code == 403
        assert person.browser.get(f"/interviews/{judged.id}/report").status_code == 403
    assert "/export" not in viewer.browser.get(f"/interviews/{judged.id}").text
    assert audited("interview.exported") == audited("interview.reported") == []


def test_a_written_interview_has_everything_but_captions(owner: Person, completed: Made) -> None:
    interview = completed()
    page = owner.browser.get(f"/interviews/{interview.id}")
    assert "There are no captions, because" in words_of(page)
    assert 'value="vtt"' not in page.text
    answer = exported(owner, interview.id, "vtt")
    assert answer.status_code == 303
    assert audited("interview.exported") == []
    files = {"report.html", "report.pdf", "interview.json", "transcript.csv"}
    assert set(unpacked(exported(owner, interview.id, "zip"))) == files


def test_revoked_recordings_are_in_nothing(owner: Person, recorded: Interview) -> None:
    actions.revoke_recordings(recorded)
    db.session.commit()
    assert "The recordings were deleted, so exports do not contain them." in words_of(
        owner.browser.get(f"/interviews/{recorded.id}")
    )
    files = unpacked(exported(owner, recorded.id, "zip"))
    assert "recording-audio.m4a" not in files
    found = json.loads(files["interview.json"])
    assert found["recording"] == {"audio": False, "video": False, "seconds": None, "deleted": True}
    assert found["summary"]["text"] == "Likes to help people."


def test_what_is_withheld_is_in_nothing(owner: Person, colleague: Person, recorded: Interview) -> None:
    ratings.assess(recorded, {"overall": Opinion(3.5, "Worth a second talk.")}, by=colleague.member)
    actions.withdraw(recorded)
    db.session.commit()
    files = unpacked(exported(owner, recorded.id, "zip"))
    assert "recording-audio.m4a" not in files
    found = json.loads(files["interview.json"])
    assert (found["summary"], found["scores"], found["scorecard"], found["quality"]) == (None, [], [], None)
    everything = b"".join(files.values())
    assert b"Likes to help people" not in everything
    assert b"Worth a second talk" not in everything
    assert b"withdrew their consent" in files["report.html"]


@pytest.mark.parametrize("state", ["created", "submitted", "erased"])
def test_where_there_is_nothing_the_page_says_so(owner: Person, judged: Interview, state: str, submitted: Made) -> None:
    interview = judged if state == "erased" else submitted(email="ben@candidate.example")
    if state == "erased":
        actions.erase(interview)
    elif state == "created":
        interview.stage = Stage.CREATED
    interview_id = interview.id
    db.session.commit()
    browser = owner.browser
    said = "so there is nothing to export" if state == "erased" else "There is no result yet"
    shown = browser.get(f"/interviews/{interview_id}")
    assert said in words_of(shown)
    assert "/export" not in shown.text
    for answer in (
        *(browser.post(f"/interviews/{interview_id}/export", data={"format": kind}) for kind in ("json", "vtt", "zip")),
        browser.get(f"/interviews/{interview_id}/report"),
    ):
        assert (answer.status_code, answer.location) == (303, f"/interviews/{interview_id}")
    assert said in words_of(browser.get(f"/interviews/{interview_id}"))
    assert audited("interview.exported") == audited("interview.reported") == []


@pytest.mark.parametrize("kind", ["", "docx", "\x00", "zip\n"])
def test_an_unknown_format_is_refused_in_words(owner: Person, judged: Interview, kind: str) -> None:
    browser = owner.browser
    assert browser.post(f"/interviews/{judged.id}/export", data={"format": kind}).status_code == 303
    assert "Choose a format" in words_of(browser.get(f"/interviews/{judged.id}"))


def test_an_export_ends_when_access_ends(owner: Person, recorded: Interview, monkeypatch: pytest.MonkeyPatch) -> None:
    interview_id = recorded.id
    monkeypatch.setattr("app.interviews.archive.LOOK_AFTER", timedelta(0))
    answer = owner.browser.post(f"/interviews/{interview_id}/export", data={"format": "zip"}, buffered=False)
    pieces: Iterator[bytes] = answer.iter_encoded()
    next(pieces)
    actions.withdraw(db.session.get_one(Interview, interview_id))
    db.session.commit()
    with pytest.raises(Closed):
        list(pieces)
    answer.close()


def test_only_so_many_archives_are_sent_at_once(app: Flask, owner: Person, judged: Interview) -> None:
    interview_id, browser, taken = judged.id, owner.browser, []
    for _ in range(app.extensions["parley.settings"].web_threads + 1):
        answer = browser.post(f"/interviews/{interview_id}/export", data={"format": "zip"}, buffered=False)
        if answer.status_code == 303:
            break
        taken.append(answer)
    assert answer.status_code == 303
    assert 1 <= len(audited("interview.exported")) == len(taken)
    assert "Too many downloads are running" in words_of(browser.get(f"/interviews/{interview_id}"))
    for one in taken:
        one.close()
    assert exported(owner, interview_id, "zip").status_code == 200
