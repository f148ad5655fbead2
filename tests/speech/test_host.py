"""One process owns the engines: what its clients get, and what happens when any of the three goes away."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines.exchange import ChildFailed
from app.gateways.speech.host import client as client_module
from app.gateways.speech.host import server as server_module
from app.gateways.speech.host.client import HostAway, SpeechHost
from app.gateways.speech.host.offers import Served
from app.gateways.speech.host.server import Host, host_for
from app.gateways.speech.host.wire import NotOurs, address_of, connected, private_folder

PARROT = """
import os, sys, time
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[1]))
fed = {}
while True:
    try:
        number, kind, *rest = connection.recv()
    except EOFError:
        break
    if kind == "feed":
        fed.setdefault(rest[0], []).append(rest[2])
        connection.send((None, None, ("partial", rest[0], str(len(fed[rest[0]])))))
        continue
    if kind == "die":
        os._exit(1)
    if kind == "sleep":
        time.sleep(rest[0])
    if kind == "unfit":
        connection.send((None, None, ("unfit", "this processor is too old")))
    result = b"".join(fed.get(rest[0], [])) if kind == "finish" else [os.getpid(), *rest]
    connection.send((number, "refused" if kind == "fail" else None, result))
"""
OFFERS = {"parrot": {"en-US": (Served("grey", "/models/grey"),)}}


@dataclass(frozen=True)
class Known:
    """The settings of both sides."""

    data_dir: Path
    secret_key: str = "s" * 32
    speech_host: str = ""


@pytest.fixture
def known(tmp_path) -> Known:
    return Known(tmp_path)


@pytest.fixture
def program(tmp_path) -> Path:
    path = tmp_path / "parrot.py"
    path.write_text(PARROT)
    return path


@pytest.fixture
def start(known, program) -> Iterator[Callable[..., Host]]:
    hosts = []

    def started(settings: Known = known, **options: Any) -> Host:
        host = host_for(settings, programs={"parrot": program}, look=options.get("look", lambda: OFFERS))
        hosts.append(host)
        return host

    yield started
    for host in hosts:
        host.close()


@contextmanager
def client_of(settings: Known) -> Iterator[SpeechHost]:
    host = SpeechHost(settings)
    yield host
    host.close()


@pytest.fixture
def client(known) -> Iterator[SpeechHost]:
    with client_of(known) as host:
        yield host


def until(is_so: Callable[[], Any], patience: float = 20.0) -> Any:
    """Wait for something that happens by itself."""
    end = time.monotonic() + patience
    while not (result := is_so()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return result


def test_two_clients_share_one_engine_process(start, known, client):
    host = start()
    with client_of(known) as other:
        pids = {one.engine("parrot").call("say", 1, timeout=20)[0] for one in (client, other)}
    assert pids == {host.pids()["parrot"]}


def test_a_client_knows_what_the_host_offers(start, client):
    start()
    assert until(client.state) == OFFERS


def test_without_a_host_nothing_is_offered_and_questions_fail_at_once(client):
    began = time.monotonic()
    assert client.state() == {}
    with pytest.raises(HostAway) as failure:
        client.engine("parrot").call("say", 1, timeout=60)
    assert failure.value.retryable
    assert time.monotonic() - began < 10
    assert client.engine("parrot").ask("say", 1, timeout=60) is None
    client.engine("parrot").post("feed", "k", 0, b"x")


def test_a_refusal_reaches_the_client_and_the_engine_goes_on(start, client):
    start()
    line = client.engine("parrot")
    with pytest.raises(ChildFailed, match="refused"):
        line.call("fail", timeout=20)
    assert line.call("say", 1, timeout=20)[1] == 1


def test_an_engine_killed_between_two_questions_is_replaced(start, client):
    host = start()
    line = client.engine("parrot")
    first, _ = line.call("say", 1, timeout=20)
    os.kill(first, signal.SIGKILL)
    second, _ = line.call("say", 2, timeout=20)
    assert second != first
    assert second == host.pids()["parrot"]


def test_an_engine_that_keeps_ending_rests_and_is_not_offered(start, client):
    host = start()
    line = client.engine("parrot")
    assert until(client.state) == OFFERS
    for _ in range(2):
        with pytest.raises(HostAway):
            line.call("die", timeout=20)
    host.look_again()
    until(lambda: client.state() == {})
    with pytest.raises(HostAway, match="cannot be started"):
        line.call("say", 1, timeout=20)


def test_an_engine_that_this_machine_is_too_slow_for_is_not_offered(start, client):
    start()
    assert until(client.state) == OFFERS
    client.engine("parrot").call("unfit", timeout=20)
    until(lambda: client.state() == {})


def test_a_model_that_is_installed_later_is_offered_without_a_restart(start, client):
    installed: dict[str, Any] = {}
    host = start(look=lambda: installed)
    assert client.state() == {}
    installed.update(OFFERS)
    host.look_again()
    until(lambda: client.state() == OFFERS)


def test_a_look_that_fails_changes_nothing(start, client):
    def look() -> Any:
        if fails:
            raise OSError("disk")
        return OFFERS

    fails: list[int] = []
    host = start(look=look)
    fails.append(1)
    host.look_again()
    assert until(client.state) == OFFERS


def test_pieces_from_two_processes_are_one_utterance_and_both_hear_of_it(start, known, client):
    start()
    heard: list[tuple[str, ...]] = []
    heard_too: list[tuple[str, ...]] = []
    with client_of(known) as other:
        first = client.engine("parrot", on_news=lambda *news: heard.append(news))
        second = other.engine("parrot", on_news=lambda *news: heard_too.append(news))
        first.post("feed", "k", 0, b"ab", size=2)
        until(lambda: ("partial", "k", "1") in heard)
        second.post("feed", "k", 1, b"cd", size=2)
        until(lambda: ("partial", "k", "2") in heard and ("partial", "k", "2") in heard_too)
        assert second.call("finish", "k", timeout=20) == b"abcd"
        assert first.pending_bytes == second.pending_bytes == 0


def test_a_client_finds_a_host_that_was_restarted(start, client):
    host = start()
    line = client.engine("parrot")
    assert until(client.state) == OFFERS
    before = line.connection
    host.close()
    until(lambda: client.state() == {})
    start()
    assert until(client.state) == OFFERS
    assert line.call("say", 1, timeout=20)[1] == 1
    assert line.connection is not before


def test_a_question_under_way_when_the_host_ends_fails_and_may_be_tried_again(start, client):
    host = start()
    line = client.engine("parrot")
    failures: list[GatewayError] = []

    def ask() -> None:
        try:
            line.call("sleep", 60, timeout=120)
        except GatewayError as error:
            failures.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    until(host.pids)
    host.close()
    asking.join(20)
    assert [error.retryable for error in failures] == [True]


def test_a_busy_engine_refuses_more_questions_than_it_may_keep(start, client, monkeypatch):
    monkeypatch.setattr(server_module, "MOST_WAITING", 1)
    start()
    line = client.engine("parrot")
    threading.Thread(target=lambda: line.ask("sleep", 5, timeout=30), daemon=True).start()

    def refused() -> bool:
        try:
            line.call("say", 1, timeout=30)
        except GatewayError as error:
            return "too much to do" in error.message and error.retryable
        return False

    until(refused)


def test_pieces_that_a_busy_engine_cannot_take_are_dropped(start, client, monkeypatch):
    monkeypatch.setattr(server_module, "MOST_UNSENT", 10)
    start()
    line = client.engine("parrot")
    line.post("feed", "k", 0, b"x" * 11, size=11)
    line.post("feed", "k", 1, b"y" * 5, size=5)
    assert line.call("finish", "k", timeout=20) == b"y" * 5


def test_an_engine_that_hangs_is_ended_when_a_client_has_waited_in_vain(start, client, monkeypatch):
    monkeypatch.setattr(server_module, "STUCK_AFTER", 0.2)
    start()
    line = client.engine("parrot")
    pid, _ = line.call("say", 1, timeout=20)
    with pytest.raises(GatewayError, match="did not respond within"):
        line.call("sleep", 60, timeout=0.5)
    assert until(lambda: line.ask("say", 2, timeout=20))[0] != pid


def test_an_engine_that_idled_is_not_taken_for_one_that_hangs(start, client, monkeypatch):
    monkeypatch.setattr(server_module, "STUCK_AFTER", 30.0)
    start()
    line = client.engine("parrot")
    pid, _ = line.call("say", 1, timeout=20)
    with pytest.raises(GatewayError, match="did not respond within"):
        line.call("sleep", 1, timeout=0.3)
    assert line.call("say", 2, timeout=20)[0] == pid


def test_a_process_without_the_key_is_refused(start, known):
    start()
    with client_of(Known(known.data_dir, secret_key="t" * 32)) as stranger:
        assert stranger.state() == {}
        with pytest.raises(HostAway):
            stranger.engine("parrot").call("say", 1, timeout=20)


def test_a_host_without_the_key_is_not_asked(known, program):
    host = host_for(Known(known.data_dir, secret_key="t" * 32), programs={"parrot": program}, look=lambda: OFFERS)
    try:
        with pytest.raises((NotOurs, EOFError, OSError)):
            connected(address_of(known), b"k" * 32)
    finally:
        host.close()


def test_a_client_that_sends_what_no_client_sends_leaves_the_others_alone(start, known, client):
    host = start()
    line = client.engine("parrot")
    line.call("say", 1, timeout=20)
    rude = connected(address_of(known), host._key)
    rude.send_bytes(b"no pickle at all")
    quiet = socket.socket(socket.AF_UNIX)
    quiet.connect(str(address_of(known).path))
    assert line.call("say", 2, timeout=20)[1] == 2
    rude.close()
    quiet.close()


def test_over_a_port_it_is_the_same(start, known, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = Known(tmp_path / "elsewhere", speech_host=f"127.0.0.1:{port}")
    start(settings)
    with client_of(settings) as client:
        assert client.engine("parrot").call("say", 1, timeout=20)[1] == 1
        assert client.state() == OFFERS


def test_a_long_data_dir_gets_a_short_socket_path(tmp_path):
    address = address_of(Known(tmp_path / ("x" * 110)))
    assert len(str(address)) <= 103
    folder = private_folder(address)
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.rmdir()


def test_a_folder_that_others_can_open_is_refused(known):
    folder = address_of(known).path.parent
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    with pytest.raises(NotOurs, match="only this user"):
        private_folder(address_of(known))


def test_a_forked_process_connects_by_itself_and_knows_what_its_parent_knew(start, client):
    start()
    line = client.engine("parrot")
    assert until(client.state) == OFFERS
    pid = line.call("say", 1, timeout=20)[0]
    reading, writing = os.pipe()
    forked = os.fork()
    if not forked:
        known_at_once = client.state(wait=0.0) == OFFERS
        answered = line.call("say", 2, timeout=20)
        os.write(writing, f"{known_at_once} {answered}".encode())
        os._exit(0)
    os.close(writing)
    assert os.read(reading, 1_000).decode() == f"True [{pid}, 2]"
    os.waitpid(forked, 0)
    os.close(reading)
    assert line.call("say", 3, timeout=20)[1] == 3


def test_a_host_that_hangs_is_left(start, client, known, program, monkeypatch):
    monkeypatch.setattr(client_module, "PING_PATIENCE", 0.3)
    process = _apart(known, program)
    line = client.engine("parrot")
    try:
        assert until(lambda: line.ask("say", 1, timeout=20))
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)  # it has really stopped
        with pytest.raises(GatewayError):
            line.call("say", 2, timeout=0.3)
        until(lambda: client.state() == {})
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_second_host_takes_over_when_the_first_ends(known, program, client):
    first = _apart(known, program)
    assert until(lambda: client.engine("parrot").ask("say", 1, timeout=20))
    second = _apart(known, program)
    try:
        assert second.stdout.readline().startswith(b"Another speech host serves")
        assert second.poll() is None
        first.kill()
        first.wait()
        assert until(lambda: client.engine("parrot").ask("say", 1, timeout=5))
    finally:
        for process in (first, second):
            process.kill()
            process.wait()
            process.stdout.close()


APART = """
import sys, threading
from pathlib import Path
sys.path.insert(0, {tests!r})
from app.gateways.speech.host.server import only_host, host_for
from tests.speech.test_host import OFFERS, Known
known = Known(Path({data_dir!r}))
from app.gateways.speech.host.wire import address_of
with only_host(address_of(known), is_over=lambda: False, say=lambda words: print(words, flush=True)):
    host_for(known, programs={{"parrot": Path({program!r})}}, look=lambda: OFFERS)
    threading.Event().wait()
"""


def _apart(known: Known, program: Path) -> "subprocess.Popen[bytes]":
    root = str(Path(__file__).parents[2])
    text = textwrap.dedent(APART).format(tests=root, data_dir=str(known.data_dir), program=str(program))
    return subprocess.Popen([sys.executable, "-c", text], cwd=root, stdout=subprocess.PIPE)
