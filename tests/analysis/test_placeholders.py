"""Who the candidate is leaves the material before a model reads it, and comes back exactly as it was said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gateways.speech.ports import Judged, Judgement, Material, Passage, Quote
from app.interviews.analysis.placeholders import Known, Placeholders, Shielded

MARY = Known(("Mary", "O'Hall"), ("mary.hall@candidate.example",))


def hidden(text: str, known: Known = MARY, language: str = "en-US") -> str:
    placeholders = Placeholders(known, language=language)
    without = placeholders.hide(text)
    assert placeholders.restore(without) == text
    return without


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("I'm Mary O'Hall.", "I'm [NAME 1]."),
        ("mary here, MARY's phone", "[NAME 1] here, [NAME 2]'s phone"),
        ("Mary. Mary!", "[NAME 1]. [NAME 1]!"),
        ("O'Hall, Mary", "[NAME 1], [NAME 2]"),
        ("Maryland is nice", "Maryland is nice"),
        ("Write to mary.hall@candidate.example.", "Write to [EMAIL 1]."),
        ("mary dot hall at candidate dot example", "[EMAIL 1]"),
        ("It is Mary underscore Hall at the candidate dot example", "It is [EMAIL 1]"),
        ("my brother's is ann.lee@mail.example", "my brother's is [EMAIL 1]"),
        ("ann dot lee at mail dot com", "[EMAIL 1]"),
        ("ann.lee (at) mail.example", "[EMAIL 1]"),
        ("Call +44 (0)20 7946 0958, please", "Call [PHONE 1], please"),
        ("oh two oh, seven nine four six, oh nine five eight", "[PHONE 1]"),
        ("or 0612345678", "or [PHONE 1]"),
        ("I looked at that point in time.", "I looked at that point in time."),
        (
            "From 2015-2019, since 12.03.2019, sales of 1.500.000",
            "From 2015-2019, since 12.03.2019, sales of 1.500.000",
        ),
        ("1 500 000 in 15 teams, one or two times", "1 500 000 in 15 teams, one or two times"),
    ],
)
def test_names_addresses_and_numbers_are_hidden_and_nothing_else(text: str, without: str) -> None:
    assert hidden(text) == without


@pytest.mark.parametrize(
    ("language", "names", "text", "without"),
    [
        (
            "de-DE",
            ("Jürgen", "von der Heide"),
            "Ich bin Jürgen von der Heide, der Beste.",
            "Ich bin [NAME 1], der Beste.",
        ),
        ("de-DE", ("Jürgen",), "Juergens Chef, jurgen", "[NAME 1] Chef, [NAME 2]"),
        ("de-DE", (), "null eins sieben zwei drei vier fünf sechs", "[PHONE 1]"),
        ("es-419", ("José", "da Silva"), "Soy Jose da Silva, ana arroba correo punto com", "Soy [NAME 1], [EMAIL 1]"),
        ("pt-BR", ("José",), "meia nove oito sete zero um dois três", "[PHONE 1]"),
        ("fr-FR", ("Zoé",), "Zoe, zéro six un deux trois quatre cinq six", "[NAME 1], [PHONE 1]"),
        (
            "no-NO",
            ("Bjørn", "Berg"),
            "Jeg er bjorn på et berg. Sa at dette punkt er",
            "Jeg er [NAME 1] på et berg. Sa at dette punkt er",
        ),
        ("vi-VN", ("Anh", "Nguyễn"), "Tôi là Nguyễn Anh, anh ấy tốt.", "Tôi là [NAME 1], anh ấy tốt."),
        ("hi-IN", ("राम", "शर्मा"), "मेरा नाम राम शर्मा है। रामायण ९८७६५४३२१०", "मेरा नाम [NAME 1] है। रामायण [PHONE 1]"),
        ("ar-AE", ("مريم", "أحمد"), "أنا مريم احمد، هذا لمريم ٠٥٠١٢٣٤٥٦٧", "أنا [NAME 1]، هذا [NAME 2] [PHONE 1]"),
        ("ja-JP", ("太郎", "山田"), "山田太郎です。ゼロ九零一二三四五六七八", "[NAME 1]です。[PHONE 1]"),
        ("zh-CN", ("小明", "王"), "我叫王小明，电话是13812345678，国王", "我叫[NAME 1]，电话是[PHONE 1]，国王"),
        ("zh-CN", ("明", "王"), "王明说", "[NAME 1]说"),
        ("ko-KR", ("민수", "김"), "김민수입니다. 김치. 공일공 일이삼사 오육칠팔", "[NAME 1]입니다. 김치. [PHONE 1]"),
        ("th-TH", ("สมชาย", "ใจดี"), "ผมชื่อสมชายใจดีครับ ศูนย์แปดหนึ่งสองสามสี่ห้าหก", "ผมชื่อ[NAME 1]ครับ [PHONE 1]"),
    ],
)
def test_every_language_has_its_names_and_numbers(
    language: str, names: tuple[str, ...], text: str, without: str
) -> None:
    assert hidden(text, Known(names), language) == without


def test_a_name_that_is_also_a_word_counts_with_a_capital_or_beside_another_part() -> None:
    will = Known(("Will", "May"))
    assert hidden("I will go, it may rain. Ask Will.", will) == "I will go, it may rain. Ask [NAME 1]."
    assert hidden("i am will may", will) == "i am [NAME 1]"


def test_without_a_name_the_address_says_it() -> None:
    assert hidden("I am Robin.", Known((), ("robin@candidate.example",))) == "I am [NAME 1]."
    assert hidden("I am Robin.", Known()) == "I am Robin."


def test_placeholders_come_back_however_the_model_writes_them() -> None:
    placeholders = Placeholders(MARY, language="en-US")
    placeholders.hide("Mary, 0612345678")
    assert placeholders.restore("[name 1] and [PHONE_1] and [NAME 7]") == "Mary and 0612345678 and [NAME 7]"


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=3))
def test_whatever_is_hidden_comes_back(text: str, names: list[str]) -> None:
    placeholders = Placeholders(Known(tuple(names)), language="en-US")
    without = placeholders.hide(text)
    if "[" not in text:  # a text that has placeholders of its own is the one thing that cannot be told apart
        assert placeholders.restore(without) == text


def test_the_analyst_sees_placeholders_everywhere_and_its_words_get_the_name_back() -> None:
    seen: list[Material] = []

    class Analyst:
        name = "inner"

        def summarize(self, material: Material) -> str:
            seen.append(material)
            return "[NAME 1] repairs boats."

        def judge(self, material: Material, *, scores: tuple[str, ...]) -> Judgement:
            seen.append(material)
            return Judgement("inner", (Judged("skills", 3.0, "[NAME 1] says so.", (Quote("I'm [NAME 1]", 0),)),))

        def close(self) -> None: ...

    material = Material(
        questions=("What do you do, Mary?",),
        passages=(Passage(0, "user", "I'm Mary.", 0),),
        title="For Mary",
        org_name="Mary & Co",
        additional_info="Mary asks",
        documents=("Mary's letter",),
    )
    shielded = Shielded(Analyst(), MARY, language="en-US")
    assert shielded.name == "inner"
    assert shielded.summarize(material) == "Mary repairs boats."
    (judged,) = shielded.judge(material, scores=("skills",)).judged
    assert (judged.reason, judged.quotes) == ("Mary says so.", (Quote("I'm Mary", 0),))
    assert len(seen) == 2
    assert "Mary" not in repr(seen)
