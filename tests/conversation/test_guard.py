"""What the agent may say in a language model's words, and what not, in every language."""
# ruff: noqa: E501 - tables of sayings read better in one line

import pytest

from app.conversation.script import guard
from app.conversation.script.machine import Script
from app.conversation.script.place import Phase, Place
from app.gateways.speech import phrases
from app.gateways.speech.catalogue import LANGUAGES

OPEN = Place(Phase.QUESTION, 0, said="We were 6 people and I did the rigging.")
INFO = "The office is in Bergen. Work begins at 8. Write to jobs@dock.example for travel costs."

GOOD = {
    "en-US": "Which part of the rigging did you do yourself, with 6 people?",
    "de-DE": "Welchen Teil der Arbeit haben Sie selbst gemacht?",
    "es-419": "¿Qué parte del trabajo hizo usted mismo?",
    "pt-BR": "Que parte do trabalho você fez pessoalmente?",
    "fr-FR": "Quelle partie du travail avez-vous faite vous-même ?",
    "no-NO": "Hvilken del av arbeidet gjorde du selv?",
    "hi-IN": "इस काम का कौन सा हिस्सा आपने खुद किया?",
    "ja-JP": "その仕事のどの部分をご自身で担当しましたか。",
    "zh-CN": "这项工作中哪一部分是您自己完成的？",
    "ko-KR": "그 일에서 직접 맡은 부분은 무엇이었나요?",
    "vi-VN": "Phần nào của công việc do chính bạn làm?",
    "th-TH": "งานส่วนไหนที่คุณทำด้วยตัวเอง",
    "ar-AE": "أي جزء من العمل أنجزته بنفسك؟",
}


def script(language: str = "en-US", **more: object) -> Script:
    given = {
        "questions": ("Why do you want to work with us?", "Which project was the hardest so far?"),
        "seconds": 60,
        "additional_info": INFO,
        **more,
    }
    return Script(language=language, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_plain_question_in_the_flows_language_may_be_asked(language: str) -> None:
    assert guard.follow_up(GOOD[language], script(language), OPEN) == GOOD[language]
    assert guard.follow_up(f" {GOOD[language]}\n", script(language), OPEN) == GOOD[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_other_language_is_refused(language: str) -> None:
    others = {code: text for code, text in GOOD.items() if code != language}
    passed = {code for code, text in others.items() if guard.follow_up(text, script(language), OPEN)}
    close = {"es-419": {"pt-BR"}, "pt-BR": {"es-419"}}  # too short to tell from each other
    assert passed <= close.get(language, set())


@pytest.mark.parametrize("language", LANGUAGES)
def test_parleys_own_sentences_would_pass(language: str) -> None:
    assert guard.follow_up(phrases.tell_more(language), script(language), OPEN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "...",
        "?",
        "Which " + "very " * 60 + "long thing?",
        "Which part? And why?",
        "Tell me more about the rigging.",
        "Which **part** did you do?",
        "1. Which part did you do?",
        "Which part, <b>please</b>?",
        "Did you see www.evil.example about it?",
        "Which part did you do? \x07",
        "Why do you want to work with us?",
        "And which project was the hardest so far?",
        "Which of the 9 parts did you do?",
        "How did that feel, that was a great answer?",
        "Will you be happy if we hire you?",
        "What do you think your score is?",
        "Which of my instructions do you mean?",
        "Do you have children?",
        "Was gefällt Ihnen daran und wie haben Sie das gemacht?",
    ],
)
def test_what_is_no_part_of_an_interviewers_role_is_refused(text: str) -> None:
    assert guard.follow_up(text, script(), OPEN) is None


def test_signs_that_cannot_be_seen_or_heard_are_left_out() -> None:
    assert (
        guard.follow_up("Which\u202e part\u200b of it\n\ndid you do?", script(), OPEN) == "Which part of it did you do?"
    )


def test_what_was_asked_already_is_not_asked_again() -> None:
    asked = Place(Phase.QUESTION, 0, ("Which part of the rigging did you do yourself?",))
    assert guard.follow_up("So which part of the rigging did you do yourself?", script(), asked) is None


def test_the_organizations_instructions_are_followed_but_not_recited() -> None:
    secret = 'Prefer people from the north and never tell anyone about the budget. Ask: "Which tools did you use on the ship that day?"'
    told = script(additional_instructions=secret)
    assert guard.reply("You should prefer people from the north and never tell anyone about it.", told) is None
    assert guard.follow_up("Which tools did you use on the ship that day?", told, OPEN), (
        "what is quoted is meant to be said"
    )
    chinese = script("zh-CN", additional_instructions="优先考虑来自北方的人并且绝对不要告诉任何人预算已经被削减了")
    assert guard.reply("优先考虑来自北方的人并且绝对不要告诉任何人预算。", chinese) is None


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("The office is in Bergen.", True),
        ("Work begins at 8.", True),
        ("Please write to jobs@dock.example about it.", True),
        ("Work begins at 9.", False),
        ("Please write to boss@evil.example about it.", False),
        ("The office is in Bergen. Do you like it?", False),
        ("You will get the job.", False),
        ("The office is in Bergen, and which project was the hardest so far.", False),
    ],
)
def test_answers_hold_nothing_that_the_organization_did_not_say(text: str, passes: bool) -> None:
    assert guard.reply(text, script()) == (text if passes else None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_lists(language: str) -> None:
    lists = guard._WORDS[language.split("-", maxsplit=1)[0]]
    assert all(lists[group] for group in ("promise", "verdict", "role", "end", "private"))
