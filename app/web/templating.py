"""What templates need beyond HTML: dates, durations, addresses of static files, paging."""

import hashlib
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask, request, url_for
from markupsafe import Markup

from app.core import clock
from app.settings import Settings


def register(app: Flask) -> None:
    """Hang filters and globals on the application."""
    settings: Settings = app.extensions["parley.settings"]
    root = Path(app.static_folder or "")
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(
        day=day,
        month=month,
        moment=moment,
        ago=ago,
        iso=clock.rfc3339,
        duration=duration,
        bytes_in_words=size,
        capital=capital,
    )
    app.jinja_env.globals.update(asset=lambda name: asset(root, name), page_url=page_url, app_url=settings.app_url)


def asset(root: Path, name: str) -> str:
    """Address of a static file; its version changes with its content, so that browsers may keep it for long."""
    return url_for("static", filename=name, v=_version(root / name))


@lru_cache(maxsize=1024)
def _version(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else "missing"


def day(value: datetime | None) -> str:
    """``21 Nov 2026``; a dash for none."""
    return f"{value.day} {value:%b %Y}" if value else "–"


def month(value: str) -> str:
    """``2026-11`` as ``Nov 2026``."""
    return f"{datetime.fromisoformat(value + '-01'):%b %Y}"


def moment(value: datetime | None) -> str:
    """``21 Nov 2026, 14:05 UTC``; a dash for none."""
    return f"{value.day} {value:%b %Y, %H:%M} UTC" if value else "–"


def ago(value: datetime | None, what: str = "") -> Markup | str:
    """``3 h ago``, after a week ``14 Nov``: a ``<time>`` with the exact moment as its title; a dash for none.

    ``what`` comes before the moment: "In this status since".
    """
    if value is None:
        return "–"
    now = clock.now()
    past = (now - value).total_seconds()
    text = f"{value.day} {value:%b}" if value.year == now.year else day(value)
    if 0 <= past < _WEEK:
        text = next((_counted(past, *step) for step in _STEPS if past >= step[0]), "just now")
    title = f"{what} {moment(value)}".lstrip()
    return Markup('<time datetime="{}" title="{}">{}</time>').format(clock.rfc3339(value), title, text)


def _counted(past: float, seconds: int, unit: str) -> str:
    count = int(past // seconds)
    return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''} ago"


_WEEK = 604_800
_STEPS = ((86_400, "day"), (3_600, "h"), (60, "min"))


def duration(seconds: float | None) -> str:
    """``4:07`` or ``1:02:03``; a dash for none."""
    if seconds is None:
        return "–"
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(count: int | None) -> str:
    """``512 B``, ``3.4 MB``; a dash for none."""
    if count is None:
        return "–"
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def capital(words: str) -> str:
    """With a capital at its beginning, and the rest as it is: people name a status “HR call”, too."""
    return words[:1].upper() + words[1:]


def page_url(**changes: Any) -> str:
    """This page with some of its query changed; None takes a part away."""
    query: dict[str, Any] = {**(request.view_args or {}), **request.args.to_dict(), **changes}
    return url_for(str(request.endpoint), **{k: v for k, v in query.items() if v is not None})


def offset_of_request() -> int:
    """Where a page of a list begins; whatever is no sensible number means the beginning."""
    text = request.args.get("offset", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else 0


def qr_code(text: str, *, scale: int = 5) -> Markup:
    """The text as a QR code (ISO/IEC 18004), ``scale`` pixels a square: SVG that needs neither a file nor a style."""
    import segno  # with all of the XML library; most processes never draw one

    return Markup(segno.make(text, micro=False).svg_inline(scale=scale, light="#fff"))  # noqa: S704 - squares alone
