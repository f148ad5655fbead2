"""Where the speech host listens, and how both sides prove that they hold the same SECRET_KEY.

SPEECH_HOST names an address and a port; without it the host listens on a Unix socket below DATA_DIR, or in a short
directory of this user where that path is too long.
"""

import hashlib
import hmac
import os
import secrets
import socket
import struct
import tempfile
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

LONGEST_SOCKET_PATH = 103
"""Longest path of a Unix socket that all our systems take."""
MOST_BYTES = 160_000_000
"""Of one message: 80 minutes of sound."""
NONCE_BYTES = 32
PATIENCE = 3
"""Seconds for connecting and for each step of the proof."""
READS_WITHIN = 30
"""Seconds after which a client that reads nothing is let go of, before its answers fill the host's memory."""


class HostSettings(Protocol):
    """What both sides need; names as in the environment, in small letters."""

    @property
    def data_dir(self) -> Path: ...
    @property
    def secret_key(self) -> str: ...
    @property
    def speech_host(self) -> str: ...


class NotOurs(Exception):
    """The other side does not hold the same SECRET_KEY, or the place to listen belongs to another user."""


@dataclass(frozen=True, slots=True)
class Address:
    """A Unix socket, or an address and a port."""

    path: Path | None = None
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return str(self.path) if self.path else f"{self.host}:{self.port}"


def address_of(settings: HostSettings) -> Address:
    """Where the host of these settings listens."""
    if settings.speech_host:
        host, _, port = settings.speech_host.rpartition(":")
        return Address(host=host.strip("[]"), port=int(port))
    data_dir = settings.data_dir.absolute()
    wanted = data_dir / "speech" / "host.sock"
    if len(os.fsencode(wanted)) <= LONGEST_SOCKET_PATH:
        return Address(wanted)
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    # nosemgrep: guessable-temporary-name - the folder is made for its user alone, and refused if it is someone else's
    return Address(Path(tempfile.gettempdir()) / f"parley-{os.getuid()}-{name}" / "speech.sock")


def private_folder(address: Address) -> Path | None:
    """The folder of a Unix socket, made for this user alone. Raises NotOurs or OSError."""
    if address.path is None:
        return None
    folder = address.path.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    status = folder.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077 or folder.is_symlink():
        raise NotOurs(f"{folder} must be a directory that only this user can open")
    return folder


def listener(address: Address) -> socket.socket:
    """A listening socket. Raises OSError where it cannot listen there; a Unix socket that is there is replaced."""
    if address.path is None:
        return socket.create_server(
            (address.host, address.port), family=_family(address.host, address.port), backlog=256
        )
    address.path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(str(address.path))
        address.path.chmod(0o600)
        listening.listen(256)
    except OSError:
        listening.close()
        raise
    return listening


def connected(address: Address, key: bytes) -> Connection:
    """A connection to the host whose key is the same. Raises OSError, EOFError or NotOurs."""
    if address.path is None:
        line = socket.create_connection((address.host, address.port), timeout=PATIENCE)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _keep_alive(line)
    else:
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(PATIENCE)
        try:
            line.connect(str(address.path))
        except OSError:
            line.close()
            raise
    connection = as_connection(line)
    try:
        _prove(connection, key, role=(b"client", b"host"))
    except BaseException:
        connection.close()
        raise
    _set_patience(connection, reading=0, writing=0)
    return connection


def accepted(line: socket.socket, key: bytes) -> Connection:
    """The connection of a client whose key is the same. Raises OSError, EOFError or NotOurs."""
    if line.family != socket.AF_UNIX:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _keep_alive(line)
    connection = as_connection(line)
    try:
        _prove(connection, key, role=(b"host", b"client"))
    except BaseException:
        connection.close()
        raise
    _set_patience(connection, reading=0, writing=READS_WITHIN)
    return connection


def key_of(settings: HostSettings) -> bytes:
    """The key of the proof, made from SECRET_KEY."""
    return hmac.digest(settings.secret_key.encode(), b"parley:speech host", "sha256")


def as_connection(line: socket.socket) -> Connection:
    """The socket as a connection that waits a limited time for each read and write."""
    line.settimeout(None)
    connection = Connection(line.detach())
    _set_patience(connection, reading=PATIENCE, writing=PATIENCE)
    return connection


def _prove(connection: Connection, key: bytes, *, role: tuple[bytes, bytes]) -> None:
    """Both sides send a random number, then a code over both numbers that only the key gives."""
    ours, theirs = role
    mine = secrets.token_bytes(NONCE_BYTES)
    connection.send_bytes(mine)
    other = connection.recv_bytes(NONCE_BYTES)
    # A number that comes back is our own: someone without the key would let us prove it to ourselves.
    if len(other) != NONCE_BYTES or other == mine:
        raise NotOurs("no proof of the same SECRET_KEY")
    connection.send_bytes(hmac.digest(key, ours + mine + other, "sha256"))
    if not hmac.compare_digest(connection.recv_bytes(NONCE_BYTES), hmac.digest(key, theirs + other + mine, "sha256")):
        raise NotOurs("no proof of the same SECRET_KEY")


def _set_patience(connection: Connection, *, reading: int, writing: int) -> None:
    """How many seconds one read or write may wait; 0 for any number."""
    with socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", reading, 0))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", writing, 0))


def _keep_alive(line: socket.socket) -> None:
    """Notice within two minutes that a machine has gone without a word."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _family(host: str, port: int) -> socket.AddressFamily:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
