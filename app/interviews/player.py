"""What a player draws: the waveform, and where questions begin. Pure."""

from collections.abc import Mapping
from typing import Any

_WIDTH, _MIDDLE, _LEAST = 400, 50, 1


def wave_path(peaks: bytes | None) -> str | None:
    """A vertical line for each bar in a field of 400 by 100, as an SVG path; None without a waveform."""
    if not peaks:
        return None
    step = _WIDTH / len(peaks)
    heights = (max(_LEAST, round(peak / 255 * (_MIDDLE - 2))) for peak in peaks)
    return "".join(f"M{(at + 0.5) * step:g} {_MIDDLE - height}v{2 * height}" for at, height in enumerate(heights))


def chapter_starts(result: Mapping[str, Any]) -> list[tuple[float, str]]:
    """Second and title of each question that was reached."""
    chapters = enumerate(result["questions_to_transcript_mapping"], 1)
    return [
        (one["start_timestamp"], f"Question {number}") for number, one in chapters if one["transcript_item_indices"]
    ]
