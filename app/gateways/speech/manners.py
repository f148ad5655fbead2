"""How long the agent says that it still takes, in every language of the interface.

Whole sentences, written in each language; only the number is put into them. As in ``phrases``: polite form, no gendered
words.
"""

from app.gateways.speech.catalogue import DEFAULT_LANGUAGE

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
