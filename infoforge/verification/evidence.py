"""A passage made ready to be looked up in, and the words of a claim in the same form."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from infoforge.records import Source
from infoforge.text.numbers import Number, find, forms, plain_digits
from infoforge.text.words import fold, stem, stop_words
from infoforge.verification.citations import blank

_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_JOINED = f"{_CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
"""Scripts without blanks between words: each of their characters is a token."""
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a51\u0b80-\u0bd7"
    "\u0c00-\u0c56\u0c80-\u0cd6\u200c\u200d"
)
_TOKEN = re.compile(rf"(?P<joined>[{_JOINED}])|(?:(?![{_JOINED}])[\w{_MARKS}])+")
_SENTENCE_END = re.compile(r"\n|[.!?…]+[\"'”’»)\]]*\s|[。！？।؟۔]")
_CLITIC = re.compile(r"^(?:وال|بال|كال|فال|لل|ال|[وبلفك](?=\w{3}))")
NEGATIONS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "not no never none neither nor cannot without nothing nobody nowhere",
        "de": "nicht kein keine keiner keinen keinem keines nie niemals weder ohne nichts niemand",
        "es": "no nunca jamás jamas ni sin ningún ningun ninguna ninguno nada nadie tampoco",
        "fr": "pas jamais aucun aucune sans ni rien personne nul nulle",
        "it": "non mai nessun nessuno nessuna senza né niente nulla",
        "pt": "não nao nunca jamais nem sem nenhum nenhuma nada ninguém",
        "nl": "niet geen nooit zonder noch niets niemand",
        "ca": "no mai cap sense ni res ningú",
        "ro": "nu niciodată fără nici nimic nimeni",
        "sv": "inte aldrig ingen inget inga utan varken ej",
        "da": "ikke aldrig ingen intet uden hverken",
        "no": "ikke aldri ingen intet uten verken ikkje",
        "fi": "ei eivät en et emme älä ilman eikä eivätkä",
        "pl": "nie nigdy bez ani żaden żadna żadne",
        "cs": "ne není nejsou nikdy bez ani žádný žádná",
        "ru": "не нет никогда ни без нельзя никто ничто",
        "uk": "не немає ніколи ні без",
        "bg": "не няма никога ни без",
        "sr": "не није нису никада без",
        "el": "δεν δε μη μην ποτέ χωρίς ούτε",
        "tr": "değil yok hiç asla ne",
        "hu": "nem nincs soha sem nélkül ne",
        "id": "tidak bukan belum tanpa tak jangan",
        "vi": "không chưa chẳng",
        "ar": "لا لم لن ليس ليست غير بدون دون",
        "fa": "نیست نه هرگز بدون نبود نشد",
        "he": "לא אין אינו אינה בלי ללא מעולם",
        "hi": "नहीं न कभी बिना मत",
        "zh": "不 没 沒 未 无 無 非 莫 勿",
        "ja": "",
        "ko": "안 못 없다 아니다",
    }.items()
}


@dataclass(slots=True)
class Token:
    """One word, one character of a script without blanks, or one number.

    Attributes:
        start, end: Where it is, in characters.
        text: As written.
        folded: Lower-case and without accents.
        key: What equal words share: the stem.
        content: Whether it carries meaning: no stop word, no single letter.
        capital: Whether it is written with a capital.
        negation: Whether it negates.
        number: The number it is, or part of.
        joined: Whether it is a character of a script without blanks.
        sentence: Number of the sentence that it is in.
    """

    start: int
    end: int
    text: str
    folded: str
    key: str
    content: bool
    capital: bool = False
    negation: bool = False
    number: Number | None = None
    joined: bool = False
    sentence: int = 0


@lru_cache(maxsize=64)
def _stops(language: str) -> frozenset[str]:
    return frozenset(fold(word) for word in stop_words(language or "en"))


@lru_cache(maxsize=65536)
def _word(word: str, language: str, joined: bool) -> tuple[str, str, bool, bool, bool]:
    """A word folded, its key, and whether it has content, negates, and has a capital."""
    folded, low = fold(word), word.lower()
    stops, negations = _stops(language), NEGATIONS.get(language, NEGATIONS["en"])
    negates = folded in negations or low in negations
    if joined:
        return (
            folded,
            word,
            word not in stops and not ("\u3040" <= word <= "\u309f"),
            negates,
            False,
        )
    bare = _CLITIC.sub("", low) or low if language == "ar" else low
    content = len(word) > 1 and folded not in stops and low not in stops
    return folded, stem(bare, language), content, negates, word[0].isupper()


def tokenise(text: str, language: str, *, certain: bool = False) -> list[Token]:
    """The tokens of a text.

    Args:
        text: Any text.
        language: ISO 639-1 code.
        certain: Keep only numbers that surely are some; the others are words.
    """
    numbers = [n for n in find(text, language) if n.certain or not certain]
    found: list[Token] = []
    at = 0
    previous = None
    sentence = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        while at < len(numbers) and numbers[at].end <= start:
            at += 1
        number = numbers[at] if at < len(numbers) and numbers[at].start < end else None
        if number is not None and previous is not None and previous.number is number:
            previous.end = max(end, previous.end)
            continue
        word = match.group()
        joined = match.lastgroup == "joined"
        folded, key, content, negates, capital = _word(word, language, joined)
        if previous is not None:
            gap = text[previous.end : start]
            # A small letter goes on with the sentence, whatever the stop before it was.
            if gap != " " and gap and (len(gap) > 1 or gap in "\n。！？।؟۔"):
                stop = _SENTENCE_END.search(gap)
                if stop and (stop[0] == "\n" or not word[:1].islower()):
                    initial = len(previous.text) <= 2 and previous.number is None
                    short = initial and gap[0] == "." and "\n" not in gap
                    sentence += not short
        if folded == "t" and previous is not None and previous.folded[-1:] == "n":
            negates = text[previous.end : start] in ("'", "’")
        content = content or number is not None
        token = Token(
            start, end, word, folded, key, content, capital, negates, number, joined, sentence
        )
        found.append(token)
        previous = token
    return found


def prefix_matches(one: str, other: str) -> bool:
    """Whether two folded words are forms of one (``japan`` and ``japanese``)."""
    shorter, longer = (one, other) if len(one) <= len(other) else (other, one)
    same = 0
    for a, b in zip(shorter, longer, strict=False):
        if a != b:
            break
        same += 1
    if same == len(shorter) and same >= 4:
        return len(longer) - same <= 4
    return (
        same >= 4
        and len(shorter) - same <= 3
        and len(longer) - same <= 3
        and same >= 0.57 * len(longer)
    )


@dataclass
class Evidence:
    """A source's passage: where each of its words and numbers is.

    Attributes:
        source: The source.
        tokens: The passage's tokens.
        places: Indices of the tokens with a key.
        numbers: Indices of the tokens with a number's form.
        title: Keys and folded words of the title: what the passage is about.
        starts: Index of the first token of each sentence, and their number.
        also: Forms of numbers as they are read when the passage's own brackets are left out.
    """

    source: Source
    language: str
    tokens: list[Token]
    places: dict[str, list[int]] = field(default_factory=dict)
    numbers: dict[str, list[int]] = field(default_factory=dict)
    title: set[str] = field(default_factory=set)
    starts: list[int] = field(default_factory=list)
    _prefixes: dict[str, dict[str, str]] = field(default_factory=dict)
    _initials: set[str] = field(default_factory=set)
    _found: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    also: frozenset[str] = frozenset()

    @classmethod
    def of(cls, source: Source, language: str) -> Evidence:
        """Read a source."""
        self = cls(source, language, tokenise(plain_digits(source.text), language))
        # A source has marks and lists of its own; who copies it states nothing new.
        if (bare := blank(source.text)) != source.text:
            self.also = frozenset(forms(bare))
        last = -1
        initials = ""
        places, starts, numbers = self.places, self.starts, self.numbers
        for index, token in enumerate(self.tokens):
            if token.sentence != last:
                starts.append(index)
                last = token.sentence
            places.setdefault(token.key, []).append(index)
            if token.folded != token.key:
                places.setdefault(token.folded, []).append(index)
            if token.number is not None:
                for form in token.number.forms | token.number.parts:
                    numbers.setdefault(form, []).append(index)
            if token.capital:
                initials = (initials + token.folded[0])[-6:]
                for size in range(2, len(initials) + 1):
                    self._initials.add(initials[-size:])
            elif token.content:
                initials = ""
        self.starts.append(len(self.tokens))
        for token in tokenise(f"{source.title} {source.date}", language):
            self.title |= {token.key, token.folded}
            if token.number is not None:
                self.title |= {f"#{form}" for form in token.number.forms | token.number.parts}
        return self

    def sentence(self, number: int) -> range:
        """Indices of a sentence's tokens."""
        return range(self.starts[number], self.starts[number + 1])

    def find(self, token: Token) -> list[int]:
        """Indices of the tokens that say the same as a token of a claim."""
        known = (token.key, token.text)
        if token.number is None and known in self._found:
            return self._found[known]
        found = self._number(token.number) if token.number is not None else []
        if not found and (token.number is None or token.number.kind == "roman"):
            found = self._word(token)
            if token.number is None:
                self._found[known] = found
        return found

    def _number(self, number: Number) -> list[int]:
        found = []
        for form in number.forms:
            for index in self.numbers.get(form, ())[:64]:
                other = self.tokens[index].number
                if other is not None and number.agrees(other):
                    found.append(index)
        if not found and not number.forms.isdisjoint(self.also) and self.tokens:
            return [0]
        if not found and number.unit:
            # 1.5 km for 1,500 m.
            for index, token in enumerate(self.tokens):
                if token.number is not None and token.number.unit and number.agrees(token.number):
                    found.append(index)
        return found

    def _word(self, token: Token) -> list[int]:
        found = self.places.get(token.key) or self.places.get(token.folded)
        if found or token.joined:
            return found or []
        if len(token.folded) >= 4:
            if not self._prefixes:
                for other in self.tokens:
                    if not other.joined:
                        self._prefixes.setdefault(other.folded[:4], {})[other.folded] = other.key
            near = self._prefixes.get(token.folded[:4], {})
            keys = {key for word, key in near.items() if prefix_matches(token.folded, word)}
            return sorted(i for key in keys for i in self.places.get(key, ()))
        return []

    def abbreviates(self, token: Token) -> bool:
        """Whether an abbreviation's letters begin words of the passage (``NASA``)."""
        letters = token.folded
        return token.text.isupper() and 2 <= len(letters) <= 6 and letters in self._initials

    def about(self, token: Token) -> bool:
        """Whether the title holds a token."""
        if token.number is not None:
            return any(f"#{form}" in self.title for form in token.number.forms)
        return (
            token.key in self.title
            or token.folded in self.title
            or any(len(w) >= 4 and prefix_matches(token.folded, w) for w in self.title)
        )
