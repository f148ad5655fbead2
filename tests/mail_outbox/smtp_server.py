"""A small mail server for tests: keeps what it is given, and says no as it is told to. After RFC 5321 and 3207."""

import base64
import contextlib
import socket
import socketserver
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass
class Script:
    """How the server behaves: replies by command instead of the usual ones; and what has happened.

    Instead of a reply: ``HANG UP``, ``SILENCE`` until the other side hangs up, ``SLOW …`` for a reply after a second.
    """

    replies: dict[str, str] = field(default_factory=dict)
    context: ssl.SSLContext | None = None
    implicit: bool = False
    login: tuple[str, str] | None = None
    mails: list[bytes] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    was_secure: bool = False


class _Talk(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self) -> None:
        script: Script = self.server.script  # type: ignore[attr-defined]
        self.secure = False
        if script.implicit:
            self._secure(script)
        self._say(script.replies.get("CONNECT", "220 mail.test ready"))
        while line := self.rfile.readline():
            text = line.decode().strip()
            verb = text.split(" ")[0].upper()
            script.commands.append(verb)
            if not self._answer(script, verb, text):
                return

    def finish(self) -> None:
        """Also after a handshake that failed: nothing stays open."""
        with contextlib.suppress(OSError, ValueError):
            super().finish()
        self.connection.close()

    def _answer(self, script: Script, verb: str, text: str) -> bool:
        if verb in script.replies:
            self._say(script.replies[verb])
        elif verb == "EHLO":
            offers = ["mail.test"] + (["STARTTLS"] if script.context and not self.secure else [])
            offers += ["AUTH PLAIN"] if script.login else []
            self._say("\r\n".join(f"250{'-' if n < len(offers) - 1 else ' '}{o}" for n, o in enumerate(offers)))
        elif verb == "STARTTLS":
            self._say("220 go on")
            self._secure(script)
        elif verb == "AUTH":
            _, name, secret = base64.b64decode(text.split(" ")[2]).decode().split("\0")
            self._say("235 welcome" if (name, secret) == script.login else "535 no")
        elif verb == "DATA":
            self._say("354 go on")
            script.mails.append(self._message())
            script.was_secure = self.secure
            self._say(script.replies.get("MESSAGE", "250 kept"))
        elif verb == "QUIT":
            self._say("221 bye")
            return False
        else:
            if verb == "RCPT":
                script.recipients.append(text)
            self._say("250 fine")
        return True

    def _message(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line)
        return b"".join(lines)

    def _say(self, text: str) -> None:
        if text == "HANG UP":
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if text == "SILENCE":
            return
        if text.startswith("SLOW "):
            time.sleep(1)
            text = text.removeprefix("SLOW ")
        self.wfile.write(f"{text}\r\n".encode())
        self.wfile.flush()

    def _secure(self, script: Script) -> None:
        assert script.context is not None
        self.connection = script.context.wrap_socket(self.connection, server_side=True, do_handshake_on_connect=False)
        self.connection.do_handshake()
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb")  # type: ignore[assignment]
        self.secure = True


class SmtpServer:
    """Runs in a thread for as long as the ``with`` block lasts."""

    def __init__(self, **behaviour: Any) -> None:
        self.script = Script(**behaviour)

    def __enter__(self) -> Self:
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Talk)
        self._server.daemon_threads = True
        self._server.script = self.script  # type: ignore[attr-defined]
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
