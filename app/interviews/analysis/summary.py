"""The analyst's summary, of bounded length."""

from app.gateways.speech.ports import Analyst, Material

LONGEST = 4_000
ELLIPSIS = "…"


def summarize(material: Material, *, analyst: Analyst) -> str | None:
    """At most 4,000 characters, cut at a word; None where the analyst has nothing to say."""
    text = (analyst.summarize(material) or "").strip()
    if len(text) > LONGEST:
        text = text[: LONGEST - len(ELLIPSIS)].rsplit(maxsplit=1)[0] + ELLIPSIS
    return text or None
