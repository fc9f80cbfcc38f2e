"""Seeded questions that no article can answer: about words and names that do not exist.

Invented words are pronounceable, stand in no word list of the package and, where a ZIM file is
given, in no text of it, nor are they one slip away from such a word; the words around them are
ordinary. A gate that only looks for known words
is not enough here: "pass its first education act" is in many an article.
"""

from __future__ import annotations

import random
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from infoforge.text.words import DATA, fold, listed_zipf, stem

# Onsets, nuclei, codas, endings.
SYLLABLES = {
    "en": (
        "bl br cl cr dr fl fr gl gr k kl kr l m n p pl pr qu sk sl sn sp str t tr thr v vr w z "
        "b d f g h j",
        "a e i o u oo ea ai ou",
        "b ck d ff g l ll m mp n nd nk nt p r rn rst sk sp ss st t th x zz",
        "el er ist ick ow ish ander ington oft ume ax iver",
    ),
    "de": (
        "b br d dr f fl g gl gr h k kl kn kr l m n p pf r sch schl schm schr schw sp st str t tr w "
        "z zw",
        "a e i o u ä ö ü ei au ie",
        "b ch ck d f g l ll lt m mm n nd ng nk r rk rst s ss t tz x",
        "el er ing ich ow itz enau ast ume and olf ert",
    ),
    "es": (
        "b br c cr d dr f fl g gr j l ll m n p pl pr qu r s t tr v z ch",
        "a e i o u ia ue io",
        "l n r s z d nt rr st rm lb",
        "o a ez ón illo anda ero ucho ita ando ura al",
    ),
    "tr": (
        "b c ç d f g h k l m n p r s ş t v y z",
        "a e ı i o ö u ü",
        "b k l m n p r s ş t v z",
        "ak elt ıp orz uşt ülk aşma enti ırga oşu övek üldür",
    ),
    "ar": (
        "ب ت ث ج ح خ د ذ ر ز س ش ص ض ط ظ ع غ ف ق ك ل م ن",
        "ا و ي",
        "ب ت ج ح د ر ز س ص ض ط ع ف ق ك ل م ن",
        "وق ير اظ وذ يص اغ وط يخ اث وض",
    ),
}
TRANSLITERATED = (
    "阿巴贝布查达德蒂多厄法菲弗戈格古哈赫胡基卡科克库拉莱雷里利林伦洛鲁马梅米莫穆纳内尼诺努帕佩"
    "皮普奇热萨塞森沙舍斯苏索塔泰特图托瓦韦维沃乌夏谢辛雅耶伊尤泽扎兹祖"
)
GIVEN = {
    "en": "Robert Margaret Thomas Alice George Helen Edward Ruth Walter Clara",
    "de": "Karl Johanna Friedrich Elisabeth Otto Hedwig Georg Anna Wilhelm Klara",
    "es": "Carlos Isabel Miguel Teresa Rafael Carmen Andrés Lucía Diego Elena",
    "tr": "Mehmet Ayşe Mustafa Fatma Ahmet Zeynep",
    "ar": "محمد فاطمة أحمد عائشة خالد مريم",
}

# {w} an invented word, {n} an invented name, {p} a person, {g} letters thrown together, {y} a year.
TEMPLATES = {
    "en": """
        Who discovered the {n} effect?
        When was {p} born?
        What is a {g}?
        What is a {w}?
        In which year did the {n} Parliament of {n} pass its first education act?
        How many people live in {n}?
        What is the capital of {n}?
        Who wrote the novel {n}?
        When did the Battle of {n} take place?
        What does {w} mean?
        Which river flows through the city of {n}?
        How long is the {n} River?
        Who was the first president of the Republic of {n}?
        What did {p} invent?
        Where is the {n} Museum?
        What are the symptoms of {w} disease?
        How does a {w} engine work?
        Why is the {n} theorem important in mathematics?
        Who founded the {n} Company?
        What language is spoken in {n}?
        When was the University of {n} founded?
        What do {w}s eat?
        Who directed the film {n}?
        Which treaty ended the {n} War?
        In what year did {p} win the Nobel Prize?
        What is the population density of {n} County?
        How many species of {w} are there?
        What is {w} used for?
        Describe the {w} method.
        Which king of {n} was crowned in {y}?
        Who succeeded {p} as prime minister?
        What did the {n} Commission of {y} recommend?
        how do you make {w}?
        {g} {g} {g}
        tell me about {p}
        What is the difference between {w} and {w}?
        Which team won the {n} Cup in {y}?
        Who designed the {n} Bridge in {n}?
        What role did {n} play in the French Revolution?
        Which protein does the {w} gene encode?
        What was the {n} Manifesto about?
        At which temperature does {w} melt?
        Where did the {n} dynasty rule?
        Who painted The {n} at Night?
    """,
    "de": """
        Wer entdeckte den {n}-Effekt?
        Wann wurde {p} geboren?
        Was ist ein {g}?
        Was ist ein {n}?
        In welchem Jahr verabschiedete das Parlament von {n} sein erstes Schulgesetz?
        Wie viele Menschen leben in {n}?
        Was ist die Hauptstadt von {n}?
        Wer schrieb den Roman {n}?
        Wann fand die Schlacht von {n} statt?
        Was bedeutet {w}?
        Welcher Fluss fließt durch die Stadt {n}?
        Wie lang ist der Fluss {n}?
        Wer war der erste Präsident der Republik {n}?
        Was hat {p} erfunden?
        Wo steht das {n}-Museum?
        Welche Symptome hat die {n}-Krankheit?
        Wie funktioniert ein {n}motor?
        Wer gründete die Firma {n}?
        Welche Sprache wird in {n} gesprochen?
        Wann wurde die Universität {n} gegründet?
        Wer führte bei dem Film {n} Regie?
        Welcher Vertrag beendete den {n}krieg?
        In welchem Jahr gewann {p} den Nobelpreis?
        Wie viele Arten von {n} gibt es?
        Wofür wird {n} verwendet?
        Welcher König von {n} wurde {y} gekrönt?
        Was empfahl die {n}-Kommission von {y}?
        {g} {g} {g}
        Was ist der Unterschied zwischen {n} und {n}?
        Wer baute die Brücke von {n}?
        Welche Rolle spielte {n} in der Französischen Revolution?
        Bei welcher Temperatur schmilzt {n}?
        Wo herrschte die Dynastie der {n}?
        Was fressen {n}e?
        Welche Mannschaft gewann {y} den {n}-Pokal?
    """,
    "es": """
        ¿Quién descubrió el efecto {n}?
        ¿Cuándo nació {p}?
        ¿Qué es un {g}?
        ¿Qué es un {w}?
        ¿En qué año aprobó el parlamento de {n} su primera ley de educación?
        ¿Cuántas personas viven en {n}?
        ¿Cuál es la capital de {n}?
        ¿Quién escribió la novela {n}?
        ¿Cuándo tuvo lugar la batalla de {n}?
        ¿Qué significa {w}?
        ¿Qué río pasa por la ciudad de {n}?
        ¿Cuánto mide el río {n}?
        ¿Quién fue el primer presidente de la República de {n}?
        ¿Qué inventó {p}?
        ¿Dónde está el museo {n}?
        ¿Cuáles son los síntomas de la enfermedad de {n}?
        ¿Cómo funciona un motor {w}?
        ¿Quién fundó la empresa {n}?
        ¿Qué idioma se habla en {n}?
        ¿Cuándo se fundó la universidad de {n}?
        ¿Quién dirigió la película {n}?
        ¿Qué tratado puso fin a la guerra de {n}?
        ¿En qué año ganó {p} el premio Nobel?
        ¿Cuántas especies de {w} hay?
        ¿Para qué se usa el {w}?
        ¿Qué rey de {n} fue coronado en {y}?
        ¿Qué recomendó la comisión {n} de {y}?
        {g} {g} {g}
        ¿Cuál es la diferencia entre {w} y {w}?
        ¿Quién diseñó el puente de {n}?
        ¿Qué papel tuvo {n} en la Revolución francesa?
        ¿A qué temperatura se funde el {w}?
        ¿Dónde gobernó la dinastía {n}?
        ¿Qué equipo ganó la copa {n} en {y}?
    """,
    "zh": """
        谁发现了{n}效应?
        {p}是什么时候出生的?
        什么是{g}?
        {n}议会在哪一年通过了第一部教育法?
        有多少人住在{n}?
        {n}的首都是哪里?
        小说《{n}》是谁写的?
        {n}战役发生在什么时候?
        {n}是什么意思?
        哪条河流经{n}市?
        {n}河有多长?
        {n}共和国的第一任总统是谁?
        {p}发明了什么?
        {n}博物馆在哪里?
        {n}病有哪些症状?
        {n}公司是谁创立的?
        {n}使用什么语言?
        {n}大学是什么时候成立的?
        电影《{n}》的导演是谁?
        哪个条约结束了{n}战争?
        {p}哪一年获得诺贝尔奖?
        {n}有多少个物种?
        {n}有什么用途?
        {n}国王在{y}年加冕的是谁?
        {y}年{n}委员会建议了什么?
        {g} {g} {g}
        {n}和{n}有什么区别?
        {n}大桥是谁设计的?
        {n}在法国大革命中扮演了什么角色?
        {n}王朝统治哪里?
        哪支球队在{y}年赢得了{n}杯?
    """,
    "tr": """
        {n} etkisini kim keşfetti?
        {p} ne zaman doğdu?
        {g} nedir?
        {w} ne demektir?
        {n} Parlamentosu ilk eğitim yasasını hangi yılda kabul etti?
        {n}'da kaç kişi yaşıyor?
        {n}'nın başkenti neresidir?
        {n} romanını kim yazdı?
        {n} Savaşı ne zaman oldu?
        {n} şehrinden hangi nehir geçer?
        {n} Nehri'nin uzunluğu ne kadardır?
        {n} Cumhuriyeti'nin ilk cumhurbaşkanı kimdi?
        {p} neyi icat etti?
        {n} Müzesi nerededir?
        {w} hastalığının belirtileri nelerdir?
        {n} şirketini kim kurdu?
        {n} Üniversitesi ne zaman kuruldu?
        {n} filmini kim yönetti?
        {p} hangi yıl Nobel Ödülü'nü kazandı?
        {w} türünün kaç çeşidi vardır?
        {n} kralı {y} yılında taç giydi mi?
        {g} {g} {g}
        {w} ile {w} arasındaki fark nedir?
        {n} Köprüsü'nü kim tasarladı?
        {w} hangi sıcaklıkta erir?
    """,
    "ar": """
        من اكتشف تأثير {n}؟
        متى ولد {p}؟
        ما هو {g}؟
        ما معنى {w}؟
        في أي عام أقر برلمان {n} أول قانون للتعليم؟
        كم عدد سكان {n}؟
        ما هي عاصمة {n}؟
        من كتب رواية {n}؟
        متى وقعت معركة {n}؟
        أي نهر يمر بمدينة {n}؟
        ما طول نهر {n}؟
        من كان أول رئيس لجمهورية {n}؟
        ماذا اخترع {p}؟
        أين يقع متحف {n}؟
        ما هي أعراض مرض {w}؟
        من أسس شركة {n}؟
        متى تأسست جامعة {n}؟
        من أخرج فيلم {n}؟
        في أي عام فاز {p} بجائزة نوبل؟
        {g} {g} {g}
        ما الفرق بين {w} و{w}؟
        من صمم جسر {n}؟
        في أي درجة حرارة ينصهر {w}؟
    """,
}
LANGUAGES = tuple(TEMPLATES)


@lru_cache(maxsize=2)
def vocabulary(zim: Path) -> tuple[frozenset[str], str]:
    """All words of a ZIM file, folded, with their stems in its languages; and its text."""
    from libzim.reader import Archive

    from infoforge.text.language import codes

    archive = Archive(zim)
    spoken = codes(bytes(archive.get_metadata("Language")).decode())
    pieces = []
    for number in range(archive.all_entry_count):
        entry = archive._get_entry_by_id(number)
        if not entry.is_redirect and entry.get_item().mimetype.startswith("text/html"):
            pieces.append(bytes(entry.get_item().content).decode("utf-8", "replace"))
        pieces.append(entry.title)
    text = fold(re.sub(r"<[^>]*>", " ", "\n".join(pieces)))
    words = set(re.findall(r"[^\W\d_]+", text))
    words |= {stem(word, code) for code in spoken for word in words}
    return frozenset(words), text


def known(word: str, language: str, zim: Path | None = None) -> bool:
    """Whether a word is in a word list (of any language) or, whole or stemmed, in the ZIM file."""
    lower = word.lower()
    lists = sorted(path.stem for path in DATA.glob("*.freq"))
    forms = {lower, fold(lower), stem(lower, language)}
    if any(listed_zipf(form, code) is not None for form in forms for code in lists):
        return True
    if zim is None:
        return False
    words, text = vocabulary(zim)
    return bool(forms & words) or (not lower.isascii() and lower in text)


def misspelt(word: str, language: str, zim: Path | None = None) -> bool:
    """Whether one edit makes a known word of it: then a reader would take it for a slip."""
    lower = fold(word)
    letters = "abcdefghijklmnopqrstuvwxyz"
    parts = [(lower[:at], lower[at:]) for at in range(len(lower) + 1)]
    edits = {a + b[1:] for a, b in parts if b}
    edits |= {a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1}
    edits |= {a + c + b[1:] for a, b in parts if b for c in letters}
    edits |= {a + c + b for a, b in parts for c in letters}
    words = vocabulary(zim)[0] if zim is not None else frozenset()
    return any(edit in words or listed_zipf(edit, language) is not None for edit in edits)


class _Inventor:
    def __init__(self, language: str, chance: random.Random, zim: Path | None) -> None:
        self.language = language
        self.chance = chance
        self.zim = zim
        self.invented: list[str] = []

    def unknown(self, make: Any) -> str:
        while True:
            word: str = make()
            odd = word.isascii() or self.language != "zh"
            slip = odd and misspelt(word, self.language, self.zim)
            if not slip and not known(word, self.language, self.zim):
                self.invented.append(word)
                return word

    def _pronounceable(self) -> str:
        onsets, nuclei, codas, endings = (part.split() for part in SYLLABLES[self.language])
        pick = self.chance.choice
        word = pick(onsets) + pick(nuclei)
        if self.chance.random() < 0.5:
            # One letter closes a syllable that another follows, so that it can be spoken.
            word += pick([c for c in codas if len(c) == 1]) * self.chance.randint(0, 1)
            word += pick([o for o in onsets if len(o) < 3]) + pick(nuclei)
        return word + pick(codas) + pick(endings)

    def _gibberish(self) -> str:
        onsets, nuclei = SYLLABLES.get(self.language, SYLLABLES["en"])[:2]
        letters = "bcdfghjklmnpqrstvwxz" * 3 + "aeiouy"
        if not onsets.isascii():
            letters = (onsets + nuclei).replace(" ", "")
        return "".join(self.chance.choice(letters) for _ in range(self.chance.randint(5, 9)))

    def _transliterated(self) -> str:
        return "".join(self.chance.sample(TRANSLITERATED, self.chance.randint(3, 5)))

    def fill(self, match: re.Match[str]) -> str:
        slot = match[1]
        if slot == "y":
            return str(self.chance.randint(1700, 1990))
        if slot == "g":
            return self.unknown(self._gibberish)
        if self.language == "zh":
            name = self.unknown(self._transliterated)
            return f"{self.unknown(self._transliterated)}·{name}" if slot == "p" else name
        word = self.unknown(self._pronounceable)
        if slot == "w":
            return word
        name = word.capitalize()
        if slot == "n":
            return name
        # Half of the people have an ordinary given name.
        if self.chance.random() < 0.5:
            return f"{self.chance.choice(GIVEN[self.language].split())} {name}"
        return f"{self.unknown(self._pronounceable).capitalize()} {name}"


def questions(
    language: str, count: int, seed: int, zim: Path | None = None
) -> list[dict[str, Any]]:
    """Make nonsense questions.

    Args:
        language: One of `LANGUAGES`.
        count: How many.
        seed: The same seed gives the same questions (for the same ZIM file).
        zim: No invented word stands in this ZIM file.

    Returns:
        ``id``, ``lang``, ``question`` and ``invented`` (the words that do not exist) of each.
    """
    chance = random.Random(f"{language}:{seed}")
    templates = [line.strip() for line in TEMPLATES[language].strip().splitlines()]
    order: list[str] = []
    while len(order) < count:
        order += chance.sample(templates, len(templates))
    made = []
    for number, template in enumerate(order[:count]):
        inventor = _Inventor(language, chance, zim)
        question = re.sub(r"\{(\w)\}", inventor.fill, template)
        made.append(
            {
                "id": f"nonsense-{language}-{seed}-{number}",
                "lang": language,
                "question": question,
                "invented": inventor.invented,
            }
        )
    return made


if __name__ == "__main__":
    import json

    for code in LANGUAGES:
        for row in questions(code, int(sys.argv[1]) if len(sys.argv) > 1 else 75, 1):
            print(json.dumps(row, ensure_ascii=False))
