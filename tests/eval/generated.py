"""Generated articles around the real ones of wikipedia_en_squad, as many as one likes.

Two ways to make them, both seeded by their number:

`Calibrated` follows what is known of large wikis.

- A word comes as often as in English at large, by the package's word list (Zipf values); what no
  list holds is invented, and invented words are Zipf-distributed as well, three in ten of them new
  (Heaps 1978, Simon 1955). Words of the real articles that no list holds come at the rate of words
  just below the list's end.
- Texts have topics: a quarter of an article's words come from its topic's 200 words. A topic has
  fifty articles. Each real article is a topic, whose words are the real article's own, so that the
  questions' words stand together elsewhere, too.
- One article in twenty is a neighbour of a real one: its sentences, with names and most of the rare
  words exchanged and every third word drawn anew.
- Lengths are log-normal, as in Wikipedia; their mean of 170 words is a quarter of Wikipedia's,
  which makes the real articles look longer to the engine than they would there.

`Dense` draws from the 300 real articles alone: the words that three of them hold come as often in
all generated ones, and all of these are about the real subjects, a thousand on each of them. The
question's rarest word then stands in six times as many articles as English would have it in, the
fifth in one and a half times as many (``growth.py --calibration`` counts it). It is a stress test:
no wiki is so full of one subject.
"""

from __future__ import annotations

import html
import math
import random
import re
import sys
from abc import ABC, abstractmethod
from collections import Counter
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.kiwix import REPO

from eval.nonsense import SYLLABLES

DATA = REPO.parent / "shared" / "data"
REAL = DATA / "zims" / "wikipedia_en_squad_2026-06.zim"
LIST = REPO / "infoforge" / "data" / "words" / "en.freq"
NEIGHBOURS = 0.05
TOPIC = 0.25
"""Share of words from the article's own topic."""
TOPIC_WORDS = 200
TOPIC_ARTICLES = 50
TOPICAL = 5.2
"""Zipf value below which a word may belong to a topic: above are those of every text."""
UNLISTED = 2.5
"""Zipf value of the real articles' words that are in no list, whose last words have 2.7."""
SENTENCES = (math.log(6.7), 0.9)
"""Logarithm of the sentences of an article: mean and standard deviation."""
SENTENCES_MOST = 200
NEW = 0.3
"""Share of invented words that never came before."""
RARE = 2
"""A word that no more real articles hold is a rare one."""
KEPT = 0.1
"""Share of rare words that stay as they are, in neighbours and in dense articles."""


class Articles(ABC):
    """The real articles' words and sentences, and what both ways of drawing from them share.

    Args:
        count: How many articles are going to be asked for; it is the seed as well.
    """

    def __init__(self, count: int) -> None:
        from infoforge.corpus.base import Deadline
        from infoforge.corpus.zim import ZimCorpus

        self.chance = random.Random(count)
        self.syllables = [part.split() for part in SYLLABLES["en"]]
        self.invented: list[str] = []
        self.topics: list[list[str]] = []
        """Words of each topic, as often as they come in it; those of real articles first."""
        self.sentences: list[list[list[str]]] = []
        """The words of each sentence of each real article."""
        corpus = ZimCorpus(REAL)
        for path in real_paths():
            article = corpus.read(path, Deadline(None))
            text = " ".join(s.text for s in article.sections) if article else ""
            words = re.findall(r"[^\W\d_]+", text)
            if len(words) < 300:
                continue
            self.topics.append([word.lower() for word in words])
            split = [re.findall(r"\w+|[,;:]", s) for s in re.split(r"(?<=[.!?])\s+", text)]
            self.sentences.append([s for s in split if 6 <= len(s) <= 40])
        holding = Counter(word for words in self.topics for word in set(words))
        self.rare = {word for word, articles in holding.items() if articles <= RARE}

    def kept(self, word: str) -> str:
        """A word of a real article, or mostly an invented one in the place of a rare one."""
        if word.lower() in self.rare and self.chance.random() >= KEPT:
            return self.invent().lower()
        return word

    @abstractmethod
    def drawn(self, count: int) -> list[str]:
        """Words as they are distributed over all articles."""

    @abstractmethod
    def topical(self, topic: int, count: int) -> list[str]:
        """Words of a topic, as they are distributed there."""

    @abstractmethod
    def length(self) -> int:
        """Sentences of the next article."""

    @abstractmethod
    def nouns(self, topic: int) -> list[str]:
        """Words of a topic that a title may have."""

    def invent(self) -> str:
        """A word that is made up; few of them come often."""
        pick = self.chance.choice
        if self.invented and self.chance.random() >= NEW:
            word = pick(self.invented)
        else:
            onsets, nuclei, codas, endings = self.syllables
            count = 1 + (self.chance.random() < 0.6)
            word = "".join(pick(onsets) + pick(nuclei) for _ in range(count))
            word = (word + pick(codas) + pick(endings)).capitalize()
        self.invented.append(word)
        return word

    def article(self, number: int) -> tuple[str, str]:
        """Title and HTML of an article; the number makes its title the only one of its kind."""
        chance = self.chance
        names = [self.invent() for _ in range(4)]
        if chance.random() < NEIGHBOURS:
            topic = chance.randrange(len(self.sentences))
            text = self._neighbour(topic, names)
        else:
            topic = chance.randrange(len(self.topics))
            text = self._drawn_text(topic, names)
        noun = chance.choice(self.nouns(topic))
        shapes = (
            f"{names[0]} {noun}",
            f"{noun.capitalize()} of {names[0]}",
            f"{names[0]} {names[1]}",
            f"{names[0]} ({noun})",
        )
        return f"{chance.choice(shapes)} {number}", text

    def _drawn_text(self, topic: int, names: list[str]) -> str:
        chance = self.chance
        sentences = []
        for _ in range(self.length()):
            size = chance.randint(8, 26)
            own = round(size * TOPIC)
            words = self.drawn(size - own) + self.topical(topic, own)
            chance.shuffle(words)
            words[chance.randrange(size)] = chance.choice(names)
            if chance.random() < 0.3:
                words[chance.randrange(size)] = str(chance.randint(1500, 2020))
            sentences.append(" ".join(words).capitalize() + ".")
        return _paragraphs(sentences)

    def _neighbour(self, topic: int, names: list[str]) -> str:
        chance = self.chance
        own = self.sentences[topic] or self.sentences[0]
        sentences = []
        for sentence in chance.choices(own, k=self.length()):
            fresh = iter(self.drawn(len(sentence)))
            words = [
                chance.choice(names)
                if word[0].isupper()
                else next(fresh)
                if len(word) > 3 and chance.random() < 1 / 3
                else self.kept(word)
                for word in sentence
            ]
            sentences.append(" ".join(words) + ".")
        return _paragraphs(sentences)


class Calibrated(Articles):
    """As large wikis are, so far as that is known."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        rates = listed()
        topical = [word for word, rate in rates.items() if rate < 10 ** (TOPICAL - 9)]
        known = frozenset(topical)
        for word in {word for words in self.topics for word in words} - set(rates):
            rates[word] = 10 ** (UNLISTED - 9)
        self._words = [*rates, ""]
        self._shares = list(accumulate([*rates.values(), max(0.0, 1 - sum(rates.values()))]))
        shares = list(accumulate(rates[word] for word in topical))
        self.titles = [[w for w in words if w in known] for words in self.topics]
        for _ in range(count // TOPIC_ARTICLES):
            own = self.chance.choices(topical, cum_weights=shares, k=TOPIC_WORDS)
            self.topics.append(own)
            self.titles.append(own)

    def drawn(self, count: int) -> list[str]:
        found = self.chance.choices(self._words, cum_weights=self._shares, k=count)
        return [word or self.invent().lower() for word in found]

    def topical(self, topic: int, count: int) -> list[str]:
        return self.chance.choices(self.topics[topic], k=count)

    def length(self) -> int:
        sentences = round(self.chance.lognormvariate(*SENTENCES))
        return min(max(1, sentences), SENTENCES_MOST)

    def nouns(self, topic: int) -> list[str]:
        return self.titles[topic]


class Dense(Articles):
    """All about the real subjects, in the real articles' own words."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        counts = Counter(word for words in self.topics for word in words)
        self.titles = [
            [w for w in words if w not in self.rare and len(w) > 3] or words
            for words in self.topics
        ]
        self._words = list(counts)
        self._shares = list(accumulate(counts[word] for word in self._words))

    def drawn(self, count: int) -> list[str]:
        found = self.chance.choices(self._words, cum_weights=self._shares, k=count)
        return [self.kept(word) for word in found]

    def topical(self, topic: int, count: int) -> list[str]:
        return [self.kept(word) for word in self.chance.choices(self.topics[topic], k=count)]

    def length(self) -> int:
        return self.chance.randint(4, 16)

    def nouns(self, topic: int) -> list[str]:
        return self.titles[topic]


def listed() -> dict[str, float]:
    """How often each word of the English list comes, as a share of all words."""
    lines = (line.partition("\t") for line in LIST.read_text("utf-8").splitlines())
    return {word: 10 ** (int(tenths) / 10 - 9) for word, _, tenths in lines if word.isalpha()}


def real_paths() -> list[str]:
    """Paths of the articles around which the generated ones are set."""
    from libzim.reader import Archive

    archive = Archive(REAL)
    found = []
    for number in range(archive.all_entry_count):
        entry = archive._get_entry_by_id(number)
        if not entry.is_redirect and entry.get_item().mimetype.startswith("text/html"):
            found.append(entry.path)
    return found


def _paragraphs(sentences: list[str]) -> str:
    parts = [sentences[at : at + 5] for at in range(0, len(sentences), 5)]
    return "".join(f"<p>{html.escape(' '.join(part))}</p>" for part in parts)
