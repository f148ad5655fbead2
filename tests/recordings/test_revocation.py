"""Revocation ends access first, destroys the bytes then, and is finished by the sweep when that fails."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app import gateways
from app.core import clock
from app.core.db import db
from app.core.errors import GatewayError
from app.interviews import actions as interviews
from app.interviews.jobs import revocation as jobs
from app.interviews.recordings import actions, queries
from app.interviews.recordings.models import Media, Revocation
from tests.recordings.conftest import send


def keys(interview_id):
    return list(gateways.current().storage.list(queries.prefix_of(interview_id)))


def revoke(interview_id):
    """What the edge does."""
    actions.revoke(interview_id)
    db.session.commit()
    actions.destroy(interview_id, storage=gateways.current().storage)
    actions.bytes_gone(interview_id)
    db.session.commit()


class Failing:
    """A storage that cannot delete."""

    def delete_prefix(self, prefix):
        raise GatewayError("the storage is away", retryable=True)


def test_everything_that_was_recorded_is_destroyed(interview, open_run, publish):
    interview_id = interview.id
    open_run()
    send(interview_id, b"chunk")
    publish(b"published")
    assert len(keys(interview_id)) == 2
    revoke(interview_id)
    assert keys(interview_id) == []
    assert queries.is_revoked(interview_id)
    assert queries.urls_for_many([interview_id]) == {}
    assert queries.recording_of(interview_id, Media.AUDIO) is None


def test_it_may_be_repeated(interview, publish):
    interview_id = interview.id
    publish(b"published")
    revoke(interview_id)
    first = db.session.get(Revocation, interview_id).revoked_at
    db.session.commit()
    revoke(interview_id)
    assert db.session.get(Revocation, interview_id).revoked_at == first


def test_when_the_bytes_cannot_be_destroyed_access_is_off_and_a_repeat_succeeds(interview, publish):
    interview_id = interview.id
    publish(b"published")
    actions.revoke(interview_id)
    db.session.commit()
    with pytest.raises(GatewayError):
        actions.destroy(interview_id, storage=Failing())
    assert queries.urls_for(interview_id) == {}
    assert queries.unfinished_revocations() == [interview_id]
    db.session.commit()
    assert len(keys(interview_id)) == 1
    revoke(interview_id)
    assert keys(interview_id) == []
    assert queries.unfinished_revocations() == []


def test_the_sweep_finishes_what_failed_and_looks_again_later(app, interview, publish):
    interview_id = interview.id
    publish(b"published")
    actions.revoke(interview_id)
    db.session.commit()
    assert jobs.sweep() == 1
    assert keys(interview_id) == []
    assert jobs.sweep() == 0
    db.session.commit()
    gateways.current().storage.put(f"{queries.prefix_of(interview_id)}/late", b"written by a late job")
    later = clock.now() + queries.SETTLES_AFTER + timedelta(minutes=1)
    with clock.replaced(lambda: later):
        assert jobs.sweep() == 1
        assert keys(interview_id) == []
        assert jobs.sweep() == 0


def test_one_that_fails_does_not_keep_the_sweep_from_the_others(app, interview):
    actions.revoke(interview.id)
    db.session.commit()
    before = app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(before, storage=Failing())
    try:
        assert jobs.sweep() == 0
    finally:
        app.extensions["parley.gateways"] = before
    assert queries.unfinished_revocations() == [interview.id]


def test_nothing_is_published_any_more(interview, publish):
    revoke(interview.id)
    assert publish(b"late file") is None


def test_what_a_talk_that_goes_on_records_is_destroyed_when_it_is_over(interview, open_run):
    interviews.begin(interview)
    open_run()
    assert not interviews.revoke_recordings(interview)
    db.session.commit()
    send(interview.id, b"later in the talk")
    assert (jobs.sweep(), len(keys(interview.id))) == (0, 1)
    interviews.submit(interview)
    db.session.commit()
    assert (jobs.sweep(), keys(interview.id)) == (1, [])


def test_a_second_publication_replaces_the_first_in_its_place(interview, publish):
    first = publish(b"quick file")
    first_id, url = first.id, queries.urls_for(interview.id)[Media.AUDIO]
    second = publish(b"lasting file")
    assert second.id == first_id
    assert second.size == len(b"lasting file")
    assert queries.urls_for(interview.id)[Media.AUDIO].split("/")[4] == url.split("/")[4]
