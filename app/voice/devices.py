"""What a browser says of itself, without what would tell one visitor from another."""

import re

_BROWSERS = (
    ("Edge", r"Edg(?:e|A|iOS)?/(\d+)"), ("Opera", r"(?:OPR|Opera)/(\d+)"),
    ("Samsung Internet", r"SamsungBrowser/(\d+)"),
    ("Firefox", r"(?:Firefox|FxiOS)/(\d+)"), ("Chrome", r"(?:Chrome|CriOS|HeadlessChrome)/(\d+)"),
    ("Safari", r"Version/(\d+).* Safari/"),
)  # fmt: skip
_SYSTEMS = (
    ("Android", "Android"), ("iOS", "iPhone|iPad|iPod"), ("Windows", "Windows"), ("ChromeOS", "CrOS"),
    ("macOS", "Mac OS X|Macintosh"), ("Linux", "Linux|X11"),
)  # fmt: skip


def browser_of(user_agent: str) -> str:
    """Family, main version and system, such as ``Chrome 156 on Linux``; nothing that tells one visitor from another."""
    known = ((name, re.search(pattern, user_agent)) for name, pattern in _BROWSERS)
    browser = next((f"{name} {found.group(1)}" for name, found in known if found), "Unknown browser")
    system = next((name for name, pattern in _SYSTEMS if re.search(pattern, user_agent)), "an unknown system")
    return f"{browser} on {system}"
