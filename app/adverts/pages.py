"""The page "Start from a job ad". The flow's own form is opened with what the member approves, and saves it."""

from dataclasses import dataclass

from flask import Blueprint, render_template, request

from app import gateways
from app.accounts.access import current_member, require_member, require_recruiter
from app.adverts.forms import AdvertForm
from app.adverts.reading import advert_of
from app.core.db import db
from app.core.errors import GatewayError, Rejected
from app.flows.criteria import LONGEST_GOOD, LONGEST_NAME
from app.flows.forbidden_topics import Found, check
from app.flows.forms import BLANK, language_name
from app.flows.models import LONGEST
from app.gateways.language_model.drafts import Draft, DraftedCriterion, DraftedQuestion
from app.web import rate_limits

LARGEST_ADVERT_FORM = 11 * 1024 * 1024
DRAFTS_PER_MINUTE = 6
NO_MODEL = "This installation has no language model, so it cannot draft questions from a job ad."

pages = Blueprint("adverts", __name__)
pages.before_request(require_member)


@dataclass(frozen=True, slots=True)
class Refused:
    """A drafted question or criterion that touches forbidden topics."""

    text: str
    found: tuple[Found, ...]


@pages.get("/flows/from-advert")
def ask() -> str:
    """The form for the advert; without a language model, where the templates are."""
    require_recruiter()
    return _form_page(AdvertForm())


@pages.post("/flows/from-advert")
def draft() -> str | tuple[str, int]:
    """Draft questions and criteria, refuse the forbidden ones, and show them for approval. Nothing is stored."""
    require_recruiter()
    request.max_content_length = LARGEST_ADVERT_FORM
    form, drafter, org_name = AdvertForm(), gateways.current().drafter, current_member().organization.name
    if not form.validate_on_submit() or not drafter.is_able:
        return _form_page(form), 422
    rate_limits.count("advert", most=DRAFTS_PER_MINUTE)
    language = form.language.data
    sent = request.files.get("file")
    file = (sent.filename, sent.stream.read()) if sent and sent.filename else None
    db.session.rollback()  # ends the read: reading the file and drafting are slow
    try:
        advert = advert_of(form.text.data or "", file, language=language)
        drafted = drafter.draft(advert, language=language_name(language))
    except Rejected as refusal:
        form.blame(refusal)
        return _form_page(form), 422
    except GatewayError:
        form.blame(Rejected("The language model did not return a usable draft. Try again, or start from a template."))
        return _form_page(form), 503
    return _review_page(drafted, language=language, org_name=org_name)


def _form_page(form: AdvertForm) -> str:
    return render_template("adverts/ask.html", form=form, is_able=gateways.current().drafter.is_able, no_model=NO_MODEL)


def _review_page(drafted: Draft, *, language: str, org_name: str) -> str:
    questions, criteria, refused = _sorted(drafted, language)
    return render_template(
        "adverts/review.html",
        title=drafted.title,
        org_name=org_name,
        language=language,
        language_label=language_name(language),
        questions=questions,
        criteria=criteria,
        refused=refused,
        longest=LONGEST,
        longest_name=LONGEST_NAME,
        longest_good=LONGEST_GOOD,
        rest={name: value for name, value in BLANK.items() if name != "language"},
    )


def _sorted(drafted: Draft, language: str) -> tuple[list[DraftedQuestion], list[DraftedCriterion], list[Refused]]:
    """What the rules let pass, and what they refuse. Criteria are read as questions to the candidate are."""
    questions, criteria, refused = [], [], []
    for question in drafted.questions:
        found = check(question.text, language)
        if found:
            refused.append(Refused(question.text, found))
        else:
            questions.append(question)
    for criterion in drafted.criteria:
        words = f"{criterion.name}: {criterion.good}"
        found = check(words, language)
        if found:
            refused.append(Refused(words, found))
        else:
            criteria.append(criterion)
    return questions, criteria, refused
