"""The typesetting process: an order in JSON on standard input, a PDF on standard output, or JSON that says why not.

A standalone file, so it loads nothing of Parley and has no secrets. It limits itself before it loads Typst, gives up
the network where the kernel lets it, and ends with the process that started it. Argument: the path of the template.
"""

import ctypes
import json
import os
import re
import resource
import signal
import sys
import unicodedata
from pathlib import Path
from typing import Any

_CLONE_NEWUSER, _CLONE_NEWNET, _PR_SET_PDEATHSIG = 0x10000000, 0x40000000, 1
_MISSING = re.compile(r'the text `"(.+?)"` could not be displayed')
_CODE = re.compile(r"\\u\{([0-9a-f]+)\}")


def confine(limits: dict[str, int]) -> None:
    """Limit memory, CPU and files; end with the parent; drop the network where the kernel allows it."""
    for kind, value in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        _soft, most = resource.getrlimit(kind)
        wanted = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (wanted, wanted))
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if libc.unshare(_CLONE_NEWNET) != 0:
            libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def typeset(template: bytes, order: dict[str, Any]) -> bytes:
    """The PDF, or JSON. Tries the fonts that came along, then the system's; then spells out symbols such as emoji."""
    import typst

    report = order["report"]
    missing: list[str] = []
    tries = [False, True, True] if order["with_system_fonts"] else [False, False]
    for number, with_system in enumerate(tries):
        if number == len(tries) - 1:
            letters = [cluster for cluster in missing if any(map(_is_letter, cluster))]
            if letters:
                return json.dumps({"missing": letters}).encode()
            report = spelled_out(report, set("".join(missing)))
        found = typst.Fonts(include_system_fonts=with_system, font_paths=order["font_paths"])
        data = {"report": json.dumps(report)}
        try:
            return typst.compile(template, sys_inputs=data, font_paths=found, pdf_standards=["ua-1"])
        except typst.TypstError as error:
            missing = [_plain(cluster) for cluster in _MISSING.findall(error.diagnostic)]
            if not missing:
                raise
    return json.dumps({"missing": missing}).encode()


def spelled_out(node: Any, signs: set[str]) -> Any:
    """The report with the names of ``signs`` in their place; marks that only join or vary others are left out."""
    if isinstance(node, str):
        return "".join(_named(sign) if sign in signs else sign for sign in node)
    return {**node, "k": [spelled_out(one, signs) for one in node["k"]]}


def _named(sign: str) -> str:
    if unicodedata.category(sign)[0] in "CM":
        return ""
    return sign if sign.isascii() else f"[{unicodedata.name(sign, f'U+{ord(sign):04X}').lower()}]"


def _is_letter(sign: str) -> bool:
    """Whether leaving it out would lose words: letters, digits and their marks, but no variant of an emoji."""
    if sign.isascii() or 0xFE00 <= ord(sign) <= 0xFE0F or 0x20D0 <= ord(sign) <= 0x20FF:
        return False
    return unicodedata.category(sign)[0] in "LMN"


def _plain(cluster: str) -> str:
    """The letters themselves: Typst writes marks as codes in its messages."""
    return _CODE.sub(lambda code: chr(int(code[1], 16)), cluster)


def main() -> None:
    parent = os.getppid()
    template = Path(sys.argv[1]).read_bytes()
    order = json.load(sys.stdin)
    confine(order["limits"])
    if os.getppid() != parent:
        return
    try:
        made = typeset(template, order)
    except (MemoryError, RecursionError, RuntimeError):
        made = b"{}"
    sys.stdout.buffer.write(made if len(made) <= order["limits"]["size"] else b"{}")


if __name__ == "__main__":
    main()
