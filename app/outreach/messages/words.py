"""What a message can say: its placeholders, and the templates that every organization starts with."""

from dataclasses import dataclass

from app.outreach.messages.models import Purpose
from app.outreach.words import Words

PLACES = {
    "name": "The candidate's first name. Empty if there is none.",
    "last_name": "The candidate's last name. Empty if there is none.",
    "title": "The title of the flow.",
    "organization": "The organization name set in the flow.",
    "sender": "The name of the member who sends the message.",
}


@dataclass(frozen=True, slots=True)
class Starter:
    """A template to begin with. ``id`` is used in URLs until the organization changes its templates."""

    id: str
    name: str
    purpose: Purpose
    words: Words


def _text(*paragraphs: str) -> str:
    return "\n\n".join(("Hello {name},", *paragraphs, "Best regards,\n{sender}\n{organization}"))


STARTERS = (
    Starter(
        "follow-up",
        "Follow-up",
        Purpose.GENERAL,
        Words(
            "Your interview: {title}",
            _text(
                "I am following up on your interview with {organization} ({title}).",
                "If you have questions, or if something is preventing you from taking part, reply to this email.",
            ),
        ),
    ),
    Starter(
        "next-steps",
        "Next steps",
        Purpose.GENERAL,
        Words(
            "Next steps: {title}",
            _text(
                "Thank you for your interview with {organization} ({title}). We would like to talk to you.",
                "Please reply with two or three times that suit you this week or next.",
            ),
        ),
    ),
    Starter(
        "rejection",
        "Rejection",
        Purpose.REJECTION,
        Words(
            "Your application: {title}",
            _text(
                "Thank you for taking the time to interview with {organization}.",
                "We have decided not to continue with your application ({title}).",
                "If you would like to know more, reply to this email. We wish you all the best.",
            ),
        ),
    ),
    Starter(
        "thank-you",
        "Thank you",
        Purpose.GENERAL,
        Words(
            "Thank you for your interview: {title}",
            _text(
                "Thank you for your interview with {organization} ({title}).",
                "We are reviewing your answers and will write to you as soon as we have decided.",
            ),
        ),
    ),
)
