"""The result as pages show it, unpacked from the stored bytes."""

from typing import Any

from app.interviews.models import Interview
from app.interviews.published_result import as_shown
from app.web.json_splice import Fragment


def result_of(interview: Interview) -> dict[str, Any] | None:
    """What ``/v1`` sends, with ``shown`` words (``as_shown``); None without a result or after an erasure."""
    data = interview.data
    if data is None or interview.erased_at is not None:
        return None
    return as_shown(
        Fragment(data.text, data.text_length, data.text_crc32),
        Fragment(data.details, data.details_length, data.details_crc32),
    )
