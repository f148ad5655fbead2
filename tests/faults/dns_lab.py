"""Runs inside the network namespace of F36: a DNS server that lies, receivers on both sides, and the product's client.

Prints one line of JSON: attempts by name, queries answered, and connections that reached denied addresses.
"""

import asyncio
import json
import socket
import struct
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from app.gateways.outbound import Outbound, Unreachable
from app.settings import Settings

PUBLIC, PRIVATE, OURS = "93.184.216.34", "10.9.8.7", "93.184.216.1"
A, AAAA = 1, 28


class Names(threading.Thread):
    """Answers by the first label of the name that is asked for."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        self.stream = socket.create_server(("127.0.0.1", 53))
        self.queries: Counter[str] = Counter()

    def run(self) -> None:
        threading.Thread(target=self._over_tcp, daemon=True).start()
        while True:
            query, client = self.socket.recvfrom(4096)
            told = self._told(query)
            if told is not None:
                whole = told if len(told) <= 1200 else told[:2] + b"\x83\x80" + told[4:6] + b"\0" * 6 + query[12:]
                self.socket.sendto(whole, client)

    def _over_tcp(self) -> None:
        while True:
            connection, _ = self.stream.accept()
            threading.Thread(target=self._answer_stream, args=(connection,), daemon=True).start()

    def _answer_stream(self, connection: socket.socket) -> None:
        while head := connection.recv(2):
            told = self._told(connection.recv(struct.unpack("!H", head)[0])) or b""
            connection.sendall(struct.pack("!H", len(told)) + told)
        connection.close()

    def _told(self, query: bytes) -> bytes | None:
        label = query[13 : 13 + query[12]].decode()
        end = query.index(b"\0", 12) + 5
        kind = struct.unpack("!H", query[end - 4 : end - 2])[0]
        self.queries[label] += 1
        if label == "silent":
            return None
        code = {"nxdomain": 3, "servfail": 2}.get(label, 0)
        addresses = [] if code else self._addresses(label, kind)
        head = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(addresses), 0, 0)
        records = b"".join(
            b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(packed)) + packed for packed in map(_packed, addresses)
        )
        return head + query[12:end] + records

    def _addresses(self, label: str, kind: int) -> list[str]:
        if label == "many":
            public = [f"93.184.{n // 200}.{n % 200 + 1}" for n in range(150)] + [PRIVATE]
            return public if kind == A else [f"2606:2800:220::{n:x}" for n in range(1, 150)]
        if kind == AAAA:
            return ["::1"] if label == "mixed" else []
        rebinds = label == "rebind" and self.queries[label] > 2
        return {
            "parley": [OURS],
            "private": [PRIVATE],
            "mixed": [PUBLIC],
            "rebind": ["127.0.0.1" if rebinds else PUBLIC],
        }.get(label, [PUBLIC])


def _packed(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)


async def _listen(addresses: tuple[str, ...], met: Counter[str], journal: Path | None = None) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met[writer.get_extra_info("sockname")[0]] += 1
        if journal is not None:
            journal.write_text(json.dumps(met))  # noqa: ASYNC240 - a few bytes
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    for address in addresses:
        await asyncio.start_server(serve, address, 8080)


async def _main(directory: str) -> dict[str, Any]:
    names = Names()
    names.start()
    met: Counter[str] = Counter()
    await _listen(("127.0.0.1", "::1"), met)
    settings = Settings.from_env(
        {
            "DATA_DIR": directory,
            "SECRET_KEY": "dns-" * 10,
            "APP_URL": "https://parley.example",
            "OUTBOUND_HTTP": "1",
        }
    )
    http = Outbound(settings)
    attempts: dict[str, Any] = {}
    for name in ("good", "nxdomain", "servfail", "silent", "private", "mixed", "many"):
        attempts[name] = await _attempt(http, name)
    before = met["127.0.0.1"]
    attempts |= {f"rebind{number}": await _attempt(http, "rebind") for number in range(4)}
    rebound = met["127.0.0.1"] - before
    met.update(json.loads((Path(directory) / "met.json").read_text()))
    return {
        "attempts": attempts,
        "queries": sum(names.queries.values()),
        "rebound": rebound,
        "forbidden": met[PRIVATE] + met["127.0.0.1"] + met["::1"],
    }


async def _attempt(http: Outbound, name: str) -> dict[str, Any]:
    began = time.monotonic()
    try:
        answer = await http.post(f"http://{name}.faults.test:8080/", body=b"{}", headers={})
    except Unreachable as error:
        return {"error": error.kind, "status": None, "seconds": time.monotonic() - began}
    return {"error": None, "status": answer.status, "seconds": time.monotonic() - began}


async def _outside(directory: str) -> None:
    """The world's end of the wire: a public address and a private one, both of which answer."""
    journal = Path(directory) / "met.json"
    journal.write_text("{}")
    await _listen((PUBLIC, PRIVATE), Counter(), journal)
    await asyncio.Event().wait()


if __name__ == "__main__":
    if sys.argv[2:] == ["outside"]:
        asyncio.run(_outside(sys.argv[1]))
    print(json.dumps(asyncio.run(_main(sys.argv[1]))), flush=True)
    import os

    os._exit(0)  # a resolver that waits for the silent server must not hold the case up
