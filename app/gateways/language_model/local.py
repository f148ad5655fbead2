"""Finds a language model server on this machine, for the operator to know of it. Parley never takes one unasked."""

import json
from collections.abc import Mapping
from typing import Any

import requests

from app.core.errors import GatewayError

OLLAMA = "http://127.0.0.1:11434"
SECONDS = 1.0
"""For a server on this machine to answer."""
MOST_BYTES = 1_000_000
LONGEST_NAME = 100
_NO_CHAT = ("embed", "bert", "rerank")
"""In the names of families and models that answer no questions."""


def ollama_models(address: str = OLLAMA) -> tuple[str, ...] | None:
    """The models that an Ollama there offers for conversations, as it lists them; None where there is no Ollama.

    Raises GatewayError where something answers that is none. It may be any program of this machine, so little is read.
    """
    with requests.Session() as session:
        session.trust_env = False  # no proxy: this machine is asked
        try:
            with session.get(f"{address}/api/tags", timeout=SECONDS, stream=True, allow_redirects=False) as response:
                content = _beginning(response)
        except requests.ConnectionError:
            return None
        except (requests.RequestException, OSError) as error:
            raise GatewayError("does not respond like Ollama", retryable=False) from error
    try:
        listed = json.loads(content)["models"]
        return tuple(name for one in listed if (name := _conversing(one)))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise GatewayError("does not respond like Ollama", retryable=False) from error


def _beginning(response: requests.Response) -> bytes:
    content = b""
    for piece in response.iter_content(65_536):
        content += piece
        if len(content) > MOST_BYTES:
            break
    return content


def _conversing(model: Mapping[str, Any]) -> str | None:
    """The model's name, or None if it only embeds texts or has no name to print."""
    name = str(model["name"])
    families = [str(one) for one in (model.get("details") or {}).get("families") or []]
    is_plain = name.isascii() and name.isprintable() and 0 < len(name) <= LONGEST_NAME
    return name if is_plain and not any(word in one for word in _NO_CHAT for one in (name, *families)) else None
