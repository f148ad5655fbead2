"""What the candidate's pages promise to people with disabilities, and the page that says so.

The list is the one source: the page renders it, and ``tests/browser/test_accessibility.py`` runs a check for each
``Claim.id`` and fails when a claim has no check or a check no claim.
"""

from dataclasses import dataclass

from flask import Blueprint, render_template
from flask_babel import lazy_gettext
from flask_babel.speaklater import LazyString

from app.conversation.browsers import TESTED
from app.web import languages
from app.web.security import keep_private

statement = Blueprint("accessibility", __name__, url_prefix="/interview/api")


@dataclass(frozen=True, slots=True)
class Claim:
    """One promise: the name of its check, the success criteria of WCAG 2.2 that it concerns, and the sentence."""

    id: str
    criteria: tuple[str, ...]
    sentence: LazyString


CLAIMS = (
    Claim(
        "axe",
        ("1.1.1", "1.3.1", "2.4.2", "2.4.6", "3.3.2", "4.1.2"),
        lazy_gettext(
            "Headings, button names and field labels: an automated checker (axe-core) finds no errors in any state "
            "of the pages."
        ),
    ),
    Claim("contrast", ("1.4.3", "1.4.11"), lazy_gettext("Text stands out clearly in light and dark colors.")),
    Claim(
        "keyboard", ("2.1.1", "2.1.2", "2.1.4"), lazy_gettext("You can take a whole interview with the keyboard alone.")
    ),
    Claim(
        "focus",
        ("2.4.3", "3.2.1", "3.2.2"),
        lazy_gettext(
            "Your place on the page is never lost: after each action, the keyboard focus is where you would expect it."
        ),
    ),
    Claim(
        "focus-visible",
        ("2.4.7", "2.4.11"),
        lazy_gettext("The element with the keyboard focus has a clear frame and is never covered."),
    ),
    Claim(
        "announced",
        ("4.1.3",),
        lazy_gettext(
            "Screen readers announce what the AI does, when it is your turn, and each new question that is not spoken."
        ),
    ),
    Claim("targets", ("2.5.8",), lazy_gettext("Everything you can press is at least 24 pixels high and wide.")),
    Claim("reflow", ("1.4.10",), lazy_gettext("At 400% zoom, nothing is cut off and nothing scrolls sideways.")),
    Claim("enlarged", ("1.4.4",), lazy_gettext("You can enlarge text to twice its size.")),
    Claim("spacing", ("1.4.12",), lazy_gettext("You can increase the spacing between lines, words and letters.")),
    Claim("turned", ("1.3.4",), lazy_gettext("The pages work in portrait and landscape.")),
    Claim("still", ("2.2.2", "2.3.1", "2.3.3"), lazy_gettext("Nothing moves if your device is set to reduce motion.")),
    Claim(
        "language",
        ("3.1.1", "3.1.2"),
        lazy_gettext("Screen readers know the language of the page and of the questions."),
    ),
    Claim(
        "errors",
        ("3.3.1", "3.3.3"),
        lazy_gettext("Errors are explained in words, with a way to correct them, and nothing you typed is lost."),
    ),
    Claim(
        "in-words",
        ("1.2.4", "1.4.2"),
        lazy_gettext(
            "What the AI says is always on the page as text, and its voice stops as soon as you want to answer."
        ),
    ),
    Claim(
        "in-writing",
        ("2.2.1", "2.5.1", "2.5.7"),
        lazy_gettext(
            "You can write instead of speaking at any time, even in the middle of a question. You never have to "
            "answer quickly."
        ),
    ),
    Claim("help", ("3.2.6",), lazy_gettext("Help is in the same place throughout the interview.")),
)

LIMITS = (
    lazy_gettext(
        "The checks are automated and run in Chromium. No one who uses a screen reader has tested the pages for this "
        "statement."
    ),
    lazy_gettext(
        "Spoken interviews are tested in these browsers: %(browsers)s. WebKitGTK uses the engine of Safari. Safari "
        "itself, iPhones and other real phones have not been tested. Phones were simulated by screen size, touch and "
        "recording format.",
        browsers=", ".join(TESTED),
    ),
    lazy_gettext("Videos in an invitation come from the organization that invites you, and so do their captions."),
)


@statement.get("/accessibility")
def page() -> str:
    """The statement, in the language of the page that one comes from."""
    languages.choose()
    keep_private()
    return render_template("conversation/accessibility.html", claims=CLAIMS, limits=LIMITS)
