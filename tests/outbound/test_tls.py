"""TLS: the certificate must be good for the name, and a bad one is a class of its own."""

import asyncio
import time

import pytest

from app.gateways.outbound import SendLimits, Unreachable

from .certificates import Authority
from .receiver import Receiver


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"))


def post(client, url):
    return asyncio.run(client.post(url, body=b"{}", headers={}))


def test_a_good_certificate_of_the_name_is_accepted(make_client, authority):
    with Receiver(tls=authority.server("hooks.example.com")) as receiver:
        client = make_client(names={"hooks.example.com": ["127.0.0.1"]}, tls=authority.trusted())
        assert post(client, f"https://hooks.example.com:{receiver.port}/").status == 200


def test_a_good_certificate_of_an_address_is_accepted(make_client, authority):
    with Receiver(tls=authority.server("127.0.0.1")) as receiver:
        assert post(make_client(tls=authority.trusted()), receiver.url).status == 200


@pytest.mark.parametrize(
    "certificate",
    [
        {"name": "hooks.example.com", "days": -1},
        {"name": "hooks.example.com", "self_signed": True},
        {"name": "other.example.com"},
    ],
)
def test_a_bad_certificate_is_a_tls_failure(make_client, authority, certificate):
    name = certificate["name"]
    options = {key: value for key, value in certificate.items() if key != "name"}
    with Receiver(tls=authority.server(name, **options)) as receiver:
        client = make_client(names={"hooks.example.com": ["127.0.0.1"]}, tls=authority.trusted())
        with pytest.raises(Unreachable) as caught:
            post(client, f"https://hooks.example.com:{receiver.port}/")
        assert caught.value.kind == "tls"
        assert receiver.requests == []


def test_a_server_without_tls_is_a_tls_failure(make_client, receiver):
    receiver.script = None
    with pytest.raises(Unreachable) as caught:
        post(make_client(limits=SendLimits(connect=0.5, total=1)), receiver.url.replace("http:", "https:"))
    assert caught.value.kind in {"tls", "timeout"}


def test_a_handshake_that_hangs_is_a_time_out(make_client, free_port):
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", free_port))
        silent.listen()
        began = time.monotonic()
        with pytest.raises(Unreachable) as caught:
            post(make_client(limits=SendLimits(connect=0.4, total=2)), f"https://127.0.0.1:{free_port}/")
        assert caught.value.kind == "timeout"
        assert time.monotonic() - began < 1.5
