"""``parley web``: slow clients cannot block others, and stopping interrupts no request."""

import errno
import logging
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

from flask import Flask

from app import create_app
from app.core.data_dir import close_to_others
from app.core.memory import keep_all, share_arenas
from app.gateways.redis import embedded
from app.settings import Settings

log = logging.getLogger(__name__)

CONNECTIONS = 2_000
LARGEST_BODY = 32 * 1024 * 1024
WATERMARK = 64 * 1024
"""Bytes buffered for a slow reader: few, so that a revoked recording stops within seconds."""

SEND_BUFFER = 128 * 1024
"""The kernel's buffer for the same, which otherwise grows to megabytes. The kernel doubles this value."""

MANY, GATHERED = 200, 0.004
"""Each turn of waitress's loop asks every connection whether it has something to do. With more than this many it waits
this many seconds between turns, and one turn serves several: at 500 connections most of a core went into asking."""

_STOP_SECONDS = 20.0
_SETTLED_SECONDS = 0.5
"""Before it stops nothing may have been under way for so long: a request may still be on its way on a connection that
was taken a moment ago, and a thread that has answered still tidies up."""


class PortTaken(Exception):
    """Another program listens there. The message names the setting for another port."""


def run_web(settings: Settings, *, application: Callable[[Settings], Flask] = create_app) -> None:
    """Serve until SIGTERM or SIGINT; accepted requests are answered first. Raises PortTaken."""
    close_to_others(settings.data_dir)
    share_arenas()
    connected = replace(settings, redis_url=embedded.found_alive(settings.data_dir, settings.redis_url))
    if settings.web_server == "granian":
        check_port(connected.host, connected.port)
        _run_granian(connected)
    else:
        served = application(connected)
        keep_all()
        _run_waitress(served, connected)


def check_port(host: str, port: int) -> None:
    """Raise PortTaken if the port is in use, or if the address is not this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind((host, port))
            attempt.listen(1)
        except OSError as error:
            raise _taken(host, port, error) from error


def server_for(application: Any, settings: Settings) -> Any:
    """The waitress server, listening: it buffers slow requests and answers, so that a slow client holds no thread."""
    from waitress.server import create_server

    from app.operations.processes.refusal import Channel

    try:
        server = create_server(
            application,
            host=settings.host,
            port=settings.port,
            threads=settings.web_threads,
            connection_limit=CONNECTIONS,
            backlog=1024,
            channel_timeout=60,
            cleanup_interval=10,
            max_request_body_size=LARGEST_BODY,
            max_request_header_size=64 * 1024,
            outbuf_high_watermark=WATERMARK,
            outbuf_overflow=4 * 1024 * 1024,
            asyncore_use_poll=True,
            ident=None,
        )
    except OSError as error:
        raise _taken(settings.host, settings.port, error) from error
    server.adj.socket_options = [*server.adj.socket_options, (socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)]
    for listening in _sockets(server).values():
        listening.channel_class = Channel
    return server


def _run_waitress(application: Flask, settings: Settings) -> None:
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    stopping: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        stopping.append(number)

    server = server_for(application, settings)
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        serve(server, until=lambda: bool(stopping))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def serve(server: Any, *, until: Callable[[], bool], patience: float = _STOP_SECONDS) -> None:
    """Run the server's loop ``until`` it returns True, then accept no more connections and finish open requests."""
    sockets = _sockets(server)
    while not until():
        _turn(server, sockets)
    for listening in [one for one in sockets.values() if getattr(one, "accepting", False)]:
        _take_no_more(listening, sockets)
    deadline, settled = time.monotonic() + patience, time.monotonic() + _SETTLED_SECONDS
    while time.monotonic() < min(deadline, settled):
        _turn(server, sockets)
        if any(_is_busy(one) for one in list(sockets.values())):
            settled = time.monotonic() + _SETTLED_SECONDS
    server.task_dispatcher.shutdown(timeout=max(1.0, deadline - time.monotonic()))
    for one in list(sockets.values()):
        one.close()


def _take_no_more(listening: Any, sockets: dict[int, Any]) -> None:
    """Accept the connections that the kernel already has: closing the socket would cut them off."""
    from waitress.wasyncore import dispatcher

    listening.is_stopping, before = True, -1
    while before != len(sockets):
        before = len(sockets)
        listening.handle_accept()
    # waitress's own close also closes what threads wake the loop with, which would cut off current responses.
    dispatcher.close(listening)


def _turn(server: Any, sockets: dict[int, Any]) -> None:
    server.asyncore.loop(timeout=0.25, map=sockets, use_poll=True, count=1)
    if len(sockets) > MANY:
        time.sleep(GATHERED)


def _sockets(server: Any) -> dict[int, Any]:
    """waitress's table of listening sockets and connections."""
    sockets: dict[int, Any] = server.map if hasattr(server, "map") else server._map  # noqa: SLF001 - no other way in
    return sockets


def _is_busy(one: Any) -> bool:
    """Whether a request of the connection is being read, processed or answered."""
    return bool(getattr(one, "requests", None) or getattr(one, "total_outbufs_len", 0) or getattr(one, "request", None))


def _run_granian(settings: Settings) -> None:
    """Faster, for use behind a proxy that buffers requests; it imports ``processes.wsgi`` in its own processes."""
    from granian.constants import Interfaces
    from granian.server import Server

    os.environ.update(
        HOST=settings.host,
        PORT=str(settings.port),
        DATA_DIR=str(settings.data_dir),
        APP_URL=settings.app_url,
        DATABASE_URL=settings.database_url,
        REDIS_URL=settings.redis_url,
        SECRET_KEY=settings.secret_key,
    )
    Server(
        "app.operations.processes.wsgi:app",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=settings.web_threads,
        websockets=False,
        respawn_failed_workers=True,
        workers_kill_timeout=20,
        log_access=False,
    ).serve()


def _taken(host: str, port: int, error: OSError) -> PortTaken:
    if error.errno == errno.EADDRINUSE:
        return PortTaken(
            f"Port {port} on {host} is in use. Stop the program that uses it, or choose another port: PORT={port + 1}"
        )
    return PortTaken(f"Cannot listen on {host}, port {port}: {error.strerror}. Check HOST and PORT.")
