"""The page that serves recordings: ranges, errors, and nothing after revocation."""

import itertools
import os
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from app import gateways
from app.accounts.models import AuditEntry
from app.core import clock
from app.core.db import db
from app.core.errors import GatewayError
from app.interviews.recordings import actions, jobs, queries
from app.interviews.recordings.addresses import Purpose
from app.interviews.recordings.models import BLOCK, Media, Recording

CONTENT = os.urandom(18 * BLOCK + 12_345)  # more than two MiB


@pytest.fixture
def published(publish):
    return publish(CONTENT)


def path_of(recording, purpose=Purpose.PLAY) -> str:
    [url] = queries.urls_for(recording.interview_id, purpose=purpose).values()
    db.session.commit()
    return urlsplit(url).path


def test_the_whole_file_comes_with_headers_that_keep_it_private(client, published):
    answer = client.get(path_of(published))
    assert answer.status_code == 200
    assert answer.data == CONTENT
    assert answer.headers["Content-Type"] == "audio/mp4"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.headers["Content-Length"] == str(len(CONTENT))
    assert answer.headers["Content-Disposition"].startswith("inline; filename=")
    assert "ETag" not in answer.headers
    assert "Last-Modified" not in answer.headers
    assert "Set-Cookie" not in answer.headers


def test_an_address_for_keeping_says_attachment(client, published):
    answer = client.get(path_of(published, Purpose.DOWNLOAD))
    assert (
        answer.headers["Content-Disposition"]
        == f'attachment; filename="interview-{published.interview_id[:8]}-audio.m4a"'
    )


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=5-9", 5, 10),
        (f"bytes={BLOCK - 2}-{BLOCK + 1}", BLOCK - 2, BLOCK + 2),
        (f"bytes={16 * BLOCK}-", 16 * BLOCK, len(CONTENT)),
        ("bytes=-7", len(CONTENT) - 7, len(CONTENT)),
        (f"bytes=10-{10**12}", 10, len(CONTENT)),
    ],
)
def test_a_range_is_answered_with_just_that_part(client, published, asked, start, end):
    answer = client.get(path_of(published), headers={"Range": asked})
    assert answer.status_code == 206
    assert answer.data == CONTENT[start:end]
    assert answer.headers["Content-Range"] == f"bytes {start}-{end - 1}/{len(CONTENT)}"
    assert answer.headers["Content-Length"] == str(end - start)


@pytest.mark.parametrize("asked", [f"bytes={len(CONTENT)}-", "bytes=99999999999-"])
def test_a_range_outside_the_file_is_416_with_its_size(client, published, asked):
    answer = client.get(path_of(published), headers={"Range": asked})
    assert answer.status_code == 416
    assert answer.headers["Content-Range"] == f"bytes */{len(CONTENT)}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "bytes=0-1,4-5"},
        {"Range": "lines=1-2"},
        {"Range": "nonsense"},
        {"Range": "bytes=0-1", "If-Range": '"tag"'},
    ],
)
def test_what_we_cannot_answer_as_a_part_is_answered_whole(client, published, headers):
    answer = client.get(path_of(published), headers=headers)
    assert answer.status_code == 200
    assert len(answer.data) == len(CONTENT)


def test_head_tells_the_size_and_sends_nothing(client, published):
    answer = client.head(path_of(published))
    assert (answer.status_code, answer.data, answer.headers["Content-Length"]) == (200, b"", str(len(CONTENT)))
    part = client.head(path_of(published), headers={"Range": "bytes=0-9"})
    assert (part.status_code, part.headers["Content-Length"]) == (206, "10")


def test_an_address_that_has_run_out_is_a_clear_page(client, published):
    with clock.replaced(lambda: published.created_at - timedelta(hours=2)):
        path = path_of(published)
    answer = client.get(path)
    assert answer.status_code == 410
    assert "has expired" in answer.text


def test_a_changed_address_is_refused(client, published):
    path = path_of(published)
    answer = client.get(path[:-1] + ("A" if path[-1] != "A" else "B"))
    assert answer.status_code == 403
    assert CONTENT[:20] not in answer.data


def test_an_address_of_one_recording_opens_no_other(client, published, publish):
    other = publish(b"video", Media.VIDEO)
    token = urlsplit(queries.urls_for(published.interview_id)[Media.AUDIO]).path.rsplit("/", 1)[1]
    db.session.commit()
    assert client.get(f"/recordings/{other.id}/{token}").status_code == 403


def test_a_recording_that_never_was_is_not_found(client, published):
    token = path_of(published).rsplit("/", 1)[1]
    assert client.get(f"/recordings/unknown/{token}").status_code == 404


def test_being_signed_in_elsewhere_does_not_help(outsider, published):
    path = path_of(published).rsplit("/", 1)[0]
    assert outsider.browser.get(f"{path}/no.token.at.all").status_code == 403


def test_after_revocation_no_address_gives_a_byte(client, published):
    path = path_of(published)
    assert client.get(path).status_code == 200
    actions.revoke(published.interview_id)
    db.session.commit()
    for headers in ({}, {"Range": "bytes=0-10"}):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 410
        assert "deleted" in answer.text
    assert client.head(path).status_code == 410
    assert queries.urls_for(published.interview_id) == {}


def test_a_running_answer_ends_when_access_does(client, published):
    answer = client.get(path_of(published), buffered=False)
    body = answer.iter_encoded()
    received = [next(body)]
    actions.revoke(published.interview_id)
    db.session.commit()
    received += list(body)
    assert len(b"".join(received)) <= 1024 * 1024
    answer.close()


def test_a_slow_reader_is_cut_off_by_the_clock(client, published):
    path, seconds = path_of(published), itertools.count(step=3)
    began = clock.now()
    with clock.replaced(lambda: began + timedelta(seconds=next(seconds))):
        answer = client.get(path, buffered=False)
        body = answer.iter_encoded()
        received = [next(body)]
        actions.revoke(published.interview_id)
        db.session.commit()
        received += list(body)
    assert len(b"".join(received)) <= 64 * 1024
    answer.close()


def test_a_flipped_bit_is_never_served(client, published):
    storage = gateways.current().storage
    damaged = bytearray(CONTENT)
    damaged[BLOCK + 3] ^= 1
    key = published.storage_key
    db.session.commit()
    storage.put(key, bytes(damaged))
    path = path_of(published)
    assert client.get(path, headers={"Range": "bytes=0-99"}).status_code == 206
    answer = client.get(path, headers={"Range": f"bytes={BLOCK}-{BLOCK + 10}"})
    assert answer.status_code == 503
    assert db.session.get(Recording, published.id).damaged_at is not None
    assert client.get(path).status_code == 410
    assert queries.urls_for(published.interview_id) == {}


def test_missing_bytes_are_damage_too(client, published):
    path, key = path_of(published), published.storage_key
    db.session.commit()
    gateways.current().storage.delete(key)
    assert client.get(path).status_code == 503
    assert client.get(path).status_code == 410


def test_a_download_that_had_begun_goes_on_with_the_file_that_another_replaced(client, publish):
    first = publish(CONTENT)
    path, key, recording_id = path_of(first), first.storage_key, first.id
    body = client.get(path, buffered=False)
    received = [next(body.response)]
    other = os.urandom(3 * BLOCK)
    publish(other)
    db.session.commit()
    jobs.sweep_replaced()
    assert b"".join([*received, *body.response]) == CONTENT
    assert client.get(path).data == other
    later = clock.now() + queries.REPLACED_FOR + timedelta(seconds=1)
    with clock.replaced(lambda: later):
        jobs.sweep_replaced()
    row = db.session.get(Recording, recording_id, populate_existing=True)
    assert (row.replaced_key, row.replaced_at) == (None, None)
    storage = gateways.current().storage
    assert list(storage.list(f"recordings/{row.interview_id}/published")) == [row.storage_key] != [key]


def test_what_happens_to_a_replaced_file_marks_the_new_one_in_no_way(client, publish):
    first = publish(CONTENT)
    path, key, recording_id = path_of(first), first.storage_key, first.id
    body = client.get(path, buffered=False)
    next(body.response)
    publish(b"other")
    db.session.commit()
    gateways.current().storage.delete(key)
    with pytest.raises(GatewayError):
        list(body.response)
    assert db.session.get(Recording, recording_id, populate_existing=True).damaged_at is None
    assert client.get(path).data == b"other"


def test_paused_players_hold_half_of_the_threads_and_the_others_play_on(client, published, settings):
    path = path_of(published)
    paused = [client.get(path, buffered=False) for _ in range(settings.web_threads // 2)]
    assert {answer.status_code for answer in paused} == {200}
    start = BLOCK + 5
    part = client.get(path, headers={"Range": f"bytes={start}-"})
    assert part.status_code == 206
    assert part.headers["Content-Range"] == f"bytes {start}-{2 * BLOCK - 1}/{len(CONTENT)}"
    assert part.data == CONTENT[start : 2 * BLOCK]
    whole = client.get(path)
    assert whole.status_code == 503
    assert int(whole.headers["Retry-After"]) > 0
    for answer in paused:
        answer.close()
    assert client.get(path, headers={"Range": f"bytes={start}-"}).data == CONTENT[start:]


def test_who_begins_to_play_or_load_it_is_in_the_audit_log_once_an_hour(client, published, owner, outsider):
    path = path_of(published)
    for headers in ({"Range": "bytes=0-9"}, {}, {"Range": "bytes=4-9"}):
        assert client.get(path, headers=headers).status_code in {200, 206}
    client.head(path)
    for person in (owner, outsider):
        assert person.browser.get(path).status_code == 200
    entries = db.session.query(AuditEntry).filter_by(action="recording.fetched").order_by(AuditEntry.number).all()
    assert [entry.member_id for entry in entries] == [None, owner.member.id], "of other organizations nobody is named"
    assert entries[0].details == {"for": "play", "interview": published.interview_id, "media": published.media.value}


def test_a_part_from_the_middle_is_no_new_look(client, published):
    assert client.get(path_of(published), headers={"Range": "bytes=4-9"}).status_code == 206
    assert db.session.query(AuditEntry).filter_by(action="recording.fetched").count() == 0
