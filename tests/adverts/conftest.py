"""A language model that drafts: the real client, a server of the tests."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from app.gateways.language_model.chat import Chat
from app.gateways.language_model.drafting import ChatDrafter
from tests.interviews.conftest import engines_of
from tests.speech.conftest import reply, server  # noqa: F401 - fixtures

DRAFT = {
    "title": "Baker",
    "questions": [
        {"text": "Tell me about a bread that you are proud of.", "reason": "The advert asks for craft."},
        {"text": "How do you plan an early shift?", "reason": "Work begins at 3 a.m."},
    ],
    "criteria": [{"name": "Craft", "good": "Names methods and results.", "reason": "It is the heart of the job."}],
}


@pytest.fixture
def drafts(app: Flask, server: Any, reply: Any) -> Iterator[Callable[..., None]]:  # noqa: F811
    """``drafts(questions=[…])``: from now on the language model drafts this. The server keeps what it was asked."""

    def gives(content: str | None = None, **values: Any) -> None:
        message = {"role": "assistant", "content": content or json.dumps({**DRAFT, **values})}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        server.replies = [reply.of(whole)] * 10

    chat = Chat(f"{server.address}/v1", api_key="k", model="m", json_mode="schema", timeout=5.0)
    gives()
    with engines_of(app, drafter=ChatDrafter(chat)):
        yield gives
    chat.close()
