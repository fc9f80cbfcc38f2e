"""The process that reads ZIM files, and what its parent does when a file ends it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from infoforge.corpus.base import CorpusError, Deadline
from infoforge.corpus.zim import ZimCorpus
from infoforge.zimreader import child, process
from infoforge.zimreader.frames import LENGTH, pack, unpack
from infoforge.zimreader.process import ZimError, ZimFile, ZimProcess, ZimTimeout, probe_zim

ARTICLES = {
    "Kokoro": "<p>Kokoro is a novel by Natsume Soseki.</p>",
    "The Gate": "<p>The Gate is another novel.</p>",
}
REDIRECTS = {"Heart (novel)": "Kokoro"}
SOON = 30.0
DEADLY = "american conference"
"""A search that ends the process in rotten.zim."""


@pytest.fixture
def path(make_zim: Callable[..., Path]) -> Path:
    return make_zim(ARTICLES, redirects=REDIRECTS)


@pytest.fixture
def rotten(shared_data: Path, tmp_path: Path) -> Path:
    """A file of its own for each test: how often one has ended its process is remembered."""
    copy = tmp_path / "rotten.zim"
    shutil.copy(shared_data / "zims" / "hostile" / "rotten.zim", copy)
    return copy


@pytest.mark.parametrize("fields", [[], [b""], [b"ok", b"", "Sōseki".encode()], [b"\0" * 70_000]])
def test_fields_go_through_a_frame_unchanged(fields: list[bytes]) -> None:
    frame = pack(fields)
    assert int.from_bytes(frame[:LENGTH], "little") == len(frame) - LENGTH
    assert unpack(frame[LENGTH:]) == fields


@pytest.mark.parametrize("body", [b"\1", b"\5\0\0\0abc", b"\xff\xff\xff\xffabc"])
def test_lengths_that_do_not_add_up_are_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="cut short"):
        unpack(body)


@contextmanager
def served() -> Iterator[Callable[..., list[bytes]]]:
    """The child's loop in a thread of this process, and a way to ask it."""
    from_parent, to_child = os.pipe()
    from_child, to_parent = os.pipe()
    thread = Thread(target=child.serve, args=(from_parent, to_parent), kwargs={"alarm": False})
    thread.start()

    def ask(*fields: bytes) -> list[bytes]:
        os.write(to_child, pack([b"1000", *fields]))
        size = int.from_bytes(os.read(from_child, LENGTH), "little")
        body = b""
        while len(body) < size:
            body += os.read(from_child, size - len(body))
        return unpack(body)

    try:
        yield ask
    finally:
        os.close(to_child)
        thread.join()
        for end in (from_parent, from_child, to_parent):
            os.close(end)


def test_the_child_answers_until_its_input_ends(path: Path) -> None:
    with served() as ask:
        status, number, uuid, *facts = ask(b"open", os.fsencode(path), b"Language", b"Nothing")
        assert (status, len(uuid), facts[:3]) == (b"ok", 36, [b"1", b"1", b"1"])
        assert facts[-2:] == [b"eng", b""]
        assert ask(b"search", number, b"natsume novel", b"5") == [b"ok", b"1", b"Kokoro", b"Kokoro"]
        assert ask(b"titles", number, b"kok", b"5") == [b"ok", b"Kokoro", b"Kokoro"]
        status, real, title, kind, content = ask(b"read", number, b"Heart_(novel)")
        assert (status, real, title, kind) == (b"ok", b"Kokoro", b"Kokoro", b"text/html")
        assert b"Natsume" in content
        assert ask(b"read", number, b"absent") == [b"none"]
        assert ask(b"missing", number, b"Kokoro", b"absent") == [b"ok", b"absent"]
        assert ask(b"checksum", number) == [b"ok", b"1"]
        assert ask(b"probe", number, b"0") == ask(b"probe", number, b"1") == [b"ok"]
        assert ask(b"close", number) == ask(b"reset") == [b"ok"]
        assert ask(b"read", number, b"Kokoro")[0] == b"error"
        assert ask(b"open", b"/no/such.zim")[0] == b"error"


def test_a_file_says_what_it_is_and_what_it_has(path: Path) -> None:
    zim = ZimFile(path, keys=("Title", "Language"))
    assert (zim.facts.fulltext, zim.facts.titles, zim.facts.articles) == (True, True, 3)
    assert zim.facts.metadata["Language"] == "eng"
    assert zim.search("natsume novel", 5, SOON) == (1, [("Kokoro", "Kokoro")])
    assert zim.titles("gate", 5, SOON) == [("The_Gate", "The Gate")]
    entry = zim.read("Heart_(novel)", SOON)
    assert entry is not None
    assert (entry.path, b"Natsume" in entry.content) == ("Kokoro", True)
    assert zim.read("no\udcffpe\0", SOON) is None
    assert zim.missing(["Kokoro", "No"], SOON) == ["No"]
    assert zim.checksum(SOON)
    assert probe_zim(path) == probe_zim(path, full=True) == ""


def test_what_is_no_zim_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.zim"
    assert "No such file" in probe_zim(bad)
    bad.write_bytes(b"no ZIM\n" * 100)
    assert probe_zim(bad)
    with pytest.raises(CorpusError, match=r"bad\.zim does not open"):
        ZimCorpus(bad)


def test_a_file_that_ends_its_process_leaves_the_others_alone(rotten: Path, path: Path) -> None:
    together = ZimProcess()
    bad, good = ZimFile(rotten, together), ZimFile(path, together)
    with pytest.raises(ZimError, match=r"ended the process that reads it \(signal \d+\)"):
        bad.search(DEADLY, 5, SOON)
    assert good.search("natsume novel", 5, SOON)[0] == 1
    assert "ended" in probe_zim(rotten)
    # It is not tried for ever, and says so at once.
    with pytest.raises(ZimError, match="3 times"):
        ZimFile(rotten)
    assert good.read("Kokoro", SOON) is not None


def test_a_process_that_somebody_else_ends_is_replaced(path: Path) -> None:
    zim = ZimFile(path)
    assert zim._process is not None
    os.kill(zim._process.child.pid, signal.SIGKILL)
    assert zim.search("natsume novel", 5, SOON)[0] == 1


def test_an_idle_process_that_was_ended_is_not_used(path: Path) -> None:
    process._idle.clear()
    process.start()
    (idle,) = process._idle
    idle.used = True
    os.kill(idle.pid, signal.SIGKILL)
    assert ZimFile(path).search("natsume novel", 5, SOON)[0] == 1


def test_a_process_is_used_again_for_other_files(path: Path, make_zim: Callable[..., Path]) -> None:
    process._idle.clear()
    first = ZimFile(path)
    assert first._process is not None
    pid = first._process.child.pid
    del first
    second = ZimFile(make_zim({"Other": "<p>Another file.</p>"}, name="other_en"))
    assert second._process is not None
    assert second._process.child.pid == pid


def test_a_call_that_does_not_end_is_ended(path: Path) -> None:
    zim = ZimFile(path)
    assert zim._process is not None
    os.kill(zim._process.child.pid, signal.SIGSTOP)
    with pytest.raises(ZimTimeout):
        zim.search("natsume", 5, 0.05)
    assert zim.search("natsume", 5, SOON)[0] == 1


def test_one_call_does_not_take_the_time_of_the_other_corpora(path: Path) -> None:
    corpus = ZimCorpus(path, alone=False)
    assert corpus._zim._process is not None
    os.kill(corpus._zim._process.child.pid, signal.SIGSTOP)
    deadline = Deadline(0.4)
    with pytest.raises(CorpusError, match="half of the time"):
        corpus.search("natsume", 5, deadline)
    assert not deadline.passed()


@pytest.mark.parametrize("reply", [b"\xff\xff\xff\xff", b"\5\0\0\0\xff\xff\xff\xffa", b"\0\0\0\0"])
def test_nonsense_from_the_process_is_an_error(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reply: bytes
) -> None:
    program = tmp_path / "liar.py"
    program.write_text(f"import os\nwhile os.read(0, 65536):\n    os.write(1, {reply!r})\n")
    monkeypatch.setattr(process, "_CHILD", str(program))
    process._idle.clear()
    with pytest.raises(ZimError):
        ZimFile(path)


def test_memory_is_limited(path: Path) -> None:
    zim = ZimFile(path)
    assert zim._process is not None
    limits = Path(f"/proc/{zim._process.child.pid}/limits").read_text("utf-8")
    size = next(line.split()[3] for line in limits.splitlines() if "Max data size" in line)
    assert int(size) == child.DATA_LIMIT


def test_titles_are_found_by_their_beginnings_where_there_is_no_index(
    make_zim: Callable[..., Path],
) -> None:
    path = make_zim({**ARTICLES, "Red Dawn": "<p>A film.</p>"}, name="bare_en", fulltext=False)
    # libzim writes a title index in any case: it is hidden under a name that nothing looks for.
    path.write_bytes(path.read_bytes().replace(b"title/xapian", b"title/xapiax"))
    corpus = ZimCorpus(path)
    assert not corpus.describe().titles
    for phrase, title in (
        ("The Gate", "The Gate"), ("Gate", "The Gate"), ("the gate", "The Gate"),
        ("kokoro", "Kokoro"), ("The Kokoro", "Kokoro"), ("red dawn", "Red Dawn"),
    ):  # fmt: skip
        assert [hit.title for hit in corpus.titles(phrase, 5, Deadline(None))] == [title], phrase
