"""Verification of an answer: its claims, and whether the passages they cite support them.

The rules are written down in docs/model.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from infoforge.records import Claim, Source, Verification
from infoforge.text.words import stop_words
from infoforge.verification.check import Context, check
from infoforge.verification.citations import blank, clean, find_citations, find_titles
from infoforge.verification.claims import Piece, cut
from infoforge.verification.evidence import Evidence, Token, tokenise
from infoforge.verification.refusal import is_refusal, languages

MAX_ANSWER = 24_000
"""Characters of an answer that are kept; no question needs more, and a model may run on."""


def verify(
    answer: str, sources: Sequence[Source], question: str = "", language: str = ""
) -> Verification:
    """Verify an answer against the sources it was to be written from.

    Args:
        answer: What the model wrote, reasoning gone.
        sources: The numbered sources as they stood in the prompt.
        question: What was asked.
        language: The question's language (ISO 639-1), where the answer's cannot be detected.

    Returns:
        The answer with citation numbers that name no source removed, and its claims. Linear in the
        length of the answer and of the sources.
    """
    answer = answer[:MAX_ANSWER]
    known = {source.number: source for source in sources}
    text, unknown = clean(answer, set(known))
    # Claims are read from the answer as written: where a citation was taken out, two numbers would
    # be read as one.
    named = find_titles(answer, sources)
    citations = sorted([*find_citations(answer), *named], key=lambda c: c.start)
    cited = {n for citation in citations for n in citation.numbers if n in known}
    stated = blank(answer)
    pieces = cut(answer, stated, [c for c in citations if not known.keys().isdisjoint(c.numbers)])
    spoken = _language(stated, sources, language)
    reader = _Reader(known, spoken, tokenise(question, spoken), language)
    checked = [reader.claim(piece, answer, stated) for piece in pieces]
    claims = [claim for claim in checked if claim is not None]
    parts = dict.fromkeys(part.text for claim in claims for part in claim.unsupported)
    return Verification(
        text=text,
        cited=tuple(sorted(cited)),
        unknown=tuple(sorted(unknown)),
        unsupported=tuple(parts),
        claims=tuple(claims),
        refused=_refused(claims, stated, spoken, language),
    )


@lru_cache(maxsize=32)
def _evidence(source: Source, language: str) -> Evidence:
    """A source ready to be looked up in; a repaired answer is checked against the same ones."""
    return Evidence.of(source, language)


@dataclass(slots=True)
class _Reader:
    """Checks the statements of one answer.

    Attributes:
        sources: The sources by number.
        language: Language of the answer.
        asked: The question's tokens.
        question_language: Language of the question.
    """

    sources: dict[int, Source]
    language: str
    asked: Sequence[Token]
    question_language: str = ""

    def claim(self, piece: Piece, answer: str, stated: str) -> Claim | None:
        """Check one statement; None when it states nothing."""
        said = stated[piece.start : piece.end]
        tokens = tokenise(said, self.language)
        if not any(t.content for t in tokens):
            return None
        numbers = tuple(n for n in dict.fromkeys(piece.citations) if n in self.sources)
        shown = " ".join(said.split()).lstrip("-*•+–> ").strip("*_ ")
        # What cites nothing is compared with everything: a wrong number is reported all the same.
        consulted = [
            _evidence(source, source.language or self.language)
            for source in map(self.sources.__getitem__, numbers or self.sources)
        ]
        foreign = any(not _same(e.language, self.language) for e in consulted)
        context = Context(self.language, self.asked, foreign)
        written = answer[piece.start : piece.end]
        parts = tuple(check(tokens, written, consulted, context)) if consulted else ()
        if is_refusal(said, self.language, self.question_language):
            # What it says of the sources cannot be looked up; a number that they lack can.
            parts = tuple(part for part in parts if part.kind in ("number", "date"))
            return Claim(shown, numbers, "unsupported" if parts else "not_checked", parts)
        if not numbers:
            return Claim(shown, numbers, "uncited", parts)
        status = "unsupported" if parts else "not_checked" if foreign else "supported"
        return Claim(shown, numbers, status, parts)


def _same(one: str, other: str) -> bool:
    return not one or not other or one == other


def _refused(claims: Sequence[Claim], text: str, *spoken: str) -> bool:
    """Whether the answer as a whole says that the sources do not contain it.

    What follows may say what they contain instead, as long as nothing in it is unsupported.
    """
    if not claims:
        return is_refusal(text, *spoken)
    first = claims[0]
    return is_refusal(first.text, *spoken) and not any(claim.unsupported for claim in claims)


def _language(answer: str, sources: Sequence[Source], asked: str) -> str:
    """The language of an answer: that of the sources unless another fits its small words better."""
    own = [s.language for s in sources if s.language]
    first = max(dict.fromkeys(own), key=own.count, default=asked or "en")
    words = [w.strip(".,;:!?()[]\"'“”").lower() for w in answer[:800].split()]
    words = [w for w in words if w]
    letters = "".join(c for c in answer[:300] if c.isalpha())
    if not letters.isascii():
        for pattern, code in _SCRIPTS:
            if 3 * len(pattern.findall(letters)) > len(letters):
                same = _SCRIPT_LANGUAGES.get(code, (code,))
                return next((c for c in (first, asked) if c in same), code)
    if len(words) < 4:
        return first
    candidates = dict.fromkeys((first, asked, *languages()))
    scores = {c: sum(w in stop_words(c) for w in words) for c in candidates if c}
    best = max(scores, key=lambda c: scores[c])
    if asked and scores.get(first, 0) <= scores.get(asked, 0) > 0:
        # An answer is in the language of its question.
        return asked
    if scores[best] - scores.get(first, 0) >= 2 and scores.get(first, 0) < 0.6 * scores[best]:
        return best
    return first


_SCRIPTS = tuple(
    (re.compile(f"[{first}-{last}]"), code)
    for first, last, code in (
        ("\u3040", "\u30ff", "ja"),
        ("\u3400", "\u9fff", "zh"),
        ("\uac00", "\ud7af", "ko"),
        ("\u0e00", "\u0e7f", "th"),
        ("\u0590", "\u05ff", "he"),
        ("\u0900", "\u097f", "hi"),
        ("\u0370", "\u03ff", "el"),
        ("\u0600", "\u06ff", "ar"),
    )
)
_SCRIPT_LANGUAGES = {
    "zh": ("zh", "ja", "yue", "wuu"),
    "ar": ("ar", "fa", "ur", "ps", "ckb"),
    "hi": ("hi", "mr", "ne"),
    "he": ("he", "yi"),
}
