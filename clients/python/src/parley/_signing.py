"""What Parley sends as a webhook: for tests of receivers."""

import base64
import hmac
import json
import time
import uuid
from typing import Any


def sign(body: bytes, secret: str, *, webhook_id: str | None = None, timestamp: int | None = None) -> dict[str, str]:
    """The headers that Parley sends with ``body``: by default with a new id, and the present time."""
    event_id = webhook_id or f"evt_{uuid.uuid4().hex}"
    at = int(time.time()) if timestamp is None else timestamp
    signed = f"{event_id}.{at}.".encode() + body
    return {
        "Content-Type": "application/json",
        "User-Agent": "Service-API-Webhook/1.0",
        "webhook-id": event_id,
        "webhook-timestamp": str(at),
        "webhook-signature": "v1," + base64.b64encode(hmac.digest(secret.encode(), signed, "sha256")).decode(),
        "x-service-signature": hmac.digest(secret.encode(), body, "sha256").hex(),
    }


def event_body(event_type: str = "interview_processed", **fields: Any) -> bytes:
    """The body of an event, with made-up values for the fields that you leave out."""
    told: dict[str, Any] = {
        "event_type": event_type,
        "interview_flow_id": str(uuid.uuid4()),
        "interview_flow_name": "Nurse",
    }
    if event_type == "candidate_status_updated":
        told |= {"interviewee_email": "robin@example.com", "previous_status": "invited", "new_status": "interviewed"}
    else:
        interview_id = str(uuid.uuid4())
        told |= {
            "interview_id": interview_id,
            "interview_link": f"https://parley.example.com/interviews/{interview_id}",
            "interviewee_email_address": "robin@example.com",
            "interviewee_first_name": "Robin",
            "interviewee_last_name": "Example",
            "status": "completed",
        }
    return json.dumps(told | fields).encode()
