"""Mail: a message (.eml) becomes a page, a mailbox (.mbox) a page for each message."""

from __future__ import annotations

import html
import mailbox
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path

from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError

LARGEST = 512 << 20
MESSAGES = 20_000
_SHOWN = ("From", "To", "Cc", "Date", "Subject")


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn mail into pages."""
    rel = document.file.rel
    if document.file.size > LARGEST:
        raise UnreadableError(f"mail of more than {LARGEST >> 20} MiB")
    rendered = Rendered()
    if not rel.lower().endswith(".mbox"):
        data = Path(document.file.real).read_bytes()
        message = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
        page = _page(
            message, document.path, document.title, rel=rel, frame=frame, rendered=rendered
        )
        rendered.title = page.title
        rendered.items.append(page)
        return rendered
    lines = []
    for number, message in enumerate(_messages(document.file.real), 1):
        if number > MESSAGES:
            rendered.leave_out(rel, f"messages after the first {MESSAGES}")
            break
        path = f"{rel}.messages/{number}"
        page = _page(message, path, f"message {number}", rel=rel, frame=frame, rendered=rendered)
        rendered.items.append(page)
        shown = html.escape(page.title, quote=False)
        lines.append(f'<li><a href="{address(path, document.path)}">{shown}</a></li>')
    if not lines:
        raise UnreadableError("no messages in it")
    body = "<ol>\n" + "\n".join(lines) + "\n</ol>"
    page_body = wrap(frame, document.path, document.title, body, source=rel)
    rendered.items.append(Page(document.path, document.title, page_body))
    return rendered


def _messages(real: str) -> Iterator[EmailMessage]:
    box = mailbox.mbox(real, create=False)
    parser = BytesParser(EmailMessage, policy=policy.default)
    try:
        for key in box.iterkeys():
            yield parser.parsebytes(box.get_bytes(key))
    finally:
        box.close()


def _page(
    message: EmailMessage, path: str, fallback: str, *, rel: str, frame: Frame, rendered: Rendered
) -> Page:
    headers = {name: _header(message, name) for name in _SHOWN}
    title = headers["Subject"] or fallback
    rows = "".join(
        f"<tr><th>{name}</th><td>{html.escape(value, quote=False)}</td></tr>"
        for name, value in headers.items()
        if value
    )
    text = _body(message)
    for part in message.iter_attachments():
        name = part.get_filename() or part.get_content_type()
        rendered.leave_out(rel, f"the attachment {name}")
    shown = f'<div class="plain">{html.escape(text)}</div>' if text.strip() else ""
    body = f"<table>{rows}</table>\n{shown}" if rows else shown or "<p>(empty)</p>"
    return Page(path, title, wrap(frame, path, title, body, source=rel))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message[name] or "").split())
    except (ValueError, LookupError, AttributeError, IndexError):
        # The standard library's parser of addresses fails on some that spammers write.
        return ""


def _body(message: EmailMessage) -> str:
    """The text of a message; of one that is only HTML what a reader sees."""
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    try:
        content = part.get_content()
    except (LookupError, ValueError, KeyError):
        payload = part.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    text = str(content)
    if part.get_content_type() == "text/html":
        from infoforge.text.html import parse

        return "\n\n".join(section.text for section in parse(text).sections)
    return text
