"""Reads the report's HTML into plain nodes that a typesetter can follow. Pure.

A node is a text, or a dict: ``t`` the tag, ``c`` its classes, ``l`` its language, ``d`` the direction of its text
(``ltr`` or ``rtl``), ``k`` what is inside. A drawn bar is ``{"t": "bar", "w": 0 to 50}``.
"""

import re
import unicodedata
from html.parser import HTMLParser
from typing import Any

Node = dict[str, Any] | str

BLOCKS = frozenset(
    {"article", "header", "section", "footer", "div", "dl", "dt", "dd", "ul", "li", "p", "blockquote", "h1", "h2", "h3"}
)
_SPACES = re.compile(r"[ \t\n\r\f]+")
_EMPTY = frozenset({"br", "rect", "meta", "link", "img", "hr", "input"})
_RTL = frozenset({"R", "AL"})


class _Reader(HTMLParser):
    """Builds the tree. Our own templates close what they open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.top: dict[str, Any] = {"t": "article", "k": []}
        self._open = [self.top]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "rect":
            if given.get("class") == "bar-value":
                self._open[-1]["w"] = float(given["width"])
            return
        node: dict[str, Any] = {"t": "bar" if tag == "svg" else tag, "k": []}
        node |= {key: given[name] for key, name in (("c", "class"), ("l", "lang"), ("d", "dir")) if given.get(name)}
        self._open[-1]["k"].append(node)
        if tag not in _EMPTY:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _EMPTY and len(self._open) > 1:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        keeps_lines = "summary" in self._open[-1].get("c", "").split()
        for number, line in enumerate(data.split("\n") if keeps_lines else [data]):
            if number:
                self._open[-1]["k"].append({"t": "br", "k": []})
            self._open[-1]["k"].append(_SPACES.sub(" ", line))


def tree_of(html: str) -> dict[str, Any]:
    """The tree of a report's HTML."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return _tidy(reader.top)


def _tidy(node: dict[str, Any]) -> dict[str, Any]:
    """Without the spaces between blocks and at the edges of their texts, and with the direction of each text."""
    inside = [_tidy(one) if isinstance(one, dict) else one for one in node["k"]]
    if node["t"] in BLOCKS:
        holds_blocks = any(isinstance(one, dict) and one["t"] in BLOCKS for one in inside)
        inside = [one for one in inside if not (holds_blocks and isinstance(one, str) and not one.strip())]
        if inside and isinstance(inside[0], str):
            inside[0] = inside[0].lstrip()
        if inside and isinstance(inside[-1], str):
            inside[-1] = inside[-1].rstrip()
    tidy = {**node, "k": [one for one in inside if one != ""]}
    if node.get("d") == "auto" or node["t"] == "bdi":
        tidy["d"] = direction(text_of(tidy))
    return tidy


def text_of(node: Node) -> str:
    """The words in a node."""
    return node if isinstance(node, str) else "".join(text_of(one) for one in node["k"])


def direction(text: str) -> str:
    """``rtl`` or ``ltr``, by the first letter that has one: as browsers do for ``dir="auto"``."""
    for letter in text:
        kind = unicodedata.bidirectional(letter)
        if kind in _RTL or kind == "L":
            return "rtl" if kind in _RTL else "ltr"
    return "ltr"
