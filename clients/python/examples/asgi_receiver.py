"""Plain ASGI, without a framework.

In Starlette and FastAPI, app.mount("/parley", asgi_receiver.app) gives it the URL https://…/parley/ with a slash at its
end. Parley does not follow redirects, so the slash belongs into webhook_url.
"""

import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any

import parley

log = logging.getLogger(__name__)
seen: set[str] = set()  # in a real receiver: a table with a unique column


async def app(
    scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """Verify, remember, respond; work later."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    status = answer(body, headers)
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def answer(body: bytes, headers: dict[str, str]) -> int:
    """The status code for an event."""
    try:
        event = parley.webhooks.verify(body, headers, os.environ["PARLEY_WEBHOOK_SECRET"])
    except parley.WebhookError:
        return 401
    if event.webhook_id not in seen:
        seen.add(str(event.webhook_id))
        if isinstance(event, parley.webhooks.InterviewProcessed):
            log.info("Interview %s has been processed", event.interview_id)
    return 204
