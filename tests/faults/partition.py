"""Two network namespaces with a wire between them that can be cut so that packets vanish without a word."""

import ctypes
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.case import Lab, NotRun

HERE, THERE = "10.99.0.1", "10.99.0.2"
CLONE_NEWNET = 0x40000000


class Wire:
    """The calling thread, and what it starts from now on, lives ``here``; ``over_there`` starts something there."""

    def __init__(self, lab: Lab) -> None:
        if os.getuid() != 0:
            raise NotRun("network namespaces need root")
        self._names = f"parley-here-{os.getpid()}", f"parley-there-{os.getpid()}"
        for name in self._names:
            _ip("netns", "add", name)
            lab.resources.callback(subprocess.run, ["ip", "netns", "del", name], check=False)
        here, there = self._names
        _ip("link", "add", "wire", "netns", here, "type", "veth", "peer", "name", "wire", "netns", there)
        for name, address in zip(self._names, (HERE, THERE), strict=True):
            for words in ("link set lo up", f"addr add {address}/24 dev wire", "link set wire up"):
                _ip("-n", name, *words.split())
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        lab.resources.callback(_enter, home)
        self._enter(here)

    @contextmanager
    def over_there(self) -> Iterator[None]:
        self._enter(self._names[1])
        try:
            yield
        finally:
            self._enter(self._names[0])

    def cut(self) -> None:
        """From now on both ends throw away what they should send, and nobody is told."""
        for name in self._names:
            _run("tc", "-n", name, "qdisc", "replace", "dev", "wire", "root", "blackhole")

    def heal(self) -> int:
        """Packets flow again; how many were swallowed."""
        swallowed = 0
        for name in self._names:
            told = _run("tc", "-n", name, "-s", "qdisc", "show", "dev", "wire")
            swallowed += sum(map(int, re.findall(r"dropped (\d+)", told)))
            _run("tc", "-n", name, "qdisc", "del", "dev", "wire", "root")
        return swallowed

    def _enter(self, name: str) -> None:
        opened = os.open(Path("/var/run/netns") / name, os.O_RDONLY)
        try:
            _enter(opened)
        finally:
            os.close(opened)


def _enter(opened: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(opened, CLONE_NEWNET):
        raise NotRun(f"namespaces may not be entered here: {os.strerror(ctypes.get_errno())}")


def _ip(*words: str) -> str:
    return _run("ip", *words)


def _run(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise NotRun(f"{command[0]} is not installed") from None
    if done.returncode:
        raise NotRun(f"{' '.join(command[:4])} is not allowed here: {done.stderr.strip()[:80]}")
    return done.stdout
