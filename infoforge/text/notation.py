"""What typography says in HTML, as plain text: exponents, ordinals, formulas, ruby."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_RAISED = str.maketrans("0123456789+-−–=", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼")
_LOWERED = str.maketrans("0123456789+-−–=", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌")
_SIGNED = re.compile(r"[+\-−–]?\d{1,9}[+\-−–]?|[+\-−–]{1,3}")
_MARKS = {
    "tm": "™", "(tm)": "™", "sm": "℠", "(sm)": "℠", "(r)": "®", "(c)": "©", "®": "®", "™": "™",
    "©": "©", "℠": "℠", "°": "°", "′": "′", "″": "″", "'": "'", '"': '"', "o": "º", "a": "ª",
    "º": "º", "ª": "ª",
}  # fmt: skip
# Behind a number: English, French, Italian, Spanish, Portuguese, Dutch, Swedish ordinals, and the
# units of time and angle that astronomers raise.
_AFTER_NUMBER_TEXT = """
st nd rd th er ere ère re e ème eme ième ieme nde nd d de ste te os as ro ra do da to ta mo ma
vo va no na er ers res es èmes h m s min hr y :a :e
"""
_AFTER_NUMBER = frozenset(_AFTER_NUMBER_TEXT.split())
# Behind letters: what titles, abbreviations and Roman numerals are written with.
_ABBREVIATED_TEXT = """
me mes mme mmes lle lles gr dr cie ve rs os as ra ras st ste te er ère re th nd rd ème eme ième
ieme is
"""
_ABBREVIATED = frozenset(_ABBREVIATED_TEXT.split())
_TITLES = frozenset(("dr", "st", "me", "mr", "pr", "sr", "fr", "bd", "ch", "no", "nr", "mc"))
_ROMAN = re.compile(r"(?<![^\W_])[IVXLCDM]+$")
_LAST_WORD = re.compile(r"[^\W_]+\.?$")


def raised(text: str, before: str) -> str:
    """A superscript as plain text.

    Args:
        text: What is raised.
        before: The text in front of it, or its end.

    Returns:
        ``⁶`` (10⁶), ``st`` (1st), ``^(n+1)`` (x^(n+1)), ``™``; a readable form of anything.
    """
    word = _LAST_WORD.search(before)
    base = word.group() if word else ""
    if _SIGNED.fullmatch(text):
        return text.translate(_RAISED)
    if all(c in "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ*†‡§¶′″!" for c in text):
        return text
    mark = _mark(text.lower(), base)
    if mark or _is_abbreviation(text, base):
        return mark or text.removeprefix(":")
    attached = bool(before) and not before[-1].isspace()
    words = base.isalpha() and text.isalpha() and len(base) > 2 and len(text) > 2
    if not attached or words or len(text) > 40:  # a badge or a remark, not an exponent
        return f" {text}" if attached else text
    single = len(text) == 1 or text.isalpha() or text.isdecimal() or _wrapped(text)
    return f"^{text}" if single else f"^({text})"


def _mark(lower: str, base: str) -> str:
    """A sign that has a character of its own: ™, º behind a number or an abbreviation."""
    if lower in ("o", "a"):
        ordinal = base[-1:].isdigit() or base[-1:] == "."
        numero = lower == "o" and base.lower() in ("n", "nr", "v", "f")
        return _MARKS[lower] if ordinal or numero else ""
    return _MARKS.get(lower, "")


def _is_abbreviation(text: str, base: str) -> bool:
    """Whether raised letters only end a word, as in 2nd, XVe, Mme."""
    lower = text.lower()
    if base[-1:].isdigit():
        return lower in _AFTER_NUMBER and not _power(base, lower)
    if not (base.isalpha() and text.isalpha()):
        return False
    return (
        lower == "th"
        or (lower in _ABBREVIATED and (len(base) > 1 or base.isupper()))
        or (bool(_ROMAN.search(base)) and lower in _AFTER_NUMBER and lower not in "hms")
        or (len(base) == 1 and base.isupper() and (base + text).lower() in _TITLES)
    )


def _power(base: str, letter: str) -> bool:
    """2ⁿ-like: a letter behind the bases that powers are usually written with."""
    return base in ("2", "10") and letter in ("h", "m", "s", "y", "d")


def _wrapped(text: str) -> bool:
    return text[0] == "(" and text[-1] == ")" and text.count("(") == 1


def lowered(text: str, before: str) -> str:
    """A subscript as plain text: ``2`` of H2O, ``₂`` of 1010₂, ``_(n+1)`` of an index.

    Args:
        text: What is lowered.
        before: The text in front of it, or its end.
    """
    if _SIGNED.fullmatch(text):
        return text.translate(_LOWERED) if before[-1:].isdigit() else text
    if re.search(r"[+\-−=/*,]", text) and before and not before[-1].isspace():
        return f"_({text})"
    if before[-1:].isdigit() and text[:1].isalnum():
        return f"_{text}"
    return text


def tex(text: str) -> str:
    """A formula as its author wrote it, without what MediaWiki puts around it."""
    text = " ".join(text.split())
    for style in ("\\displaystyle", "\\textstyle", "\\scriptstyle"):
        if text.startswith("{" + style) and text.endswith("}"):
            return text[len(style) + 1 : -1].strip()
    return text


def formula(node: LexborNode) -> str:
    """A ``math`` element as text: its TeX where it has any, else one line of its own."""
    if alternative := node.attributes.get("alttext"):
        return tex(alternative)
    for note in node.css("annotation"):
        if "tex" in (note.attributes.get("encoding") or "tex").lower():
            return tex(note.text())
    return " ".join(_mathml(node).split())


def _mathml(node: LexborNode, depth: int = 0) -> str:
    children = []
    child = node.child
    while child is not None:
        if child.tag == "-text":
            children.append(child.text_content or "")
        elif child.is_element_node and child.tag not in ("annotation", "annotation-xml"):
            children.append(_mathml(child, depth + 1) if depth < 150 else child.text())
        child = child.next
    parts = [part.strip() for part in children if part.strip()]
    arranged = _arranged(node.tag or "", parts)
    if arranged is not None:
        return arranged
    return "".join(children if node.tag == "mtext" else parts)


def _arranged(tag: str, parts: list[str]) -> str | None:
    """What stands above, below or under a root, in one line; ``None`` for plain pieces."""
    text: str | None = None
    match (tag, parts):
        case ("msup" | "mover", [base, power]):
            text = base + raised(power, base)
        case ("msub" | "munder", [base, index]):
            text = f"{base}_{_atom(index)}"
        case ("msubsup" | "munderover", [base, index, power]):
            text = f"{base}_{_atom(index)}{raised(power, base)}"
        case ("mfrac", [above, below]):
            text = f"{_atom(above)}/{_atom(below)}"
        case ("mroot", [inner, degree]):
            text = f"{degree.translate(_RAISED)}√{_atom(inner)}"
        case ("msqrt", _):
            text = f"√{_atom(''.join(parts))}"
        case ("mtr", _):
            text = ", ".join(parts) + "; "
    return text


def _atom(text: str) -> str:
    return text if text.isalnum() or len(text) < 2 else f"({text})"
