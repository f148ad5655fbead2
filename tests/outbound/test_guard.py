"""Which addresses may be called: the deny list, the exemptions, and what no exemption reaches."""

import asyncio
import ipaddress

import pytest
from pytest_socket import socket_allow_hosts

from app.gateways.outbound import Unreachable
from app.gateways.outbound.guard import Guard, is_ours, is_public, listens_locally
from app.settings import Settings

from .hostile import BAD_ADDRESS, BAD_FORM, GOOD_ADDRESS
from .receiver import Receiver


def guard(tmp_path, **variables):
    return Guard(Settings.from_env({"DATA_DIR": str(tmp_path), "SECRET_KEY": "guard-" * 6, **variables}))


PUBLIC = {"APP_URL": "https://parley.example.com", "HOST": "0.0.0.0"}


@pytest.mark.parametrize("address", BAD_ADDRESS)
def test_a_denied_address_is_refused(address, tmp_path):
    assert guard(tmp_path, **PUBLIC).refusal(address)


@pytest.mark.parametrize("address", GOOD_ADDRESS)
def test_a_public_address_passes_the_list(address):
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("text", ["", "example.com", "127.1", "0x7f000001", "fe80::1%eth0 x", "1.2.3.4\n"])
def test_what_is_no_address_is_refused(text, tmp_path):
    assert guard(tmp_path, **PUBLIC).refusal(text)


def test_loopback_may_be_called_only_while_nobody_else_reaches_the_platform(tmp_path):
    assert guard(tmp_path).refusal("127.0.0.1") is None
    assert guard(tmp_path).refusal("::1") is None
    assert guard(tmp_path).refusal("10.0.0.1")
    for variables in ({"HOST": "0.0.0.0"}, {"APP_URL": "https://parley.example.com"}, {"HOST": "192.168.1.5"}):
        assert guard(tmp_path, **variables).refusal("127.0.0.1"), variables


def test_listening_locally_is_read_from_host_and_address(tmp_path):
    def local(**variables):
        return listens_locally(Settings.from_env({"DATA_DIR": str(tmp_path), "SECRET_KEY": "x" * 32, **variables}))

    assert local()
    assert local(HOST="localhost", APP_URL="http://localhost:8000")
    assert local(HOST="::1", APP_URL="http://[::1]:8000")
    assert not local(HOST="0.0.0.0", APP_URL="http://127.0.0.1:8000")
    assert not local(HOST="127.0.0.1", APP_URL="https://interviews.example.org")


def test_named_networks_are_exempt_but_clouds_never(tmp_path):
    allowing = guard(tmp_path, **PUBLIC, OUTBOUND_ALLOW="10.1.0.0/16,169.254.0.0/16,fd00::/8,::ffff:0:0/96")
    assert allowing.refusal("10.1.2.3") is None
    assert allowing.refusal("fd00::7") is None
    assert allowing.refusal("10.2.0.1")
    for address in ("169.254.169.254", "169.254.170.2", "fd00:ec2::254", "::ffff:169.254.169.254"):
        assert allowing.refusal(address) == "it belongs to a cloud platform", address


def test_the_platforms_own_public_address_is_refused(make_client):
    socket_allow_hosts(["127.0.0.1", "8.8.8.8"])
    client = make_client(
        {"me.example.com": ["8.8.8.8"], "a.example.com": ["8.8.8.8"]}, APP_URL="https://me.example.com"
    )
    with pytest.raises(Unreachable, match="platform's own"):
        asyncio.run(client.post("https://a.example.com/", body=b"", headers={}))


def test_an_address_of_this_machine_is_known_without_a_packet():
    assert is_ours(ipaddress.ip_address("127.0.0.1"))


def test_no_hostile_address_is_ever_connected_to(make_client):
    """The whole corpus, as literals and as answers of a name server, against a listener on every local address."""
    with Receiver(host="127.0.0.1") as listener:
        names = {f"n{number}.example.com": [address] for number, address in enumerate(BAD_ADDRESS)}
        names["mixed.example.com"] = ["8.8.8.8", "127.0.0.1"]
        names["many.example.com"] = ["1.1.1.1"] * 300 + ["10.0.0.1"]
        client = make_client(names=names, HOST="0.0.0.0", APP_URL="http://parley.example.com")
        bracketed = [f"[{address}]" if ":" in address else address for address in BAD_ADDRESS]
        urls = [f"http://{host}:{listener.port}/" for host in (*bracketed, *names)] + BAD_FORM

        async def attempt(url):
            with pytest.raises(Unreachable) as refusal:
                await client.post(url, body=b"{}", headers={})
            return refusal.value.kind

        async def attempt_all():
            return await asyncio.gather(*(attempt(url) for url in urls))

        kinds = asyncio.run(attempt_all())
        assert len(urls) >= 250
        assert set(kinds) == {"forbidden_address"}, [
            u for u, k in zip(urls, kinds, strict=True) if k != "forbidden_address"
        ]
        assert listener.connections == 0


def test_where_a_connection_really_ended_is_looked_at_before_a_byte_is_sent(make_client, receiver, monkeypatch):
    """A vetted address may lead elsewhere after all: a translating network, a hooked system call."""
    socket_allow_hosts(["127.0.0.1", "8.8.8.8"])  # its route is asked for, without a packet
    connect = asyncio.selector_events.BaseSelectorEventLoop.sock_connect

    async def elsewhere(loop, sock, _address):
        await connect(loop, sock, ("127.0.0.1", receiver.port))

    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", elsewhere)
    client = make_client({"a.example.com": ["8.8.8.8"]}, **PUBLIC, OUTBOUND_HTTP="on")
    with pytest.raises(Unreachable, match="the peer is not allowed") as refusal:
        asyncio.run(client.post("http://a.example.com/", body=b"secret", headers={}))
    assert refusal.value.kind == "forbidden_address"
    assert not receiver.requests
