#!/usr/bin/env python3
"""A mirror of Kiwix's catalog and files on loopback, for a box that must not need the internet.

usage: mirror.py FOLDER PORT

Serves every ``NAME_YYYY-MM.zim`` of FOLDER in an OPDS v2 feed at ``/catalog/v2/entries``, with
``.meta4`` (size, SHA-256) and the files themselves with Range. Standard library only, since it runs
on the bare box. Only the newest edition of a name is in the feed, as in Kiwix's own.
"""

import hashlib
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import NAMESPACE_URL, uuid5

ENTRY = """<entry>
  <id>urn:uuid:{uuid}</id><title>{title}</title><updated>{date}-01T00:00:00Z</updated>
  <summary>{title}</summary><language>eng</language><name>{name}</name><flavour></flavour>
  <category>other</category><tags></tags><articleCount>3</articleCount><mediaCount>0</mediaCount>
  <author><name>tests</name></author><publisher><name>tests</name></publisher>
  <dc:issued>{date}-01T00:00:00Z</dc:issued>
  <link rel="http://opds-spec.org/acquisition/open-access" type="application/x-zim"
        href="{base}/zim/{file}.meta4" length="{size}"/>
</entry>"""

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/terms/"
      xmlns:opds="https://specs.opds.io/opds-1.2">
<id>urn:uuid:{uuid}</id><title>All entries</title><updated>2026-06-01T00:00:00Z</updated>
<totalResults>{total}</totalResults><startIndex>0</startIndex><itemsPerPage>{total}</itemsPerPage>
{entries}
</feed>"""

META4 = """<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="{file}">
<size>{size}</size><hash type="sha-256">{sha}</hash>
<url location="xx" priority="1">{base}/zim/{file}</url>
</file></metalink>"""


class Mirror(BaseHTTPRequestHandler):
    folder = Path()
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        base = f"http://{self.headers['Host']}"
        if url.path == "/catalog/v2/entries":
            return self.reply(200, self.feed(base, parse_qs(url.query)), "application/atom+xml")
        name = url.path.removeprefix("/zim/")
        file = self.folder / name.removesuffix(".meta4")
        if "/" in name or not file.is_file():
            return self.reply(404, b"no such file", "text/plain")
        data = file.read_bytes()
        if name.endswith(".meta4"):
            sha = hashlib.sha256(data).hexdigest()
            text = META4.format(file=file.name, size=len(data), sha=sha, base=base)
            return self.reply(200, text.encode(), "application/metalink4+xml")
        start = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if start:
            begin = int(start[1])
            span = f"bytes {begin}-{len(data) - 1}/{len(data)}"
            return self.reply(206, data[begin:], "application/x-zim", {"Content-Range": span})
        return self.reply(200, data, "application/x-zim", {"ETag": f'"{len(data)}"'})

    do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

    def feed(self, base, query):
        newest = {}
        for file in sorted(self.folder.glob("*.zim")):
            name, date = file.stem.rsplit("_", 1)
            newest[name] = (file, date)
        wanted = query.get("name", [""])[0]
        words = query.get("q", [""])[0].lower().split()
        entries = [
            ENTRY.format(
                uuid=uuid5(NAMESPACE_URL, file.name),
                title=name.split("_", 1)[0].title(),
                name=name,
                date=date,
                base=base,
                file=file.name,
                size=file.stat().st_size,
            )
            for name, (file, date) in sorted(newest.items())
            if (not wanted or name == wanted) and all(w in name for w in words)
        ]
        feed = FEED.format(
            uuid=uuid5(NAMESPACE_URL, base), total=len(entries), entries="\n".join(entries)
        )
        return feed.encode()

    def reply(self, status, body, mime, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", mime)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Accept-Ranges", "bytes")
        for key, value in dict(headers).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    Mirror.folder = Path(sys.argv[1])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Mirror).serve_forever()
