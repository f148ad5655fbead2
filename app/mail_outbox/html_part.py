"""The HTML of a mail, made from its text: the same words, with the main link as a button."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from babel import Locale
from flask import current_app

from app.core import colors, product_files
from app.gateways.mail import Mail

if TYPE_CHECKING:
    from css_inline import CSSInliner

TEMPLATE = "mail_outbox/mail.html"
STYLES = "css/mail.css"


@dataclass(frozen=True, slots=True)
class Block:
    """One part of the letter: ``text``, ``code``, ``button``, or ``address`` (the button's URL, to copy).

    A text has lines, which are pieces with whether each is the main link.
    """

    kind: str
    lines: tuple[tuple[tuple[str, bool], ...], ...] = ()


def html_of(mail: Mail) -> str:
    """A whole document. All text is escaped; the styles are attributes, but for dark mode and small screens."""
    return _inliner(mail.accent).inline(_page(mail))


def mail_as_html(mail: Mail) -> str:
    """The same document for a frame on our pages, whose content policy refuses styles in attributes.

    It links the style sheet instead, and its links lead nowhere unless the frame allows new windows. Needs a request.
    """
    return _page(mail, is_preview=True)


def _page(mail: Mail, *, is_preview: bool = False) -> str:
    return current_app.jinja_env.get_template(TEMPLATE).render(
        mail=mail, direction=_direction(mail.language), blocks=blocks_of(mail), is_preview=is_preview
    )


def blocks_of(mail: Mail) -> list[Block]:
    """The paragraphs of the text. The first one with the main link gets the button, which replaces a URL at its end."""
    blocks: list[Block] = []
    waits = bool(mail.link and mail.button)
    for paragraph in mail.text.strip().split("\n\n"):
        words = paragraph.strip("\n")
        if mail.code and words == mail.code:
            blocks.append(Block("code", _lines(words, "")))
            continue
        before, link, after = words.partition(mail.link) if waits else (words, "", "")
        if not link:
            blocks.append(Block("text", _lines(words, mail.link)))
        elif after.strip():
            blocks += [Block("text", _lines(words, mail.link)), Block("button")]
        else:
            blocks += [Block("text", _lines(before.strip(), ""))] if before.strip() else []
            blocks += [Block("button"), Block("address")]
        waits = waits and not link
    return [block for block in blocks if block.kind != "text" or any(block.lines)]


def _lines(words: str, link: str) -> tuple[tuple[tuple[str, bool], ...], ...]:
    return tuple(_pieces(line, link) for line in words.split("\n"))


def _pieces(line: str, link: str) -> tuple[tuple[str, bool], ...]:
    if not link or link not in line:
        return ((line, False),) if line else ()
    before, _, after = line.partition(link)
    return tuple(piece for piece in ((before, False), (link, True), (after, False)) if piece[0])


def accent_styles(color: str) -> str:
    """What an accent color changes of ``STYLES``."""
    light, dark = colors.on_light(color), colors.on_dark(color)
    shown = f".button-cell,.button{{background-color:{light.accent}}}.link{{color:{light.accent}}}"
    cells = f".button-cell,.button{{background-color:{dark.accent} !important}}"
    inks = f".button{{color:{colors.ON_DARK} !important}}.link{{color:{dark.accent} !important}}"
    return f"{shown}\n@media (prefers-color-scheme: dark){{{cells}{inks}}}\n"


@lru_cache(maxsize=64)
def _inliner(accent: str) -> "CSSInliner":
    from css_inline import CSSInliner  # loaded with the first mail

    styles = Path(product_files.root(), "static", STYLES).read_text("utf-8")
    styles += accent_styles(accent) if accent else ""
    return CSSInliner(extra_css=styles, keep_at_rules=True, load_remote_stylesheets=False)


def _direction(language: str) -> str:
    return Locale(language.partition("-")[0]).text_direction
