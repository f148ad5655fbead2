"""Questions about the job without a language model, in 13 languages: words of the background, or passed on."""

from dataclasses import replace

import pytest
from flask import Flask

from app.conversation.script import job_questions, next_step
from app.conversation.script.machine import Event, Kind, Script
from app.conversation.script.next_step import Decided, Statement
from app.conversation.script.place import Phase, Place
from app.gateways.language_model.scripted import ScriptInterviewer
from app.gateways.speech.ports import FollowUp
from app.interviews.models import Role
from app.interviews.queries import utterances_of
from tests.factories import Made

from .around import script_rows
from .conftest import Candidates, interview_of
from .test_with_a_model import answer_all

ASKED = "Why do you want to work with us?"
INFO = """We are a clinic with two wards. The team has twelve people. Work begins at eight in the morning.
- The salary is 3,200 euros a month.
- You get thirty days of vacation.
You can work from home on two days a week. The probation period lasts six months. There is a car park behind the house.
The night shift lasts ten hours."""
SCRIPT = Script(questions=(ASKED, "How do you work in a team?"), seconds=600, additional_info=INFO)

BACKGROUND = {
    "en-US": INFO,
    "de-DE": "Wir sind eine Klinik mit zwei Stationen. Das Gehalt beträgt 3.200 Euro im Monat. Urlaub: 30 Tage.",
    "es-419": "Somos una clínica con dos salas. El salario es de 3200 euros al mes. Hay treinta días de vacaciones.",
    "pt-BR": "Somos uma clínica com duas alas. O salário é de 3200 reais por mês. São trinta dias de férias.",
    "fr-FR": "Nous sommes une clinique. Le salaire est de 3200 euros par mois. Il y a trente jours de congés.",
    "no-NO": "Vi er en klinikk med to avdelinger. Lønnen er 32 000 kroner i måneden. Du får fem uker ferie.",
    "vi-VN": "Chúng tôi là một phòng khám có hai khoa. Mức lương là 20 triệu đồng một tháng. Bạn có 15 ngày nghỉ phép.",
    "hi-IN": "हम दो वार्ड वाला एक क्लिनिक हैं। वेतन 40000 रुपये प्रति माह है। साल में तीस दिन की छुट्टी है।",
    "ar-AE": "نحن عيادة فيها جناحان. الراتب 3200 درهم في الشهر. الإجازة ثلاثون يوما في السنة.",
    "ja-JP": "私たちは二つの病棟がある診療所です。給料は月30万円です。休暇は年に二十日です。",
    "zh-CN": "我们是一家有两个病区的诊所。工资是每月八千元。年假有十五天。",
    "ko-KR": "저희는 병동이 두 개인 의원입니다. 급여는 월 300만 원입니다. 휴가는 일 년에 십오 일입니다.",
    "th-TH": "เราเป็นคลินิกที่มีสองแผนก เงินเดือนคือ 20000 บาทต่อเดือน",
}
KNOWN = {
    "en-US": ("What is the salary?", "The salary is 3,200 euros a month."),
    "de-DE": ("Wie hoch ist das Gehalt?", "Das Gehalt beträgt 3.200 Euro im Monat."),
    "es-419": ("¿Cuál es el salario?", "El salario es de 3200 euros al mes."),
    "pt-BR": ("Qual é o salário?", "O salário é de 3200 reais por mês."),
    "fr-FR": ("Quel est le salaire ?", "Le salaire est de 3200 euros par mois."),
    "no-NO": ("Hva er lønnen?", "Lønnen er 32 000 kroner i måneden."),
    "vi-VN": ("Mức lương là bao nhiêu?", "Mức lương là 20 triệu đồng một tháng."),
    "hi-IN": ("वेतन कितना है?", "वेतन 40000 रुपये प्रति माह है।"),
    "ar-AE": ("كم الراتب؟", "الراتب 3200 درهم في الشهر."),
    "ja-JP": ("給料はいくらですか?", "給料は月30万円です。"),
    "zh-CN": ("请问工资是多少?", "工资是每月八千元。"),
    "ko-KR": ("급여가 얼마인가요?", "급여는 월 300만 원입니다."),
    "th-TH": ("เงินเดือนเท่าไหร่ครับ?", "เราเป็นคลินิกที่มีสองแผนก เงินเดือนคือ 20000 บาทต่อเดือน"),
}
UNKNOWN = {
    "en-US": "Is there any overtime?",
    "de-DE": "Gibt es Überstunden?",
    "es-419": "¿Cuánto dura el periodo de prueba?",
    "pt-BR": "Como é o contrato?",
    "fr-FR": "Y a-t-il un parking ?",
    "no-NO": "Hvor lang er prøvetiden?",
    "vi-VN": "Thời gian thử việc là bao lâu?",
    "hi-IN": "क्या रात की शिफ्ट होती है?",
    "ar-AE": "هل توجد ورديات ليلية؟",
    "ja-JP": "試用期間はありますか?",
    "zh-CN": "有试用期吗?",
    "ko-KR": "수습 기간이 있나요?",
    "th-TH": "มีทดลองงานไหมครับ?",
}
ANSWERS = {
    "en-US": "The salary matters less to me than the team.",
    "de-DE": "Das Gehalt ist mir weniger wichtig als das Team.",
    "es-419": "El salario me importa menos que el equipo.",
    "pt-BR": "O salário importa menos para mim do que a equipe.",
    "fr-FR": "Le salaire compte moins pour moi que l'équipe.",
    "no-NO": "Lønnen betyr mindre for meg enn teamet.",
    "vi-VN": "Với tôi lương không quan trọng bằng đồng nghiệp.",
    "hi-IN": "मेरे लिए वेतन से ज़्यादा टीम मायने रखती है।",
    "ar-AE": "الراتب أقل أهمية عندي من الفريق.",
    "ja-JP": "私にとって給料よりチームのほうが大切です。",
    "zh-CN": "对我来说工资没有团队重要。",
    "ko-KR": "저에게는 급여보다 팀이 더 중요합니다.",
    "th-TH": "สำหรับผมเงินเดือนสำคัญน้อยกว่าทีมครับ",
}


def after(text: str, *, script: Script = SCRIPT, place: Place | None = None) -> Decided:
    place = place or Place(Phase.QUESTION, 0)
    asked = next_step.exchange(script, place, Statement(text))
    assert asked is not None
    return next_step.decided(script, place, asked, wanted=None)


def in_language(language: str) -> Script:
    return Script(questions=("?",), seconds=600, language=language, additional_info=BACKGROUND[language])


@pytest.mark.parametrize("language", sorted(KNOWN))
def test_a_question_is_answered_with_a_sentence_of_the_background(language: str) -> None:
    question, sentence = KNOWN[language]
    decided = after(question, script=in_language(language))
    assert decided.event is Event.ASIDE
    assert decided.aside is not None
    assert (decided.aside.kind, decided.aside.text) == (Kind.REPLY, sentence)


@pytest.mark.parametrize("language", sorted(UNKNOWN))
def test_a_question_that_the_background_does_not_answer_is_passed_on(language: str) -> None:
    decided = after(UNKNOWN[language], script=in_language(language))
    assert decided.event is Event.ASIDE
    assert decided.aside is not None
    assert (decided.aside.kind, decided.aside.text) == (Kind.PASS_ON, None)


@pytest.mark.parametrize("language", sorted(ANSWERS))
def test_an_answer_with_the_same_words_stays_an_answer(language: str) -> None:
    assert after(ANSWERS[language], script=in_language(language)).event is Event.ANSWER
    assert after(ANSWERS[language].rstrip(".。।"), script=in_language(language)).event is Event.ANSWER


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("And how many people are on the team?", "The team has twelve people."),
        ("Okay. Can I work from home?", "You can work from home on two days a week."),
        ("Thank you. When does work begin?", "Work begins at eight in the morning."),
        ("how many days of vacation do i get", "You get thirty days of vacation."),
        ("I would like to know how long the night shift is.", "The night shift lasts ten hours."),
        ("Is there parking?", "There is a car park behind the house."),
    ],
)
def test_words_lead_to_their_sentence(question: str, sentence: str) -> None:
    assert job_questions.reply(question, SCRIPT, asked=(ASKED,)) == FollowUp(reply=sentence)


@pytest.mark.parametrize(
    "text",
    [
        "What was it called?",
        "What else?",
        "Why do I want to work with you?",  # people repeat the question while they think
        "I worked in Bergen. What is the salary?",  # an answer would be lost
        "Yes. What is the salary?",
        "What is the salary? I never ask that first.",
        "What did I do on my last team? I led it.",
        "Can start in May.",
        "What would a typical day look like?",
        "",
        "?",
    ],
)
def test_doubt_makes_it_an_answer(text: str) -> None:
    assert job_questions.reply(text, SCRIPT, asked=(ASKED,)) is None


def test_an_echo_of_the_open_question_is_no_question_to_the_agent() -> None:
    asked = ("Would you like to work from home or in the office?",)
    assert job_questions.reply("Would I like to work from home?", SCRIPT, asked=asked) is None
    assert job_questions.reply("Can I work from home?", SCRIPT, asked=(ASKED,)) is not None


def test_no_more_than_two_sentences_are_read_out() -> None:
    info = "The salary is paid monthly. The salary is 3,000 euros."
    script = replace(SCRIPT, additional_info=info)
    assert job_questions.reply("What is the salary?", script, asked=()) == FollowUp(reply=info)
    more = replace(SCRIPT, additional_info=f"{info} The salary rises each year.")
    assert job_questions.reply("What is the salary?", more, asked=()) == FollowUp(unknown=True)


def test_the_guard_decides_what_is_read_out() -> None:
    promise = replace(SCRIPT, additional_info="We guarantee you a salary of 9,000 euros.")
    decided = after("What is the salary?", script=promise)
    assert decided.aside is not None
    assert decided.aside.kind is Kind.PASS_ON
    foreign = replace(SCRIPT, additional_info="Das Gehalt ist 3.000 Euro, und die Boni sind nicht dabei: salary.")
    assert job_questions.readable(foreign) == [(foreign.additional_info, False)]
    decided = after("What is the salary?", script=foreign)
    assert decided.aside is not None
    assert decided.aside.kind is Kind.PASS_ON


def test_a_background_for_the_agent_alone_is_never_read_out() -> None:
    script = replace(SCRIPT, is_background_private=True)
    assert job_questions.background(script) == []
    decided = after("What is the salary?", script=script)
    assert decided.aside is not None
    assert decided.aside.kind is Kind.PASS_ON


def test_a_model_does_not_answer_from_a_background_for_the_agent_alone() -> None:
    place, wanted = Place(Phase.QUESTION, 0), FollowUp(reply="The salary is 3,200 euros a month.")
    asked = next_step.exchange(SCRIPT, place, Statement("What is the salary?"))
    assert asked is not None
    told = next_step.decided(SCRIPT, place, asked, wanted=wanted)
    assert told.aside is not None
    assert told.aside.kind is Kind.REPLY
    private = replace(SCRIPT, is_background_private=True)
    assert next_step.beginning(private, place, asked, wanted=wanted) is None
    kept = next_step.decided(private, place, asked, wanted=wanted)
    assert kept.aside is not None
    assert kept.aside.kind is Kind.PASS_ON


def test_after_three_asides_a_question_counts_as_the_answer() -> None:
    assert after("What is the salary?", place=Place(Phase.QUESTION, 0, asides=3)).event is Event.ANSWER


def test_the_list_of_sentences_says_which_may_be_read_out() -> None:
    script = replace(SCRIPT, additional_info="* We guarantee you the job.\n2) The office is in Bergen. It is bright.")
    assert job_questions.readable(script) == [
        ("We guarantee you the job.", False),
        ("The office is in Bergen.", True),
        ("It is bright.", True),
    ]


def test_in_an_interview_the_question_is_answered_and_the_open_one_put_again(
    scripted: Flask, candidates: Candidates, book: Made
) -> None:
    candidate = candidates(book(questions=list(SCRIPT.questions), follow_up_limit=0, additional_info=INFO))
    said = iter(["What is the salary?", "Is there any overtime?", "I like small teams.", "By listening first."])
    kept = scripted.extensions["parley.gateways"]
    scripted.extensions["parley.gateways"] = replace(kept, interviewer=ScriptInterviewer())
    prompts = answer_all(candidate, lambda _: next(said))
    assert [prompt["kind"] for prompt in prompts] == ["question", "reply", "pass_on", "question", "outro"]
    assert prompts[1]["text"] == f"The salary is 3,200 euros a month.\n\n{ASKED}"
    interview = interview_of(candidate)
    assert [turn.heard_text for turn in interview.turns if turn.reply_kind == "pass_on"] == ["Is there any overtime?"]
    answers = [row.content for row in script_rows(utterances_of(interview.id)) if row.role is Role.USER]
    assert answers == ["What is the salary?", "Is there any overtime?", "I like small teams.", "By listening first."]
