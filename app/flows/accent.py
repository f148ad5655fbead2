"""The accent color of candidates' pages: what may be chosen, and the style sheet it becomes."""

from app.core import colors
from app.core.errors import Rejected


def checked(text: str) -> str | None:
    """The color as ``#rrggbb``; None for none. Raises Rejected, with the nearest color that works."""
    if not text.strip():
        return None
    color = colors.read(text)
    if color is None:
        raise Rejected("Enter a color as # and six digits from 0 to f, for example #0d655e.", field="accent")
    if not colors.is_readable(color):
        ratio, offered = colors.contrast(color, colors.LIGHT), colors.nearest_readable(color)
        words = f"{color} is too light to read on a light page: its contrast is {ratio:.1f} to 1."
        raise Rejected(
            f"{words} It must be at least 4.5 to 1. The nearest color that works is {offered}.", field="accent"
        )
    return color


def nearest(text: str) -> str | None:
    """The color to offer in place of one that cannot be read; None if it can, or is no color."""
    color = colors.read(text)
    return None if color is None or colors.is_readable(color) else colors.nearest_readable(color)


def style_sheet(color: str) -> str:
    """The custom properties of static/css/tokens.css that the color replaces."""
    light = _properties(colors.on_light(color), colors.ON_LIGHT)
    dark = _properties(colors.on_dark(color), colors.ON_DARK)
    return f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def _properties(shades: colors.Shades, ink: str) -> str:
    values = {"accent": shades.accent, "accent-hover": shades.hover, "accent-soft": shades.soft, "on-accent": ink}
    return ";".join(f"--{name}:{value}" for name, value in {**values, "link": shades.accent}.items())
