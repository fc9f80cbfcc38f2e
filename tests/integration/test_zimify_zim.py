"""`infoforge zimify` from the folder to what kiwix-serve, zimcheck and libzim make of the file."""

import datetime
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.documents import PNG, docx, epub, pdf, write_tree, zip_bomb
from support.kiwix import REPO

import infoforge
from infoforge.contract import CheckFailed, InfoForgeError, UsageError
from infoforge.zimify import build as building
from infoforge.zimify.build import zimify
from infoforge.zimify.records import ConversionOptions
from infoforge.zimify.titleindex import add_title_index
from infoforge.zimify.writer import ZimWriter, illustration

SCHEMA = Draft202012Validator(
    json.loads((Path(infoforge.__file__).parent / "data/schemas/zimify.schema.json").read_text())
)
VAULT = {
    "README.md": "# The vault\n\nStart with [[Penguins]].\n",
    "Penguins.md": (
        "---\naliases: [Spheniscidae, /old/penguins/]\n---\n# Penguins\n\n"
        "A penguin lives in the south. See [[Walrus]], [the plan](work/plan.md#next-steps), "
        "![p](pic.png) and [the site](site/index.html).\n"
    ),
    "Walrus.md": "# Walrus\n\nA walrus has long tusks. [gone](gone.md)\n",
    "work/plan.md": "# Plan\n\n## Next steps\n\nBuy herring. [[Penguins]]\n",
    "pic.png": PNG,
    "site/index.html": (
        "<html><head><title>The site</title><link rel=stylesheet href=s.css></head>"
        "<body>A narwhal swims. <a href='../work/plan.md'>plan</a></body></html>"
    ),
    "site/s.css": "body{}",
    "notes.txt": "plain words about lemmings",
    "data.csv": "animal;tusks\nelephant;2\n",
    "manual.pdf": pdf(["The ostrich cannot fly"], "Ostrich manual"),
    "letter.docx": docx([("Heading1", "Letter"), ("Normal", "The wombat digs")], picture=True),
    "book.epub": epub("The book", {"one.xhtml": "<h1>Start</h1><p>An okapi is shy</p>"}),
}
SEARCHES = {
    "penguin": "Penguins",
    "tusks herring": None,
    "tusks walrus": "Walrus",
    "narwhal": "site/index.html",
    "lemmings": "notes",
    "elephant": "data",
    "ostrich": "manual",
    "wombat": "letter",
    "okapi": "book.epub.book/OEBPS/one.xhtml",
}


def make(folder, target, **options):
    warnings = []
    report = zimify(folder, target, ConversionOptions(**options), warn=warnings.append)
    return report, warnings


def archive(path):
    from libzim.reader import Archive

    return Archive(path)


def content(zim, path):
    return bytes(zim.get_entry_by_path(path).get_item().content).decode()


def entries(zim):
    """Path -> (title, target of a redirect or media type, content) of every entry."""
    found = {}
    for number in range(zim.all_entry_count):
        entry = zim._get_entry_by_id(number)
        if entry.is_redirect:
            found[entry.path] = (entry.title, entry.get_redirect_entry().path, b"")
        elif "xapian" not in entry.get_item().mimetype:
            item = entry.get_item()
            found[entry.path] = (entry.title, item.mimetype, bytes(item.content))
    return found


def listed(folder):
    """Names in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def checkers():
    """The zimcheck of the system, and that of Debian 13 where it can be had."""
    found = [[path]] if (path := shutil.which("zimcheck")) else []
    wrapper = REPO / "scripts" / "kiwix-3.7"
    if not subprocess.run([wrapper, "--prepare"], capture_output=True, check=False).returncode:
        found.append([str(wrapper), "zimcheck"])
    return found


def assert_clean(path):
    """No checker has an error or a warning."""
    tools = checkers()
    if not tools:
        pytest.skip("zimcheck is not installed (see scripts/system-packages)")
    for tool in tools:
        done = subprocess.run(
            [*tool, "-A", "-D", path], capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        assert "Overall Test Status: Pass" in said, said
        assert "[WARNING]" not in said, said
        assert "[ERROR]" not in said, said


def searched(zim, query):
    from libzim.search import Query, Searcher

    return list(Searcher(zim).search(Query().set_query(query)).getResults(0, 5))


def suggested(zim, words):
    from libzim.suggestion import SuggestionSearcher

    return list(SuggestionSearcher(zim).suggest(words).getResults(0, 5))


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    home = tmp_path_factory.mktemp("vault")
    folder = write_tree(home / "My notes", VAULT)
    report, warnings = make(folder, home / "notes.zim")
    return home / "notes.zim", report, warnings


def test_a_folder_of_every_format_passes_zimcheck(vault):
    assert_clean(vault[0])


def test_every_document_is_found_by_its_words(vault):
    zim = archive(vault[0])
    for query, path in SEARCHES.items():
        assert searched(zim, query)[:1] == ([path] if path else []), query


def test_titles_and_aliases_are_suggested(vault):
    zim = archive(vault[0])
    assert suggested(zim, "peng") == ["Penguins"]
    assert suggested(zim, "sphenis") == ["Spheniscidae"]
    assert suggested(zim, "ostrich") == ["manual"]


def test_aliases_and_old_names_are_redirects(vault):
    zim = archive(vault[0])
    for old in ("Penguins.md", "Spheniscidae", "old/penguins"):
        assert zim.get_entry_by_path(old).get_redirect_entry().path == "Penguins"
    assert zim.get_entry_by_path("notes.txt").get_redirect_entry().path == "notes"


def test_attachments_are_kept_as_they_were(vault):
    zim = archive(vault[0])
    for name in ("pic.png", "manual.pdf", "letter.docx", "book.epub", "data.csv", "site/s.css"):
        expected = VAULT[name]
        expected = expected.encode() if isinstance(expected, str) else expected
        item = zim.get_entry_by_path(name).get_item()
        assert bytes(item.content) == expected
    assert zim.get_entry_by_path("manual.pdf").get_item().mimetype == "application/pdf"
    # The picture in the letter is the very one of the folder: it is stored once.
    assert zim.get_entry_by_path("pic.png").get_item()._index == (
        zim.get_entry_by_path("letter.docx.pictures/1.png").get_item()._index
    )


def test_the_front_page_lists_the_folder(vault):
    zim = archive(vault[0])
    page = content(zim, zim.main_entry.get_item().path)
    for link in ("Penguins", "README", "work/index", "manual", "letter", "site/index.html"):
        assert f'href="{link}"' in page
    assert ">Ostrich manual</a>" in page
    assert 'href="plan"' in content(zim, "work/index")
    assert searched(zim, "README") == []


def test_metadata_is_complete(vault):
    path, report, _ = vault
    zim = archive(path)
    meta = {key: zim.get_metadata(key).decode() for key in zim.metadata_keys if "Illus" not in key}
    assert meta["Title"] == "My notes" == report.title
    assert meta["Name"] == "my_notes" == report.name
    assert meta["Language"] == "eng"
    assert meta["Publisher"] == "InfoForge"
    assert meta["Creator"]
    assert meta["Description"]
    assert datetime.date.fromisoformat(meta["Date"])
    assert "text/html=" in meta["Counter"]
    assert zim.get_illustration_sizes() == {48}
    assert bytes(zim.get_illustration_item(48).content).startswith(b"\x89PNG")


def test_dead_links_are_reported_and_the_others_work(vault):
    _, report, warnings = vault
    assert report.dead_links == (("Walrus.md", "gone.md"),)
    assert [n.message for n in warnings if n.code == "zimify_dead_links"] == [
        "1 dead link(s) were made plain text: gone.md in Walrus.md"
    ]
    page = content(archive(vault[0]), "Penguins")
    for link in ('"Walrus"', '"work/plan#next-steps"', '"pic.png"', '"site/index.html"'):
        assert link in page


@pytest.mark.parametrize("version", ["kiwix37", "kiwix33"])
def test_kiwix_serve_shows_it_in_its_catalog_and_searches_it(vault, version, request):
    server = request.getfixturevalue(version)(vault[0])
    catalog = get(f"{server.url}/catalog/v2/entries")
    assert "<title>My notes</title>" in catalog
    assert "<name>my_notes</name>" in catalog
    assert "<language>eng</language>" in catalog
    assert "opds/image/thumbnail" in catalog or "opds-spec.org/image/thumbnail" in catalog
    for query, path in SEARCHES.items():
        asked = urllib.parse.urlencode({"pattern": query, "content": "notes", "format": "xml"})
        links = re.findall(r"<link>([^<]+)</link>", get(f"{server.url}/search?{asked}"))
        hits = [link for link in links if "/notes/" in link]
        assert bool(hits) == bool(path), query
        if path:
            assert urllib.parse.unquote(hits[0]).endswith(f"/notes/{path}")
            assert "<html" in get(server.url + urllib.parse.quote(hits[0], safe="/%"))


@pytest.mark.parametrize("version", ["kiwix37", "kiwix33"])
def test_templates_in_a_note_do_not_break_the_search(tmp_path, version, request):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "helm.md").write_text("# Helm\n\nOur chart says `{{ .Values` at its top.\n")
    (notes / "go.html").write_text("<h1>Go</h1><p>Our chart says <b>{</b>{if</p>")
    make(notes, tmp_path / "notes.zim", language="eng")
    server = request.getfixturevalue(version)(tmp_path / "notes.zim")
    found = get(f"{server.url}/search?pattern=chart&content=notes&format=xml")
    assert len(re.findall("<item>", found)) == 2


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


HOSTILE = {
    "a#b?c%20d.md": "# Odd\n\n[[emoji 😀]] [self](a%23b%3Fc%2520d.md)\n",
    "emoji 😀.md": "text about zebras",
    "new\nline.md": "# New line\n\ngiraffes",
    "x" * 252 + ".md": "# Long name\n\nmarmots",
    "é" * 125 + ".txt": "long umlauts",
    "empty.md": "",
    "empty.txt": "",
    "empty.html": "",
    "empty.csv": "",
    "empty.bin": "",
    "one/same.md": "# Same\n\nfirst of two",
    "two/same.md": "# Same\n\nsecond of two",
    "three/copy.html": "<title>Copy</title><a href='x.html'>x</a>",
    "four/copy.html": "<title>Copy</title><a href='x.html'>x</a>",
    "three/x.html": "<title>X</title>three",
    "four/x.html": "<title>X</title>four",
    "three/s.css": "p{}",
    "four/s.css": "p{}",
    "img/one.png": PNG,
    "img/two.png": PNG,
    "W" * 250 + ".md": "W" * 5000,
    "title.md": f"---\ntitle: {'T' * 300}\n---\nheading too long",
    "locked.pdf": pdf(["secret"], password="x"),
    "broken.pdf": b"%PDF-1.4",
    "bomb.docx": zip_bomb(),
    "binary.txt": bytes(range(256)) * 40,
    "broken.epub": b"no zip",
    "page.html": '<a href="javascript:x()">j</a><a href="news:x">n</a><img src="//h.example/i">',
}
UNREADABLE = ("binary.txt", "bomb.docx", "broken.epub", "broken.pdf", "locked.pdf")


def test_hostile_folders(tmp_path):
    folder = write_tree(tmp_path / "in", HOSTILE)
    (folder / "one" / "loop").symlink_to("..")
    report, warnings = make(folder, tmp_path / "out.zim")
    assert tuple(name for name, _ in report.unreadable) == UNREADABLE
    for name in UNREADABLE:
        assert any(n.message.startswith(f"skipping {name}: ") for n in warnings)
    zim = archive(tmp_path / "out.zim")
    assert searched(zim, "zebras") == ["emoji 😀"]
    assert searched(zim, "giraffes") == ["new\nline"]
    assert searched(zim, "marmots") == ["x" * 252]
    assert sorted(suggested(zim, "same")) == ["one/same", "two/same"]
    assert sorted(searched(zim, "two second")) == ["two/same"]
    assert "emoji%20%F0%9F%98%80" in content(zim, "a#b?c%20d")
    assert zim.get_entry_by_path("binary.txt").get_item().size == len(HOSTILE["binary.txt"])
    assert_clean(tmp_path / "out.zim")


def test_the_same_folder_gives_the_same_entries(tmp_path):
    first = write_tree(tmp_path / "one" / "My notes", VAULT)
    shutil.copytree(first, tmp_path / "two" / "My notes")
    make(first, tmp_path / "one.zim", workers=0)
    make(tmp_path / "two" / "My notes", tmp_path / "two.zim", workers=3)
    assert entries(archive(tmp_path / "one.zim")) == entries(archive(tmp_path / "two.zim"))


def test_the_options_stand_in_the_metadata(tmp_path):
    folder = write_tree(tmp_path / "in", {"a.md": "eins", "b.md": "zwei", "c/d.md": "drei"})
    options = {
        "language": "de",
        "title": "Titel",
        "name": "name_de_all",
        "description": "Über alles",
        "creator": "Wir",
        "publisher": "Ihr",
        "date": "2020-02-29",
    }
    report, _ = make(folder, tmp_path / "out.zim", exclude=("b.md", "c"), **options)
    zim = archive(tmp_path / "out.zim")
    for key, value in options.items():
        told = zim.get_metadata(key.capitalize()).decode()
        assert told == ("deu" if key == "language" else value)
    assert report.articles == 1
    assert not zim.has_entry_by_path("b")
    assert not zim.has_entry_by_path("c/d")


def test_the_date_is_that_of_the_newest_file_and_the_language_that_of_the_documents(tmp_path):
    folder = write_tree(tmp_path / "in", {"a.html": "<html lang=fr><title>A</title>", "b.md": "x"})
    for number, name in enumerate(("a.html", "b.md")):
        os.utime(folder / name, (1_600_000_000 + number * 86400 * 40,) * 2)
    report, _ = make(folder, tmp_path / "out.zim")
    assert (report.date, report.language) == ("2020-10-23", "fra")


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("out.zip", {}, "must end in .zim"),
        ("gone/out.zim", {}, "no such folder"),
        ("out.zim", {"language": "klingon"}, "not a language code"),
        ("out.zim", {"title": "x" * 31}, "31 characters"),
        ("out.zim", {"description": "x" * 81}, "81 characters"),
        ("out.zim", {"date": "yesterday"}, "not a date"),
        ("out.zim", {"exclude": ("*.md",)}, "nothing to convert"),
        ("in/folder.zim", {}, "is a folder"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(tmp_path, target, options, words):
    folder = write_tree(tmp_path / "in", {"a.md": "x", "folder.zim/b.md": "x"})
    with pytest.raises(UsageError, match=words):
        make(folder, tmp_path / target, **options)
    with pytest.raises(UsageError, match="no such folder"):
        make(tmp_path / "nowhere", tmp_path / "out.zim")


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    folder = write_tree(tmp_path / "in", {"a.md": "x"})
    target = tmp_path / "out.zim"
    target.write_text("the old one")

    def damaged(writer):
        assert target.read_text() == "the old one"
        raise CheckFailed("as if it were damaged")

    monkeypatch.setattr(building, "check", damaged)
    with pytest.raises(CheckFailed):
        make(folder, target)
    assert target.read_text() == "the old one"
    assert listed(tmp_path) == ["in", "out.zim"]


def test_a_finished_file_that_lacks_entries_is_not_kept(tmp_path, monkeypatch):
    folder = write_tree(tmp_path / "in", {"a.md": "x", "b.md": "y"})
    add = ZimWriter.page

    def forgetful(self, page):
        add(self, page)
        self.paths.add("never/written")

    monkeypatch.setattr(ZimWriter, "page", forgetful)
    with pytest.raises(CheckFailed, match="never/written"):
        make(folder, tmp_path / "out.zim")
    assert listed(tmp_path) == ["in"]


def test_a_full_disk_ends_in_an_error_and_leaves_nothing(run_cli, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", small],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("cannot mount a tmpfs (not root)")
    try:
        folder = write_tree(tmp_path / "in", {f"{n}.bin": os.urandom(100_000) for n in range(9)})
        write_tree(folder, {"a.md": "text"})
        run = run_cli("zimify", str(folder), "-o", str(small / "out.zim"), process=True)
        assert run.code == 1
        assert "No space left" in run.stderr or "could not finish" in run.stderr
        assert "Traceback" not in run.stderr
        assert listed(small) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_ctrl_c_leaves_nothing(tmp_path):
    folder = write_tree(
        tmp_path / "in", {f"{n}.md": f"# N{n}\n\n" + "a b c " * 9000 for n in range(300)}
    )
    script = Path(sys.executable).parent / "infoforge"
    process = subprocess.Popen(
        [script, "zimify", folder, "-o", tmp_path / "out.zim"],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".out.zim.*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[1].decode()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert listed(tmp_path) == ["in"]


def killed(batch):
    """In place of a worker's function: what the kernel does when memory ends."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_is_told(tmp_path, monkeypatch):
    from infoforge.zimify import pool

    monkeypatch.setattr(pool, "_render", killed)
    folder = write_tree(tmp_path / "in", {"a.md": "x", "b.md": "x"})
    with pytest.raises(InfoForgeError, match=r"a reader process was killed.*a\.md, b\.md"):
        make(folder, tmp_path / "out.zim", workers=1)
    assert listed(tmp_path) == ["in"]


def test_a_document_that_takes_for_ever_or_all_memory_is_named(tmp_path, monkeypatch):
    from infoforge.zimify import pool, readers

    def slow(document, shelf, frame):
        if document.file.rel == "a.md":
            while True:
                pass
        if document.file.rel == "b.md":
            return readers.Rendered(error=str(len(bytearray(8 << 30))))
        return real(document, shelf, frame)

    real = pool.read
    monkeypatch.setattr(pool, "SECONDS", 1)
    monkeypatch.setattr(pool, "read", guard(slow, real))
    folder = write_tree(tmp_path / "in", {"a.md": "x", "b.md": "x", "c.md": "fine"})
    report, _ = make(folder, tmp_path / "out.zim", workers=1)
    assert dict(report.unreadable) == {
        "a.md": "not read within 1 seconds",
        "b.md": "needs too much memory",
    }
    assert report.articles == 1


def guard(reader, real):
    """What `readers.read` does round a reader, round another one."""
    from infoforge.zimify.records import Rendered

    def read(document, shelf, frame):
        try:
            return reader(document, shelf, frame)
        except MemoryError:
            return Rendered(error="needs too much memory")

    return read


def test_large_attachments_are_streamed_and_stored_once(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "IN_MEMORY", 1000)
    big = os.urandom(50_000)
    folder = write_tree(
        tmp_path / "in",
        {"a.md": "x", "b.bin": big, "c.bin": big, "d.bin": big[::-1], "e.bin": "small"},
    )
    make(folder, tmp_path / "out.zim")
    zim = archive(tmp_path / "out.zim")
    assert bytes(zim.get_entry_by_path("b.bin").get_item().content) == big
    assert zim.get_entry_by_path("c.bin").get_redirect_entry().path == "b.bin"
    assert bytes(zim.get_entry_by_path("d.bin").get_item().content) == big[::-1]


def test_long_texts_and_tables_are_streamed_in_parts(tmp_path):
    text = "\n".join(f"line {number} about ice" for number in range(60_000))
    table = "\n".join(f"{number},x{number}" for number in range(150_000))
    folder = write_tree(tmp_path / "in", {"long.txt": text, "long.csv": f"n,x\n{table}\n"})
    report, _ = make(folder, tmp_path / "out.zim")
    zim = archive(tmp_path / "out.zim")
    assert "line 59999 about ice" in content(zim, "long.txt (2)")
    assert "x149999" in content(zim, "long (75)")
    assert report.articles == 2 + 75


def test_a_website_keeps_its_own_front_page(tmp_path):
    folder = write_tree(tmp_path / "in", {"index.html": "<title>Home</title>", "b.md": "x"})
    make(folder, tmp_path / "out.zim")
    zim = archive(tmp_path / "out.zim")
    assert zim.main_entry.get_item().path == "index.html"
    assert 'href="b"' in content(zim, "index")


def test_old_readers_find_the_title_index_they_need(vault, tmp_path):
    copy = Path(shutil.copy(vault[0], tmp_path / "copy.zim"))
    assert not add_title_index(copy)
    assert copy.read_bytes() == vault[0].read_bytes()


def test_the_illustration_is_a_picture_of_its_own():
    assert illustration("a") == illustration("a")
    assert illustration("a") != illustration("b")
    assert illustration("a")[16:24] == (48).to_bytes(4, "big") * 2


def test_the_command_tells_what_it_did(run_cli, tmp_path):
    folder = write_tree(tmp_path / "in", {**VAULT, "locked.pdf": pdf(["x"], password="x")})
    run = run_cli("zimify", str(folder), "-o", str(tmp_path / "out.zim"), "--json")
    assert run.code == 0
    assert run.json["command"] == "zimify"
    SCHEMA.validate(run.json["data"])
    assert run.json["data"]["unreadable"] == {
        "count": 1,
        "items": [{"document": "locked.pdf", "reason": "protected by a password"}],
    }
    assert run.json["data"]["dead_links"]["count"] == 1
    assert {w["code"] for w in run.json["warnings"]} == {"zimify_dead_links", "zimify_unreadable"}
    strict = run_cli("zimify", str(folder), "-o", str(tmp_path / "out.zim"), "--strict")
    assert strict.code == 1
    assert "not converted: 1" in strict.stdout
    assert "warning: skipping locked.pdf: protected by a password" in strict.stderr
    wrong = run_cli("zimify", str(tmp_path / "nowhere"), "-o", str(tmp_path / "x.zim"), "--json")
    assert wrong.code == 2
    assert wrong.json["errors"][0]["message"].startswith("no such folder")


def test_the_runbooks(shared_data, tmp_path):
    report, _ = make(shared_data / "vaults" / "runbooks", tmp_path / "out.zim")
    assert report.dead_links == ()
    assert report.unreadable == ()
    zim = archive(tmp_path / "out.zim")
    notes = list((shared_data / "vaults" / "runbooks").rglob("*.md"))
    assert report.articles == len(notes)
    assert searched(zim, "raid degraded")[0].endswith("NodeRAIDDegraded")
    assert_clean(tmp_path / "out.zim")


def test_a_documentation_site(tmp_path):
    site = Path("/usr/share/doc/python3/html")
    if not (site / "index.html").is_file():
        pytest.skip("Debian's python3-doc is not installed")
    # A part of it: the whole is for the bench.
    names = ("index.html", "about.html", "bugs.html", "license.html", "copyright.html")
    folder = tmp_path / "in"
    folder.mkdir()
    for name in names:
        shutil.copy(site / name, folder / name)
    shutil.copytree(site / "_static", folder / "_static", symlinks=False)
    shutil.copytree(site / "tutorial", folder / "tutorial", symlinks=False)
    report, _ = make(folder, tmp_path / "out.zim")
    alive = {os.path.relpath(path, folder) for path in folder.rglob("*") if path.is_file()}
    for document, link in report.dead_links:
        wanted = Path(document).parent / urllib.parse.unquote(link.split("#")[0])
        target = os.path.normpath(wanted)
        assert target not in alive
    assert_clean(tmp_path / "out.zim")
    found = searched(archive(tmp_path / "out.zim"), "appetite whetting")
    assert found[0] == "tutorial/appetite.html"


def test_a_terminal_sees_a_bar_and_nobody_else_does(tmp_path, run_cli):
    folder = write_tree(tmp_path / "in", {f"{n}.md": f"note {n}" for n in range(20)})
    argv = ["zimify", str(folder), "-o", str(tmp_path / "out.zim")]
    assert "%" not in run_cli(*argv).stderr
    ours, theirs = pty.openpty()
    script = Path(sys.executable).parent / "infoforge"
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(
        [script, *argv], stdout=subprocess.PIPE, stderr=theirs, env=environment
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    assert process.communicate(timeout=60)[0].startswith(str(tmp_path).encode())
    assert process.returncode == 0
    assert b"zimify" in said
    assert b"100%" in said


def test_a_parser_that_dies_costs_its_document_alone(tmp_path, monkeypatch):
    from infoforge.zimify.readers import pdf as reader

    def dying(document, index, frame):
        if document.file.rel == "bad.pdf":
            os.kill(os.getpid(), signal.SIGSEGV)
        return real(document, index, frame)

    real = reader.read
    monkeypatch.setattr(reader, "read", dying)
    files = {"bad.pdf": pdf(["x"]), "good.pdf": pdf(["The ostrich"]), "a.md": "x"}
    folder = write_tree(tmp_path / "in", files)
    report, _ = make(folder, tmp_path / "o.zim", workers=1)
    assert [name for name, _ in report.unreadable] == ["bad.pdf"]
    assert "-11" in report.unreadable[0][1]


def test_what_is_only_kept_is_named_and_fails_with_strict(tmp_path, run_cli):
    files = {"a.md": "x", "b.adoc": "x", "c.adoc": "x", "~$d.docx": "x"}
    folder = write_tree(tmp_path / "in", files)
    (folder / "key").symlink_to("/etc/passwd")
    command = ["zimify", str(folder), "-o", str(tmp_path / "o.zim")]
    done = run_cli(*command, "--json", "--strict")
    data = done.json["data"]
    assert done.code == 1
    assert data["unsupported"]["items"][0] == {"document": "b.adoc", "format": ".adoc"}
    assert data["unsupported"]["count"] == 2
    assert [item["document"] for item in data["left_out"]["items"]] == ["key"]
    done = run_cli(*command)
    assert done.code == 0
    assert "without a reader: 2\n  b.adoc: .adoc" in done.stdout
    assert "left out: 1\n  key: a link" in done.stdout
