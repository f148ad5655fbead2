"""The web server as a process: it survives slow clients, says what is wrong with its port, and cuts nobody off."""

import http.client
import json
import signal
import socket

import pytest

from app.operations.processes import PortTaken, check_port
from app.operations.processes.web import serve, server_for
from app.settings import Settings

from .conftest import until
from .small import application


@pytest.fixture
def own_web(start):
    """A server that the test may stop."""
    program = start("tests.processes.small", "web")
    until(program.is_up)
    return program


@pytest.fixture(scope="module")
def web(start_once):
    """The server that the tests of this file share."""
    program = start_once("tests.processes.small", "web")
    until(program.is_up)
    return program


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def test_forty_slow_clients_of_each_kind_keep_nobody_out(web):
    slow = []
    for _ in range(40):
        header = dial(web.port)
        header.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        body = dial(web.port)
        body.sendall(b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 100)
        idle = dial(web.port)
        slow += [header, body, idle]
    for _ in range(5):
        assert web.get("/healthz", timeout=3) == b"ok"
    for connection in slow:
        connection.close()


def test_readers_that_do_not_read_hold_little_memory_and_no_one_up(web):
    slow = []
    for _ in range(8):
        connection = dial(web.port)
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        slow.append(connection)
    assert web.get("/healthz", timeout=3) == b"ok"
    for connection in slow:
        connection.close()


def test_a_body_beyond_the_limit_is_refused_before_it_is_read(web):
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=10)
    connection.putrequest("POST", "/size")
    connection.putheader("Content-Length", str(10**9))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    ("header", "code", "words"),
    [
        ("Content-Length: 1000000000", 413, "at most 2 MiB"),
        ("Content-Length: many", 400, "Content-Length"),
        ("Content-Length: -1", 400, "Content-Length"),
        ("Transfer-Encoding: gzip", 501, "Transfer-Encoding"),
        (f"X-Long: {'a' * 70_000}", 431, "max_header"),
    ],
)
def test_what_the_server_itself_refuses_is_json_under_v1(web, header, code, words):
    for path, kind in (("/v1/interview-flows", "application/json"), ("/size", "text/plain")):
        connection = dial(web.port)
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n".encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        body = answer.read()
        connection.close()
        assert (answer.status, answer.headers.get_content_type()) == (code, kind)
        if kind == "application/json":
            shape = json.loads(body)
            assert set(shape) == {"code", "status", "message"}
            assert (shape["code"], words in shape["message"]) == (code, True)


@pytest.mark.parametrize(
    "lines",
    [b"get /v1/ping HTTP/1.1", b"GET /v1/pi ng HTTP/1.1", b"\x16\x03\x01", b"GET /v1/ping HTTP/1.1\r\nX A: a"],
    ids=["method", "address", "TLS", "header"],
)
def test_what_is_no_request_at_all_is_answered_too(web, lines):
    with dial(web.port) as connection:
        connection.sendall(lines + b"\r\n\r\n")
        assert connection.recv(100).split()[1] == b"400"


def test_what_was_begun_is_answered_before_it_stops(own_web):
    asking, probe = dial(own_web.port), dial(own_web.port)
    asking.sendall(b"GET /slow/15 HTTP/1.1\r\nHost: x\r\n\r\n")
    probe.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")  # read after the slow one, so that one is inside
    assert probe.recv(100).startswith(b"HTTP/1.1 200")
    own_web.process.send_signal(signal.SIGTERM)
    answer = http.client.HTTPResponse(asking)
    answer.begin()
    assert answer.read() == b"done"
    assert own_web.process.wait(25) == 0
    for connection in (asking, probe):
        connection.close()
    with pytest.raises(OSError, match="refused"):
        dial(own_web.port)


def test_who_is_through_to_the_kernel_is_answered_before_it_stops(tmp_path, caplog):
    """They have connected and asked, and the process was told to stop before it looked at them."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = Settings.from_env({"DATA_DIR": str(tmp_path), "HOST": "127.0.0.1", "PORT": str(port)})
    server = server_for(application(settings), settings)
    asking = [dial(port) for _ in range(20)]
    for connection in asking:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    serve(server, until=lambda: True)
    for connection in asking:
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert (answer.status, answer.headers["Connection"], answer.read()) == (200, "close", b"ok")
        connection.close()
    assert not [one for one in caplog.records if one.levelname == "ERROR"]  # a thread that could not wake the loop


def test_ctrl_c_stops_it_too(own_web):
    assert own_web.end(signal.SIGINT) == 0


def test_a_port_in_use_is_named_with_the_way_out(web):
    with pytest.raises(PortTaken, match=rf"Port {web.port} .* in use.*PORT={web.port + 1}"):
        check_port("127.0.0.1", web.port)


def test_a_port_in_use_ends_a_second_server_with_that_sentence(web, start):
    second = start("tests.processes.small", "web", PORT=str(web.port))
    assert second.process.wait(30) != 0
    assert f"Port {web.port} on 127.0.0.1 is in use" in second.output.read_text()


def test_an_address_of_another_machine_is_no_port_problem():
    with pytest.raises(PortTaken, match="Check HOST and PORT"):
        check_port("192.0.2.1", 8000)
