"""FastAPI: uvicorn fastapi_receiver:app."""

import logging
import os

import parley
from fastapi import FastAPI, Request, Response

app = FastAPI()
log = logging.getLogger(__name__)
seen: set[str] = set()  # in a real receiver: a table with a unique column


@app.post("/parley")
async def receive(request: Request) -> Response:
    """Verify, remember, respond; work later."""
    try:
        event = parley.webhooks.verify(await request.body(), request.headers, os.environ["PARLEY_WEBHOOK_SECRET"])
    except parley.WebhookError as refusal:
        return Response(refusal.reason, status_code=401)
    if event.webhook_id in seen:
        return Response(status_code=204)
    seen.add(str(event.webhook_id))
    if isinstance(event, parley.webhooks.InterviewProcessed):
        log.info("Interview %s has been processed", event.interview_id)
    return Response(status_code=204)
