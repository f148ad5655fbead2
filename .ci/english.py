"""Refuses phrases that make English sound translated, in pages, code and documentation (``docs/words.md``).

    .venv/bin/python .ci/english.py [PATH …]

Prints file:line, the phrase and a better one. Without a path it reads everything people read of the product. Pages and
documents also keep to the words of the product. Left alone: texts of consent, which stay as they were published;
sentences that the demo, test interviews and benchmarks speak; migrations; tests, which quote pages; released parts of
the changelog.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READ = ("README.md", "CHANGELOG.md", "Makefile", "app", "templates", "static/js", "docs", "bench", "clients", ".ci")
KINDS = {".py", ".html", ".js", ".md", ".yaml", ".example", ".sh", ".service", ""}
LEFT = re.compile(
    r"^docs/words\.md|^\.ci/english\.py|(^|/)node_modules/|^app/web/translations/|^bench/speech\.py"
    r"|^templates/conversation/_consent_"
    r"|^app/gateways/language_model/prompts\.py|^app/operations/(demo/(answers|cli_acts|content)|test_interviews/answers)\.py"
)

BETTER = {
    "whoever": "anyone who, people who, if you",
    "anew": "again, rebuilt, rewritten",
    "nobody": "no one, or a passive",
    "somebody": "someone, a person, or a passive",
    "anybody": "anyone",
    "everybody": "everyone",
    "(?:is|are|was|were|be|been|being) told(?! apart| from)": "sees, gets, is recorded, is reported",
    "so many(?! that)": "the number of, this many",
    "of (?:ours|theirs|yours)": "our, their, your",
    "(?:what|whatever) (?:came|comes|has come) of": "the outcome, the result",
    "it (?:is|was) (?:really )?them": "they",
    "as long as (?:it|they) takes?": "take any time, has no limit",
    "(?:and|or) the like": "name the things",
    "in the mean(?!time)": "on average",
    "half of them at most": "median",
    "nine of ten at most": "90th percentile",
    "keeps from": "prevents, protects from",
    "stands? (?:there|here|above|below|beside|elsewhere|at)": "is",
    "stands? in(?! for| line| (?:the|my|your|its|their) way)": "is in",
    "(?:be|been|is|are) taken back": "undone",
    "is none of": "is not one of",
    "for want of": "because … is missing",
    "mend(?:s|ed|ing)?": "fix, correct",
    "as (?:the|an) \\w+ has it": "default",
    "from (?:this|that) moment on": "immediately, from now on",
    "hangs? on (?:it|them)": "belongs to, depends on",
    "ever new": "more, new",
    "for ever": "forever",
    "half[- ]way": "halfway",
}
READERS = re.compile(r"^(?:templates/|docs/(?!figures/)|README\.md|CHANGELOG\.md)")
"""Pages and documents: here the words of the product hold too. Code keeps names that others depend on."""
WORDS = {
    "recognis(?:e|ed|es|er|ers|ing)": "recognize (American spelling)",
    "(?:un)?(?:colour|behaviour|neighbour)\\w*": "color, behavior, neighbor (American spelling)",
    "hand(?:s|ed|ing)? in(?!to)": "submit",
    "booked|bookings?": "create an interview",
    "colleagues?": "member",
    "(?:the )?loudspeakers?": "speaker",
    "webhook address(?:es)?": "webhook URL",
    "stuck in processing": "processing has stopped",
    "start page": "home page",
    "did not answer (?:in|within|at)": "did not respond",
}


def _rule(phrase: str) -> re.Pattern[str]:
    spaced = phrase.replace(" ", r"[\s#*]+")
    return re.compile(rf"(?<![\w.\-/])(?:{spaced})(?![\w\-(=\"])", re.IGNORECASE)


RULES = [(_rule(phrase), better) for phrase, better in BETTER.items()]
ON_PAGES = [
    *((_rule(phrase), better) for phrase, better in WORDS.items()),
    (re.compile(r"(?:\d|\}\}) %(?![\w}%])"), "no space before %"),
    (re.compile(r"(?:\}\}|</strong>) of 5\b"), "out of 5"),
]


def files(paths: list[str]) -> Iterator[Path]:
    for path in paths:
        place = (ROOT / path).resolve()
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.is_file() and file.suffix in KINDS and not LEFT.search(file.relative_to(ROOT).as_posix()):
                yield file


def text_of(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    if file.name == "CHANGELOG.md":
        heads = [match.start() for match in re.finditer("^## ", text, re.MULTILINE)]
        return text[: heads[1]] if len(heads) > 1 else text
    return text


def hits(file: Path) -> Iterator[tuple[int, str, str]]:
    text = text_of(file)
    is_page = READERS.search(file.relative_to(ROOT).as_posix()) is not None
    for rule, better in [*RULES, *(ON_PAGES if is_page else [])]:
        for match in rule.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), better


def main() -> int:
    hit = False
    for file in files(sys.argv[1:] or [*READ]):
        for line, phrase, better in sorted(hits(file)):
            hit = True
            print(f"{file.relative_to(ROOT)}:{line}: {phrase!r}: {better}")
    return int(hit)


if __name__ == "__main__":
    sys.exit(main())
