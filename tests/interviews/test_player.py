"""The player's picture of the sound: bars where they are known, a plain line else, and where questions begin."""

from pathlib import Path

from app import gateways
from app.core.db import db
from app.interviews.models import Interview
from app.interviews.player import chapter_starts, wave_path
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.media import keep
from app.interviews.recordings.models import Media, Waveform
from app.review.share_links import actions as share_links
from tests.factories import Made
from tests.people import Person

PLAIN = 'd="M0 50H400"'


def test_bars_are_lines_from_the_middle() -> None:
    assert wave_path(None) is None
    assert wave_path(b"") is None
    assert wave_path(bytes([0, 255])) == "M100 49v2M300 2v96"


def test_questions_that_were_reached_are_marked() -> None:
    mapping = [
        {"start_timestamp": 1.5, "transcript_item_indices": [0]},
        {"start_timestamp": 0.0, "transcript_item_indices": []},
        {"start_timestamp": 9.0, "transcript_item_indices": [1]},
    ]
    found = chapter_starts({"questions_to_transcript_mapping": mapping})
    assert found == [(1.5, "Question 1"), (9.0, "Question 3")]


def test_pages_draw_the_sound_once_it_is_known(owner: Person, completed: Made, tmp_path: Path) -> None:
    found: Interview = completed()
    interview_id, organization_id = found.id, found.organization_id
    _share, token = share_links.make(found, ["recording"], days=1, label=None, by=owner.member)
    db.session.commit()
    path = tmp_path / "sound"
    path.write_bytes(b"sound")
    file = keep(path, Media.AUDIO, interview_id=interview_id, duration=2.0, storage=gateways.current().storage)
    recordings.publish(interview_id, organization_id=organization_id, file=file)
    db.session.commit()
    browser = owner.browser
    for drawn in (False, True):
        if drawn:
            db.session.query(Waveform).one().peaks = bytes([0, 255])
            db.session.commit()
        for address in (f"/interviews/{interview_id}", f"/shared/{token}"):
            page = browser.get(address).text
            assert 'data-module="player listen"' in page
            assert (PLAIN in page) is not drawn
            assert ('d="M100 49v2M300 2v96"' in page) is drawn
    recordings.revoke(interview_id)
    db.session.commit()
    assert "data-wave" not in browser.get(f"/interviews/{interview_id}").text
    assert "data-wave" not in browser.get(f"/shared/{token}").text
