"""Flask: flask --app flask_receiver run."""

import os

import parley
from flask import Flask, request

app = Flask(__name__)
seen: set[str] = set()  # in a real receiver: a table with a unique column


@app.post("/parley")
def receive() -> tuple[str, int]:
    """Verify, remember, respond; work later."""
    try:
        event = parley.webhooks.verify(request.get_data(), request.headers, os.environ["PARLEY_WEBHOOK_SECRET"])
    except parley.WebhookError as refusal:
        return refusal.reason, 401
    if event.webhook_id in seen:
        return "", 204
    seen.add(str(event.webhook_id))
    if isinstance(event, parley.webhooks.InterviewProcessed):
        app.logger.info("Interview %s has been processed", event.interview_id)
    return "", 204
