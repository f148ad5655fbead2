"""One accent color, made fit for reading on light and on dark pages. Contrast is that of WCAG 2.2. Pure."""

import colorsys
import re
from dataclasses import dataclass

READABLE = 4.5
"""The least contrast of text with what is behind it."""
LIGHT, DARK = "#f5f6f8", "#19212b"
"""The light background with the least contrast for dark text, and the dark one with the least for light text: the same
as in static/css/tokens.css."""
LIGHT_SURFACE = "#ffffff"
ON_LIGHT, ON_DARK = "#ffffff", "#10151c"
"""What buttons of the color have written on them, on light and on dark pages."""
_DIGITS = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})")
_STEPS = 24
_HOVER = 0.8
_SOFT = 0.12

Rgb = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Shades:
    """The colors that one accent becomes on pages of one kind."""

    accent: str
    hover: str
    soft: str


def read(text: str) -> str | None:
    """``#rrggbb`` in lower case from what a person writes (``#rgb`` and without ``#``, too), or None."""
    found = _DIGITS.fullmatch(text.strip().lower())
    if found is None:
        return None
    digits = found[1]
    return "#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits))


def contrast(one: str, other: str) -> float:
    """Between 1 and 21."""
    lighter, darker = sorted((_luminance(_rgb(one)), _luminance(_rgb(other))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def is_readable(color: str) -> bool:
    """Whether links of this color can be read on a light page, and white text on buttons of it."""
    return contrast(color, LIGHT) >= READABLE


def nearest_readable(color: str) -> str:
    """The color itself, or the least darkened one that ``is_readable``."""
    return _until_readable(color, LIGHT, end=0.0)


def on_light(color: str) -> Shades:
    """A readable color on light pages."""
    return Shades(color, _mixed(color, "#000000", _HOVER), _mixed(color, LIGHT_SURFACE, _SOFT))


def on_dark(color: str) -> Shades:
    """The same color on dark pages, lightened until it can be read there."""
    accent = _until_readable(color, DARK, end=1.0)
    return Shades(accent, _mixed(accent, "#ffffff", _HOVER), _mixed(accent, DARK, 2 * _SOFT))


def _until_readable(color: str, background: str, *, end: float) -> str:
    """The color with the least change of its lightness towards ``end`` that has enough contrast."""
    if contrast(color, background) >= READABLE:
        return color
    hue, start, saturation = colorsys.rgb_to_hls(*_rgb(color))
    near, far = start, end
    for _ in range(_STEPS):
        middle = (near + far) / 2
        if contrast(_hex(colorsys.hls_to_rgb(hue, middle, saturation)), background) >= READABLE:
            far = middle
        else:
            near = middle
    return _hex(colorsys.hls_to_rgb(hue, far, saturation))


def _mixed(color: str, other: str, share: float) -> str:
    first, second = _rgb(color), _rgb(other)
    red, green, blue = (share * one + (1 - share) * two for one, two in zip(first, second, strict=True))
    return _hex((red, green, blue))


def _rgb(color: str) -> Rgb:
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _hex(rgb: Rgb) -> str:
    return "#" + "".join(f"{round(255 * one):02x}" for one in rgb)


def _luminance(rgb: Rgb) -> float:
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
