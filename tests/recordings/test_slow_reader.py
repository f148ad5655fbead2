"""A player that reads slowly, on the real web server: it gets no more than what was already on its way."""

import socket
import threading
import time
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from app import gateways
from app.core.db import db
from app.interviews.recordings import actions, queries
from app.interviews.recordings.media import keep
from app.interviews.recordings.models import Media
from app.operations.processes.web import WATERMARK, serve, server_for
from tests.people import person
from tests.recordings.conftest import an_interview

SIZE = 24 * 1024 * 1024
IN_FLIGHT = 64 * 1024


@pytest.fixture
def published(own_app, tmp_path):
    """An interview with a large recording: (interview id, path of its address)."""
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(SIZE))
    with own_app.app_context():
        interview = an_interview(person(own_app, "owner@slow.example", organization="Slow Ltd", role="admin"))
        interview_id, organization_id = interview.id, interview.organization_id
        db.session.commit()
        file = keep(path, Media.VIDEO, interview_id=interview_id, duration=60, storage=gateways.current().storage)
        actions.publish(interview_id, organization_id=organization_id, file=file)
        db.session.commit()
        with own_app.test_request_context():
            url = queries.urls_for(interview_id)[Media.VIDEO]
        db.session.remove()
    return interview_id, urlsplit(url).path


@pytest.fixture
def server(own_app, settings, free_port):
    stopping = threading.Event()
    waitress = server_for(own_app, replace(settings, host="127.0.0.1", port=free_port, web_threads=2))
    loop = threading.Thread(target=serve, args=(waitress,), kwargs={"until": stopping.is_set, "patience": 1.0})
    loop.start()
    yield free_port
    stopping.set()
    loop.join(20)
    assert not loop.is_alive()


def test_revocation_ends_a_stream_within_seconds_and_a_few_buffers(own_app, published, server):
    interview_id, path = published
    player = socket.socket()
    player.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, IN_FLIGHT)
    player.settimeout(10)
    player.connect(("127.0.0.1", server))
    player.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    received = 0
    for _ in range(20):  # it reads, and slowly
        received += len(player.recv(16 * 1024))
        time.sleep(0.02)
    with own_app.app_context():
        actions.revoke(interview_id)
        db.session.commit()
    time.sleep(2.1)
    began, after = time.monotonic(), 0
    while piece := player.recv(256 * 1024):
        after += len(piece)
    player.close()
    assert received > 0
    assert time.monotonic() - began < 5
    assert received + after < SIZE
    assert after < 16 * WATERMARK  # what lay in our buffer, the kernel's and the player's own
