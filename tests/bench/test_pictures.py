"""The guide to the platform shows each page once, with the pictures that the command takes."""

import re

from bench.pictures import PAGES
from tests.lanes import ROOT


def test_the_guide_shows_every_picture_once() -> None:
    guide = (ROOT / "docs/platform.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(img/pages/([\w-]+)\.png\)", guide)
    kept = [path.stem for path in (ROOT / "docs/img/pages").iterdir()]
    assert sorted(shown) == sorted(kept) == sorted(PAGES)
