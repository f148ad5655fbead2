"""The few sentences that Parley says by itself, in every language of the interface.

Chosen so that they fit any voice and any candidate: polite form, no gendered words, no promise about the outcome.
"""

from app.gateways.speech import manners
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE

ONE_MOMENT = {
    "en-US": "One moment, please.",
    "de-DE": "Einen Moment, bitte.",
    "es-419": "Un momento, por favor.",
    "hi-IN": "कृपया एक क्षण रुकिए।",
    "ja-JP": "少々お待ちください。",
    "pt-BR": "Um momento, por favor.",
    "fr-FR": "Un instant, s'il vous plaît.",
    "zh-CN": "请稍等。",
    "ko-KR": "잠시만 기다려 주세요.",
    "vi-VN": "Xin chờ một chút.",
    "th-TH": "กรุณารอสักครู่",
    "ar-AE": "لحظة من فضلك.",
    "no-NO": "Et øyeblikk, er du snill.",
}

ACKNOWLEDGE = {
    "en-US": "Okay.",
    "de-DE": "Okay.",
    "es-419": "De acuerdo.",
    "hi-IN": "ठीक है।",
    "ja-JP": "はい。",
    "pt-BR": "Certo.",
    "fr-FR": "D'accord.",
    "zh-CN": "好的。",
    "ko-KR": "네.",
    "vi-VN": "Vâng.",
    "th-TH": "เข้าใจแล้ว",
    "ar-AE": "حسنًا.",
    "no-NO": "Greit.",
}

TELL_MORE = {
    "en-US": "Thank you. Could you tell me a little more about that?",
    "de-DE": "Danke. Könnten Sie dazu noch etwas mehr erzählen?",
    "es-419": "Gracias. ¿Podría contarme un poco más sobre eso?",
    "hi-IN": "धन्यवाद। क्या आप इसके बारे में थोड़ा और बता सकते हैं?",
    "ja-JP": "ありがとうございます。もう少し詳しくお話しいただけますか。",
    "pt-BR": "Certo. Poderia contar um pouco mais sobre isso?",
    "fr-FR": "Merci. Pourriez-vous m'en dire un peu plus ?",
    "zh-CN": "谢谢。您可以再多讲一些吗？",
    "ko-KR": "감사합니다. 그 점에 대해 조금 더 말씀해 주시겠어요?",
    "vi-VN": "Cảm ơn bạn. Bạn có thể nói thêm một chút về điều đó không?",
    "th-TH": "ขอบคุณ ช่วยเล่าเพิ่มเติมอีกหน่อยได้ไหม",
    "ar-AE": "شكرًا. هل من الممكن إضافة المزيد من التفاصيل حول ذلك؟",
    "no-NO": "Takk. Kan du fortelle litt mer om det?",
}

EXCERPTS = {
    "en-US": "Excerpts from the answers, chosen without a language model:",
    "de-DE": "Auszüge aus den Antworten, ohne Sprachmodell ausgewählt:",
    "es-419": "Extractos de las respuestas, elegidos sin modelo de lenguaje:",
    "hi-IN": "उत्तरों के अंश, भाषा मॉडल के बिना चुने गए:",
    "ja-JP": "回答の抜粋（言語モデルを使わずに選択）：",
    "pt-BR": "Trechos das respostas, escolhidos sem modelo de linguagem:",
    "fr-FR": "Extraits des réponses, choisis sans modèle de langage :",
    "zh-CN": "回答摘录（未使用语言模型）：",
    "ko-KR": "답변 발췌(언어 모델 없이 선택됨):",
    "vi-VN": "Trích từ các câu trả lời, chọn không dùng mô hình ngôn ngữ:",
    "th-TH": "ข้อความที่คัดจากคำตอบ โดยไม่ใช้แบบจำลองภาษา:",
    "ar-AE": "مقتطفات من الإجابات، اختيرت دون نموذج لغوي:",
    "no-NO": "Utdrag fra svarene, valgt uten språkmodell:",
}

NOTHING_SAID = {
    "en-US": "The candidate gave no answer; there is nothing to summarize.",
    "de-DE": "Es wurde keine Antwort gegeben; es gibt nichts zusammenzufassen.",
    "es-419": "No se dio ninguna respuesta; no hay nada que resumir.",
    "hi-IN": "कोई उत्तर नहीं दिया गया; सारांश के लिए कुछ नहीं है।",
    "ja-JP": "回答がありませんでした。要約する内容はありません。",
    "pt-BR": "Nenhuma resposta foi dada; não há nada a resumir.",
    "fr-FR": "Aucune réponse n'a été donnée ; il n'y a rien à résumer.",
    "zh-CN": "没有任何回答，无内容可总结。",
    "ko-KR": "답변이 없어 요약할 내용이 없습니다.",
    "vi-VN": "Không có câu trả lời nào; không có gì để tóm tắt.",
    "th-TH": "ไม่มีคำตอบ จึงไม่มีเนื้อหาให้สรุป",
    "ar-AE": "لم تُقدَّم أي إجابة؛ لا يوجد ما يُلخَّص.",
    "no-NO": "Det ble ikke gitt noe svar; det er ingenting å oppsummere.",
}

PASS_ON = {
    "en-US": "I do not know the answer to that. Your question will be passed on.",
    "de-DE": "Das weiß ich leider nicht. Ihre Frage wird weitergegeben.",
    "es-419": "Eso no lo sé. Su pregunta se hará llegar al equipo.",
    "hi-IN": "इसका उत्तर मुझे नहीं पता। आपका सवाल आगे पहुँचाया जाएगा।",
    "ja-JP": "申し訳ありませんが、それについては分かりません。ご質問は担当者に伝えます。",
    "pt-BR": "Não sei responder a isso. Sua pergunta será encaminhada.",
    "fr-FR": "Je n'ai pas la réponse à cela. Votre question sera transmise.",
    "zh-CN": "这个问题我不知道答案。您的问题会转达给相关人员。",
    "ko-KR": "그 질문에 대한 답은 제가 알지 못합니다. 질문은 담당자에게 전달하겠습니다.",
    "vi-VN": "Tôi không biết câu trả lời. Câu hỏi của bạn sẽ được chuyển đến người phụ trách.",
    "th-TH": "เรื่องนี้ไม่ทราบคำตอบ คำถามนี้จะส่งต่อให้ผู้รับผิดชอบ",
    "ar-AE": "لا أعرف إجابة هذا السؤال. سيُنقل سؤالك إلى المسؤولين.",
    "no-NO": "Det vet jeg ikke. Spørsmålet ditt blir sendt videre.",
}

SURE = {
    "en-US": "Do you want to end the interview now? Answer yes to end it, or just go on.",
    "de-DE": "Möchten Sie das Interview jetzt beenden? Antworten Sie mit Ja, oder machen Sie einfach weiter.",
    "es-419": "¿Quiere terminar la entrevista ahora? Responda sí para terminarla, o simplemente continúe.",
    "hi-IN": "क्या इंटरव्यू अभी समाप्त करना है? समाप्त करने के लिए हाँ कहिए, या उत्तर जारी रखिए।",
    "ja-JP": "ここで面接を終了しますか。終了する場合は「はい」とお答えください。続ける場合は、そのままお答えください。",
    "pt-BR": "Quer encerrar a entrevista agora? Responda sim para encerrar, ou simplesmente continue.",
    "fr-FR": "Voulez-vous terminer l'entretien maintenant ? Répondez oui pour le terminer, ou continuez simplement.",
    "zh-CN": "您要现在结束面试吗？要结束请回答“是”，否则请继续回答。",
    "ko-KR": "지금 면접을 끝내시겠어요? 끝내려면 ‘네’라고 답하시고, 아니면 계속 답변해 주세요.",
    "vi-VN": "Bạn có muốn kết thúc buổi phỏng vấn bây giờ không? Trả lời có để kết thúc, hoặc cứ tiếp tục.",
    "th-TH": "ต้องการจบการสัมภาษณ์ตอนนี้หรือไม่ ตอบว่าใช่เพื่อจบ หรือตอบคำถามต่อได้เลย",
    "ar-AE": "هل ننهي المقابلة الآن؟ الإجابة بنعم تنهيها، وإلا فيمكن متابعة الإجابة.",
    "no-NO": "Vil du avslutte intervjuet nå? Svar ja for å avslutte, eller bare fortsett.",
}

NOT_HEARD = {
    "en-US": "I could not hear you. Here is the question again.",
    "de-DE": "Ich konnte Sie nicht hören. Hier ist die Frage noch einmal.",
    "es-419": "No pude oírle. Aquí está la pregunta otra vez.",
    "hi-IN": "आपकी आवाज़ सुनाई नहीं दी। सवाल एक बार फिर।",
    "ja-JP": "お声が聞こえませんでした。もう一度質問します。",
    "pt-BR": "Não foi possível ouvir. Aqui está a pergunta novamente.",
    "fr-FR": "Je n'ai rien entendu. Voici la question encore une fois.",
    "zh-CN": "我没有听到您的声音。我再问一遍。",
    "ko-KR": "말씀이 들리지 않았습니다. 질문을 다시 드리겠습니다.",
    "vi-VN": "Tôi chưa nghe thấy câu trả lời. Xin nhắc lại câu hỏi.",
    "th-TH": "ไม่ได้ยินเสียงตอบ ขอถามอีกครั้ง",
    "ar-AE": "لم أسمع إجابة. إليك السؤال مرة أخرى.",
    "no-NO": "Jeg kunne ikke høre deg. Her er spørsmålet en gang til.",
}

WAIT = {
    "en-US": "Take your time. I am listening.",
    "de-DE": "Lassen Sie sich Zeit. Ich höre zu.",
    "es-419": "Tómese su tiempo. Le escucho.",
    "hi-IN": "आराम से बताइए। सुनना जारी है।",
    "ja-JP": "ごゆっくりどうぞ。お待ちしています。",
    "pt-BR": "Fique à vontade. Estou ouvindo.",
    "fr-FR": "Prenez votre temps. Je vous écoute.",
    "zh-CN": "请慢慢来，我在听。",
    "ko-KR": "천천히 말씀해 주세요. 듣고 있습니다.",
    "vi-VN": "Bạn cứ từ từ. Tôi đang nghe.",
    "th-TH": "ใช้เวลาได้ตามสบาย กำลังฟังอยู่",
    "ar-AE": "لا داعي للعجلة. أنا أستمع.",
    "no-NO": "Ta den tiden du trenger. Jeg lytter.",
}

THINK = {
    "en-US": "Of course. Take your time.",
    "de-DE": "Natürlich. Lassen Sie sich Zeit.",
    "es-419": "Por supuesto. Tómese su tiempo.",
    "hi-IN": "ज़रूर। आराम से सोचिए।",
    "ja-JP": "もちろんです。ごゆっくりお考えください。",
    "pt-BR": "Claro. Pense com calma.",
    "fr-FR": "Bien sûr. Prenez votre temps.",
    "zh-CN": "当然可以，请慢慢想。",
    "ko-KR": "물론입니다. 천천히 생각하세요.",
    "vi-VN": "Tất nhiên rồi. Bạn cứ từ từ suy nghĩ.",
    "th-TH": "ได้เลย ใช้เวลาคิดได้ตามสบาย",
    "ar-AE": "بالطبع. لا داعي للعجلة.",
    "no-NO": "Selvfølgelig. Ta den tiden du trenger.",
}

HERE = {
    "en-US": "Yes, I can hear you.",
    "de-DE": "Ja, ich höre Sie.",
    "es-419": "Sí, le escucho.",
    "hi-IN": "जी हाँ, आपकी आवाज़ आ रही है।",
    "ja-JP": "はい、聞こえています。",
    "pt-BR": "Sim, estou ouvindo.",
    "fr-FR": "Oui, je vous entends.",
    "zh-CN": "是的，我能听到您。",
    "ko-KR": "네, 잘 들립니다.",
    "vi-VN": "Vâng, tôi nghe thấy bạn.",
    "th-TH": "ได้ยินเสียงคุณแล้ว",
    "ar-AE": "نعم، صوتك مسموع.",
    "no-NO": "Ja, jeg hører deg.",
}

THERE = {
    "en-US": "Yes, I am still here.",
    "de-DE": "Ja, ich bin noch da.",
    "es-419": "Sí, sigo aquí.",
    "hi-IN": "जी हाँ, इंटरव्यू जारी है।",
    "ja-JP": "はい、こちらにおります。",
    "pt-BR": "Sim, continuo aqui.",
    "fr-FR": "Oui, je suis toujours là.",
    "zh-CN": "是的，我还在。",
    "ko-KR": "네, 여기 있습니다.",
    "vi-VN": "Vâng, tôi vẫn ở đây.",
    "th-TH": "ยังอยู่ตรงนี้",
    "ar-AE": "نعم، ما زلت هنا.",
    "no-NO": "Ja, jeg er her fortsatt.",
}

WHO = {
    "en-US": "I am an automated interviewer: a computer program that asks the questions.",
    "de-DE": "Sie sprechen mit einem Computerprogramm, das dieses Interview führt.",
    "es-419": "Está hablando con un programa de computadora que hace esta entrevista.",
    "hi-IN": "यह एक कंप्यूटर प्रोग्राम है, जो इस इंटरव्यू के सवाल पूछता है।",
    "ja-JP": "この面接の質問は、コンピューターのプログラムがお聞きしています。",
    "pt-BR": "Você está falando com um programa de computador que conduz esta entrevista.",
    "fr-FR": "Vous parlez à un programme informatique qui mène cet entretien.",
    "zh-CN": "我是自动面试程序，由计算机向您提问。",
    "ko-KR": "저는 이 면접의 질문을 드리는 컴퓨터 프로그램입니다.",
    "vi-VN": "Bạn đang nói chuyện với một chương trình máy tính phụ trách buổi phỏng vấn này.",
    "th-TH": "นี่คือโปรแกรมคอมพิวเตอร์ที่ทำหน้าที่ถามคำถามในการสัมภาษณ์นี้",
    "ar-AE": "هذا برنامج حاسوبي يطرح أسئلة المقابلة.",
    "no-NO": "Du snakker med et dataprogram som stiller spørsmålene i dette intervjuet.",
}

WHOLE = {
    "en-US": "Thank you. You have not heard the whole question yet. Here it is.",
    "de-DE": "Danke. Sie haben die Frage noch nicht ganz gehört. Hier ist sie.",
    "es-419": "Gracias. Todavía no ha escuchado la pregunta completa. Aquí está.",
    "hi-IN": "धन्यवाद। सवाल अभी पूरा नहीं सुना गया था। पूरा सवाल यह है।",
    "ja-JP": "ありがとうございます。質問が途中でしたので、もう一度最初からお聞きします。",
    "pt-BR": "Certo. Você ainda não ouviu a pergunta inteira. Aqui está.",
    "fr-FR": "Merci. Vous n'avez pas encore entendu toute la question. La voici.",
    "zh-CN": "谢谢。刚才的问题还没有问完，我再完整地问一遍。",
    "ko-KR": "감사합니다. 질문을 끝까지 듣지 못하셨으니 다시 말씀드리겠습니다.",
    "vi-VN": "Cảm ơn bạn. Bạn chưa nghe hết câu hỏi. Câu hỏi là như sau.",
    "th-TH": "ขอบคุณ เมื่อครู่ยังถามไม่จบ ขอถามให้ครบอีกครั้ง",
    "ar-AE": "شكرًا. لم يُسمع السؤال كاملًا بعد. إليك السؤال.",
    "no-NO": "Takk. Du har ikke hørt hele spørsmålet ennå. Her er det.",
}

GOODBYE = {
    "en-US": "That was all. Thank you for your time, and goodbye.",
    "de-DE": "Das war alles. Vielen Dank für Ihre Zeit und auf Wiederhören.",
    "es-419": "Eso es todo. Gracias por su tiempo y hasta luego.",
    "hi-IN": "बस इतना ही। आपके समय के लिए धन्यवाद।",
    "ja-JP": "以上です。お時間をいただき、ありがとうございました。",
    "pt-BR": "Isso é tudo. Agradecemos o seu tempo. Até logo.",
    "fr-FR": "C'est terminé. Merci pour votre temps et au revoir.",
    "zh-CN": "到此结束。感谢您抽出时间，再见。",
    "ko-KR": "이것으로 마치겠습니다. 시간 내주셔서 감사합니다.",
    "vi-VN": "Vậy là xong. Cảm ơn bạn đã dành thời gian. Xin chào.",
    "th-TH": "เสร็จสิ้นแล้ว ขอบคุณสำหรับเวลา",
    "ar-AE": "كان هذا كل شيء. شكرًا على وقتك، ومع السلامة.",
    "no-NO": "Det var alt. Takk for tiden din, og ha det bra.",
}

SAMPLE = {
    "en-US": "Hello, and thank you for taking the time. Tell me a little about your last project.",
    "de-DE": "Guten Tag, und danke für Ihre Zeit. Erzählen Sie mir ein wenig von Ihrem letzten Projekt.",
    "es-419": "Hola, gracias por su tiempo. Cuénteme un poco sobre su último proyecto.",
    "hi-IN": "नमस्ते, समय देने के लिए धन्यवाद। अपने पिछले प्रोजेक्ट के बारे में कुछ बताइए।",
    "ja-JP": "こんにちは。お時間をいただき、ありがとうございます。最近のお仕事について教えてください。",
    "pt-BR": "Olá, agradecemos o seu tempo. Conte um pouco sobre o seu último projeto.",
    "fr-FR": "Bonjour, et merci pour votre temps. Parlez-moi un peu de votre dernier projet.",
    "zh-CN": "您好，感谢您抽出时间。请简单介绍一下您最近的项目。",
    "ko-KR": "안녕하세요. 시간 내주셔서 감사합니다. 최근에 하신 일에 대해 말씀해 주세요.",
    "vi-VN": "Xin chào, cảm ơn bạn đã dành thời gian. Hãy kể một chút về dự án gần đây nhất của bạn.",
    "th-TH": "สวัสดี ขอบคุณที่สละเวลา ช่วยเล่าเกี่ยวกับงานล่าสุดสักเล็กน้อย",
    "ar-AE": "مرحبًا، وشكرًا على وقتك. نود أن نسمع قليلًا عن آخر مشروع.",
    "no-NO": "Hei, og takk for at du tar deg tid. Fortell litt om det siste prosjektet ditt.",
}

_LINES = {
    "not_heard": NOT_HEARD,
    "wait": WAIT,
    "think": THINK,
    "moment": ONE_MOMENT,
    "pass_on": PASS_ON,
    "sure": SURE,
    "here": HERE,
    "there": THERE,
    "who": WHO,
    "whole": WHOLE,
    "acknowledge": ACKNOWLEDGE,
    "outro": GOODBYE,
}


def phrase(name: str, language: str, *, minutes: int = 0) -> str:
    """A line that no script holds, by its kind; `outro` is for flows that have none of their own.

    `minutes` are those that are left, for `long`; 0 means a few.
    """
    if name == "long":
        return manners.left(language, minutes)
    return _LINES[name].get(language, _LINES[name][DEFAULT_LANGUAGE])


def all_of(language: str) -> tuple[str, ...]:
    """Every fixed line an interview in ``language`` may need, so that they can be spoken beforehand."""
    return (
        *dict.fromkeys(phrase(name, language) for name in _LINES),
        *manners.every_left(language),
        *manners.every_manner(language),
        tell_more(language),
    )


def tell_more(language: str) -> str:
    """The one fixed follow-up of an interview without a language model."""
    return TELL_MORE.get(language, TELL_MORE[DEFAULT_LANGUAGE])


def excerpts(language: str) -> str:
    """The label of an extractive summary."""
    return EXCERPTS.get(language, EXCERPTS[DEFAULT_LANGUAGE])


def nothing_said(language: str) -> str:
    """The summary of a silent interview."""
    return NOTHING_SAID.get(language, NOTHING_SAID[DEFAULT_LANGUAGE])


def sample(language: str) -> str:
    """What a voice says to be heard before it is chosen."""
    return SAMPLE.get(language, SAMPLE[DEFAULT_LANGUAGE])
