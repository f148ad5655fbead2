"""Downloads of logos and videos: vetted redirects, caps on bytes and time, nothing decoded."""

import io

import pytest

from app.gateways.outbound import FetchLimits, Unreachable

from .receiver import Receiver, hangs, says, writes

LIMITS = FetchLimits(max_bytes=100_000, seconds=3)


def fetch(client, url, limits=LIMITS):
    sink = io.BytesIO()
    return client.fetch(url, sink, limits=limits), sink.getvalue()


def failure(client, url, limits=LIMITS):
    with pytest.raises(Unreachable) as caught:
        fetch(client, url, limits)
    return caught.value


def test_a_file_arrives_byte_for_byte_with_its_type(make_client, receiver):
    content = bytes(range(256)) * 300
    receiver.script = says(200, content, Content_Type="Image/PNG; charset=x")
    found, got = fetch(make_client(), receiver.url)
    assert got == content
    assert (found.content_type, found.size, found.url) == ("image/png", len(content), receiver.url)


def test_three_redirects_are_followed_and_a_fourth_is_not(make_client, receiver):
    steps = [
        says(302, Location="/a"),
        says(301, Location=f"http://127.0.0.1:{receiver.port}/b"),
        says(307, Location="c"),
    ]
    receiver.scripts = [*steps, says(200, b"there")]
    found, got = fetch(make_client(), receiver.url)
    assert got == b"there"
    assert [request.path for request in receiver.requests] == ["/hook", "/a", "/b", "/c"]
    assert found.url.endswith("/c")
    receiver.script = says(302, Location="/again")
    assert failure(make_client(), receiver.url).kind == "http"
    assert len(receiver.requests) == 8


@pytest.mark.parametrize(
    "place",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://user@127.0.0.1/",
        "http://[::ffff:169.254.169.254]/",
        "//0x7f.1/",
        "http://127.0.0.1:22/",
        "http://inside.example.com/",
    ],
)
def test_a_redirect_to_a_forbidden_place_is_refused(make_client, receiver, place):
    receiver.script = says(302, Location=place)
    caught = failure(make_client(names={"inside.example.com": ["192.168.1.1"]}), receiver.url)
    assert caught.kind == "forbidden_address"
    assert caught.refused
    assert len(receiver.requests) == 1


def test_a_redirect_may_not_leave_https_where_http_is_not_allowed(make_client, receiver):
    client = make_client(OUTBOUND_HTTP="off")
    assert failure(client, receiver.url).kind == "forbidden_address"
    assert receiver.connections == 0


def test_a_file_may_have_exactly_the_limit(make_client, receiver):
    receiver.script = says(200, b"x" * 100_000)
    assert fetch(make_client(), receiver.url)[0].size == 100_000


def test_a_larger_file_is_refused_by_its_head_or_while_it_comes(make_client, receiver):
    receiver.script = writes(b"HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n", then="hang")
    assert failure(make_client(), receiver.url).kind == "too_large"
    receiver.script = writes(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 50_000] * 3, then="hang")
    assert failure(make_client(), receiver.url).kind == "too_large"


def test_a_truncated_file_is_no_file(make_client, receiver):
    receiver.script = writes(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
    assert failure(make_client(), receiver.url).kind == "connect"


@pytest.mark.parametrize("status", [204, 206, 304, 401, 404, 500])
def test_another_status_is_no_file(make_client, receiver, status):
    receiver.script = says(status)
    assert str(status) in failure(make_client(), receiver.url).message


def test_a_compressed_file_is_refused(make_client, receiver):
    receiver.script = says(200, b"\x1f\x8b", Content_Encoding="gzip")
    assert failure(make_client(), receiver.url).kind == "http"


def test_a_file_that_comes_too_slowly_is_given_up(make_client, receiver):
    receiver.script = writes(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 40, every=0.1)
    slow = FetchLimits(max_bytes=1000, seconds=5, min_rate=1000, grace=0.3)
    caught = failure(make_client(), receiver.url, slow)
    assert caught.kind == "timeout"
    assert "1000 bytes per second" in caught.message


def test_the_whole_download_has_a_deadline(make_client, receiver):
    receiver.script = hangs
    assert failure(make_client(), receiver.url, FetchLimits(max_bytes=10, seconds=0.3)).kind == "timeout"


def test_nothing_is_kept_in_memory(make_client, receiver):
    import tracemalloc

    class Hole(io.RawIOBase):
        def write(self, piece):
            return len(piece)

    receiver.script = writes(b"HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n", *[b"v" * 100_000] * 200)
    tracemalloc.start()
    found = make_client().fetch(receiver.url, Hole(), limits=FetchLimits(max_bytes=100_000_000, seconds=30))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.size == 20_000_000
    assert peak < 5_000_000


def test_the_platform_says_who_is_asking(make_client):
    with Receiver() as receiver:
        fetch(make_client(), receiver.url)
        headers = receiver.requests[0].headers
        assert headers["User-Agent"].startswith("Parley")
        assert headers["Accept-Encoding"] == "identity"
