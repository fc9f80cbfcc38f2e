"""Answer without a model: the sentences of the sources that match the question best, verbatim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from infoforge.model.sentences import sentences
from infoforge.records import Source
from infoforge.text.figures import find
from infoforge.text.words import fold, is_cjk, stem, stop_words, tokens, zipf

_SAYS = {
    "de": ("Wörtlich aus den Quellen:", "Die Quellen beantworten diese Frage nicht."),
    "en": ("Quoted from the sources:", "The sources do not answer this question."),
    "es": ("Citado de las fuentes:", "Las fuentes no responden a esta pregunta."),
    "fr": ("Extrait des sources :", "Les sources ne répondent pas à cette question."),
    "it": ("Citato dalle fonti:", "Le fonti non rispondono a questa domanda."),
    "ja": ("資料からの引用：", "資料にはこの質問の答えがありません。"),
    "nl": ("Geciteerd uit de bronnen:", "De bronnen beantwoorden deze vraag niet."),
    "pt": ("Citado das fontes:", "As fontes não respondem a esta pergunta."),
    "ru": ("Цитаты из источников:", "Источники не отвечают на этот вопрос."),
    "zh": ("资料原文：", "资料中没有这个问题的答案。"),
}
_MOST = 3
_LONGEST = 420
"""Characters of one quoted sentence; a longer one is cut round what matches, and shows it."""

_WHO = r"who|whom|whose|wer|wen|wem|qui|quien(?:es)?|quién(?:es)?|quem|chi|wie|кто|кого|谁|誰|だれ"
_WHEN = (
    r"when|what (?:year|date)|which year|in what year|wann|in welchem jahr|quand|en quelle année"
    r"|cuándo|cuando|en qué año|quando|em que ano|in che anno|wanneer|in welk jaar|когда"
    r"|в каком году|何年|いつ|什么时候|何时|哪一?年|哪年"
)
_HOW_MANY = (
    r"how (?:many|much|old|tall|high|long|large|big|far|deep|fast|heavy|wide)"
    r"|wie ?viele?|wie (?:hoch|alt|groß|lang|weit|tief)|combien|cuánt[oa]s?|quant[oaie]s?|hoeveel"
    r"|сколько|多少|几|幾|いくつ|何人|population|percentage"
)
_WHERE = r"where|wo|woher|où|d'où|dónde|donde|onde|dove|waar|где|откуда|哪里|哪裡|哪儿|どこ"
_WIDE = re.compile("[\u3040-\u9fff]")

_SYNONYMS = {
    # What a question asks with, and how an encyclopedia says it (English alone pays for itself).
    "write": "wrote written writer author novel novelist by book poem",
    "wrote": "written writer author novel novelist by book poem",
    "author": "wrote written writer by",
    "publish": "published publication released",
    "published": "publication released novel serialized serialised",
    "born": "birth",
    "birthplace": "born birth",
    "die": "died death",
    "died": "death",
    "direct": "directed director film",
    "directed": "director film",
    "compose": "composed composer",
    "composed": "composer",
    "paint": "painted painter painting",
    "painted": "painter painting",
    "invent": "invented inventor invention",
    "invented": "inventor invention",
    "discover": "discovered discovery",
    "found": "founded founder established",
    "founded": "founder established",
    "capital": "city seat",
    "located": "lies situated city country",
    "flow": "flows empties river",
    "length": "long kilometres km",
    "long": "length kilometres km",
    "tall": "height metres elevation",
    "high": "height metres elevation",
    "height": "tall high metres elevation",
    "population": "inhabitants people",
    "people": "population inhabitants",
    "release": "released",
    "record": "recorded album",
    "build": "built constructed",
    "built": "constructed construction",
    "married": "wife husband spouse married",
    "wife": "married spouse husband",
}


@dataclass(frozen=True)
class _Sentence:
    source: Source
    order: int
    text: str
    stems: frozenset[str]


def quote(question: str, sources: Sequence[Source]) -> str:
    """Answer with one to three sentences of the sources.

    Args:
        question: What was asked.
        sources: The numbered sources.

    Returns:
        A line that says that these are quotes, and the quotes, each with its number in brackets;
        or a sentence that the sources do not answer, in the question's language where it is one of
        the main ones.
    """
    language = _language(question, sources)
    head, sorry = _SAYS.get(language, _SAYS["en"])
    weights = _weights(question, language)
    pool = [
        _Sentence(source, order, text, _stems(text, source.language or language))
        for source in sources
        for order, text in enumerate(_units(source))
    ]
    chosen = _choose(question, language, weights, pool)
    if not chosen:
        return sorry
    lines = [f"“{_cut(s.text, weights, language)}” [{s.source.number}]" for s in chosen]
    return "\n".join([head, *lines])


def _units(source: Source) -> list[str]:
    """Sentences worth quoting: no headings, no fragments."""
    title = fold(source.title)
    return [
        text
        for text in sentences(source.text)
        if len(text) >= (6 if is_cjk(text) else 12) and fold(text) != title
    ]


def _language(question: str, sources: Sequence[Source]) -> str:
    """The question's language: by its small words, else that of the sources."""
    if re.search("[\u3040-\u30ff]", question):
        return "ja"
    words = {fold(word) for word, _, kind in tokens(question) if kind == "word"}
    scores = {
        code: sum(1 for word in words if word in {fold(w) for w in stop_words(code)})
        for code in _SAYS
        if code not in ("ja", "zh")
    }
    if re.search("[\u4e00-\u9fff]", question):
        return "zh"
    best = max(scores, key=lambda code: (scores[code], code == "en"))
    if scores[best]:
        return best
    return next((s.language for s in sources if s.language), "en")


def _stems(text: str, language: str) -> frozenset[str]:
    found = set()
    for word, _, _ in tokens(text, language):
        found.add(stem(word.lower(), language))
        found.add(fold(word))
    return frozenset(found)


def _weights(question: str, language: str) -> dict[str, float]:
    """Each word of the question by its stem, weighed by how rare it is."""
    stops = {fold(word) for word in stop_words(language)}
    weights: dict[str, float] = {}
    for word, _, kind in tokens(question, language):
        low = word.lower()
        if fold(word) in stops and kind != "number":
            continue
        if kind == "cjk" and len(word) == 1 and not ("\u4e00" <= word <= "\u9fff"):
            continue
        weight = max(0.4, 7.0 - zipf(low, language))
        if word[:1].isupper() and not question.startswith(word):
            weight += 1.5
        weights[stem(low, language)] = weight
    return weights


def _choose(
    question: str, language: str, weights: dict[str, float], pool: list[_Sentence]
) -> list[_Sentence]:
    total = sum(weights.values())
    if not total or not pool:
        return []
    wants = _wants(question)
    related = _related(question, weights, language)
    scored = []
    for sentence in pool:
        title = _stems(sentence.source.title, sentence.source.language or language)
        hit = {word for word in weights if word in sentence.stems}
        # What the article is about is said by its title, whether the sentence repeats it or not.
        about = {word for word in weights if word in title and word not in hit}
        near = {
            word for word, others in related.items() if word not in hit and others & sentence.stems
        }
        if not hit and not (about and near):
            continue
        score = sum(weights[word] for word in hit) + 0.7 * sum(weights[word] for word in about)
        score += 0.6 * sum(weights[word] for word in near)
        share = score / total
        if share < 0.34:
            continue
        score += _type_bonus(wants, sentence) * total * 0.22
        score += max(0.0, 0.25 - 0.05 * sentence.order) * total * 0.5
        score += 0.1 * total / sentence.source.number
        score -= 0.05 * total * max(0.0, len(sentence.text) / 250 - 1)
        scored.append((score, sentence))
    scored.sort(key=lambda pair: -pair[0])
    return _spread(scored, weights, related, wants)


def _spread(
    scored: list[tuple[float, _Sentence]],
    weights: dict[str, float],
    related: dict[str, frozenset[str]],
    wants: frozenset[str],
) -> list[_Sentence]:
    """The best sentence, and others that add to it: a word, or a kind of answer, still missing."""
    chosen: list[_Sentence] = []
    covered: set[str] = set()
    open_wants = set(wants)
    for score, sentence in scored:
        if len(chosen) == _MOST:
            break
        if any(_same(sentence.text, other.text) for other in chosen):
            continue
        words = {
            w
            for w in weights
            if w in sentence.stems or related.get(w, frozenset()) & sentence.stems
        }
        answers = {want for want in open_wants if _has(want, sentence)}
        if chosen:
            # A second sentence must be nearly as good, and say something new.
            strong = score >= 0.6 * scored[0][0]
            if not strong or not (words - covered or answers):
                continue
        chosen.append(sentence)
        covered |= words
        open_wants -= answers
        if not open_wants and not set(weights) - covered:
            break
    return sorted(chosen, key=lambda s: (s.source.number, s.order)) if len(chosen) > 1 else chosen


def _related(question: str, weights: dict[str, float], language: str) -> dict[str, frozenset[str]]:
    """Stems that say the same as a word of the question."""
    if language != "en":
        return {}
    found: dict[str, frozenset[str]] = {}
    for word, _, _ in tokens(question, language):
        key = stem(word.lower(), language)
        if key in weights and (others := _SYNONYMS.get(word.lower())):
            found[key] = frozenset(stem(other, language) for other in others.split())
    return found


def _wants(question: str) -> frozenset[str]:
    """What kinds of answer are asked for: ``who``, ``when``, ``many``, ``where``."""
    low = question.lower()
    found = set()
    for want, pattern in (("who", _WHO), ("when", _WHEN), ("many", _HOW_MANY), ("where", _WHERE)):
        wide = "|".join(p for p in pattern.split("|") if _WIDE.search(p))
        if re.search(rf"(?<!\w)(?:{pattern})(?!\w)", low) or (wide and re.search(wide, low)):
            found.add(want)
    if "many" in found and re.search(r"(?<!\w)wie(?!\w)", low):
        found.discard("who")
    return frozenset(found)


def _has(want: str, sentence: _Sentence) -> bool:
    text = sentence.text
    if want in ("when", "many"):
        figures = find(text)
        if want == "when":
            return any(
                f.kind == "date" or re.fullmatch(r"1\d{3}|20\d\d", f.written) for f in figures
            )
        return any(
            f.kind != "date" and not re.fullmatch(r"1[5-9]\d\d|20\d\d", f.written) for f in figures
        )
    if is_cjk(text):
        return True
    # A capital inside the sentence that is not just the article's own title.
    rest = text.replace(sentence.source.title, "")
    names = re.findall(r"(?<=[\w,;:(] )[^\W\d_a-z]\w+|(?<=\()[^\W\d_a-z]\w+", rest)
    names = [name for name in names if name[0].isupper()]
    if want == "who":
        return bool(names)
    places = r"(?<!\w)(?:in|at|near|from|of|bei|aus|à|en|au|dans|a|di|em|no|na|te|van|в|на|из)\s"
    return bool(re.search(places + r"(?:the\s|der\s|la\s|le\s)?[^\W\d_a-z]\w+", rest))


def _type_bonus(wants: frozenset[str], sentence: _Sentence) -> float:
    if not wants:
        return 0.0
    return sum(1.0 for want in wants if _has(want, sentence)) / len(wants)


def _same(one: str, other: str) -> bool:
    """Whether two sentences say the same words (two dumps of one wiki, a lead repeated)."""
    a, b = set(fold(one).split()), set(fold(other).split())
    return len(a & b) >= 0.8 * min(len(a), len(b)) if a and b else one == other


def _cut(text: str, weights: dict[str, float], language: str) -> str:
    """A very long sentence round its matching words, with marks where it was cut."""
    if len(text) <= _LONGEST:
        return text
    places = [
        at for word, at, _ in tokens(text, language) if stem(word.lower(), language) in weights
    ]
    start = max(0, min(places, default=0) - 60)
    if start:
        start = text.rfind(" ", 0, start) + 1
    end = start + _LONGEST
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + 1)
        if end < start + _LONGEST // 2:
            end = start + _LONGEST
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")
