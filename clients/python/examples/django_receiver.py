"""Django: in urls.py, add path("parley", django_receiver.receive)."""

import logging
import os

import parley
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

log = logging.getLogger(__name__)
seen: set[str] = set()  # in a real receiver: a table with a unique column


@csrf_exempt  # the signature says where the request is from
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    """Verify, remember, respond; work later."""
    try:
        event = parley.webhooks.verify(request.body, request.headers, os.environ["PARLEY_WEBHOOK_SECRET"])
    except parley.WebhookError as refusal:
        return HttpResponse(refusal.reason, status=401)
    if event.webhook_id in seen:
        return HttpResponse(status=204)
    seen.add(str(event.webhook_id))
    if isinstance(event, parley.webhooks.InterviewProcessed):
        log.info("Interview %s has been processed", event.interview_id)
    return HttpResponse(status=204)
