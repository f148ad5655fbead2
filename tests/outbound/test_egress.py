"""Static egress: one proxy or one source address for everything that goes to customers."""

import asyncio

import pytest

from app.gateways.outbound import Unreachable

from .certificates import Authority
from .receiver import Receiver


class Proxy:
    """A CONNECT proxy that notes what it was asked for; ``refuse`` lets it say no."""

    def __init__(self, *, refuse: bool = False) -> None:
        self.asked: list[str] = []
        self._refuse = refuse

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        place = head.split()[1].decode()
        self.asked.append(head.decode())
        if self._refuse:
            writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
            writer.close()
            return
        host, port = place.rsplit(":", 1)
        inner_reader, inner = await asyncio.open_connection(host.strip("[]"), int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(self._pump(reader, inner), self._pump(inner_reader, writer))

    async def _pump(self, source, sink):
        try:
            while piece := await source.read(65_536):
                sink.write(piece)
                await sink.drain()
        except ConnectionError:
            pass
        finally:
            sink.close()


def through(make_client, url, *, refuse=False, **options):
    async def run():
        async with Proxy(refuse=refuse) as proxy:
            client = make_client(EGRESS_PROXY=proxy.url, **options)
            answer = await client.post(url, body=b"{}", headers={})
            await asyncio.sleep(0.05)
            return answer, proxy.asked

    return asyncio.run(run())


def test_plain_requests_go_through_the_proxy_to_the_vetted_address(make_client, receiver):
    names = {"hooks.example.com": ["127.0.0.1"]}
    answer, asked = through(make_client, f"http://hooks.example.com:{receiver.port}/x", names=names)
    assert answer.status == 200
    assert asked == [f"CONNECT 127.0.0.1:{receiver.port} HTTP/1.1\r\nHost: 127.0.0.1:{receiver.port}\r\n\r\n"]
    assert receiver.requests[0].headers["Host"] == f"hooks.example.com:{receiver.port}"


def test_tls_goes_through_the_proxy_with_the_name_checked(make_client, tmp_path):
    authority = Authority(tmp_path)
    with Receiver(tls=authority.server("hooks.example.com")) as receiver:
        names = {"hooks.example.com": ["127.0.0.1"], "other.example.com": ["127.0.0.1"]}
        options = {"names": names, "tls": authority.trusted()}
        answer, asked = through(make_client, f"https://hooks.example.com:{receiver.port}/x", **options)
        assert answer.status == 200
        assert asked[0].startswith("CONNECT 127.0.0.1:")
        with pytest.raises(Unreachable) as caught:
            through(make_client, f"https://other.example.com:{receiver.port}/x", **options)
        assert caught.value.kind == "tls"


def test_the_guard_comes_before_the_proxy(make_client):
    async def run():
        async with Proxy() as proxy:
            client = make_client(EGRESS_PROXY=proxy.url)
            with pytest.raises(Unreachable) as caught:
                await client.post("http://169.254.169.254/", body=b"{}", headers={})
            return caught.value.kind, proxy.asked

    assert asyncio.run(run()) == ("forbidden_address", [])


def test_a_proxy_that_refuses_is_a_failed_connection(make_client, receiver):
    with pytest.raises(Unreachable) as caught:
        through(make_client, receiver.url, refuse=True)
    assert caught.value.kind == "connect"
    assert receiver.requests == []


def test_a_proxy_that_is_gone_is_a_failed_connection(make_client, receiver, free_port):
    client = make_client(EGRESS_PROXY=f"http://127.0.0.1:{free_port}")
    with pytest.raises(Unreachable) as caught:
        asyncio.run(client.post(receiver.url, body=b"{}", headers={}))
    assert caught.value.kind == "connect"


def test_requests_leave_from_the_source_address(make_client):
    seen = []

    async def note(_request, writer):
        seen.append(writer.get_extra_info("peername")[0])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with Receiver() as receiver:
        receiver.script = note
        client = make_client(EGRESS_SOURCE_ADDRESS="127.0.0.77")
        asyncio.run(client.post(receiver.url, body=b"{}", headers={}))
    assert seen == ["127.0.0.77"]
