"""`/chat/completions` of one model, whole or as a stream of Server-Sent Events, with one deadline for all of it."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import openai

from app.core.errors import GatewayError
from app.gateways.language_model import usage
from app.gateways.speech.calls import Call, GivenUp
from app.gateways.speech.engines.openai_client import OpenAiServer
from app.gateways.speech.engines.remote import Slow

log = logging.getLogger(__name__)

Hears = Callable[[str], None]
"""Gets what has been written so far, from its beginning, each time there is more of it."""

LONGEST = 100_000
"""Characters; no decision is so long."""


class Completions:
    """One model on one server."""

    def __init__(self, server: str, address: str, *, api_key: str, model: str, timeout: float) -> None:
        self._calling = threading.local()
        self._server = OpenAiServer(server, address, api_key=api_key, timeout=timeout, on_request=self._follow)
        self._name, self._model, self._timeout = server, model, timeout
        self._streams = True

    def ask(self, asked: dict[str, Any], *, hears: Hears | None = None, call: Call | None = None) -> str:
        """What the model writes. A server that refuses to stream, or does not, is read as if no one listened.

        Raises GatewayError, after a second try where the failure may pass, and GivenUp where ``call`` was.
        """
        call = call or Call()

        def once() -> str:
            if call.is_given_up():
                raise GivenUp
            try:
                if hears is None or not self._streams:
                    return self._whole(asked)
                return self._streamed_or_whole(asked, hears)
            except Exception:
                if not call.is_given_up():
                    raise
                _count(None)  # the server has worked for it
                raise GivenUp from None

        self._calling.call = call
        return self._server.ask(once)

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _follow(self, request: Any) -> None:
        """Tell the call of this thread how its connection ends, as soon as there is one."""
        call: Call = self._calling.call

        def trace(event: str, details: dict[str, Any]) -> None:
            if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
                stream = details["return_value"]
                call.connected(lambda: _cut(stream))

        request.extensions = {**request.extensions, "trace": trace}

    def _whole(self, asked: dict[str, Any]) -> str:
        completion = self._server.client.chat.completions.create(model=self._model, **asked)
        _count(completion.usage)
        return completion.choices[0].message.content or "" if completion.choices else ""

    def _streamed_or_whole(self, asked: dict[str, Any], hears: Hears) -> str:
        try:
            return self._streamed(asked, hears)
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            content = self._whole(asked)
            log.warning("%s refuses to stream; from now on it is asked for whole responses", self._name)
            self._streams = False
            return content

    def _streamed(self, asked: dict[str, Any], hears: Hears) -> str:
        until = time.monotonic() + self._timeout
        # httpx waits this long for each piece, so a server that sends a letter now and then would never be late.
        raw = self._server.client.chat.completions.with_raw_response.create(
            model=self._model, stream=True, stream_options={"include_usage": True}, **asked
        )
        with _ending(raw.http_response, until) as is_over:
            try:
                if "json" in raw.headers.get("content-type", ""):
                    return _read(json.loads(_bytes_of(raw.http_response)))
                return _joined(raw.parse(), hears)
            except (openai.OpenAIError, ValueError, LookupError, TypeError, AttributeError):
                if is_over():
                    raise Slow(f"{self._name} did not answer within {self._timeout:g} s") from None
                raise


@contextmanager
def _ending(response: Any, until: float) -> Iterator[Callable[[], bool]]:
    """Ends the connection at ``until``, also while a read waits; gives whether it has come to that."""
    over = threading.Event()

    def end() -> None:
        over.set()
        _cut(response.extensions.get("network_stream"))

    timer = threading.Timer(max(0.0, until - time.monotonic()), end)
    timer.daemon = True
    timer.start()
    try:
        yield over.is_set
    finally:
        timer.cancel()
        response.close()


def _cut(stream: Any) -> None:
    """End a connection under a thread that reads it: closing alone would not wake it up."""
    with suppress(OSError, AttributeError):
        stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def _bytes_of(response: Any) -> bytes:
    try:
        return bytes(response.read())
    except Exception as error:  # the package's own HTTP client, whose errors it translates elsewhere
        raise openai.APIConnectionError(request=response.request) from error


def _read(completion: dict[str, Any]) -> str:
    """A whole completion, from a server that does not stream."""
    spent = completion.get("usage") or {}
    usage.count(input_tokens=spent.get("prompt_tokens") or 0, output_tokens=spent.get("completion_tokens") or 0)
    choices = completion["choices"]
    return choices[0]["message"]["content"] or "" if choices else ""


def _joined(chunks: Any, hears: Hears) -> str:
    content, spent = "", None
    for chunk in chunks:
        spent = chunk.usage or spent
        more = (chunk.choices[0].delta.content or "") if chunk.choices else ""
        if more:
            content += more
            if len(content) > LONGEST:
                raise GatewayError("the language model does not come to an end", retryable=False)
            hears(content)
    _count(spent)
    return content


def _count(spent: Any) -> None:
    usage.count(
        input_tokens=(spent and spent.prompt_tokens) or 0, output_tokens=(spent and spent.completion_tokens) or 0
    )
