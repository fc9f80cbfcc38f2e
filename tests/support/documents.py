"""Small documents in the formats that `zimify` reads, made byte by byte."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
"""A picture of one pixel."""


def write_tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files (path inside the folder -> content) and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def pdf(pages: Sequence[str], title: str = "", password: str = "") -> bytes:
    """A PDF with one line of Latin text a page."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>"
        % (b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(len(pages))), len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        drawn = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        stream = b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % drawn.encode("cp1252")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * number)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    info = len(objects) + 1
    objects.append(b"<< /Title (%s) >>" % title.encode("cp1252"))
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        info,
        start,
    )
    if not password:
        return bytes(out)
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(bytes(out))))
    writer.encrypt(password, algorithm="RC4-128")
    locked = io.BytesIO()
    writer.write(locked)
    return locked.getvalue()


_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = """<?xml version="1.0"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="xml" ContentType="application/xml"/>
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="png" ContentType="image/png"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
</Types>"""


def docx(
    paragraphs: Sequence[tuple[str, str]], title: str = "", link: str = "", picture: bool = False
) -> bytes:
    """A Word document.

    Args:
        paragraphs: (style, text) pairs; the style ``Heading1`` makes a heading.
        title: The title among its properties.
        link: A hyperlink in a last paragraph.
        picture: Whether it holds a picture.
    """
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{escape(text)}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    rels = ""
    if link:
        kind = f"{_R}/hyperlink"
        target = escape(link, {'"': "&quot;"})
        rels += f'<Relationship Id="rL" Type="{kind}" Target="{target}" TargetMode="External"/>'
        body += '<w:p><w:hyperlink r:id="rL"><w:r><w:t>a link</w:t></w:r></w:hyperlink></w:p>'
    if picture:
        rels += f'<Relationship Id="rP" Type="{_R}/image" Target="media/one.png"/>'
        drawing = "http://schemas.openxmlformats.org/drawingml/2006"
        body += (
            "<w:p><w:r><w:drawing>"
            f'<wp:inline xmlns:wp="{drawing}/wordprocessingDrawing"><wp:docPr id="1" name="p"/>'
            f'<a:graphic xmlns:a="{drawing}/main"><a:graphicData>'
            f'<pic:pic xmlns:pic="{drawing}/picture"><pic:blipFill><a:blip r:embed="rP"/>'
            "</pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline>"
            "</w:drawing></w:r></w:p>"
        )
    package = "http://schemas.openxmlformats.org/package/2006"
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": (
            f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{_R}/officeDocument" Target="word/document.xml"/>'
            "</Relationships>"
        ),
        "word/document.xml": (
            f'<w:document xmlns:w="{_W}" xmlns:r="{_R}"><w:body>{body}</w:body></w:document>'
        ),
        "word/_rels/document.xml.rels": (
            f'<Relationships xmlns="{package}/relationships">{rels}</Relationships>'
        ),
        "word/styles.xml": (
            f'<w:styles xmlns:w="{_W}"><w:style w:type="paragraph" w:styleId="Heading1">'
            '<w:name w:val="heading 1"/></w:style></w:styles>'
        ),
    }
    if title:
        files["docProps/core.xml"] = (
            f'<cp:coreProperties xmlns:cp="{package}/metadata/core-properties" '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title>'
            "</cp:coreProperties>"
        )
    if picture:
        files["word/media/one.png"] = PNG
    return zipped(files)


def epub(
    title: str, chapters: Mapping[str, str], extra: Mapping[str, bytes] | None = None
) -> bytes:
    """An EPUB book: chapter file name -> XHTML body; ``extra`` are pictures and styles."""
    kinds = {".png": "image/png", ".css": "text/css"}
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    items += "".join(
        f'<item id="x{n}" href="{name}" media-type="{kinds[name[-4:]]}"/>'
        for n, name in enumerate(extra or ())
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
            "</rootfiles></container>"
        ),
        "OEBPS/book.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:title>{escape(title)}</dc:title><dc:language>en</dc:language></metadata>"
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
        ),
    }
    for name, body in chapters.items():
        files[f"OEBPS/{name}"] = (
            '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
            f"<head><title>{name}</title></head><body>{body}</body></html>"
        )
    files.update({f"OEBPS/{name}": data for name, data in (extra or {}).items()})
    return zipped(files)


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive of files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def zip_bomb(megabytes: int = 300) -> bytes:
    """A small Word document that unpacks to much."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/document.xml", "w") as stream,
    ):
        for _ in range(megabytes):
            stream.write(b"\0" * (1 << 20))
    return out.getvalue()
