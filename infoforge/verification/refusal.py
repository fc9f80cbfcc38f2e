"""Statements that the sources do not contain the answer, in the languages that a prompt asks for.

A statement counts when it speaks of the sources and denies that they say something ("The sources do
not mention his mother"), or when it denies having any information or an answer.
"""

from __future__ import annotations

import re
from functools import lru_cache

# What the statement is about, and what it says of it; both must be in one sentence.
_ABOUT = {
    "en": r"sources?|articles?|passages?|texts?|documents?|context|excerpts?"
    r"|information (?:given|provi"
    r"ded|available)|provided (?:information|material)|materials?",
    "de": r"quellen?|artikeln?|texte?n?|dokumente?n?|passagen?|auszüge?n?|kontext|unterlagen"
    r"|abschnitte?n?",
    "es": r"fuentes?|artículos?|textos?|documentos?|pasajes?|contexto|fragmentos?|información "
    r"proporcionada",
    "fr": r"sources?|articles?|textes?|documents?|passages?|contexte|extraits?"
    r"|informations fournies",
    "it": r"fonti|fonte|articol[oi]|test[oi]|document[oi]|passagg[io]+|contesto|brani",
    "pt": r"fontes?|artigos?|textos?|documentos?|passagens|trechos?|contexto",
    "nl": r"bron(?:nen)?|artikel(?:en)?|tekst(?:en)?|document(?:en)?|passages?|context",
    "ca": r"fonts?|articles?|textos?|documents?|passatges?",
    "ro": r"surse(?:le|lor)?|sursa|articol(?:e|ul|ele)?|text(?:e|ul|ele)?|document(?:e|ele)?",
    "da": r"kilder(?:ne)?|kilden?|artik(?:el|len|lerne)|tekst(?:en|erne)?",
    "no": r"kilde(?:r|ne|n)?|artik(?:kel|kelen|lene)|tekst(?:en|ene)?",
    "sv": r"käll(?:a|an|or|orna)|artik(?:el|eln|larna)|text(?:en|erna)?",
    "fi": r"läht(?:eet|eissä|eistä|een|eessä|eiden)|lähde|artikkelit?|artikkeleissa|tekstit?"
    r"|teksteissä",
    "et": r"allika(?:d|s|te|tes|test)?|artikl(?:id|is|ites)|tekst(?:id|is|ides)?",
    "cs": r"zdroj(?:e|ů|ích|ům)?|člán(?:ky|ek|cích|ku)|text(?:y|u|ech)?",
    "sk": r"zdroj(?:e|ov|och|om)?|člán(?:ky|ok|koch|ku)|text(?:y|u|och)?",
    "pl": r"źród(?:ła|eł|łach|ło|le)|artykuł(?:y|ach|u)?|tekst(?:y|ach|u)?",
    "hr": r"izvor(?:i|a|ima|e)?|član(?:ci|ak|cima|ku)|tekst(?:ovi|u|ovima)?",
    "hu": r"források?(?:ban|ból)?|forrás(?:ban|ból|ai|okban|okból)?|cikk(?:ek|ekben|ben)?"
    r"|szöveg(?:ek|ekben|ben)?",
    "tr": r"kaynak(?:lar|larda|ların|ta|lardan)?|kaynağ\w*|makale(?:ler|lerde|de)?"
    r"|metin(?:ler|lerde|de)?",
    "id": r"sumber(?:-sumber)?|artikel|teks|dokumen",
    "vi": r"nguồn|bài viết|văn bản|tài liệu",
    "el": r"πηγ(?:ές|ή|ών|ής)|άρθρ(?:α|ο|ων)|κείμεν(?:α|ο)",
    "ru": r"источник(?:и|ах|е|ов|а|ам)?|стать(?:и|ях|я|е|ей)|текст(?:ы|ах|е|а)?|документ(?:ы"
    r"|ах|е)?"
    r"|материал(?:ы|ах|е)?|отрывк(?:и|ах)",
    "uk": r"джерел(?:а|ах|о|і)?|статт(?:і|ях|я)|текст(?:и|ах|і)?",
    "bg": r"източни(?:ците|ци|кът|ка|к)|стати(?:ите|и|ята|я)|текст(?:ът|ове|овете|а)?",
    "sr": r"извор(?:и|а|има|е)?|izvor(?:i|a|ima|e)?|члан(?:ци|ак|цима)|članci|текст(?:ови|у)?",
    "ar": r"المصادر|المصدر|مصادر|النصوص|النص|المقالات|المقال|المقالة|السياق|المقاطع",
    "fa": r"منابع|منبع|مقاله‌?ها|مقاله|متن‌?ها|متن|مقالات",
    "he": r"המקורות|במקורות|מקורות|המקור|המאמרים|המאמר|הטקסט|הטקסטים",
    "hi": r"स्रोतों|स्रोत|लेखों|लेख|पाठ|दस्तावेज़ों|जानकारी",
    "ja": r"資料|出典|情報源|ソース|記事|文書|本文|提供された情報|文章",
    "ko": r"출처|자료|기사|문서|본문|글|텍스트",
    "zh": r"资料|資料|来源|來源|文章|原文|文献|材料|文本|提供的信息|提供的資訊|条目|段落",
    "th": r"แหล่งข้อมูล|แหล่งที่มา|บทความ|ข้อความ|เอกสาร",
}
_DENIES = {
    "en": r"(?:do|does|did)(?:n['’]t| not) (?:\w+ ){0,2}?(?:contain|mention|say|state|provide"
    r"|give|answer"
    r"|include|specify|tell|indicate|discuss|address|have|describe|cover|name|offer|report"
    r"|list|identify"
    r"|explain|reveal|disclose|record|note|appear|support)|(?:is|are|was|were)(?:n['’]t"
    r"| not) (?:\w+ ){0,2}?"
    r"(?:mentioned|stated|specified|given|provided|contained|found|included|answered|covered"
    r"|named"
    r"|discussed|addressed|in the)|contains? no|mentions? no|gives? no|provides? no|says? nothing"
    r"|ha(?:s|ve) no|(?:is|are) silent|no (?:mention|information|answer|details?|data)"
    r"|nothing (?:in|about)"
    r"|none of the|not enough information|insufficient|lacks?|cannot be (?:found|answered"
    r"|determined)"
    r"|(?:can(?:not|['’]t)|could(?:n['’]t| not)|unable to|not able to) (?:\w+ )?(?:find"
    r"|answer|determine"
    r"|tell|say)|fails? to",
    "de": r"nicht|kein\w*|nichts|fehl(?:t|en)|weder",
    "es": r"no (?:\w+ ){0,2}?(?:contien\w*|mencion\w*|dic\w*|indic\w*|respond\w*"
    r"|proporcion\w*|incluy\w*"
    r"|especific\w*|dan?|ofrec\w*|aparec\w*|figur\w*|hay|se\b|inform\w*|recog\w*|aclar\w*"
    r"|hablan?|señal\w*"
    r"|aport\w*|consta\w*|precis\w*|tien\w*|puedo|encuentr\w*)|ningun[ao]?|ningún|nada"
    r"|tampoco|carec\w*",
    "fr": r"n(?:e\b|['’]).{0,40}?\b(?:pas|aucune?|rien|nulle part|ni|point|guère)|aucune?",
    "it": r"non|nessun\w*|nulla|niente|né",
    "pt": r"não|nenhum\w*|nada",
    "nl": r"niet|geen|niets|noch",
    "ca": r"no|cap|res",
    "ro": r"nu|nici\w*|nimic",
    "da": r"ikke|ingen|intet",
    "no": r"ikke|ingen|ingenting",
    "sv": r"inte|ingen|inget|inga|ingenting|ej|saknas?",
    "fi": r"ei|eivät|mitään|puuttu\w*",
    "et": r"ei|pole|midagi|puudu\w*",
    "cs": r"ne\w+|není|nejsou|žádn\w*|nic|chyb\w*",
    "sk": r"ne\w+|nie|žiadn\w*|nič|chýba\w*",
    "pl": r"nie|brak|żadn\w*|nic",
    "hr": r"ne|nije|nisu|nema\w*|ništa",
    "hu": r"nem|nincs\w*|sem|semmi\w*|hiányz\w*",
    "tr": r"değil|yok\w*|hiç\w*|\w+m(?:ıyor|iyor|uyor|üyor|emekte|amakta)\w*|\w+m[ae]z\w*"
    r"|\w+m[ae]mış\w*"
    r"|\w+m[ae]miş\w*",
    "id": r"tidak|tak|bukan|tiada|belum",
    "vi": r"không|chưa|chẳng",
    "el": r"δεν|καμία|κανένα|τίποτα",
    "ru": r"не|нет|ничего|никак\w*|отсутств\w*|ни",
    "uk": r"не|немає|нема|нічого|відсутн\w*",
    "bg": r"не|няма|нищо|липсва\w*",
    "sr": r"не|није|нису|нема\w*|ништа|ne|nije|nisu|nema\w*",
    "ar": r"لا|لم|ليس\w*|لن|دون|غير|ولا|ولم|خلو|تخلو",
    "fa": r"ن[می]?\w*|نیست\w*|هیچ\w*|نشده|ندار\w*",
    "he": r"לא|אין|אינם|אינו|אינן|אינה",
    "hi": r"नहीं|न|कोई|उल्लेख नहीं",
    "ja": r"ない|ません|なし|無い|不明|ず(?:、|。|$)|ぬ",
    "ko": r"않\w*|없\w*|못\w*|아니\w*|\w*지 않\w*|\w*없습니다",
    "zh": r"没有|沒有|未|不|无|無",
    "th": r"ไม่|มิได้",
}
_ALONE = {
    "en": r"(?:i |we )?(?:do not|don['’]t) (?:know|have (?:\w+ ){0,3}(?:information|data|answer))"
    r"|(?:there is|there's|i have|i found|found) no (?:\w+ ){0,3}(?:information|answer"
    r"|mention|data)"
    r"|(?:can(?:not|['’]t)|unable to|not able to|not possible to) (?:\w+ )?(?:answer"
    r"|be answered|determine)"
    r"|no (?:relevant )?information (?:is|was|about|on|regarding)",
    "de": r"ich weiß (?:es )?nicht|keine (?:\w+ ){0,2}(?:informationen?|angaben?|hinweise?"
    r"|antwort)"
    r"|(?:nicht|kann nicht) (?:beantworte\w*|beantworten)|lässt sich nicht (?:beantworten|sagen)",
    "es": r"no (?:lo )?sé|no (?:hay|tengo|existe|dispongo de|encuentro"
    r"|se encuentra) (?:\w+ ){0,2}"
    r"(?:información|datos|respuesta)|no (?:se )?pued[eo] (?:responder|determinar|contestar)",
    "fr": r"je ne sais pas|(?:aucune|pas d['’]) ?(?:information|réponse|indication)"
    r"|ne (?:peux|peut|puis)"
    r" pas (?:\w+ )?(?:répondre|déterminer)",
    "it": r"non (?:lo )?so\b|non (?:ci sono|ho|è possibile) (?:\w+ ){0,2}(?:informazioni"
    r"|risposta|rispondere"
    r"|determinare)|nessuna informazione",
    "pt": r"não sei|não (?:há|tenho|existem?) (?:\w+ ){0,2}(?:informaç\w+|dados|resposta)"
    r"|não (?:é possível"
    r"|posso) (?:responder|determinar)",
    "nl": r"weet (?:ik )?(?:het )?niet|geen (?:\w+ )?(?:informatie|antwoord|gegevens)"
    r"|niet (?:te )?beantwoorden",
    "ru": r"не знаю|нет (?:\w+ ){0,2}(?:информации|сведений|данных|ответа)|(?:невозможно|не могу)"
    r" ответить|информаци\w+ (?:\w+ ){0,3}(?:нет|отсутствует)",
    "zh": r"(?:无法|無法|不能)(?:回答|确定|確定|得知)"
    r"|没有(?:相关|关于|任何)?\S{0,6}(?:信息|答案|记载)"
    r"|不知道|未提及|未提到",
    "ja": r"わかりません|分かりません|答えられません|回答できません"
    r"|記載(?:は|が)?(?:ありません|ない)"
    r"|言及(?:は|が|されて)\S{0,6}(?:ません|ない)",
    "ko": r"알 수 없\w*|답할 수 없\w*|답변할 수 없\w*|언급\w* (?:없|않)\w*|정보가 없\w*",
    "tr": r"bilgi (?:yok\w*|bulunmuyor|bulunmamaktadır|verilmemiş\w*)|bilmiyorum"
    r"|cevap veremiyorum|yanıtlanam\w*",
    "ar": r"لا أعرف|لا (?:توجد|تتوفر|يوجد) (?:\S+ ){0,2}(?:معلومات|إجابة|معلومة)|لا (?:يمكن"
    r"|أستطيع) (?:الإجابة|تحديد)",
    "pl": r"nie wiem|brak (?:\w+ ){0,2}(?:informacji|danych|odpowiedzi)|nie (?:mogę"
    r"|można) (?:\w+ )?odpowiedzieć",
    "sv": r"vet inte|ingen (?:\w+ )?(?:information|uppgift)|kan inte (?:\w+ )?(?:besvaras|svara)",
    "uk": r"не знаю|немає (?:\w+ ){0,2}(?:інформації|відомостей|відповіді)|неможливо відповісти",
    "hi": r"जानकारी (?:\S+ ){0,3}नहीं|उत्तर नहीं|पता नहीं",
    "th": r"ไม่มีข้อมูล|ไม่ทราบ|ไม่สามารถตอบ",
    "vi": r"không (?:có|tìm thấy) (?:\w+ ){0,2}thông tin|không biết|không thể trả lời",
    "id": r"tidak (?:ada|ditemukan|terdapat) (?:\w+ ){0,2}informasi|tidak (?:tahu|dapat dijawab)",
    "fa": r"نمی‌?دانم|اطلاعاتی (?:\S+ ){0,4}(?:نیست|نشده|ندارد|وجود ندارد)",
    "he": r"אין (?:\S+ ){0,2}מידע|לא ידוע|לא ניתן (?:לענות|לקבוע)",
}
_CONCESSION = re.compile(
    r"^\W*(?:although|though|while|whereas|even though|obwohl|während|auch wenn|zwar|aunque"
    r"|si bien|bien que"
    r"|quoique|sebbene|benché|embora|hoewel|хотя|虽然|雖然|尽管|chociaż|även om|rağmen)",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"[,;，；]\s*(?:but|however|yet|aber|jedoch|sondern|pero|sino|mais|ma|mas|maar|но|однако"
    r"|ale|men|但|不过|却|ama|لكن|ولكن)"
    r"(?!\w)",
    re.IGNORECASE,
)
_ACCORDING = re.compile(
    r"^\W*(?:(?:according to|laut|gemäß|nach|según|de acuerdo con|selon|d'après|secondo"
    r"|segundo|volgens"
    r"|enligt|ifølge|według|podle|согласно|за даними|według|menurut|theo|وفق\w*|بحسب)(?!\w)"
    r"|根据|根據|据|據)",
    re.IGNORECASE,
)
_SAYS = {
    # Where any negation counts, the sentence must speak of saying, too.
    "de": r"\w*(?:enth[aä]lt|erwähn|nenn|genannt|gesagt|sag|beantwort|antwort|steht|angegeb"
    r"|angab|angaben"
    r"|information|hinweis|hervor|liefer|biet|find|geben|gibt|beschreib|bericht|thematis"
    r"|eingegangen"
    r"|geht|gehen|aussage|auskunft|rede|beleg|daten|entnehm|macht|machen)\w*",
    "fr": r"\w*(?:contien|contenu|mention|indiqu|précis|répond|réponse|fourni|information"
    r"|donn|dis|dit|parl"
    r"|cit|figur|trouv|évoqu|permet|traite|abord|spécifi)\w*",
    "it": r"\w*(?:conten|contien|menzion|indic|rispond|risposta|forni|informazion|dic|dett"
    r"|parl|specific"
    r"|riport|tratt|cit|cenno|dato|dati|trov)\w*",
    "pt": r"\w*(?:cont[êée]m|conté|mencion|indic|respond|resposta|fornec|informa|diz|dito"
    r"|fala|especific"
    r"|relat|trat|cit|consta|apresent|dado|inclu)\w*",
    "nl": r"\w*(?:bevat|vermeld|noem|genoemd|gev|geeft|zeg|antwoord|informatie|beschr|spreek"
    r"|staat|gegevens"
    r"|vind|gevonden|melding|ingegaan)\w*",
    "ru": r"\w*(?:содерж|упомин|упомян|указ|отвеча|ответ|информац|сообща|говор|сведени|данны"
    r"|назван|описан"
    r"|привод|найд|сказан)\w*",
    "zh": r"提|说|說|包含|包括|记载|記載|回答|信息|資訊|答案"
    r"|说明|說明|给出|涉及|指出|写|介绍|找到|显示|描述",
    "ja": r"含|書|記|述|言及|情報|答|回答|触れ|載|示|見|説明",
    "ko": r"포함|언급|답|정보|나와|설명|제공|기록|명시|찾",
}
_WIDE = ("ja", "zh", "th", "ko")


@lru_cache(maxsize=64)
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    def pattern(words: str) -> re.Pattern[str]:
        # Scripts that join words, or write none apart, have no boundary to look for.
        if language in _WIDE:
            return re.compile(words)
        return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)

    says = pattern(_SAYS[language]) if language in _SAYS else re.compile("")
    alone = pattern(_ALONE.get(language, r"\A\Z"))
    return pattern(_ABOUT[language]), pattern(_DENIES[language]), says, alone


def languages() -> tuple[str, ...]:
    """The languages whose refusals are known."""
    return tuple(_ABOUT)


def is_refusal(sentence: str, *spoken: str) -> bool:
    """Whether a sentence says that the sources do not contain something.

    Args:
        sentence: One sentence of an answer.
        *spoken: ISO 639-1 codes of the answer and the question; English is looked at as well.
    """
    head = sentence[:400]
    if _CONCESSION.match(head) or _TURN.search(head) or _ACCORDING.match(head):
        # "Although the sources do not say so, he was ..." states something.
        return False
    for code in dict.fromkeys((*spoken, "en")):
        if code not in _ABOUT:
            continue
        about, denies, says, alone = _patterns(code)
        if alone.search(head):
            return True
        subject = about.search(head)
        if subject and denies.search(head) and says.search(head):
            # The source is what the sentence speaks of, not what is said in passing at its end.
            return subject.start() <= 90 or code in _WIDE
    return False
