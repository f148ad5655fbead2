"""What the rules find and leave alone in each language. ``-s`` prints the figures."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from app.flows.forbidden_topics import TOPICS, check
from app.flows.role_templates import RoleTemplate, all_templates
from app.gateways.speech.catalogue import LANGUAGES

ENOUGH, MOST_FALSE = 0.95, 0.05
FILES = sorted(Path(__file__).parent.glob("*.txt"))


@dataclass(frozen=True)
class Questions:
    """The questions of one file: forbidden ones with the topic they ask about, and lawful ones."""

    language: str
    forbidden: list[tuple[str, str]]
    lawful: list[str]


def _read(path: Path) -> Questions:
    _, forbidden, lawful = (
        path.read_text(encoding="utf-8").replace("# lawful", "# forbidden").split("# forbidden\n")[-3:]
    )
    pairs = [line.split(": ", 1) for line in forbidden.splitlines()]
    return Questions(path.name.split(".")[0], [(topic, text) for topic, text in pairs], lawful.splitlines())


def test_there_are_enough_questions_in_every_language() -> None:
    read = [_read(path) for path in FILES]
    assert {questions.language for questions in read} == set(LANGUAGES)
    for language in LANGUAGES:
        own = [questions for questions in read if questions.language == language]
        forbidden = {text for questions in own for _, text in questions.forbidden}
        lawful = {text for questions in own for text in questions.lawful}
        assert min(len(forbidden), len(lawful)) >= (120 if language == "en-US" else 10)
        assert {topic for questions in own for topic, _ in questions.forbidden} == set(TOPICS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_forbidden_questions_are_found_and_lawful_ones_are_not(path: Path) -> None:
    questions = _read(path)
    found = {text: {one.topic.id for one in check(text, questions.language)} for _, text in questions.forbidden}
    missed = [text for text, topics in found.items() if not topics]
    misnamed = [text for topic, text in questions.forbidden if topic not in found[text]]
    false = [text for text in questions.lawful if check(text, questions.language)]
    recall = 1 - len(missed) / len(questions.forbidden)
    print(
        f"{path.stem}: {recall:.1%} of {len(questions.forbidden)} found, {len(misnamed)} under another topic, "
        f"{len(false)} of {len(questions.lawful)} false alarms"
    )
    assert recall >= ENOUGH, missed
    assert len(misnamed) <= (1 - ENOUGH) * len(questions.forbidden), misnamed
    assert len(false) <= MOST_FALSE * len(questions.lawful), false


@pytest.mark.parametrize("template", all_templates(), ids=lambda one: one.id)
def test_every_role_template_passes(template: RoleTemplate) -> None:
    assert [question for question in template.questions if check(question, template.language)] == []


def test_what_is_found_says_which_words_and_why() -> None:
    (found,) = check("To begin with: HOW OLD   are you?", "en-US")
    assert (found.topic.id, found.words) == ("age", ("HOW OLD are you",))
    assert found.topic.reason.endswith(".")
    topics = [one.topic.id for one in check("Are you married, and what is your religion?", "en-US")]
    assert topics == ["family", "religion"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What\u2019s your date of\u00a0birth?", "en-US"),
        ("H\u200bow old are you?", "en-US"),
        ("Ｈｏｗ　ｏｌｄ are you?", "en-US"),
        ("Quel a\u0302ge avez-vous\u202f?", "fr-FR"),
        ("هل أَنْتَ متزوج؟", "ar-AE"),
        ("क्या आप पर कोई कर्ज़ है?", "hi-IN"),
        ("คุณทำงานแล้วกำลังตั้งครรภ์หรือคุณกำลังตั้งครรภ์", "th-TH"),
    ],
)
def test_letters_can_be_written_in_many_ways(text: str, language: str) -> None:
    assert check(text, language)


def test_long_texts_are_read_in_linear_time() -> None:
    for language in LANGUAGES:
        assert not check("".join(f"word{n} " for n in range(400)) * 2, language)
