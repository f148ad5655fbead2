"""A program for a network namespace of its own, in which every address of the world is this machine: counts packets.

``python -m tests.outbound.packets DIRECTORY`` calls every hostile address through the guarded client, then one that is
allowed, and prints what the interface has sent for each.
"""

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path

from app.gateways.outbound import Outbound, Unreachable
from app.settings import Settings
from tests.outbound.hostile import BAD_ADDRESS, BAD_FORM

PORT = 8443
ALLOWED = "8.8.8.8"


def take_the_world() -> None:
    for command in ("link set lo up", "route add local default dev lo", "-6 route add local default dev lo"):
        subprocess.run(["ip", *command.split()], check=True)


def sent() -> int:
    (line,) = [line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:")]
    return int(line.split(":")[1].split()[9])


async def called(client: Outbound, urls: list[str]) -> set[str]:
    async def one(url: str) -> str:
        try:
            await client.post(url, body=b"{}", headers={})
        except Unreachable as error:
            return error.kind
        return "answered"

    return set(await asyncio.gather(*(one(url) for url in urls)))


def main() -> None:
    take_the_world()
    variables = {"HOST": "0.0.0.0", "APP_URL": "http://parley.example.com", "SECRET_KEY": "packets-" * 6}
    names = {f"n{number}.example.com": [address] for number, address in enumerate(BAD_ADDRESS)}
    names["mixed.example.com"] = [ALLOWED, "127.0.0.1"]
    settings = Settings.from_env({"DATA_DIR": sys.argv[1], **variables})
    bracketed = [f"[{address}]" if ":" in address else address for address in BAD_ADDRESS]
    urls = [f"http://{host}:{PORT}/" for host in (*bracketed, *names)] + BAD_FORM
    found: dict[str, object] = {"urls": len(urls)}
    for family, host in ((socket.AF_INET, "10.0.0.1"), (socket.AF_INET6, "fd00::1")):
        before = sent()
        with socket.socket(family) as bare:
            bare.connect_ex((host, PORT))
        found[f"bare {host}"] = sent() - before
    before = sent()
    found["kinds"] = sorted(asyncio.run(called(Outbound(settings, names=names.__getitem__), urls)))
    found["hostile"] = sent() - before
    before = sent()
    asyncio.run(called(Outbound(settings), [f"http://{ALLOWED}:{PORT}/"]))
    found["allowed"] = sent() - before
    print(json.dumps(found))


if __name__ == "__main__":
    main()
