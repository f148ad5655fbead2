"""Words with which no answer ends, language by language: the data of ``patience``.

``OPEN``: after these something must follow (conjunctions, prepositions, articles, subjects, auxiliaries, verbs that
want an object). ``FILLERS``: said while one thinks. ``THINKING``: said to ask for time. ``BACKCHANNELS``: said while
one listens. In languages that write no spaces the entries are endings of the text. English is the fullest list, because
the embedded recogniser hears it; the others hold the most common words and serve with a configured engine.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(one.split()) for one in text.split("|"))


OPEN: dict[str, frozenset[str]] = {
    "en": _words("""
        and or but nor because although though while whereas unless until since when whenever where if whether which
        who whose than as plus versus of for with from to into onto upon at by about between during against without
        within under towards toward among per via across behind beyond despite besides concerning regarding including
        such a an the my your our their these every each another very quite really rather extremely i we he she they
        who's i'm we're they're he's she's you're i've we've they've i'd we'd they'd i'll we'll they'll it's that's
        there's here's is was were are am be been being has had have having do does did can could will would should
        must may might shall cannot can't couldn't don't doesn't didn't won't wouldn't shouldn't isn't wasn't weren't
        aren't hasn't hadn't haven't think thought believe believed say said says tell told want wanted wants decide
        decided try tried need needed mean means suppose hope hoped feel felt seem seems seemed make made makes give
        gave gives take took takes get got gets become became called let lets keep kept use used uses going gonna
        trying wanting deciding getting making taking giving using mostly mainly especially particularly usually
        normally basically actually probably perhaps maybe first firstly secondly thirdly also then both either neither
        not so some any his her its
    """),
    "de": _words("""
        und oder aber denn weil dass ob wenn als wie während obwohl damit sondern sowie der die das den dem des ein
        eine einen einem einer eines mein meine unser unsere von zu zum zur mit für auf in im an am bei beim nach über
        unter vor durch gegen ohne um aus seit ich wir er sie ist war sind waren habe hatte haben hatten kann konnte
        will wollte muss musste sehr auch also dann nicht wurde werde würde
    """),
    "es": _words("""
        y e o u pero porque que si cuando como mientras aunque sino el la los las un una unos unas mi mis su sus
        nuestro nuestra de del a al con para por en sobre entre sin desde hasta yo nosotros es era son eran he había
        tengo tenía muy también entonces no se me
    """),
    "pt": _words("""
        e ou mas porque que se quando como enquanto embora o a os as um uma uns umas meu minha nosso nossa de do da dos
        das ao à com para por em no na nos nas sobre entre sem desde até eu nós é era são eram tenho tinha muito também
        então não
    """),
    "fr": _words("""
        et ou mais parce que car si quand comme lorsque puisque le la les un une des du de d l mon ma mes notre nos à
        au aux avec pour par en dans sur sous entre sans depuis vers chez je j nous il elle ils elles on est était sont
        étaient ai avais avons très aussi donc alors ne n qui dont où c'est
    """),
    "no": _words("""
        og eller men fordi at om hvis når som mens selv en et ei den det de min mitt mine vår vårt av til med for på i
        fra ved etter over under mellom uten jeg vi han hun er var har hadde kan kunne vil ville må måtte veldig også
        så ikke
    """),
    "hi": _words("""
        और या लेकिन मगर क्योंकि कि तो अगर जब जैसे जो में से को का की के पर ने लिए साथ मैं हम वह वे मेरा मेरी मेरे हमारा
        एक बहुत भी नहीं
    """),
    "vi": _words("""
        và hoặc nhưng vì bởi nếu khi mà thì là của cho với ở tại trong trên từ đến về một các những tôi chúng rất cũng
        đã đang sẽ không để như
    """),
    "ar": _words("""
        و أو لكن لأن لأنه لأنني إن أن إذا عندما كما الذي التي في من إلى على عن مع بين بعد قبل أنا نحن كان كنت قد لا لم
        جدا ثم
    """),
    "ja": _words("""
        が けど けれど けれども て で と から ので のに し を に へ の も は や そして でも だから しかし また
    """),
    "zh": _words("""
        因为 所以 但是 不过 而且 然后 如果 虽然 就是 和 跟 与 或者 的 在 对 把 被 给 从 向 是 我 我们 很 也 还
    """),
    "ko": _words("""
        그리고 그런데 하지만 그래서 왜냐하면 는데 은데 고 서 면 니까 지만 을 를 이 가 은 는 의 에 에서 와 과 도
    """),
    "th": _words("""
        และ หรือ แต่ เพราะ เพราะว่า ว่า ที่ ซึ่ง ถ้า เมื่อ ใน ของ กับ จาก ให้ เพื่อ คือ เป็น ผม ฉัน ดิฉัน เรา ก็ แล้วก็
    """),
}

FILLERS: dict[str, tuple[str, ...]] = {
    "en": _phrases("""
        um | uh | er | erm | hmm | hm | mm | ah | oh | well | you know | i mean | sort of | kind of | like |
        for example | for instance | in terms | let's say | right so | okay so | the thing is
    """),
    "de": _phrases("""
        äh | ähm | hm | naja | also | sozusagen | zum beispiel
    """),
    "es": _phrases("""
        eh | em | este | pues | bueno | por ejemplo
    """),
    "pt": _phrases("""
        é | hum | tipo | bem | por exemplo
    """),
    "fr": _phrases("""
        euh | hum | bah | ben | enfin | par exemple
    """),
    "no": _phrases("""
        eh | øh | hm | altså | for eksempel
    """),
    "hi": _phrases("""
        अं | मतलब | उम्म | जैसे कि
    """),
    "vi": _phrases("""
        ờ | ừm | à | ví dụ
    """),
    "ar": _phrases("""
        آه | امم | يعني | مثلا
    """),
    "ja": _phrases("""
        えっと | えーと | あの | あのー | その | まあ | たとえば
    """),
    "zh": _phrases("""
        嗯 | 呃 | 那个 | 这个 | 比如 | 比如说
    """),
    "ko": _phrases("""
        음 | 어 | 그 | 저기 | 예를 들어
    """),
    "th": _phrases("""
        อืม | เอ่อ | เช่น | แบบ
    """),
}

THINKING: dict[str, tuple[str, ...]] = {
    "en": _phrases("""
        let me think | let me think about it | let me think about that | let me see | let's see | one moment |
        one moment please | one second | just a moment | just a second | give me a moment | give me a second |
        give me a minute | hold on | wait | wait a moment | i need a moment | i have to think
    """),
    "de": _phrases("""
        lass mich überlegen | lassen sie mich überlegen | lassen sie mich nachdenken | moment | einen moment |
        augenblick
    """),
    "es": _phrases("""
        déjame pensar | déjeme pensar | un momento | un segundo | espera | espere
    """),
    "pt": _phrases("""
        deixa eu pensar | deixe me pensar | um momento | um segundo | espera
    """),
    "fr": _phrases("""
        laissez moi réfléchir | laisse moi réfléchir | un moment | un instant | une seconde | attendez
    """),
    "no": _phrases("""
        la meg tenke | et øyeblikk | vent litt
    """),
    "hi": _phrases("""
        सोचने दीजिए | एक मिनट | ज़रा सोचने दो | रुकिए
    """),
    "vi": _phrases("""
        để tôi nghĩ | để tôi suy nghĩ | chờ một chút | đợi một chút
    """),
    "ar": _phrases("""
        دعني أفكر | لحظة | لحظة من فضلك | ثانية
    """),
    "ja": _phrases("""
        考えさせてください | ちょっと待ってください | 少々お待ちください | ちょっと考えます
    """),
    "zh": _phrases("""
        让我想想 | 让我想一想 | 等一下 | 稍等
    """),
    "ko": _phrases("""
        생각해 볼게요 | 잠시만요 | 잠깐만요
    """),
    "th": _phrases("""
        ขอคิดก่อน | ขอเวลาสักครู่ | สักครู่ | รอสักครู่
    """),
}

BACKCHANNELS: dict[str, tuple[str, ...]] = {
    "en": _phrases("""
        mm | mhm | mm hm | mm hmm | hm | hmm | uh huh | uh | um | ah | oh | yeah | yes | yep | okay | ok | right |
        sure | i see | all right | alright | good | oh okay | yeah okay | okay yeah
    """),
    "de": _phrases("""
        mhm | hm | ja | okay | gut | aha | genau | verstehe
    """),
    "es": _phrases("""
        mhm | sí | vale | ok | ajá | claro
    """),
    "pt": _phrases("""
        uhum | sim | ok | tá | certo
    """),
    "fr": _phrases("""
        mhm | oui | ok | d accord | ah | hum
    """),
    "no": _phrases("""
        mhm | ja | ok | greit
    """),
    "hi": _phrases("""
        हाँ | हां | हूँ | जी | ठीक है | अच्छा
    """),
    "vi": _phrases("""
        vâng | dạ | ừ | ờ | được
    """),
    "ar": _phrases("""
        نعم | آه | حسنا | طيب
    """),
    "ja": _phrases("""
        はい | うん | ええ | なるほど
    """),
    "zh": _phrases("""
        嗯 | 好 | 好的 | 是 | 对
    """),
    "ko": _phrases("""
        네 | 예 | 음 | 응
    """),
    "th": _phrases("""
        ค่ะ | ครับ | อืม | ใช่
    """),
}

ADJECTIVES = {
    "en": _words("""
        big small large little great good bad new old young long short high low main major minor important different
        difficult easy hard simple whole real own same other last next first second third best worst better worse early
        late similar certain particular specific special general common technical personal professional social public
        private local international previous former current recent several many few most more daily weekly strong weak
        clear open full nice interesting challenging successful large-scale complex huge wide broad deep
    """),
}
DETERMINERS = {
    "en": _words("""
        a an the my your our their his her its this that these those some any every each another no very more most
    """),
}
UNSPACED = frozenset(("ja", "zh", "th"))
"""Languages whose endings are looked for in the text itself; Korean endings hang on words, see ``SUFFIXED``."""
SUFFIXED = frozenset(("ko",))

EITHER: dict[str, frozenset[str]] = {"en": frozenset(("her", "me then", "you then", "us then", "them then", "it then"))}
"""Words of ``OPEN``, some with the word before, that may also end an answer; in a voice that came to rest they do."""
