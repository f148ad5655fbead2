"""Which browser it was, as people would say it."""

_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrom", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_name(user_agent: str | None) -> str:
    """``Firefox on Linux`` for a User-Agent header: enough to know one's own browsers by; its beginning, if unknown."""
    header = user_agent or ""
    browser = next((name for mark, name in _BROWSERS if mark in header), "")
    system = next((name for mark, name in _SYSTEMS if mark in header), "")
    return f"{browser} on {system}" if browser and system else browser or header[:40] or "Unknown browser"
