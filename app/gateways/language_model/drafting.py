"""A flow drafted from a job advert by a language model over `/chat/completions`, as JSON that is checked here."""

from pydantic import Field

from app.gateways.language_model import prompts
from app.gateways.language_model.chat import Chat, Shape
from app.gateways.language_model.drafts import Draft, DraftedCriterion, DraftedQuestion

MOST_QUESTIONS, MOST_CRITERIA = 8, 6


class QuestionShape(Shape):
    """A question."""

    text: str = Field(min_length=1, max_length=500)
    reason: str = Field(min_length=1, max_length=500)


class CriterionShape(Shape):
    """A criterion."""

    name: str = Field(min_length=1, max_length=80)
    good: str = Field(min_length=1, max_length=500)
    reason: str = Field(min_length=1, max_length=500)


class DraftShape(Shape):
    """A draft."""

    title: str = Field(min_length=1, max_length=200)
    questions: list[QuestionShape] = Field(min_length=1, max_length=MOST_QUESTIONS)
    criteria: list[CriterionShape] = Field(max_length=MOST_CRITERIA)


class ChatDrafter:
    """Drafts with the configured model."""

    is_able = True

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def draft(self, advert: str, *, language: str) -> Draft:
        """One line for each text, as the model gives it: nothing of it is checked for what it asks."""
        answer = self._chat.ask(prompts.ADVERT, {"language": language, "advert": advert}, DraftShape)
        return Draft(
            _line(answer.title),
            tuple(DraftedQuestion(_line(one.text), _line(one.reason)) for one in answer.questions),
            tuple(DraftedCriterion(_line(one.name), _line(one.good), _line(one.reason)) for one in answer.criteria),
        )

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()


def _line(text: str) -> str:
    return " ".join(text.split())
