"""The index of decisions names each of them once, and links between them lead somewhere."""

import re

from .source import ROOT

FOLDER = ROOT / "docs" / "decisions"
INDEX = (FOLDER / "README.md").read_text(encoding="utf-8")
FILES = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "README.md")
STATUS = re.compile(r"in force(?:(?:;| while) .+)?|replaced by \[\d{4}\]\(.+\)|joined with \[\d{4}\]\(.+\)")


def test_every_decision_is_in_the_index_once() -> None:
    rows = re.findall(r"^\| \[(\d{4})\]\((.+?)\) \| .+ \| (.+) \|$", INDEX, re.MULTILINE)
    assert sorted(name for _, name, _ in rows) == FILES, "add a row to docs/decisions/README.md for a new decision"
    assert [number for number, name, _ in rows if not name.startswith(f"{number}-")] == []
    assert [(number, status) for number, _, status in rows if not STATUS.fullmatch(status)] == []


def test_no_two_decisions_share_a_number_or_a_slug() -> None:
    for part in (0, 2):
        parts = [name.removesuffix(".md").partition("-")[part] for name in FILES]
        assert len(parts) == len(set(parts)), sorted(one for one in set(parts) if parts.count(one) > 1)


def test_links_of_decisions_resolve() -> None:
    broken = []
    for name in [*FILES, "README.md"]:
        text = re.sub(r"```.*?```", "", (FOLDER / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
        broken += [f"{name}: {link}" for link in links if not (FOLDER / link).exists()]
    assert broken == []


def test_numbers_that_decisions_name_exist() -> None:
    numbers = {name[:4] for name in FILES}
    named = {
        f"{name}: {number}"
        for name in FILES
        for number in re.findall(r"\((0\d{3})\)|by (0\d{3})\b", (FOLDER / name).read_text(encoding="utf-8"))
        for number in number
        if number and number not in numbers
    }
    assert named == set()
