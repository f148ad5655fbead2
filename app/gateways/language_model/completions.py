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
        self._server = OpenAiServer(server, address, api_key=api_key, timeout=timeout)
        self._name, self._model, self._timeout = server, model, timeout
        self._streams = True

    def ask(self, asked: dict[str, Any], *, hears: Hears | None = None) -> str:
        """What the model writes. A server that refuses to stream, or does not, is read as if no one listened.

        Raises GatewayError, after a second try where the failure may pass.
        """
        if hears is None or not self._streams:
            return self._server.ask(lambda: self._whole(asked))
        return self._server.ask(lambda: self._streamed_or_whole(asked, hears))

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

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
        cut(response)

    timer = threading.Timer(max(0.0, until - time.monotonic()), end)
    timer.daemon = True
    timer.start()
    try:
        yield over.is_set
    finally:
        timer.cancel()
        response.close()


def cut(response: Any) -> None:
    """End a response's connection under a thread that reads it: closing alone would not wake it up."""
    with suppress(OSError, LookupError, AttributeError):
        response.extensions["network_stream"].get_extra_info("socket").shutdown(socket.SHUT_RDWR)


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
