"""Formulas of Word documents (OMML) as text on one line: mammoth passes over them."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from infoforge.text.xmltree import BadXML, local, parse

PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_FORMULA = re.compile(rb"<m:oMath(?:\s[^>]*)?>.*?</m:oMath>", re.DOTALL)
_PARAGRAPH = re.compile(
    rb"</?m:oMathPara(?:\s[^>]*)?>|<m:oMathParaPr(?:\s[^>]*)?>.*?</m:oMathParaPr>", re.S
)
_NAMESPACES = re.compile(rb"\sxmlns:\w+=\"[^\"]*\"")
SUPERSCRIPT = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
SUBSCRIPT = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
"""Digits and signs as they stand above and below the line."""


def with_formulas(real: str, archive: zipfile.ZipFile) -> io.BufferedIOBase:
    """A Word document as a stream, its formulas turned into runs of text.

    Args:
        real: The file.
        archive: The same file, opened; what it holds was looked at.
    """
    present = set(archive.namelist())
    changed = {
        name: body for name in PARTS if name in present and (body := _changed(archive, name))
    }
    if not changed:
        return open(real, "rb")  # noqa: PTH123  (the caller closes it)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as copy:
        for name in archive.namelist():
            copy.writestr(name, changed.get(name) or archive.read(name))
    stream.seek(0)
    return stream


def _changed(archive: zipfile.ZipFile, name: str) -> bytes:
    data = archive.read(name)
    if b"<m:oMath" not in data:
        return b""
    declared = b"".join(dict.fromkeys(_NAMESPACES.findall(data)))

    def run(match: re.Match[bytes]) -> bytes:
        try:
            text = "".join(_written(parse(b"<x" + declared + b">" + match.group() + b"</x>")))
        except BadXML:
            return match.group()
        return (
            f'<w:r><w:t xml:space="preserve">{html.escape(text, quote=False)}</w:t></w:r>'
        ).encode()

    return _PARAGRAPH.sub(b"", _FORMULA.sub(run, data))


def _written(element: Element) -> Iterator[str]:
    """The text of a formula, piece by piece."""
    parts = {local(child.tag): child for child in element}

    def part(name: str) -> str:
        return "".join(_written(parts[name])) if name in parts else ""

    tag = local(element.tag)
    if tag == "t":
        yield element.text or ""
    elif tag == "f":
        yield f"{_grouped(part('num'))}/{_grouped(part('den'))}"
    elif tag in ("sSup", "sSub", "sSubSup"):
        yield part("e") + _low(part("sub")) + _high(part("sup"))
    elif tag == "sPre":
        yield _low(part("sub")) + _high(part("sup")) + part("e")
    elif tag == "rad":
        yield f"{_high(part('deg'))}√{_grouped(part('e'))}"
    elif tag == "nary":
        sign = _property(parts.get("naryPr"), "chr", "∫")
        yield f"{sign}{_low(part('sub'))}{_high(part('sup'))} {part('e')}"
    elif tag == "d":
        opening = _property(parts.get("dPr"), "begChr", "(")
        closing = _property(parts.get("dPr"), "endChr", ")")
        inner = ["".join(_written(child)) for child in element if local(child.tag) == "e"]
        yield f"{opening}{', '.join(inner)}{closing}"
    elif tag == "func":
        yield f"{part('fName')} {part('e')}"
    elif tag == "mr":
        yield " ".join("".join(_written(child)) for child in element) + "; "
    elif not tag.endswith("Pr"):
        for child in element:
            yield from _written(child)


def _property(properties: Element | None, name: str, default: str) -> str:
    for child in properties if properties is not None else ():
        if local(child.tag) == name:
            return next((v for k, v in child.attrib.items() if local(k) == "val"), default)
    return default


def _grouped(text: str) -> str:
    return text if len(text) < 2 or text.isalnum() else f"({text})"


def _high(text: str) -> str:
    raised = text.translate(SUPERSCRIPT)
    return (
        raised if all(a != b for a, b in zip(text, raised, strict=True)) else f"^{_grouped(text)}"
    )


def _low(text: str) -> str:
    lowered = text.translate(SUBSCRIPT)
    return (
        lowered if all(a != b for a, b in zip(text, lowered, strict=True)) else f"_{_grouped(text)}"
    )
