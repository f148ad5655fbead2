"""What the accessibility statement claims of every state of a page, as checks that give a list of complaints.

``app/conversation/pages/accessibility.py`` has the claims; ``EVERYWHERE`` has the checks that always hold. A test
calls ``hold(page)`` wherever a candidate may be; ``test_accessibility.py`` does so in every state of ``states.py``.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.conversation.pages.accessibility import CLAIMS

Check = Callable[[Any], list[str]]
EVERYWHERE: dict[str, Check] = {}
SOURCE = Path(__file__).with_name("checks.js").read_text()
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
SIDEWAYS = {"width": 740, "height": 360}
ZOOMED = {"width": 320, "height": 256}  # 1280 x 1024 at 400 %
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def everywhere(claim: str) -> Callable[[Check], Check]:
    """A check that is made in every state."""

    def kept(check: Check) -> Check:
        EVERYWHERE[claim] = check
        return check

    return kept


def measured(page: Any, name: str) -> Any:
    """One function of checks.js, run on the page."""
    if not page.evaluate("() => 'checks' in window"):
        body = re.sub(r"^export ", "", SOURCE, flags=re.MULTILINE)
        given = re.findall(r"^export function (\w+)", SOURCE, flags=re.MULTILINE)
        page.evaluate(f"() => {{ {body}; window.checks = {{ {', '.join(given)} }}; }}")
    return page.evaluate(f"() => window.checks.{name}()")


def axe(page: Any, *, only: list[str] | None = None) -> list[str]:
    """What axe-core complains about."""
    api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing")
    chosen: Any = {"runOnly": {"type": "rule", "values": only}} if only else {"runOnly": RULES}
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(api.Axe().axe_script)
    violations = page.evaluate(
        "(options) => axe.run(options).then((found) => found.violations)", chosen | {"resultTypes": ["violations"]}
    )
    return [
        f"{problem['id']}: {node['html'][:160]} {[one['message'] for one in node['any']][:1]}"
        for problem in violations
        for node in problem["nodes"]
    ]


def settle(page: Any) -> None:
    """Wait until every fade has ended, at most five seconds: a page that is not drawn does not end its own."""
    page.evaluate("""() => Promise.race([
        Promise.allSettled(document.getAnimations().map((one) => one.finished)),
        new Promise((done) => setTimeout(done, 5000)),
    ])""")


@everywhere("axe")
def no_error_of_axe(page: Any) -> list[str]:
    return axe(page)


@everywhere("contrast")
def contrast_in_dark_as_in_light(page: Any) -> list[str]:
    """In light colours it was among the rules of the check before."""
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    settle(page)
    return axe(page, only=["color-contrast"])


@everywhere("targets")
def targets_of_24_pixels(page: Any) -> list[str]:
    found: list[str] = measured(page, "targets")
    page.set_viewport_size(DESK)
    return found + measured(page, "targets")


def laid_out(page: Any) -> list[str]:
    return [line for name in ("sideways", "cut", "outside") for line in measured(page, name)]


@everywhere("reflow")
def reflow_at_400_percent(page: Any) -> list[str]:
    page.set_viewport_size(ZOOMED)
    return laid_out(page) + measured(page, "wordless")


@everywhere("enlarged")
def twice_as_large(page: Any) -> list[str]:
    page.set_viewport_size(DESK)
    measured(page, "enlarge")
    return laid_out(page)


@everywhere("spacing")
def text_spacing(page: Any) -> list[str]:
    measured(page, "space")
    found = laid_out(page)
    page.set_viewport_size(DESK)
    return found + laid_out(page)


@everywhere("turned")
def upright_and_sideways(page: Any) -> list[str]:
    found = laid_out(page)
    page.set_viewport_size(SIDEWAYS)
    return found + laid_out(page) + measured(page, "wordless")


@everywhere("still")
def nothing_moves(page: Any) -> list[str]:
    """What began to fade before the device asked may end; what has no end is named."""
    page.emulate_media(reduced_motion="reduce")
    found: list[str] = measured(page, "moving")
    return found


@everywhere("language")
def language_is_named(page: Any) -> list[str]:
    wanted = page.evaluate("""() => {
        const html = document.documentElement, question = document.querySelector('[data-text=question]');
        return [html.lang, html.dir, question ? question.lang : null];
    }""")
    wrong = [] if re.fullmatch(r"[a-z]{2}-[A-Z0-9]{2,3}", wanted[0]) else [f"lang of the page: {wanted[0]!r}"]
    if wanted[1] != ("rtl" if wanted[0] == "ar-AE" else "ltr"):
        wrong.append(f"direction {wanted[1]!r} for {wanted[0]!r}")
    return wrong if wanted[2] in {None, "en-US"} else [*wrong, f"lang of the question: {wanted[2]!r}"]


def hold(page: Any) -> None:
    """Every claim that is held everywhere, on this page as it stands; its size and colours are as before afterwards."""
    size = page.viewport_size
    page.set_viewport_size(PHONE)
    found = [] if page.locator("h1").count() == 1 else [f"{page.locator('h1').count()} headings of the first level"]
    for claim in CLAIMS:
        if claim.id not in EVERYWHERE:
            continue
        found += [f"{claim.id}: {line}" for line in EVERYWHERE[claim.id](page)]
        measured(page, "plain")
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    page.set_viewport_size(size)
    assert not found, f"{page.url}\n" + "\n".join(found)
