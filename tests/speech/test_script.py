"""The agent without a language model."""

import pytest

from app.gateways.language_model.scripted import ScriptAnalyst, ScriptInterviewer, most_central
from app.gateways.speech import phrases
from app.gateways.speech.catalogue import LANGUAGES
from app.gateways.speech.ports import Exchange, Material, Passage


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_every_phrase_of_its_own(language):
    said = [*phrases.all_of(language), phrases.excerpts(language), phrases.nothing_said(language)]
    assert all(said)
    if language != "en-US":
        english = {*phrases.all_of("en-US"), phrases.excerpts("en-US"), phrases.nothing_said("en-US")}
        assert set(said) & english <= {"Okay."}  # German says it too


SHORT = {
    "en-US": "Yes, I think so.",
    "zh-CN": "是的，我觉得可以。",
    "ko-KR": "네, 그렇습니다.",
    "ar-AE": "نعم بالتأكيد",
}
LONG = {
    "en-US": "I worked in a hospital for six years and learned a lot there.",
    "zh-CN": "我在一家医院工作了六年，学到了很多关于照顾病人的知识。",
    "ko-KR": "저는 병원에서 육 년 동안 일하면서 환자들을 돌보는 방법을 많이 배웠습니다.",
    "ar-AE": "عملت في مستشفى صغير قرب النهر لمدة ست سنوات وتعلمت الكثير هناك",
}


@pytest.mark.parametrize("language", SHORT)
def test_a_very_short_answer_gets_one_fixed_follow_up(language):
    decide = ScriptInterviewer().decide
    asked = decide(Exchange(question="?", answer=SHORT[language], language=language)).text
    assert asked == phrases.tell_more(language)
    assert (
        decide(Exchange(question="?", answer=SHORT[language], language=language, follow_ups=(asked,), limit=3)).text
        is None
    )
    assert decide(Exchange(question="?", answer=SHORT[language], language=language, limit=0)).text is None
    assert decide(Exchange(question="?", answer=LONG[language], language=language)).text is None


def test_an_empty_answer_is_left_to_the_script():
    decision = ScriptInterviewer().decide(Exchange(question="?", answer=" ... "))
    assert (decision.text, decision.repeat) == (None, False)


def test_a_long_answer_that_speaks_of_repeating_is_no_request():
    answer = "I had to repeat the exam twice before I understood that I needed a better plan for learning."
    assert not ScriptInterviewer().decide(Exchange(question="?", answer=answer)).repeat


def material(*answers, language="en-US"):
    passages = [Passage(0, "agent", "The agent's question about boats?", 0)]
    passages += [Passage(number, "user", answer, 0) for number, answer in enumerate(answers, 1)]
    return Material(questions=("Q",), passages=tuple(passages), language=language)


def test_the_summary_is_an_extract_that_says_so():
    answers = [
        "I repair boats. I repair old boats in winter.",
        "Boats need care in winter, and old boats need more care.",
        "My cat is grey.",
        "In winter the old boats stand in the hall. I care for the boats.",
    ]
    summary = ScriptAnalyst().summarize(material(*answers))
    label, *lines = summary.splitlines()
    assert "without a language model" in label
    assert 0 < len(lines) <= 5
    said = " ".join(answers)
    assert all(line.removeprefix("- ") in said for line in lines)
    assert "cat" not in summary
    assert "agent's question" not in summary


@pytest.mark.parametrize("answers", [(), ("",), ("  ", "\n")])
def test_a_silent_interview_is_said_to_be_silent(answers):
    assert ScriptAnalyst().summarize(material(*answers)) == phrases.nothing_said("en-US")


def test_the_most_central_sentence_is_the_one_most_others_share_words_with():
    sentences = [
        "dogs run",
        "cats sleep",
        "dogs and cats run and sleep",
        "birds fly",
        "dogs sleep",
        "fish swim",
        "a b c",
    ]
    assert 2 in most_central(sentences, "en-US")


def test_unspaced_languages_are_compared_by_pairs_of_letters():
    chosen = most_central(["我喜欢编程", "编程很有趣", "天气很好", "我喜欢学习编程", "猫", "狗", "鱼"], "zh-CN")
    assert 3 in chosen


def test_nothing_is_scored_without_a_model():
    judgement = ScriptAnalyst().judge(material("I repair boats."), scores=("skills",))
    assert judgement.judged == ()
    assert judgement.method == "script"
