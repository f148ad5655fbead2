"""What the candidate's pages promise to people with disabilities, and the page that says so.

The list is the one source: the page renders it, and ``tests/browser/test_accessibility.py`` runs a check for each
``Claim.id`` and fails when a claim has no check or a check no claim.
"""

from dataclasses import dataclass

from flask import Blueprint, render_template
from flask_babel import lazy_gettext
from flask_babel.speaklater import LazyString

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
            "Headings, names of buttons, labels of fields: a checking program (axe-core) finds no error in "
            "any state of the pages."
        ),
    ),
    Claim("contrast", ("1.4.3", "1.4.11"), lazy_gettext("Text stands out clearly, in light and in dark colours.")),
    Claim(
        "keyboard", ("2.1.1", "2.1.2", "2.1.4"), lazy_gettext("A whole interview can be taken with the keyboard alone.")
    ),
    Claim(
        "focus",
        ("2.4.3", "3.2.1", "3.2.2"),
        lazy_gettext(
            "Your place on the page is never lost: after each action the keyboard goes on where you would look for it."
        ),
    ),
    Claim(
        "focus-visible",
        ("2.4.7", "2.4.11"),
        lazy_gettext("The element that the keyboard is at has a clear frame and is never covered."),
    ),
    Claim(
        "announced",
        ("4.1.3",),
        lazy_gettext(
            "Screen readers announce what the AI does, when it is your turn, and each new question that is not spoken."
        ),
    ),
    Claim("targets", ("2.5.8",), lazy_gettext("Everything that is pressed is at least 24 pixels high and wide.")),
    Claim("reflow", ("1.4.10",), lazy_gettext("At a zoom of 400 % nothing is cut off and nothing scrolls sideways.")),
    Claim("enlarged", ("1.4.4",), lazy_gettext("Text can be twice as large.")),
    Claim("spacing", ("1.4.12",), lazy_gettext("Lines, words and letters can be set further apart.")),
    Claim("turned", ("1.3.4",), lazy_gettext("The pages work upright and sideways.")),
    Claim("still", ("2.2.2", "2.3.1", "2.3.3"), lazy_gettext("Nothing moves if your device asks for less motion.")),
    Claim(
        "language",
        ("3.1.1", "3.1.2"),
        lazy_gettext("Screen readers know the language of the page and that of the questions."),
    ),
    Claim(
        "errors",
        ("3.3.1", "3.3.3"),
        lazy_gettext("What is wrong with an entry is said in words, with a way out, and nothing typed is lost."),
    ),
    Claim(
        "in-words",
        ("1.2.4", "1.4.2"),
        lazy_gettext(
            "What the AI says is always on the page as text, and its voice stops as soon as you wish to answer."
        ),
    ),
    Claim(
        "in-writing",
        ("2.2.1", "2.5.1", "2.5.7"),
        lazy_gettext(
            "You can write instead of speaking, at any moment and in the middle of a question. No answer has "
            "to be given quickly."
        ),
    ),
    Claim("help", ("3.2.6",), lazy_gettext("Help is at the same place throughout the interview.")),
)

LIMITS = (
    lazy_gettext(
        "The checks are done by programs, in Chromium. No person who uses a screen reader has tested the "
        "pages for this statement."
    ),
    lazy_gettext("Safari and real phones were not tested; phones were imitated by size, touch and kind of recording."),
    lazy_gettext("Videos that a company adds to its invitation come from that company, and so do their captions."),
)


@statement.get("/accessibility")
def page() -> str:
    """The statement, in the language of the page that one comes from."""
    languages.choose()
    keep_private()
    return render_template("conversation/accessibility.html", claims=CLAIMS, limits=LIMITS)
