"""Answers spliced from fragments are ordinary gzip members, whoever reads them."""

import gzip
import json
import shutil
import subprocess
import tempfile
import threading
import zlib
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import requests
from flask import Flask
from hypothesis import given, settings
from hypothesis import strategies as st

from app.web.body_files import DiskFile
from app.web.json_splice import AT_ONCE, SHORT, combined, gzipped, inflate, make_fragment, spliced

LONG = json.dumps({"words": [{"word": f"w{n}", "start": n / 7} for n in range(9000)]}).encode()
PARTS = [
    b'{"a":',
    make_fragment(LONG),
    b',"b":',
    make_fragment(b'"text"'),
    b"," + b'"c":"' + b"x" * 200_000 + b'"',
    b"}",
]
WHOLE = b'{"a":' + LONG + b',"b":"text",' + b'"c":"' + b"x" * 200_000 + b'"' + b"}"


@given(first=st.binary(max_size=400), second=st.binary(max_size=400))
def test_checksums_are_put_together_as_zlib_does(first, second):
    assert combined(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


@settings(deadline=None)
@given(parts=st.lists(st.tuples(st.booleans(), st.binary(max_size=3000)), max_size=12))
def test_any_mix_of_parts_is_one_valid_member(parts):
    pieces = gzipped([make_fragment(raw) if is_kept else raw for is_kept, raw in parts])
    whole = b"".join(raw for _, raw in parts)
    assert gzip.decompress(b"".join(pieces)) == whole
    reader = zlib.decompressobj(31)
    assert reader.decompress(b"".join(pieces)) == whole
    assert reader.eof
    assert reader.unused_data == b""


def test_a_fragment_gives_its_bytes_back():
    assert inflate(make_fragment(LONG)) == LONG
    assert inflate(make_fragment(b"")) == b""


@pytest.mark.parametrize("accepts_gzip", [True, False])
def test_the_answer_has_its_length_and_says_what_it_depends_on(accepts_gzip):
    with Flask("x").test_request_context():
        response = spliced(PARTS, accepts_gzip=accepts_gzip)
    body = b"".join(response.iter_encoded())
    assert response.headers["Content-Length"] == str(len(body))
    assert response.headers["Vary"] == "Accept-Encoding"
    assert response.headers.get("Content-Encoding") == ("gzip" if accepts_gzip else None)
    assert (gzip.decompress(body) if accepts_gzip else body) == WHOLE


def test_only_a_body_that_the_server_cannot_keep_at_once_becomes_a_file():
    with Flask("x").test_request_context():
        for length, is_file in ((SHORT, False), (SHORT + 1, True)):
            response = spliced([b" " * (length - 1), b" "], accepts_gzip=False)
            assert response.direct_passthrough is is_file
            assert b"".join(response.iter_encoded()) == b" " * length
            response.close()


def _long_body():
    long = b"[" + b" " * AT_ONCE + b"]"
    with Flask("x").test_request_context():
        response = spliced([long], accepts_gzip=False)
    return response, response.direct_passthrough, b"".join(response.iter_encoded()) == long


def test_a_long_body_waits_on_the_disk():
    before = DiskFile._waiting
    response, is_file, whole = _long_body()
    assert is_file
    assert whole
    assert DiskFile._waiting == before + AT_ONCE + 2
    response.close()
    assert DiskFile._waiting == before


def _full(_length):
    return False


def _broken():
    raise OSError


@pytest.mark.parametrize(
    ("where", "name", "instead"), [(DiskFile, "has_room", _full), (tempfile, "TemporaryFile", _broken)]
)
def test_a_long_body_without_room_on_the_disk_goes_out_piece_by_piece(monkeypatch, where, name, instead):
    monkeypatch.setattr(where, name, instead)
    _response, is_file, whole = _long_body()
    assert not is_file
    assert whole


@pytest.fixture(scope="module")
def served():
    body = b"".join(gzipped(PARTS))

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_requests_reads_it(served):
    assert requests.get(served, timeout=10).content == WHOLE


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_reads_it(served):
    got = subprocess.run(
        ["curl", "--silent", "--compressed", "--noproxy", "*", served], capture_output=True, timeout=20, check=True
    )
    assert got.stdout == WHOLE


@pytest.mark.skipif(shutil.which("gzip") is None, reason="gzip is not installed")
def test_gzip_finds_no_fault_in_it():
    subprocess.run(["gzip", "--test"], input=b"".join(gzipped(PARTS)), timeout=20, check=True)
