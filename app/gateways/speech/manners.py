"""What the agent says around the questions, and how long it still takes, in every language of the interface.

Whole sentences, written in each language; only a name or a number is put into them. As in ``phrases``: polite form, no
gendered words. Those around the questions are in manners.toml.
"""

import tomllib
import unicodedata
from pathlib import Path
from typing import Any

from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, UNSPACED_LANGUAGES

_WORDS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

MANY_MINUTES = 10
"""Up to here a sentence takes the first of its forms, beyond it the last: Arabic counts these in another way."""
LONGEST_LEFT, STEP = 40, 5
"""Minutes that are said to be left at most, and the steps between them: two for each of twenty questions."""

FEW_LEFT = {
    "en-US": "Only a few more minutes.",
    "de-DE": "Nur noch wenige Minuten.",
    "es-419": "Solo unos minutos más.",
    "hi-IN": "बस कुछ ही मिनट और।",
    "ja-JP": "あと数分です。",
    "pt-BR": "Só mais alguns minutos.",
    "fr-FR": "Encore quelques minutes seulement.",
    "zh-CN": "再有几分钟就好。",
    "ko-KR": "이제 몇 분이면 됩니다.",
    "vi-VN": "Chỉ còn vài phút nữa.",
    "th-TH": "อีกเพียงไม่กี่นาที",
    "ar-AE": "لم يبقَ سوى بضع دقائق.",
    "no-NO": "Bare noen få minutter til.",
}

LEFT: dict[str, tuple[str, ...]] = {
    "en-US": ("About {minutes} more minutes.",),
    "de-DE": ("Noch etwa {minutes} Minuten.",),
    "es-419": ("Unos {minutes} minutos más.",),
    "hi-IN": ("लगभग {minutes} मिनट और।",),
    "ja-JP": ("あと{minutes}分ほどです。",),
    "pt-BR": ("Ainda faltam cerca de {minutes} minutos.",),
    "fr-FR": ("Encore {minutes} minutes environ.",),
    "zh-CN": ("大约还需要{minutes}分钟。",),
    "ko-KR": ("앞으로 약 {minutes}분 더 걸립니다.",),
    "vi-VN": ("Còn khoảng {minutes} phút nữa.",),
    "th-TH": ("อีกประมาณ {minutes} นาที",),
    "ar-AE": ("بقي نحو {minutes} دقائق.", "بقي نحو {minutes} دقيقة."),
    "no-NO": ("Omtrent {minutes} minutter til.",),
}


def left(language: str, minutes: int) -> str:
    """How long it still takes; 0 means a few minutes."""
    if not minutes:
        return FEW_LEFT.get(language, FEW_LEFT[DEFAULT_LANGUAGE])
    forms = LEFT.get(language, LEFT[DEFAULT_LANGUAGE])
    return forms[0 if minutes <= MANY_MINUTES else -1].format(minutes=minutes)


def every_left(language: str) -> tuple[str, ...]:
    """All that ``left`` may say."""
    return tuple(left(language, minutes) for minutes in range(0, LONGEST_LEFT + 1, STEP))


def welcome(language: str) -> str:
    """The first words."""
    return str(_of(language)["welcome"])


def thanks(language: str, name: str | None = None) -> str:
    """What follows the welcome, to a person whose name is known or not."""
    words = _of(language)
    return str(words["thanks"]) if name is None else str(words["thanks_by_name"]).replace("{name}", name)


def address(language: str, first: str, last: str) -> str:
    """The name by which a person is addressed, of the two that are known; either may be empty."""
    order = _of(language)["name"]
    if order == "first" or not (first and last):
        return first or last
    is_family_first = order == "family" and not any(unicodedata.name(c, "").startswith("LATIN") for c in first + last)
    return f"{last}{first}" if is_family_first else f"{first} {last}"


def coming(language: str, *, questions: int, minutes: int) -> str:
    """What comes: how many questions, about how long it takes, and how to hear one again."""
    words, space = _of(language), "" if language in UNSPACED_LANGUAGES - {"th-TH"} else " "
    sentences = (
        _fitting(words["questions"], questions).replace("{questions}", str(questions)),
        _fitting(words["minutes"], minutes).replace("{minutes}", str(minutes)),
        str(words["again"]),
    )
    return space.join(sentences)


def answered(language: str, number: int) -> str:
    """What follows an answer; neighbouring numbers differ."""
    return _varied(language, "answered", number)


def bridge(language: str, number: int, *, is_last: bool) -> str:
    """What leads to the next question, or to the last one; neighbouring numbers differ."""
    return _varied(language, "last" if is_last else "next", number)


def every_manner(language: str) -> tuple[str, ...]:
    """All of it in which no name and no number is put."""
    words = _of(language)
    return (welcome(language), thanks(language), *words["answered"], *words["next"], *words["last"])


def _of(language: str) -> dict[str, Any]:
    return _WORDS.get(language, _WORDS[DEFAULT_LANGUAGE])


def _varied(language: str, name: str, number: int) -> str:
    choices = _of(language)[name]
    return str(choices[number % len(choices)])


def _fitting(forms: list[tuple[int, str]], number: int) -> str:
    return next((text for most, text in forms if number <= most), forms[-1][1])
