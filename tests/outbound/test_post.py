"""One POST to a receiver: exact bytes, hard limits, and an error class for everything that can go wrong."""

import asyncio
import socket
import time
import tracemalloc

import pytest

from app.gateways.outbound import Answer, SendLimits, Unreachable

from .receiver import hangs, says, writes

QUICK = SendLimits(connect=0.6, total=0.8, body=0.3)


def post(client, url, body=b'{"a": 1}', headers=None) -> Answer:
    return asyncio.run(client.post(url, body=body, headers=headers or {"Content-Type": "application/json"}))


def failure(client, url) -> Unreachable:
    with pytest.raises(Unreachable) as caught:
        post(client, url)
    return caught.value


def test_the_request_has_exactly_these_bytes(make_client, receiver):
    answer = post(make_client(), receiver.url + "?x=%20y")
    head = (
        f"POST /hook?x=%20y HTTP/1.1\r\nHost: 127.0.0.1:{receiver.port}\r\nContent-Type: application/json\r\n"
        "Content-Length: 8\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n"
    )
    assert receiver.requests[0].raw == head.encode() + b'{"a": 1}'
    assert (answer.status, answer.body, answer.too_large, answer.address) == (200, b"", False, "127.0.0.1")


def test_each_request_has_a_connection_of_its_own(make_client, receiver):
    client = make_client()
    for _ in range(3):
        post(client, receiver.url)
    assert receiver.connections == len(receiver.requests) == 3


def test_the_name_serves_the_host_header_and_the_address_the_connection(make_client, receiver):
    client = make_client(names={"hooks.example.com": ["127.0.0.1"]})
    post(client, f"http://hooks.example.com:{receiver.port}/x")
    assert receiver.requests[0].headers["Host"] == f"hooks.example.com:{receiver.port}"


def test_a_name_is_resolved_once_so_that_rebinding_changes_nothing(tmp_path, receiver):
    from app.gateways.outbound import Outbound
    from app.settings import Settings

    asked = []

    def rebinding(name):
        asked.append(name)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    settings = Settings.from_env({"DATA_DIR": str(tmp_path), "SECRET_KEY": "x" * 32})
    post(Outbound(settings, names=rebinding), f"http://hooks.example.com:{receiver.port}/")
    assert asked == ["hooks.example.com"]
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_is_not_followed(make_client, receiver, status):
    for place in ("http://169.254.169.254/", "file:///etc/passwd", receiver.url):
        receiver.script = says(status, Location=place)
        assert post(make_client(), receiver.url).status == status
    assert len(receiver.requests) == 3


def test_proxy_variables_and_netrc_are_ignored(make_client, receiver, monkeypatch, tmp_path):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login someone password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert post(make_client(), receiver.url).status == 200
    assert "Authorization" not in receiver.requests[0].headers


def test_at_most_16_kib_of_the_answer_are_read_and_nothing_is_decoded(make_client, receiver):
    receiver.script = says(200, b"x" * 16_384)
    assert post(make_client(), receiver.url).too_large is False
    receiver.script = says(200, b"x" * 16_385)
    answer = post(make_client(), receiver.url)
    assert (len(answer.body), answer.too_large) == (16_384, True)
    receiver.script = says(200, b"\x1f\x8b not really gzip \x00", Content_Encoding="gzip")
    assert post(make_client(), receiver.url).body == b"\x1f\x8b not really gzip \x00"


def test_an_endless_answer_costs_little_memory(make_client, receiver):
    receiver.script = writes(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n", *[b"y" * 65_536] * 400)
    client = make_client(limits=QUICK)
    tracemalloc.start()
    answer = post(client, receiver.url)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (answer.status, len(answer.body), answer.too_large) == (200, 16_384, True)
    assert peak < 10_000_000


def test_a_success_counts_when_its_head_is_there_whatever_the_body_does(make_client, receiver):
    client = make_client(limits=QUICK)
    for script in (
        writes(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhal", then="reset"),
        writes(b"HTTP/1.1 202 OK\r\nContent-Length: 50\r\n\r\n", *[b"d"] * 50, every=0.1),
        writes(b"HTTP/1.1 204 No Content\r\n\r\n"),
        writes(b"HTTP/1.1 200 OK\r\n\r\nuntil the end"),
        writes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        writes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"zz\r\nbroken", every=0.1),
        writes(b"HTTP/1.0 200 OK\r\n\r\n"),
    ):
        receiver.script = script
        assert 200 <= post(client, receiver.url).status <= 299


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (writes(then="reset"), "connect"),
        (writes(), "connect"),
        (writes(b"HTTP/1.1 200 OK\r\nContent-Le", then="reset"), "connect"),
        (writes(b"HTTP/1.1 200 OK\r\nContent-Le"), "connect"),
        (writes(b"\x00\x01\x02 garbage\r\n\r\n"), "http"),
        (writes(b"SSH-2.0-OpenSSH_9\r\n"), "http"),
        (writes(b"HTTP/9.9 abc\r\n\r\n"), "http"),
        (writes(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"), "http"),
        (writes(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 20_000 + b"\r\n\r\n"), "http"),
        (writes(b"HTTP/1.1 200 OK\r\n", *[b"X-%d: %s\r\n" % (n, b"a" * 900) for n in range(4000)]), "http"),
        (writes(*[b"HTTP/1.1 100 Continue\r\n\r\n"] * 200), "http"),
        (writes(b"HTTP/1.1 102 Processing\r\n\r\n", then="hang"), "timeout"),
        (writes(*[bytes([one]) for one in b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"], every=0.1), "timeout"),
        (writes(b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * 50, every=0.05), "timeout"),
        (hangs, "timeout"),
    ],
)
def test_a_broken_answer_has_an_error_class_and_ends_in_time(make_client, receiver, script, kind):
    receiver.script = script
    began = time.monotonic()
    assert failure(make_client(limits=QUICK), receiver.url).kind == kind
    assert time.monotonic() - began < QUICK.total + 0.5


def test_interim_answers_are_read_over(make_client, receiver):
    receiver.script = writes(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"
        b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"
    )
    answer = post(make_client(), receiver.url)
    assert (answer.status, answer.body) == (201, b"ok")


def test_switching_protocols_is_no_success(make_client, receiver):
    receiver.script = writes(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
    assert post(make_client(limits=QUICK), receiver.url).status == 101


def test_a_closed_port_is_a_failed_connection(make_client, free_port):
    caught = failure(make_client(), f"http://127.0.0.1:{free_port}/")
    assert (caught.kind, caught.address) == ("connect", "127.0.0.1")


def test_the_next_address_is_tried_when_one_does_not_answer(make_client, receiver):
    client = make_client(names={"two.example.com": ["127.0.0.2", "127.0.0.1"]})
    from pytest_socket import socket_allow_hosts

    socket_allow_hosts(["127.0.0.1", "127.0.0.2"])
    assert post(client, f"http://two.example.com:{receiver.port}/").address == "127.0.0.1"


def test_an_unknown_name_and_a_silent_name_server_are_dns_failures(make_client):
    assert failure(make_client(), "http://nowhere.example.com/").kind == "dns"
    assert failure(make_client(names={"empty.example.com": []}), "http://empty.example.com/").kind == "dns"

    from app.gateways.outbound import Outbound
    from app.settings import Settings

    limits = SendLimits(resolve=0.2)
    settings = Settings.from_env({"SECRET_KEY": "x" * 32, "DATA_DIR": "unused"})
    slow = Outbound(settings, limits=limits, names=lambda _name: time.sleep(0.6) or ["127.0.0.1"])
    assert failure(slow, "http://slow.example.com/").kind == "dns"


def test_a_full_backlog_counts_as_a_time_out(make_client):
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        caught = failure(make_client(limits=QUICK), f"http://127.0.0.1:{full.getsockname()[1]}/")
        assert caught.kind == "timeout"
        for one in waiting:
            one.close()


def test_calls_of_many_threads_and_tasks_do_not_disturb_each_other(make_client, receiver):
    client = make_client()

    async def many():
        return await asyncio.gather(
            *(client.post(f"{receiver.url}/{n}", body=b"%d" % n, headers={"X-Number": str(n)}) for n in range(100))
        )

    assert {answer.status for answer in asyncio.run(many())} == {200}
    assert sorted(int(body) for body in receiver.bodies) == list(range(100))
    assert all(request.path == f"/hook/{request.body.decode()}" for request in receiver.requests)


def test_the_guards_exception_is_no_oserror():
    assert not issubclass(Unreachable, OSError)


@pytest.mark.parametrize(("header", "found"), [("7", "7"), (None, None)])
def test_retry_after_is_handed_on(make_client, receiver, header, found):
    receiver.script = says(503, **({"Retry_After": header} if header else {}))
    assert post(make_client(), receiver.url).retry_after == found
