"""Spoken commands: whole short utterances only, in every language; an answer that contains one stays an answer."""

import pytest

from app.conversation.script.commands import LONGEST, confirmed, spoken_command
from app.conversation.script.machine import Event
from app.gateways.speech.catalogue import LANGUAGES

SAID: dict[str, dict[Event, tuple[str, ...]]] = {
    "en-US": {
        Event.REPEAT: (
            "Can you repeat that?",
            "Could you please repeat the question?",
            "say that again please",
            "sorry, I didn't catch that",
            "um what was the question again",
        ),
        Event.SKIP: (
            "next question",
            "next question please",
            "Can we skip this question, please?",
            "okay let's move on to the next question",
            "I would like to skip this question.",
        ),
        Event.THINK: (
            "Let me think.",
            "let me think about that for a moment",
            "hmm give me a second",
            "hold on a second",
            "I need some time to think about it",
        ),
        Event.STOP: ("stop here", "Please stop the interview.", "I want to end the interview", "okay can we stop here"),
        Event.HELLO: (
            "Hello? Can you hear me?",
            "Hello?",
            "can you hear me",
            "Is this working?",
            "hello hello",
            "is my microphone working",
        ),
        Event.WHO: ("Who are you?", "Who am I talking to?", "Are you a robot?"),
        Event.THERE: (
            "Are you there?",
            "Hello, is anybody there?",
            "are you still there",
        ),
        Event.LONG: (
            "How long does this take?",
            "How long is the interview?",
            "and how much longer will it take",
            "How much time do we have left?",
            "how long",
        ),
    },
    "de-DE": {
        Event.REPEAT: (
            "Können Sie das bitte wiederholen?",
            "Wie bitte?",
            "Könnten Sie die Frage noch einmal wiederholen?",
            "Wie war die Frage noch mal?",
            "noch einmal bitte",
        ),
        Event.SKIP: (
            "Nächste Frage, bitte.",
            "Ich möchte diese Frage überspringen.",
            "Können wir zur nächsten Frage gehen?",
        ),
        Event.THINK: (
            "Lassen Sie mich kurz nachdenken.",
            "Einen Moment, bitte.",
            "Moment mal",
            "Ich muss kurz überlegen.",
            "Geben Sie mir bitte einen Moment",
        ),
        Event.STOP: (
            "Ich möchte das Interview beenden.",
            "Hier abbrechen bitte",
            "Können wir hier aufhören?",
            "Beenden Sie bitte das Gespräch",
        ),
        Event.HELLO: (
            "Hallo? Können Sie mich hören?",
            "Hallo?",
            "Hören Sie mich?",
            "Funktioniert das?",
        ),
        Event.WHO: ("Wer sind Sie?", "Mit wem spreche ich?", "Sind Sie ein Roboter?"),
        Event.THERE: (
            "Sind Sie noch da?",
            "Ist da jemand?",
            "Hallo, sind Sie da?",
        ),
        Event.LONG: (
            "Wie lange dauert das?",
            "Wie lange dauert das Interview denn ungefähr?",
            "Wie lange noch?",
            "Wie viel Zeit habe ich dafür?",
        ),
    },
    "es-419": {
        Event.REPEAT: (
            "¿Puede repetir la pregunta, por favor?",
            "¿Me puede repetir eso?",
            "Otra vez, por favor.",
            "No escuché bien la pregunta",
        ),
        Event.SKIP: ("Siguiente pregunta.", "Quiero saltar esta pregunta", "pasemos a la siguiente pregunta por favor"),
        Event.THINK: ("Déjeme pensar un momento.", "Un momento, por favor.", "necesito pensar", "deme un segundo"),
        Event.STOP: ("Quiero terminar la entrevista.", "Podemos parar aquí", "termine la entrevista por favor"),
        Event.HELLO: ("¿Hola? ¿Me puede oír?", "¿Me escucha?", "¿Funciona esto?"),
        Event.WHO: ("¿Quién es usted?", "¿Con quién hablo?", "¿Es usted un robot?"),
        Event.THERE: (
            "¿Está ahí?",
            "Hola, ¿hay alguien?",
            "¿Sigue ahí?",
        ),
        Event.LONG: (
            "¿Cuánto dura la entrevista?",
            "¿Cuánto tiempo va a tardar esto?",
            "¿Cuánto falta para terminar?",
            "Perdón, ¿cuánto tiempo tengo?",
        ),
    },
    "pt-BR": {
        Event.REPEAT: (
            "Pode repetir a pergunta, por favor?",
            "Você pode repetir?",
            "De novo, por favor.",
            "Qual era a pergunta mesmo?",
        ),
        Event.SKIP: ("Próxima pergunta.", "Quero pular esta pergunta.", "vamos para a próxima pergunta"),
        Event.THINK: ("Deixa eu pensar um pouco.", "Só um momento.", "Me dá um minuto", "Preciso pensar um pouco"),
        Event.STOP: (
            "Quero encerrar a entrevista.",
            "Podemos parar por aqui?",
            "Gostaria de terminar a entrevista agora",
        ),
        Event.HELLO: (
            "Olá? Você consegue me ouvir?",
            "Está me ouvindo?",
            "Isso está funcionando?",
        ),
        Event.WHO: ("Quem é você?", "Com quem estou falando?", "Você é um robô?"),
        Event.THERE: (
            "Você está aí?",
            "Alô, tem alguém aí?",
            "Ainda está aí?",
        ),
        Event.LONG: (
            "Quanto tempo dura a entrevista?",
            "Quanto tempo isso vai demorar?",
            "Quanto falta para terminar?",
        ),
    },
    "fr-FR": {
        Event.REPEAT: (
            "Pouvez-vous répéter, s'il vous plaît ?",
            "Pourriez-vous répéter la question ?",
            "Quelle était la question déjà ?",
            "Je n'ai pas entendu la question.",
        ),
        Event.SKIP: (
            "Question suivante, s'il vous plaît.",
            "Je voudrais passer cette question.",
            "Passons à la question suivante",
        ),
        Event.THINK: (
            "Laissez-moi réfléchir.",
            "Un instant, s'il vous plaît.",
            "Euh, donnez-moi une minute",
            "Je dois réfléchir un peu",
        ),
        Event.STOP: ("Je voudrais arrêter l'entretien.", "On peut s'arrêter ici ?", "Je veux terminer ici"),
        Event.HELLO: (
            "Allô ? Vous m'entendez ?",
            "Est-ce que vous m'entendez ?",
            "Est-ce que ça marche ?",
        ),
        Event.WHO: ("Qui êtes-vous ?", "À qui je parle ?", "Vous êtes un robot ?"),
        Event.THERE: (
            "Vous êtes là ?",
            "Bonjour, il y a quelqu'un ?",
            "Est-ce que vous êtes toujours là ?",
        ),
        Event.LONG: (
            "Combien de temps dure l'entretien ?",
            "Ça dure combien de temps ?",
            "Combien de temps est-ce que ça va prendre ?",
            "Combien de temps reste-t-il ?",
        ),
    },
    "no-NO": {
        Event.REPEAT: (
            "Kan du gjenta det?",
            "Kan du gjenta spørsmålet en gang til?",
            "Hva var spørsmålet igjen?",
            "Unnskyld, jeg hørte ikke spørsmålet",
        ),
        Event.SKIP: (
            "Neste spørsmål, takk.",
            "Jeg vil gjerne hoppe over dette spørsmålet.",
            "Kan vi gå videre til neste spørsmål?",
        ),
        Event.THINK: ("La meg tenke litt.", "Et øyeblikk, takk.", "Vent litt", "Jeg må tenke meg om"),
        Event.STOP: ("Jeg vil avslutte intervjuet.", "Kan vi stoppe her?", "Avslutt intervjuet nå"),
        Event.HELLO: ("Hallo? Kan du høre meg?", "Hører du meg?", "Virker dette?"),
        Event.WHO: ("Hvem er du?", "Hvem snakker jeg med?", "Er du en robot?"),
        Event.THERE: (
            "Er du der?",
            "Er det noen der?",
            "Hallo, er du fortsatt der?",
        ),
        Event.LONG: (
            "Hvor lang tid tar dette?",
            "Hvor lenge varer intervjuet?",
            "Hvor mye tid har jeg igjen?",
        ),
    },
    "hi-IN": {
        Event.REPEAT: ("कृपया सवाल दोहराइए।", "क्या आप फिर से बता सकते हैं?", "एक बार फिर बोलिए", "मुझे सवाल सुनाई नहीं दिया"),
        Event.SKIP: ("अगला सवाल।", "कृपया अगले सवाल पर चलिए", "मैं यह सवाल छोड़ना चाहती हूँ"),
        Event.THINK: ("मुझे सोचने दीजिए।", "एक मिनट रुकिए", "मैं सोच रहा हूँ", "ज़रा रुकिए"),
        Event.STOP: ("इंटरव्यू समाप्त करें।", "मैं इंटरव्यू यहीं ख़त्म करना चाहता हूँ", "यहीं रुकिए"),
        Event.HELLO: ("हेलो? क्या आप मुझे सुन सकते हैं?", "क्या मेरी आवाज़ आ रही है?", "क्या यह काम कर रहा है?", "नमस्ते"),
        Event.WHO: ("आप कौन हैं?", "मैं किससे बात कर रही हूँ?", "क्या आप रोबोट हैं?"),
        Event.THERE: (
            "आप वहाँ हैं?",
            "क्या कोई सुन रहा है?",
        ),
        Event.LONG: (
            "इसमें कितना समय लगेगा?",
            "इंटरव्यू कितनी देर का है?",
            "और कितना समय लगेगा?",
        ),
    },
    "ja-JP": {
        Event.REPEAT: (
            "もう一度お願いします。",
            "すみません、質問をもう一度言っていただけますか。",
            "質問を繰り返してください",
            "聞き取れませんでした",
        ),
        Event.SKIP: ("次の質問をお願いします。", "この質問をスキップしてもいいですか", "次の質問に進んでください"),
        Event.THINK: (
            "少し考えさせてください。",
            "ちょっと待ってください",
            "えっと、少し考える時間をください",
            "少々お待ちください",
        ),
        Event.STOP: ("面接を終了したいです。", "ここで終わりにしてください", "すみません、ここで終わりにします"),
        Event.HELLO: (
            "もしもし、聞こえますか。",
            "こんにちは",
            "声が聞こえていますか",
            "マイクは入っていますか",
        ),
        Event.WHO: ("あなたは誰ですか", "どなたですか", "あなたはロボットですか"),
        Event.THERE: (
            "もしもし、誰かいますか",
            "いらっしゃいますか",
        ),
        Event.LONG: (
            "面接はどのくらい時間がかかりますか。",
            "あと何分くらいですか",
            "この面接は何分ですか",
            "時間はどれくらいかかりますか",
        ),
    },
    "zh-CN": {
        Event.REPEAT: ("请再说一遍。", "不好意思，我没听清楚。", "能不能重复一下问题？", "请您再问一次好吗"),
        Event.SKIP: ("下一个问题。", "请跳过这个问题", "我想跳过这道题", "可以问下一题吗？"),
        Event.THINK: ("让我想一想。", "请稍等一下", "嗯，给我一点时间", "我需要考虑一下"),
        Event.STOP: ("我想结束面试。", "请停止面试", "就到这里结束吧"),
        Event.HELLO: ("喂，你能听到我吗？", "您好", "听得到吗？", "这个能用吗？"),
        Event.WHO: ("你是谁？", "请问您是哪位？", "你是机器人吗？"),
        Event.THERE: (
            "你还在吗？",
            "有人吗？",
            "喂，您在吗",
        ),
        Event.LONG: (
            "面试要多长时间？",
            "大概需要多久？",
            "还要多久才能结束？",
            "请问需要多少分钟",
        ),
    },
    "ko-KR": {
        Event.REPEAT: (
            "다시 말씀해 주세요.",
            "죄송하지만 질문을 다시 한번 말씀해 주시겠어요?",
            "질문이 뭐였죠?",
            "잘 못 들었어요",
        ),
        Event.SKIP: ("다음 질문이요.", "다음 질문으로 넘어갈게요", "이 질문은 건너뛰고 싶어요"),
        Event.THINK: ("잠시만요.", "생각할 시간을 좀 주세요", "잠깐만 기다려 주세요", "음, 잠시 생각해 볼게요"),
        Event.STOP: ("면접을 끝내고 싶어요.", "여기서 그만할게요", "인터뷰를 종료해 주세요"),
        Event.HELLO: (
            "여보세요? 제 목소리 들리세요?",
            "안녕하세요",
            "잘 들리나요?",
            "이거 되나요?",
        ),
        Event.WHO: ("누구세요?", "지금 누구랑 이야기하는 건가요?", "로봇인가요?"),
        Event.THERE: (
            "거기 누구 계세요?",
            "여보세요, 계세요?",
        ),
        Event.LONG: (
            "면접은 얼마나 걸리나요?",
            "시간이 얼마나 걸려요?",
            "앞으로 몇 분 정도 더 걸리나요?",
        ),
    },
    "vi-VN": {
        Event.REPEAT: (
            "Bạn có thể nhắc lại câu hỏi được không?",
            "Xin nhắc lại câu hỏi ạ",
            "Tôi không nghe rõ câu hỏi",
            "Vui lòng nói lại",
        ),
        Event.SKIP: ("Câu hỏi tiếp theo.", "Cho tôi bỏ qua câu hỏi này", "Tôi muốn chuyển sang câu hỏi tiếp theo"),
        Event.THINK: ("Để tôi suy nghĩ một chút.", "Chờ một chút", "Cho tôi một phút", "Tôi cần thời gian để suy nghĩ"),
        Event.STOP: ("Tôi muốn kết thúc buổi phỏng vấn.", "Dừng ở đây nhé", "Tôi muốn dừng lại ở đây"),
        Event.HELLO: (
            "A lô? Bạn có nghe thấy tôi không?",
            "Bạn nghe rõ không?",
            "Micro có hoạt động không?",
        ),
        Event.WHO: ("Bạn là ai?", "Tôi đang nói chuyện với ai?", "Bạn là robot à?"),
        Event.THERE: (
            "Bạn còn đó không?",
            "Có ai ở đó không?",
        ),
        Event.LONG: (
            "Phỏng vấn mất bao lâu?",
            "Cuộc phỏng vấn này kéo dài bao lâu vậy?",
            "Còn bao lâu nữa?",
        ),
    },
    "th-TH": {
        Event.REPEAT: ("ขอฟังคำถามอีกครั้งครับ", "ช่วยพูดอีกครั้งได้ไหมคะ", "ทวนคำถามหน่อยค่ะ", "ไม่ได้ยินคำถามครับ"),
        Event.SKIP: ("คำถามต่อไปครับ", "ขอข้ามคำถามนี้ค่ะ", "ขอไปข้อต่อไป"),
        Event.THINK: ("ขอคิดสักครู่นะคะ", "รอสักครู่ครับ", "ขอเวลาคิดหน่อย"),
        Event.STOP: ("ขอจบการสัมภาษณ์ครับ", "อยากหยุดตรงนี้ค่ะ", "พอแค่นี้ครับ"),
        Event.HELLO: ("ฮัลโหล ได้ยินผมไหมครับ", "สวัสดีค่ะ", "ไมค์ใช้ได้ไหมครับ"),
        Event.WHO: ("คุณเป็นใครคะ", "ผมคุยกับใครอยู่ครับ", "คุณเป็นหุ่นยนต์หรือเปล่า"),
        Event.THERE: (
            "ยังอยู่ไหมคะ",
            "มีใครอยู่ไหม",
        ),
        Event.LONG: (
            "ใช้เวลานานเท่าไหร่ครับ",
            "การสัมภาษณ์ใช้เวลากี่นาทีคะ",
            "อีกนานไหมคะ",
        ),
    },
    "ar-AE": {
        Event.REPEAT: ("هل يمكنك إعادة السؤال من فضلك؟", "كرر السؤال", "أعد السؤال مرة أخرى", "عفوًا، لم أسمع السؤال"),
        Event.SKIP: ("السؤال التالي من فضلك.", "أريد تخطي هذا السؤال", "لننتقل إلى السؤال التالي"),
        Event.THINK: ("دعني أفكر قليلًا.", "لحظة من فضلك", "انتظر لحظة", "أعطني دقيقة"),
        Event.STOP: ("أريد إنهاء المقابلة.", "أود التوقف هنا من فضلك", "إنهاء المقابلة الآن"),
        Event.HELLO: (
            "ألو؟ هل تسمعني؟",
            "مرحبًا",
            "هل يمكنك سماعي؟",
            "هل الميكروفون يعمل؟",
        ),
        Event.WHO: ("من أنت؟", "مع من أتحدث؟", "هل أنت روبوت؟"),
        Event.THERE: (
            "هل أنت هنا؟",
            "هل يوجد أحد؟",
        ),
        Event.LONG: (
            "كم ستستغرق المقابلة؟",
            "كم من الوقت بقي؟",
            "ما مدة المقابلة؟",
            "كم من الوقت سيستغرق هذا؟",
        ),
    },
}

ANSWERS: dict[str, tuple[str, ...]] = {
    "en-US": (
        "",
        "...",
        "no",
        "stop",
        "yes",
        "again",
        "i had to stop here and there to repeat the question",
        "we always asked the next question",
        "then i said let me think about it and went home",
        "i told him to stop the interview",
        "we could not repeat that success",
        "you can skip it",
        "the next question was harder",
        "one more time",
        "i need to think about my family first",
        "wait for the bus and then call",
        "hello is what i say to every customer",
        "is this working class history",
        "i can hear you",
        "can you hear me was all she asked",
        "who are you was the name of the band",
        "i asked who is speaking",
        "how long you cook it decides everything",
        "it took us a long time",
        "are you there yet is what my children ask",
    ),
    "de-DE": (
        "nein",
        "noch einmal",
        "wiederholen",
        "Die nächste Frage war schwerer.",
        "Ich musste hier aufhören, weil die Firma schloss.",
        "Wir haben das Interview beendet und gefeiert.",
        "Ich würde das Experiment wiederholen.",
        "Hallo sage ich zu jedem Kunden.",
        "Ich höre Sie.",
        "Wer sind Sie, fragte mich der Chef.",
        "Wie lange es dauert, hängt vom Wetter ab.",
        "Das dauert lange.",
    ),
    "es-419": (
        "no",
        "otra vez",
        "La siguiente pregunta fue más difícil.",
        "Tuvimos que terminar la entrevista antes.",
        "Pensar un momento me ayuda siempre.",
        "Repite el proceso cada día.",
        "Hola es lo primero que digo.",
        "Yo le pregunté quién es usted y se fue.",
        "Cuánto dura depende del cliente.",
    ),
    "pt-BR": (
        "não",
        "de novo",
        "A próxima pergunta foi mais difícil.",
        "Tivemos que encerrar a entrevista mais cedo.",
        "Preciso pensar nas pessoas do meu time.",
        "Olá é o que digo a cada cliente.",
        "Eu perguntei quem é você.",
        "Quanto tempo dura depende do cliente.",
    ),
    "fr-FR": (
        "non",
        "encore une fois",
        "La question suivante était plus difficile.",
        "J'ai dû arrêter l'entretien à cause du bruit.",
        "Je dois réfléchir avant chaque décision.",
        "Bonjour, j'ai travaillé dix ans dans un hôpital.",
        "Je lui ai demandé qui êtes-vous.",
        "Combien de temps ça dure dépend du client.",
    ),
    "no-NO": (
        "nei",
        "en gang til",
        "Det neste spørsmålet var vanskeligere.",
        "Vi måtte avslutte intervjuet tidlig.",
        "Jeg måtte tenke meg om før jeg svarte kunden.",
        "Hallo sier jeg til alle kunder.",
        "Jeg spurte hvem er du.",
        "Hvor lang tid det tar kommer an på kunden.",
    ),
    "hi-IN": (
        "नहीं",
        "फिर से",
        "अगला सवाल ज़्यादा कठिन था।",
        "हमें इंटरव्यू समाप्त करना पड़ा क्योंकि बिजली चली गई।",
        "नमस्ते मेरा नाम राहुल है और मैं एक इंजीनियर हूँ",
        "कितना समय लगेगा यह ग्राहक पर निर्भर था।",
    ),
    "ja-JP": (
        "いいえ",
        "次の質問は難しかったです。",
        "面接を終了したのは三時でした。",
        "もう一度挑戦しました。",
        "お客様に少々お待ちくださいと言いました。",
        "こんにちは、田中と申します。",
        "お客様に聞こえますかと尋ねました。",
        "どのくらいかかるかはお客様によります。",
    ),
    "zh-CN": (
        "不",
        "下一个问题更难。",
        "我们结束面试以后去吃饭了。",
        "他让我再说一遍我的计划。",
        "我跳过了这个问题的第一部分。",
        "你好，我叫王芳，我是护士。",
        "客户问我你是谁。",
        "需要多久取决于客户。",
    ),
    "ko-KR": (
        "아니요",
        "다음 질문은 더 어려웠습니다.",
        "면접을 끝내고 집에 갔습니다.",
        "고객에게 잠시만 기다려 달라고 했습니다.",
        "다시 도전했습니다.",
        "안녕하세요, 저는 김민수입니다.",
        "고객이 누구세요라고 물었습니다.",
        "얼마나 걸리는지는 고객에 따라 달랐습니다.",
    ),
    "vi-VN": (
        "không",
        "hỏi lại",
        "Câu hỏi tiếp theo khó hơn.",
        "Chúng tôi phải kết thúc buổi phỏng vấn sớm vì mất điện.",
        "Tôi nhắc lại kế hoạch cho cả nhóm.",
        "Xin chào tôi là Minh và tôi là kỹ sư.",
        "Mất bao lâu thì tùy khách hàng.",
    ),
    "th-TH": (
        "ไม่",
        "คำถามต่อไปยากกว่า",
        "เราจบการสัมภาษณ์ตอนบ่ายสาม",
        "ลูกค้าบอกให้รอสักครู่แล้วก็ไป",
        "สวัสดีครับ ผมชื่อสมชาย",
        "ลูกค้าถามว่าคุณเป็นใคร",
        "ใช้เวลาเท่าไหร่ขึ้นอยู่กับลูกค้า",
    ),
    "ar-AE": (
        "لا",
        "مرة أخرى",
        "السؤال التالي كان أصعب.",
        "اضطررنا إلى إنهاء المقابلة مبكرًا.",
        "قال لي المدير انتظر لحظة ثم خرج.",
        "مرحبًا، اسمي أحمد وأعمل مهندسًا.",
        "كم ستستغرق المهمة كان يعتمد على العميل.",
    ),
}


WANTED = {
    Event.REPEAT,
    Event.SKIP,
    Event.THINK,
    Event.STOP,
    Event.HELLO,
    Event.THERE,
    Event.WHO,
    Event.LONG,
}


def cases(table: dict[str, dict[Event, tuple[str, ...]]]) -> list[tuple[str, Event, str]]:
    return [
        (language, event, text)
        for language, events in table.items()
        for event, texts in events.items()
        for text in texts
    ]


def test_every_language_has_every_command_and_answers_that_are_none() -> None:
    assert set(SAID) == set(ANSWERS) == set(LANGUAGES)
    assert all(set(events) == WANTED for events in SAID.values())


@pytest.mark.parametrize(("language", "event", "text"), cases(SAID))
def test_a_whole_short_utterance_is_a_command(language: str, event: Event, text: str) -> None:
    assert spoken_command(text, language) is event


@pytest.mark.parametrize(("language", "event", "text"), cases(SAID))
def test_a_command_that_is_said_again_is_one(language: str, event: Event, text: str) -> None:
    twice = f"{text} {text}"
    assert spoken_command(twice, language) is (event if len(twice) <= LONGEST else None)


def test_a_command_and_another_one_are_an_answer() -> None:
    assert spoken_command("repeat the question next question", "en-US") is None
    assert spoken_command("repeat repeat repeat repeat", "en-US") is None


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in ANSWERS.items() for text in texts])
def test_everything_else_is_an_answer(language: str, text: str) -> None:
    assert spoken_command(text, language) is None


STORIES = {
    "en-US": "{} is what my teacher always told me",
    "de-DE": "{} hat mein Lehrer immer gesagt",
    "es-419": "{} decía siempre mi profesor",
    "pt-BR": "{} dizia sempre o meu professor",
    "fr-FR": "{} disait toujours mon professeur",
    "no-NO": "{} sa læreren min alltid",
    "hi-IN": "{} मेरे शिक्षक हमेशा कहते थे",
    "ja-JP": "{}と先生がいつも言っていました",
    "zh-CN": "{}是我老师常说的话",
    "ko-KR": "{}라고 선생님이 늘 말씀하셨습니다",
    "vi-VN": "{} là câu thầy tôi hay nói",
    "th-TH": "{}เป็นคำที่ครูของผมพูดเสมอ",
    "ar-AE": "{} كان أستاذي يقول دائما",
}


@pytest.mark.parametrize(("language", "event", "text"), cases(SAID))
def test_an_answer_that_begins_with_a_command_is_an_answer(language: str, event: Event, text: str) -> None:
    assert spoken_command(STORIES[language].format(text.rstrip(".?。？।")), language) is None


def test_a_language_without_commands_hears_answers_only() -> None:
    assert spoken_command("repeat", "xx-XX") is None
    assert confirmed("yes", "xx-XX") is None


YES_NO = {
    "en-US": ("Yes, please.", "No, go on"),
    "de-DE": ("Ja, bitte.", "Nein"),
    "es-419": ("Sí", "No, gracias"),
    "pt-BR": ("Sim", "Ainda não"),
    "fr-FR": ("Oui", "Non, merci."),
    "no-NO": ("Ja takk", "Nei"),
    "hi-IN": ("जी हाँ", "नहीं"),
    "ja-JP": ("はい。", "いいえ"),
    "zh-CN": ("是的", "不是"),
    "ko-KR": ("네", "아니요"),
    "vi-VN": ("Vâng", "Không"),
    "th-TH": ("ใช่ครับ", "ไม่ค่ะ"),
    "ar-AE": ("نعم", "لا شكرًا"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_yes_and_no_are_understood_and_nothing_else_is_either(language: str) -> None:
    yes, no = YES_NO[language]
    assert (confirmed(yes, language), confirmed(no, language)) == (True, False)
    assert [confirmed(text, language) for text in ("", "!", ANSWERS[language][-1])] == [None, None, None]
