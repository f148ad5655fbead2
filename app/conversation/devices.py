"""Facts about a browser and its devices, without anything that identifies a visitor."""

import re

import marshmallow as ma
from marshmallow import validate

from app.web.fields import Flag

MICROPHONES = ("built-in", "headset", "bluetooth", "usb", "virtual", "other")

_BROWSERS = (
    ("Edge", r"Edg(?:e|A|iOS)?/(\d+)"),
    ("Opera", r"(?:OPR|Opera)/(\d+)"),
    ("Samsung Internet", r"SamsungBrowser/(\d+)"),
    ("Firefox", r"(?:Firefox|FxiOS)/(\d+)"),
    ("Chrome", r"(?:Chrome|CriOS|HeadlessChrome)/(\d+)"),
    ("Safari", r"Version/(\d+).* Safari/"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iOS", "iPhone|iPad|iPod"),
    ("Windows", "Windows"),
    ("ChromeOS", "CrOS"),
    ("macOS", "Mac OS X|Macintosh"),
    ("Linux", "Linux|X11"),
)


def browser_of(user_agent: str) -> str:
    """Family, major version and system, such as ``Chrome 156 on Linux``: nothing that identifies a visitor."""
    matches = ((name, re.search(pattern, user_agent)) for name, pattern in _BROWSERS)
    browser = next((f"{name} {match.group(1)}" for name, match in matches if match), "Unknown browser")
    system = next((name for name, pattern in _SYSTEMS if re.search(pattern, user_agent)), "an unknown system")
    return f"{browser} on {system}"


def _known(highest: int) -> ma.fields.Integer:
    span = validate.Range(1, highest, error=f"Must be between 1 and {highest}.")
    return ma.fields.Integer(strict=True, validate=span, load_default=None, allow_none=True)


def _switch() -> Flag:
    return Flag(load_default=None, allow_none=True)


class DeviceSchema(ma.Schema):
    """What the browser reports about the candidate's microphone and camera, without device names."""

    class Meta:
        unknown = ma.RAISE

    sample_rate = _known(1_000_000)
    channels = _known(64)
    echo_cancellation = _switch()
    noise_suppression = _switch()
    gain_control = _switch()
    microphone = ma.fields.String(
        load_default=None, allow_none=True, validate=validate.OneOf(MICROPHONES, error="Must be one of {choices}.")
    )
    width = _known(16_384)
    height = _known(16_384)
    frame_rate = _known(1_000)
