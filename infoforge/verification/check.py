"""Whether a claim is supported by the passages that it cites.

The claim is laid next to the sentence of the passages that shares most words with it. What it has
and the passages have not is unsupported; so is what stands in the place of something else there.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from infoforge.records import Unsupported
from infoforge.text.words import exists, listed_zipf
from infoforge.verification.evidence import Evidence, Token

_NEAR_VERBATIM = 0.7
"""Share of a claim's words, in order, from which what differs is a replacement."""
_COVERAGE = 0.34
"""Share of a claim's words that its passages must have."""
_LONGEST_SENTENCE = 160
"""Tokens of one sentence that a claim is aligned with."""
_MOST_PLACES = 64
"""Places of one word that are looked at: one that is everywhere says nothing."""
_COMMON = 4.0
"""Zipf value from which a capitalised German word is an everyday noun."""
_SOFT_NEGATION = re.compile(
    r"\b(?:lack|fail|unable|refus|rarely|hardly|seldom|deny|denied|avoid|prevent|abolish|ban"
    r"|kaum|selten"
    r"|verweiger|verhinder|carec|apenas|rara|without|neither|instead|only|nur|sólo|solo|ohne)\w*",
    re.IGNORECASE,
)
_BE = frozenset(
    ("is", "was", "has", "had", "where", "who", "es", "fue", "era", "tiene", "est", "était", "fut",
     "è", "ha", "é", "foi", "tem", "werd", "heeft")
)  # fmt: skip
"""What follows a name more often than a noun without an article."""
_ABSTRACT = re.compile(
    r"(?:tion|sion|ment|ing|ness|ity|ers?|ors?|ship|[ae]nce|s|ción|mente|dad|ment)$"
)
_COMMA = re.compile(r"[,;:，、；：()（）–—]\s?")
_STARTS = re.compile(r"[.!?:\"“”„«»*(\n|–—•]\s*$|\n\s*$")
_CONJUNCTION = frozenset(
    [
        "and",
        "und",
        "y",
        "e",
        "et",
        "en",
        "og",
        "och",
        "ja",
        "i",
        "и",
        "та",
        "و",
        "ve",
        "dan",
        "while",
        "which",
        "who",
        "but",
        "sowie",
        "oder",
        "or",
        "of",
        "but",
    ]
)


@dataclass(frozen=True, slots=True)
class Context:
    """What a claim is checked with.

    Attributes:
        language: Language of the answer.
        question: The question's tokens.
        foreign: The sources are in another language: only names and numbers can be compared.
    """

    language: str
    question: Sequence[Token] = ()
    foreign: bool = False


@dataclass(slots=True)
class _Aligned:
    """A claim next to one sentence: for each token of the claim, an index there or -1."""

    evidence: Evidence
    sentence: int
    to: list[int]


@dataclass(slots=True)
class _Statement:
    """A claim, with all that is known of its tokens.

    Attributes:
        tokens: The claim's tokens.
        text: The claim as written.
        evidence: The passages that it cites.
        context: The question and the languages.
        places: For each passage and token, where it is there.
        about: For each token, whether a title has it.
        names: Indices of the tokens that are names.
        asked: Keys of the question's words.
    """

    tokens: Sequence[Token]
    text: str
    evidence: Sequence[Evidence]
    context: Context
    places: list[list[list[int]]]
    about: list[bool]
    names: set[int]
    asked: frozenset[str]

    def has(self, i: int) -> bool:
        """Whether a passage, or its title, has a token."""
        return self.about[i] or any(places[i] for places in self.places)


def check(
    tokens: Sequence[Token], text: str, evidence: Sequence[Evidence], context: Context
) -> list[Unsupported]:
    """What of a claim its passages do not support.

    Args:
        tokens: The claim's tokens.
        text: The claim.
        evidence: The passages that it cites.
        context: The question and the languages.

    Returns:
        Each part with its kind, in the order of the claim; empty when it is supported.
    """
    claim = _Statement(
        tokens,
        text,
        evidence,
        context,
        [[e.find(token) for token in tokens] for e in evidence],
        [any(e.about(t) for e in evidence) for t in tokens],
        _names(tokens, text, context.language),
        _keys(context.question),
    )
    bad = _missing(claim)
    if context.foreign:
        return _spans(tokens, text, bad)
    if not bad:
        bad |= _mismatched(claim)
    best = _best(claim)
    if best is not None:
        bad = _replaced(claim, best) | bad
        if negation := _negation(claim, best):
            return [*_spans(tokens, text, bad), Unsupported(negation, "negation")]
    if not bad and _too_few(claim):
        return [Unsupported(text.strip(), "words")]
    return _spans(tokens, text, bad)


def _missing(claim: _Statement) -> dict[int, str]:
    """Numbers and names that no passage has."""
    bad: dict[int, str] = {}
    # "The sources have nothing of 1999": what a question asks may be denied.
    denied = claim.asked if any(t.negation for t in claim.tokens) else frozenset()
    for i, token in enumerate(claim.tokens):
        if claim.has(i) or not denied.isdisjoint(_own(token)):
            continue
        if token.number is not None and token.number.kind != "roman":
            if token.number.certain:
                bad[i] = _kind(token)
        elif i in claim.names and _comparable(token, claim.evidence):
            known = claim.context.foreign and (
                not token.capital or exists(token.text.lower(), claim.context.language)
            )
            if not known and not any(e.abbreviates(token) for e in claim.evidence):
                bad[i] = "name"
    return bad


def _too_few(claim: _Statement) -> bool:
    """Whether the passages have too few of a claim's words."""
    content = [i for i, t in enumerate(claim.tokens) if t.content]
    have = sum(claim.has(i) or not claim.asked.isdisjoint(_own(claim.tokens[i])) for i in content)
    return have < (_COVERAGE if len(content) > 2 else 0.5) * len(content)


def _kind(token: Token) -> str:
    if token.number is None or not token.number.certain:
        return "name"
    return "date" if token.number.kind == "date" else "number"


def _own(token: Token) -> frozenset[str]:
    if token.number is not None:
        return frozenset(token.number.forms)
    return frozenset((token.key, token.folded))


def _keys(tokens: Sequence[Token]) -> frozenset[str]:
    found: set[str] = set()
    for token in tokens:
        found |= _own(token) | {token.key}
        if token.number is not None:
            found |= token.number.parts
    return frozenset(found)


def _is_short(tokens: Sequence[Token]) -> bool:
    """Whether a claim may be a bare answer, that its question completes."""
    content = [t for t in tokens if t.content]
    plain = sum(not t.capital and t.number is None for t in content)
    return len(content) <= 6 and len(tokens) <= 8 and plain <= 3


def _spans(tokens: Sequence[Token], text: str, bad: dict[int, str]) -> list[Unsupported]:
    """Neighbouring tokens of one kind as one part, as written."""
    found: list[Unsupported] = []
    run: list[int] = []
    for i in [*sorted(bad), -1]:
        if run and i == run[-1] + 1 and bad[i] == bad[run[-1]] == "name":
            run.append(i)
            continue
        if run:
            number = tokens[run[0]].number
            if number is not None and len(run) == 1:
                unit = re.match(r"[\s-]?(?:[%‰°]\w*|\w+)", text[number.end :])
                end = number.end
                if number.unit and unit and number.unit in unit[0].lower():
                    end += unit.end()
                part = text[number.start : end]
            else:
                part = text[tokens[run[0]].start : tokens[run[-1]].end]
            found.append(Unsupported(part.strip(), bad[run[0]]))
        run = [i]
    return list(dict.fromkeys(found))


def _comparable(token: Token, evidence: Sequence[Evidence]) -> bool:
    """Whether a passage has words of the token's script: others cannot be compared."""
    latin = token.folded[:1] < "\u0250"
    for e in evidence:
        for other in e.tokens[:200]:
            if other.number is None and (other.folded[:1] < "\u0250") == latin:
                return True
    return False


def _names(tokens: Sequence[Token], text: str, language: str) -> set[int]:
    """Indices of the tokens that are names: capitalised or unknown words."""
    found = set()
    for i, token in enumerate(tokens):
        numeral = token.number is not None and token.number.kind != "roman"
        if token.joined or numeral or not token.content or len(token.text) < 2:
            continue
        low = token.text.lower()
        if token.text.isupper() and token.text.isalpha():
            found.add(i)
        elif token.capital:
            before = text[max(0, token.start - 8) : token.start]
            # The first cell of a row is its label; the others are what it states.
            cell = before.rstrip().endswith("|") and text[: token.start].count("|") > 1
            first = i == 0 or (_STARTS.search(before) and not cell)
            if _names_one(tokens, i, language, first=bool(first)):
                found.add(i)
        elif token.text.isalpha() and len(low) > 3 and not exists(low, language):
            found.add(i)
    return found


def _names_one(tokens: Sequence[Token], i: int, language: str, *, first: bool) -> bool:
    """Whether a capitalised word is a name."""
    low = tokens[i].text.lower()
    zipf = listed_zipf(low, language)
    if language == "de":
        if zipf is not None and zipf >= 3.5:
            # An everyday noun, or a first name before a name that no list has.
            return i + 1 < len(tokens) and _unlisted(tokens[i + 1], language)
        # Compounds of known words are nouns.
        return not exists(low, "de") if zipf is None else not first
    if not first or _next_capital(tokens, i):
        return True
    if zipf is None:
        return not exists(low, language)
    follows = tokens[i + 1].folded if i + 1 < len(tokens) else ""
    return zipf < 3.0 or (zipf < 4.2 and follows in _BE and not _ABSTRACT.search(low))


def _unlisted(token: Token, language: str) -> bool:
    return token.capital and token.number is None and not exists(token.text.lower(), language)


def _next_capital(tokens: Sequence[Token], i: int) -> bool:
    return (
        i + 1 < len(tokens) and tokens[i + 1].capital and tokens[i + 1].start - tokens[i].end <= 1
    )


def _best(claim: _Statement) -> _Aligned | None:
    """The sentence that shares most with the claim, aligned in order."""
    scores: dict[tuple[int, int], float] = {}
    for n, e in enumerate(claim.evidence):
        for token, places in zip(claim.tokens, claim.places[n], strict=True):
            if not token.content or e.about(token):
                continue
            weight = 1.5 if token.number is not None or token.capital else 1.0
            for s in {e.tokens[j].sentence for j in places[:_MOST_PLACES]}:
                scores[n, s] = scores.get((n, s), 0.0) + weight
    if not scores:
        return None
    candidates = nlargest(2, scores, key=lambda at: scores[at])
    tried = [_align(claim.tokens, claim.places[n], claim.evidence[n], s) for n, s in candidates]
    order = [
        scores[at] + 0.3 * sum(j >= 0 for j in a.to)
        for at, a in zip(candidates, tried, strict=True)
    ]
    return tried[order.index(max(order))]


def _align(
    tokens: Sequence[Token], places: Sequence[Sequence[int]], evidence: Evidence, sentence: int
) -> _Aligned:
    """The longest common subsequence of a claim and a sentence (Hunt and Szymanski 1977)."""
    span = evidence.sentence(sentence)
    low, high = span.start, min(span.stop, span.start + _LONGEST_SENTENCE)
    tails: list[int] = []
    links: list[tuple[int, int, int]] = []  # claim index, passage index, previous link
    ends: list[int] = []
    for i, found in enumerate(places):
        for j in reversed(found[bisect_left(found, low) : bisect_right(found, high - 1)]):
            at = bisect_left(tails, j)
            links.append((i, j, ends[at - 1] if at else -1))
            if at == len(tails):
                tails.append(j)
                ends.append(len(links) - 1)
            else:
                tails[at] = j
                ends[at] = len(links) - 1
    to = [-1] * len(tokens)
    link = ends[-1] if ends else -1
    while link >= 0:
        i, j, link = links[link]
        to[i] = j
    return _Aligned(evidence, sentence, to)


def _runs(to: Sequence[int]) -> list[tuple[int, int]]:
    """The runs of tokens that are aligned with nothing."""
    found = []
    start = None
    for i, j in enumerate([*to, 0]):
        if j < 0 and start is None:
            start = i
        elif j >= 0 and start is not None:
            found.append((start, i))
            start = None
    return found


def _replaced(claim: _Statement, best: _Aligned) -> dict[int, str]:
    """Names and numbers that stand where the sentence has something else."""
    bad: dict[int, str] = {}
    tokens, theirs = claim.tokens, best.evidence.tokens
    span = best.evidence.sentence(best.sentence)
    total = sum(t.content for t in tokens)
    aligned = sum(
        t.content and (j >= 0 or about)
        for t, j, about in zip(tokens, best.to, claim.about, strict=True)
    )
    aligned_to = set(best.to)
    for a, b in _runs(best.to):
        own = [i for i in range(a, b) if tokens[i].content]
        outside = total - len(own)
        elsewhere = aligned - sum(claim.about[i] for i in own)
        if not own or outside < 2 or elsewhere < _NEAR_VERBATIM * outside:
            continue
        left = best.to[a - 1] if a else span.start - 1
        right = best.to[b] if b < len(tokens) else min(span.stop, left + 2 * (b - a) + 6)
        gap = [j for j in range(left + 1, right) if theirs[j].content]
        if not gap or _stands_for(claim, best, (a, b), own, gap):
            continue
        named = all(_is_name(theirs[j], j == span.start, best.evidence.language) for j in gap)
        lost = _lost(claim, best, gap)
        for i in own:
            token = tokens[i]
            places = best.evidence.find(token)
            if claim.about[i] or not aligned_to.isdisjoint(places):
                # What the article is about, or said twice: what it repeats is aligned.
                continue
            inside = [j for j in places if j in span]
            if inside and (not lost or _close(best.to, i, inside)):
                # The sentence has it in another order: nothing of its kind is left out, or it is
                # next to the same words.
                continue
            written = token.capital and (named or _rare(token, claim.context.language))
            if token.number is not None and token.number.certain:
                bad[i] = _kind(token)
            elif i in claim.names or written or (token.joined and b - a >= 2):
                bad[i] = "name"
    return bad


def _close(to: Sequence[int], i: int, places: Sequence[int]) -> bool:
    """Whether a token is as near to one of its neighbours in the sentence as it is in the claim."""
    near = [to[k] for k in range(max(0, i - 4), min(len(to), i + 5)) if to[k] >= 0]
    return any(abs(j - k) <= 4 for j in places for k in near)


def _lost(claim: _Statement, best: _Aligned, gap: Sequence[int]) -> bool:
    """Whether a name or number of the sentence is replaced: the claim does not have it at all."""
    evidence = best.evidence
    first = evidence.starts[best.sentence]
    said = {t.key for t in claim.tokens} | {t.folded for t in claim.tokens}
    forms = {form for t in claim.tokens if t.number is not None for form in t.number.forms}
    for j in gap:
        token = evidence.tokens[j]
        if token.number is not None:
            if token.number.forms.isdisjoint(forms):
                return True
        elif (
            token.key not in said
            and not evidence.about(token)
            and _is_name(token, j == first, evidence.language)
        ):
            return True
    return False


def _stands_for(
    claim: _Statement, best: _Aligned, run: tuple[int, int], own: Sequence[int], gap: Sequence[int]
) -> bool:
    """Whether words that differ from the sentence's may say the same, or are another statement."""
    a, b = run
    tokens, theirs = claim.tokens, best.evidence.tokens
    if a and b < len(tokens) and not (_touches(best.to, a - 1, -1) or _touches(best.to, b, 1)):
        return True
    if all(claim.about[i] for i in own):
        return True
    if {tokens[i].key for i in own} == {theirs[j].key for j in gap}:
        return True
    if a == 0:
        first = best.evidence.starts[best.sentence]
        plain = not any(
            theirs[j].number is not None or _is_name(theirs[j], j == first, best.evidence.language)
            for j in gap
        )
        # "The novelist was born" for "Sōseki was born": who is meant is said before.
        before = best.evidence.sentence(best.sentence - 1) if best.sentence else range(0)
        said = {theirs[j].key for j in before}
        if plain and any(tokens[i].key in said for i in own):
            return True
    return len(own) >= 3 and _own_clause(claim, run, own, best.evidence)


def _rare(token: Token, language: str) -> bool:
    known = listed_zipf(token.text.lower(), language)
    if language == "de" and token.capital:
        return known is None or known < _COMMON
    return token.capital and (known is None or known < 3.0)


def _is_name(token: Token, first: bool, language: str) -> bool:
    if not token.capital:
        return token.joined
    known = listed_zipf(token.text.lower(), language)
    if first or language == "de":
        return known is None or known < 3.5
    return True


def _touches(to: Sequence[int], i: int, step: int) -> bool:
    """Whether an aligned token's neighbour away from the run is its neighbour there, too."""
    k = i + step
    return not 0 <= k < len(to) or to[k] == to[i] + step


def _own_clause(
    claim: _Statement, run: tuple[int, int], own: Sequence[int], evidence: Evidence
) -> bool:
    """Whether a run is a clause of its own, from another sentence of the passage."""
    a, b = run
    tokens = claim.tokens
    edges = [claim.text[tokens[i - 1].end : tokens[i].start] for i in run if 0 < i < len(tokens)]
    joints = {tokens[i].folded for i in (a, b - 1)}
    if joints.isdisjoint(_CONJUNCTION) and not re.search(r"[,;:–—(]", " ".join(edges)):
        return False
    own = [i for i in own if not claim.about[i]]
    if sum(i not in claim.names and tokens[i].number is None for i in own) < 2:
        return False
    counts: dict[int, int] = {}
    for i in own:
        for s in {evidence.tokens[j].sentence for j in evidence.find(tokens[i])[:_MOST_PLACES]}:
            counts[s] = counts.get(s, 0) + 1
    return max(counts.values(), default=0) >= 0.8 * len(own)


def _mismatched(claim: _Statement) -> dict[int, str]:
    """Names and numbers that the passages have, but far from what the claim connects them with."""
    bad: dict[int, str] = {}
    tokens = claim.tokens
    subject = [t for t in claim.context.question if t.content] if _is_short(tokens) else []
    asked = [[e.find(t) for t in subject] for e in claim.evidence]
    for i, token in enumerate(tokens):
        number = token.number is not None and token.number.certain
        if not (number or i in claim.names) or claim.about[i]:
            continue
        near = [
            k
            for k in _clause(claim, i)
            if tokens[k].content and not claim.about[k] and claim.has(k)
            if not (k == i or (abs(k - i) <= 2 and i in claim.names and k in claim.names))
        ]
        shared: dict[tuple[int, int], float] = {}
        for n, e in enumerate(claim.evidence):
            for column in [claim.places[n][k] for k in near] or asked[n]:
                for s in {e.tokens[j].sentence for j in column[:_MOST_PLACES]}:
                    shared[n, s] = shared.get((n, s), 0.0) + 1.0
        most = max(shared.values(), default=0.0)
        here = _here(claim, i, shared)
        if (most >= 3 and here < 0.5 * most) or (most >= 2 and here < 0.3):
            bad[i] = _kind(token)
    return bad


def _clause(claim: _Statement, i: int) -> range:
    """The tokens round one, up to the next comma on each side, ten at the most."""
    a, b = i, i + 1
    while a > max(0, i - 9) and not _COMMA.search(_gap(claim, a)):
        a -= 1
    while b < min(len(claim.tokens), i + 10) and not _COMMA.search(_gap(claim, b)):
        b += 1
    return range(a, b)


def _gap(claim: _Statement, i: int) -> str:
    return claim.text[claim.tokens[i - 1].end : claim.tokens[i].start]


def _here(claim: _Statement, i: int, shared: Mapping[tuple[int, int], float]) -> float:
    """How many of the words round a token the best sentence with that token has."""
    best = 0.0
    for n, e in enumerate(claim.evidence):
        for s in {e.tokens[j].sentence for j in claim.places[n][i][:_MOST_PLACES]}:
            neighbour = max(shared.get((n, s - 1), 0.0), shared.get((n, s + 1), 0.0))
            best = max(best, shared.get((n, s), 0.0) + 0.4 * neighbour)
    return best


def _negation(claim: _Statement, best: _Aligned) -> str:
    """A negation that only one of claim and sentence has, where words alone show it."""
    tokens, text = claim.tokens, claim.text
    content = [i for i, t in enumerate(tokens) if t.content and not t.negation]
    aligned = [i for i in content if best.to[i] >= 0]
    if len(aligned) < 2 or len(aligned) < 0.6 * len(content):
        return ""
    theirs, to = best.evidence.tokens, set(best.to)
    span = best.evidence.sentence(best.sentence)
    low, high = best.to[aligned[0]], best.to[aligned[-1]]
    inside = range(max(low - 3, span.start), min(high + 4, span.stop))
    own = [
        i
        for i, t in enumerate(tokens)
        if t.negation and best.to[i] < 0 and _negates(tokens, i, lambda k: best.to[k] >= 0)
    ]
    other = [
        j
        for j in inside
        if theirs[j].negation and j not in to and _negates(theirs, j, to.__contains__)
    ]
    if bool(own) == bool(other):
        return ""
    # "failed to", "without", "refused": a negation in other words.
    if own:
        rest = " ".join(theirs[j].text for j in inside if j not in to)
    else:
        rest = " ".join(t.text for t, j in zip(tokens, best.to, strict=True) if j < 0)
    if _SOFT_NEGATION.search(rest):
        return ""
    return text[tokens[own[0]].start : tokens[own[0]].end] if own else theirs[other[0]].text


def _negates(tokens: Sequence[Token], i: int, shared: Callable[[int], bool]) -> bool:
    """Whether what a negation denies is in both texts: the words on its two sides."""
    after = next((k for k in range(i + 1, min(i + 5, len(tokens))) if tokens[k].content), None)
    before = next((k for k in range(i - 1, max(i - 5, -1), -1) if tokens[k].content), None)
    near = [k for k in (after, before) if k is not None]
    return bool(near) and all(shared(k) for k in near[:1])
