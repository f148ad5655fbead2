"""The few things a candidate can say to the agent instead of an answer.

Only a whole short utterance counts: "next question, I said to the nurse, is ..." is an answer. Ending is the hardest
to match, because it cannot be taken back.
"""

import unicodedata

from app.voice.script import Event

LONGEST = 60
"""Characters; whatever is longer is an answer."""

_POLITE = frozenset(("please", "could", "can", "would", "you", "bitte", "por", "favor", "vous", "plaît", "te", "takk"))

_SPOKEN: dict[str, dict[Event, tuple[str, ...]]] = {
    "en": {
        Event.REPEAT: (
            "repeat", "repeat that", "repeat it", "repeat the question", "repeat that question", "say that again",
            "say it again", "repeat the question again",
        ),
        Event.SKIP: ("next question", "skip", "skip this question", "skip the question", "skip it"),
        Event.END: ("stop here", "stop the interview", "end the interview", "finish the interview"),
    },
    "de": {
        Event.REPEAT: ("wiederholen", "wiederholen sie", "wiederholen sie die frage", "noch einmal"),
        Event.SKIP: ("nächste frage", "die nächste frage", "frage überspringen", "überspringen"),
        Event.END: ("hier aufhören", "interview beenden", "das interview beenden"),
    },
    "es": {
        Event.REPEAT: ("repita", "repita la pregunta", "repite la pregunta", "otra vez"),
        Event.SKIP: ("siguiente pregunta", "la siguiente pregunta", "saltar la pregunta"),
        Event.END: ("terminar la entrevista", "parar aquí"),
    },
    "pt": {
        Event.REPEAT: ("repita", "repita a pergunta", "repete a pergunta", "outra vez"),
        Event.SKIP: ("próxima pergunta", "a próxima pergunta", "pular a pergunta", "pular"),
        Event.END: ("terminar a entrevista", "encerrar a entrevista", "parar aqui"),
    },
    "fr": {
        Event.REPEAT: ("répétez", "répétez la question", "répéter la question", "encore une fois"),
        Event.SKIP: ("question suivante", "la question suivante", "passer la question"),
        Event.END: ("terminer l entretien", "arrêter l entretien", "arrêter ici"),
    },
    "no": {
        Event.REPEAT: ("gjenta", "gjenta spørsmålet", "en gang til"),
        Event.SKIP: ("neste spørsmål", "hopp over", "hopp over spørsmålet"),
        Event.END: ("avslutt intervjuet", "stopp her"),
    },
    "hi": {Event.REPEAT: ("फिर से", "सवाल दोहराइए"), Event.SKIP: ("अगला सवाल",), Event.END: ("इंटरव्यू समाप्त करें",)},
    "ja": {
        Event.REPEAT: ("もう一度", "もう一度お願いします", "質問を繰り返してください"),
        Event.SKIP: ("次の質問", "次の質問をお願いします"),
        Event.END: ("面接を終了します", "ここで終わります"),
    },
    "zh": {
        Event.REPEAT: ("再说一遍", "请再说一遍", "重复问题"),
        Event.SKIP: ("下一个问题", "下一题"),
        Event.END: ("结束面试",),
    },
    "ko": {
        Event.REPEAT: ("다시 말해 주세요", "질문 다시"),
        Event.SKIP: ("다음 질문",),
        Event.END: ("면접 종료", "면접을 끝낼게요"),
    },
    "vi": {
        Event.REPEAT: ("nhắc lại câu hỏi", "nhắc lại"),
        Event.SKIP: ("câu hỏi tiếp theo",),
        Event.END: ("kết thúc phỏng vấn",),
    },
    "th": {Event.REPEAT: ("ขอฟังอีกครั้ง", "พูดอีกครั้ง"), Event.SKIP: ("คำถามต่อไป",), Event.END: ("จบการสัมภาษณ์",)},
    "ar": {Event.REPEAT: ("أعد السؤال", "كرر السؤال"), Event.SKIP: ("السؤال التالي",), Event.END: ("إنهاء المقابلة",)},
}  # fmt: skip


def spoken_command(text: str, language: str) -> Event | None:
    """REPEAT, SKIP or END if the whole utterance asks for it in ``language`` (``en-US`` and so on); else None."""
    if len(text) > LONGEST:
        return None
    said = _plain(text)
    if not said:
        return None
    for event, phrases in _SPOKEN.get(language.split("-", maxsplit=1)[0], {}).items():
        if said in {_plain(phrase) for phrase in phrases}:
            return event
    return None


def _plain(text: str) -> str:
    """Letters and single spaces, in one case, without the words of politeness."""
    kept = "".join(
        c if unicodedata.category(c)[0] in "LMN" else " " for c in unicodedata.normalize("NFC", text).lower()
    )
    return " ".join(word for word in kept.split() if word not in _POLITE)
