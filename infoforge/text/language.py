"""Language codes, and which language a question is in."""

from __future__ import annotations

import re
from collections.abc import Sequence

from infoforge.text.languages import alpha2
from infoforge.text.words import DATA, has_list, listed_zipf, stop_words, tokens

_READ_AS = {"nb": "no", "nn": "no", "sh": "sr", "mul": "", "und": "", "zxx": ""}
"""Codes whose words are in the list of another, and codes of no language."""

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af\u1100-\u11ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("bn", re.compile("[\u0980-\u09ff]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
)
"""Scripts that (nearly) settle the language by themselves."""

_LATIN = ("en", "de", "fr", "es", "pt", "it", "nl", "pl", "sv", "da", "no", "fi", "ro", "cs", "hu",
          "tr", "id", "vi", "ca")  # fmt: skip
_CYRILLIC = ("ru", "uk", "bg", "sr", "mk")
_ARABIC = ("ar", "fa", "ur")


def code(language: str) -> str:
    """ISO 639-1 code of what a ZIM's metadata or an HTML ``lang`` says (``eng``, ``en-GB``).

    Returns:
        The two-letter code; a three-letter code without one as it is; empty for "several".
    """
    short = alpha2(language)
    return _READ_AS.get(short, short)


def codes(languages: str) -> tuple[str, ...]:
    """The codes of a comma-separated metadata value, empty ones left out."""
    return tuple(dict.fromkeys(c for part in languages.split(",") if (c := code(part))))


def detect(text: str, preferred: Sequence[str] = ()) -> str:
    """The language a question is most probably in.

    Function words decide: the language in whose list the words of the text are the most common.
    A corpus's own language wins ties and near ties, since short questions say little.

    Args:
        text: The question.
        preferred: Languages of the open corpora, most preferred first.

    Returns:
        An ISO 639-1 code; empty when nothing speaks for any language.
    """
    for language, pattern in _SCRIPTS:
        # One character of a corpus's own script tells more than the Latin names beside it.
        if preferred and language == preferred[0] and pattern.search(text):
            return language
        if len(pattern.findall(text)) * 3 >= len(re.findall(r"[^\W\d_]", text)) > 0:
            if language in preferred or not preferred:
                return language
            same = [p for p in preferred if p in _same_script(language)]
            return same[0] if same else language
    words = [word.lower() for word, _, kind in tokens(text) if kind == "word"]
    if not words:
        return preferred[0] if preferred else ""
    candidates: tuple[str, ...] = _LATIN
    if re.search("[\u0400-\u04ff]", text):
        candidates = _CYRILLIC
    elif re.search("[\u0600-\u06ff]", text):
        candidates = _ARABIC
    scores: dict[str, float] = {}
    for language in dict.fromkeys((*preferred, *candidates)):
        if not has_list(language):
            continue
        stops = stop_words(language)
        value = sum((listed_zipf(w, language) or 0.0) + (3.0 if w in stops else 0.0) for w in words)
        scores[language] = value / len(words) + (0.7 if language in preferred else 0.0)
    if not scores:
        return preferred[0] if preferred else ""
    best = max(scores, key=lambda item: scores[item])
    return best if scores[best] > 1.5 else (preferred[0] if preferred else "")


def _same_script(language: str) -> tuple[str, ...]:
    return {"zh": ("zh", "ja"), "ja": ("ja", "zh"), "hi": ("hi", "ne", "mr")}.get(
        language, (language,)
    )


def available() -> tuple[str, ...]:
    """Codes of the languages that the package ships a word list for."""
    return tuple(sorted(path.stem for path in DATA.glob("*.freq")))
