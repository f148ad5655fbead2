"""Holds every style sheet in the form that cssbeautifier gives it; ``--write`` puts it into that form."""

import re
import sys
from pathlib import Path

import cssbeautifier

SHEETS = sorted((Path(__file__).resolve().parents[1] / "static" / "css").glob("*.css"))
_TAKEN_FOR_A_COMBINATOR = re.compile(r" ~ (?==)")


def formatted(text: str) -> str:
    """Each declaration and each selector on its own line, rules apart by an empty one."""
    options = cssbeautifier.default_options()
    options.indent_size = 2
    options.end_with_newline = True
    options.space_around_combinator = True
    options.max_preserve_newlines = 2
    # It writes [name~="word"] as [name ~ ="word"], which is no selector.
    return _TAKEN_FOR_A_COMBINATOR.sub("~", cssbeautifier.beautify(text, options))


def main(words: list[str]) -> int:
    wrong = 0
    for sheet in SHEETS:
        text = sheet.read_text(encoding="utf-8")
        if (right := formatted(text)) == text:
            continue
        wrong += 1
        if "--write" in words:
            sheet.write_text(right, encoding="utf-8")
        else:
            print(f"{sheet.name} is not formatted; run  .venv/bin/python .ci/styles.py --write")
    return bool(wrong) and "--write" not in words


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
