"""Pulls from a real HTTP server: mirrors that fail in every way, resumes, editions, pins."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pytest
from support.mirror import Mirror
from support.zim import build_zim

from infoforge.contract import CheckFailed, InfoForgeError, UsageError, WarningMessage
from infoforge.files import write_atomic
from infoforge.net import Trust, public_session
from infoforge.zims.download import DownloadOptions
from infoforge.zims.events import Event
from infoforge.zims.listing import unfinished
from infoforge.zims.names import parse_wanted
from infoforge.zims.partial import PartialInfo, note_path
from infoforge.zims.pull import PullContext, PullResult, PullStep, execute, plan
from infoforge.zims.state import load_state
from infoforge.zims.update import check_updates

FILE = "wiki_en_all_nopic_2026-06.zim"
OLD = "wiki_en_all_nopic_2026-03.zim"
MIB = 1 << 20


def zim(folder: Path, file: str, size: int = MIB) -> bytes:
    folder.mkdir(exist_ok=True)
    noise = {"noise": ("application/octet-stream", os.urandom(size))}
    period = file[-11:-4]
    build_zim(
        folder / file, {"A": f"<p>{file}"}, name="wiki_en_all", date=f"{period}-01", extra=noise
    )
    return (folder / file).read_bytes()


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return zim(tmp_path_factory.mktemp("content"), FILE)


@pytest.fixture(scope="module")
def old_content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return zim(tmp_path_factory.mktemp("old"), OLD)


@dataclass
class Box:
    """A folder, a server, and what was told."""

    folder: Path
    server: Mirror
    job: PullContext
    events: list[Event] = field(default_factory=list)
    warnings: list[WarningMessage] = field(default_factory=list)

    def plan(self, *names: str) -> list[PullStep]:
        return plan(self.job, [parse_wanted(n) for n in names], load_state(self.folder))

    def pull(self, *names: str, **changes: object) -> list[PullResult]:
        job, state = replace(self.job, **changes), load_state(self.folder)  # type: ignore[arg-type]
        return execute(job, plan(job, [parse_wanted(n) for n in names], state), state)

    def partial(self, file: str, data: bytes, givers: Sequence[str] = (), etag: str = "") -> None:
        """Leave a broken-off download of ``file`` behind, as a killed process does."""

        whole = self.server.files[f"/zim/{file}"]
        note = PartialInfo(
            f"{self.server.url}/zim/{file}", len(whole), hashlib.sha256(whole).hexdigest()
        )
        path = self.folder / ".partial" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        note.givers = [f"{self.server.url}/{g}/{file}" for g in givers]
        if etag:
            note.validators = dict.fromkeys(note.givers, etag)
        write_atomic(note_path(path), json.dumps(asdict(note)).encode())

    @property
    def path(self) -> Path:
        return self.folder / FILE


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    folder = tmp_path / "zims"
    folder.mkdir()
    with Mirror() as server, public_session(Trust({"127.0.0.1"})) as session:
        made = Box(folder, server, PullContext(folder, server.catalog, session, print, print))
        made.job = PullContext(
            folder=folder,
            catalog=server.catalog,
            session=session,
            report=made.events.append,
            warn=made.warnings.append,
            options=DownloadOptions(stall=1.0, retries=2, pause=0.01),
        )
        yield made


def publish(box: Box, content: bytes, mirrors: Sequence[str] = ("a", "b"), **more: object) -> None:
    box.server.publish(
        FILE,
        content,
        mirrors=mirrors,
        name="wiki_en_all",
        flavour="nopic",
        **more,  # type: ignore[arg-type]
    )


def test_a_pull_and_the_same_pull_again(box: Box, content: bytes) -> None:
    publish(box, content)
    (done,) = box.pull("wiki_en_all:nopic")
    assert box.path.read_bytes() == content
    assert done.fetched is not None
    assert done.fetched.fetched == len(content)
    assert box.server.tried() == [f"/a/{FILE}"]
    assert list((box.folder / ".partial").iterdir()) == []
    assert box.path.stat().st_mode & 0o777 == 0o644
    asked = box.server.asked[-1].headers
    assert asked["user-agent"].startswith("infoforge/")
    assert asked["accept-encoding"] == "identity"
    (again,) = box.pull("wiki_en_all:nopic")
    assert again.fetched is None
    assert box.server.tried() == [f"/a/{FILE}"]


def test_the_plan_connects_but_changes_nothing(box: Box, content: bytes) -> None:
    publish(box, content)
    (step,) = box.plan("wiki_en_all")
    assert step.source is not None
    assert (step.file, step.size, step.reason) == (FILE, len(content), "is not there")
    assert step.sha256 == hashlib.sha256(content).hexdigest()
    assert list(box.folder.iterdir()) == []
    assert box.server.tried() == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("flip", "served a wrong file (SHA-256 differs)"),
        ("short", "bytes instead of"),
        ("404", "not there (HTTP 404)"),
        ("403", "forbidden (HTTP 403)"),
        ("500", "answers (HTTP 500)"),
        ("loop", "redirects in a circle"),
        ("stall", "nothing came for 1 s"),
        ("hang", "nothing came for 1 s"),
        ("cut", "the connection broke off at"),
        ("gzip", "compressed"),
        ("html", "bytes instead of"),
    ],
)
@pytest.mark.parametrize("piece", [0, 128 * 1024])
def test_the_next_mirror_finishes(
    box: Box, content: bytes, fault: str, reason: str, piece: int
) -> None:
    publish(box, content, piece=piece)
    box.server.faults[f"/a/{FILE}"] = fault
    (done,) = box.pull("wiki_en_all")
    assert box.path.read_bytes() == content
    assert done.fetched is not None
    assert done.fetched.mirror == f"{box.server.url}/b/{FILE}"
    told = [e.message for e in box.events if e.kind == "retry"]
    assert len(told) == 1
    if not (fault == "flip" and piece):
        assert reason in told[0]
    if fault in {"cut", "stall"} or (fault == "flip" and piece):
        # What the first mirror gave rightly is not fetched again.
        assert box.server.sent(f"/b/{FILE}") < 0.62 * len(content)


def test_a_wrong_byte_is_found_in_its_piece(box: Box, content: bytes) -> None:
    publish(box, content, piece=64 * 1024)
    box.server.faults[f"/a/{FILE}"] = "flip"
    box.pull("wiki_en_all")
    (told,) = [e.message for e in box.events if e.kind == "retry"]
    assert told.startswith("served a wrong byte between 5")
    assert box.path.read_bytes() == content


def test_all_bad_names_each_and_leaves_nothing_under_the_name(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("a", "b", "c", "d", "e", "f"))
    faults = {"a": "flip", "b": "short", "c": "404", "d": "403", "e": "loop", "f": "hang"}
    for mirror, fault in {**faults, "zim": "404"}.items():
        box.server.faults[f"/{mirror}/{FILE}"] = fault
    box.server.faults[f"/zim/{FILE}"] = "404"
    with pytest.raises(CheckFailed) as caught:
        box.pull("wiki_en_all")
    for mirror in (*faults, "zim"):
        assert f"{box.server.url}/{mirror}/{FILE}: " in caught.value.message
    for reason in ("SHA-256", "bytes instead", "404", "403", "circle", "nothing came"):
        assert reason in caught.value.message
    assert caught.value.code == "all_mirrors_failed"
    assert caught.value.data is not None
    assert len(caught.value.data["attempts"]) == 7
    assert caught.value.data["changed"] is False
    assert not box.path.exists()


def test_a_line_that_keeps_breaking_gets_there(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("a",))
    box.server.faults[f"/a/{FILE}"] = "cut"
    box.server.faults[f"/zim/{FILE}"] = "404"
    box.pull("wiki_en_all")
    assert box.path.read_bytes() == content
    # Each attempt brings half of what is missing; not one byte comes twice.
    assert box.server.sent(f"/a/{FILE}") == len(content)
    assert len(box.server.tried()) > 5


def test_a_single_mirror_that_is_wrong_is_not_asked_for_ever(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("zim",))
    box.server.faults[f"/zim/{FILE}"] = "flip"
    with pytest.raises(CheckFailed, match="SHA-256 differs"):
        box.pull("wiki_en_all")
    assert len(box.server.tried()) == 1


def test_resume_asks_with_if_range_and_reads_the_whole_file_again(box: Box, content: bytes) -> None:
    publish(box, content)
    etag = f'"{hashlib.md5(content).hexdigest()}"'
    box.partial(FILE, content[:400_000], ["a"], etag)
    (done,) = box.pull("wiki_en_all")
    request = box.server.asked[-1]
    assert request.headers["range"] == "bytes=400000-"
    assert request.headers["if-range"] == etag
    assert request.sent == len(content) - 400_000
    assert done.fetched is not None
    assert done.fetched.resumed_from == 400_000
    assert [e.done for e in box.events if e.kind == "verify"][-1] == len(content)
    assert box.path.read_bytes() == content


def test_a_resume_at_another_mirror_sends_no_if_range(box: Box, content: bytes) -> None:
    publish(box, content)
    box.partial(FILE, content[:400_000], ["a"], '"x"')
    box.server.faults[f"/a/{FILE}"] = "404"
    box.pull("wiki_en_all")
    request = box.server.asked[-1]
    assert request.path == f"/b/{FILE}"
    assert "if-range" not in request.headers
    assert request.sent == len(content) - 400_000
    assert box.path.read_bytes() == content


def test_a_partial_that_was_damaged_is_found_by_its_hash(box: Box, content: bytes) -> None:
    publish(box, content)
    box.partial(FILE, b"\0" * 400_000, ["a"])
    box.pull("wiki_en_all")
    assert box.path.read_bytes() == content


def test_pieces_save_the_good_part_of_a_damaged_partial(box: Box, content: bytes) -> None:
    piece = 64 * 1024
    publish(box, content, piece=piece)
    box.partial(FILE, content[: 5 * piece] + b"\0" * (2 * piece), ["a"])
    box.pull("wiki_en_all")
    assert box.server.asked[-1].headers["range"] == f"bytes={5 * piece}-"
    assert box.path.read_bytes() == content


def test_a_whole_partial_needs_no_byte_more(box: Box, content: bytes) -> None:
    publish(box, content)
    box.partial(FILE, content, ["a"])
    box.pull("wiki_en_all")
    assert box.server.tried() == []
    assert box.path.read_bytes() == content


def test_bad_bytes_of_one_mirror_do_not_condemn_the_other(box: Box, content: bytes) -> None:
    # a: a wrong byte in the part that came before the line broke; b: right, to the end.
    publish(box, content, mirrors=("a", "b"))
    wrong = bytearray(content[:600_000])
    wrong[1000] ^= 0xFF
    box.partial(FILE, bytes(wrong), ["a"])
    box.server.faults[f"/a/{FILE}"] = "flip"
    box.pull("wiki_en_all")
    assert box.path.read_bytes() == content


@pytest.mark.parametrize("fault", ["no-range", "chunked"])
def test_a_server_that_ignores_range(box: Box, content: bytes, fault: str) -> None:
    publish(box, content, mirrors=("a",))
    box.partial(FILE, content[:400_000], ["a"])
    box.server.faults[f"/a/{FILE}"] = fault
    box.server.faults[f"/zim/{FILE}"] = "404"
    box.pull("wiki_en_all")
    assert box.path.read_bytes() == content
    assert box.server.asked[-1].sent == len(content)


def test_one_that_honours_range_is_preferred_to_one_that_does_not(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("a", "b"))
    box.partial(FILE, content[:400_000], ["a"])
    box.server.faults[f"/a/{FILE}"] = "no-range"
    (done,) = box.pull("wiki_en_all")
    assert done.fetched is not None
    assert (done.fetched.mirror[-len(FILE) - 2 :], done.fetched.resumed_from) == (
        f"b/{FILE}",
        400_000,
    )
    assert box.server.sent(f"/b/{FILE}") == len(content) - 400_000


def test_a_server_that_sends_another_range(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("a", "b"))
    box.partial(FILE, content[:400_000], ["a"])
    box.server.faults[f"/a/{FILE}"] = "other-range"
    box.pull("wiki_en_all")
    assert box.path.read_bytes() == content
    assert box.server.tried() == [f"/a/{FILE}", f"/b/{FILE}"]
    assert box.server.sent(f"/b/{FILE}") == len(content) - 400_000


def test_a_file_that_changed_between_two_attempts_starts_over(
    box: Box, content: bytes, tmp_path: Path
) -> None:
    # The publisher put another file of the same name and size there: metalink and all.
    publish(box, content)
    box.partial(FILE, content[:400_000], ["a"], '"old"')
    other = zim(tmp_path / "other", FILE)
    box.server.published.clear()
    publish(box, other)
    box.pull("wiki_en_all")
    assert box.path.read_bytes() == other
    assert [n.code for n in box.warnings] == ["partial_discarded"]
    assert "range" not in box.server.asked[-1].headers


def test_a_mirror_whose_file_changed_is_found_out(box: Box, content: bytes) -> None:
    # Only the mirror's file changed, the metalink did not: If-Range gives the whole, other file.
    publish(box, content, mirrors=("a", "b"))
    box.partial(FILE, content[:400_000], ["a"], '"as it was"')
    box.server.files[f"/a/{FILE}"] = content[:-1] + b"x"
    box.pull("wiki_en_all")
    assert box.path.read_bytes() == content
    assert [e.message for e in box.events if e.kind == "retry"] == ["its file has changed"]
    assert box.server.sent(f"/b/{FILE}") == len(content) - 400_000


def test_no_hash_is_refused_and_can_be_insisted_on(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("zim",), meta4=False)
    box.server.files[f"/zim/{FILE}.sha256"] = b"no digest"
    url = f"{box.server.url}/zim/{FILE}"
    with pytest.raises(CheckFailed, match="no SHA-256") as caught:
        box.pull(url)
    assert "--no-verify" in caught.value.hint
    assert box.server.tried() == []
    box.pull(url, verify=False)
    assert box.path.read_bytes() == content


def test_without_a_hash_the_zims_own_checksum_must_fit(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("zim",), meta4=False)
    box.server.faults[f"/zim/{FILE}"] = "flip"
    with pytest.raises(CheckFailed, match="own checksum"):
        box.pull(f"{box.server.url}/zim/{FILE}", verify=False)
    assert not box.path.exists()
    assert unfinished(box.folder) == []


def test_a_sha256_beside_the_file_will_do(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("zim",), meta4=False)
    digest = hashlib.sha256(content).hexdigest()
    box.server.files[f"/zim/{FILE}.sha256"] = f"{digest}  {FILE}\n".encode()
    box.pull(f"{box.server.url}/zim/{FILE}")
    assert box.path.read_bytes() == content
    box.server.faults[f"/zim/{FILE}"] = "flip"
    box.path.unlink()
    with pytest.raises(CheckFailed, match="SHA-256 differs"):
        box.pull(f"{box.server.url}/zim/{FILE}")


def test_a_url_is_asked_first_its_mirrors_afterwards(box: Box, content: bytes) -> None:
    publish(box, content, mirrors=("a",))
    box.server.faults[f"/zim/{FILE}"] = "500"
    box.pull(f"{box.server.url}/zim/{FILE}.meta4")
    assert box.server.tried() == [f"/zim/{FILE}", f"/a/{FILE}"]


def test_a_file_that_is_right_and_still_no_zim(box: Box, old_content: bytes) -> None:
    box.server.publish(OLD, old_content, mirrors=("a",), name="wiki_en_all", flavour="nopic")
    box.pull("wiki_en_all")
    box.server.publish(FILE, b"no zim" * 5000, name="wiki_en_all", flavour="nopic")
    with pytest.raises(CheckFailed, match="no good ZIM"):
        box.pull("wiki_en_all", replace=True)
    assert not box.path.exists()
    assert (box.folder / OLD).read_bytes() == old_content


def test_an_older_edition_stays_until_told(box: Box, content: bytes, old_content: bytes) -> None:
    box.server.publish(OLD, old_content, name="wiki_en_all", flavour="nopic")
    box.pull("wiki_en_all")
    publish(box, content)
    looks = check_updates(box.job, [], load_state(box.folder))
    assert [(x.file, x.newest, x.action) for x in looks] == [(OLD, "2026-06", "update")]
    box.pull("wiki_en_all")
    assert (box.folder / OLD).exists()
    box.path.unlink()
    (done,) = box.pull("wiki_en_all", replace=True)
    assert done.removed == (OLD,)
    assert sorted(p.name for p in box.folder.glob("*.zim")) == [FILE]


def test_pins(box: Box, content: bytes, old_content: bytes) -> None:
    # The catalog shows the newest alone; the older one is still on the mirrors.
    box.server.publish(OLD, old_content, listed=False)
    publish(box, content)
    box.pull("wiki_en_all:nopic@2026-03")
    assert (box.folder / OLD).read_bytes() == old_content
    assert load_state(box.folder).pins == {"wiki_en_all_nopic": "2026-03"}
    assert [x.action for x in check_updates(box.job, [], load_state(box.folder))] == ["pinned"]
    before = len(box.server.asked)
    (again,) = box.pull("wiki_en_all:nopic@2026-03")
    (held,) = box.pull("wiki_en_all:nopic")
    assert (again.fetched, held.fetched, held.step.file) == (None, None, OLD)
    # A pinned edition that is there needs no connection at all.
    assert len(box.server.asked) == before
    box.pull("wiki_en_all:nopic@newest")
    assert box.path.exists()
    assert load_state(box.folder).pins == {}


def test_an_edition_that_is_gone(box: Box, content: bytes) -> None:
    publish(box, content)
    with pytest.raises(CheckFailed, match="edition 2024-01 of wiki_en_all:nopic") as caught:
        box.pull("wiki_en_all:nopic@2024-01")
    assert "the catalog has 2026-06" in caught.value.hint


def test_update_outlook(box: Box, content: bytes, old_content: bytes) -> None:
    build_zim(box.folder / "own_notes_2026-01.zim", {"A": "<p>x"})
    box.server.publish(OLD, old_content, name="wiki_en_all", flavour="nopic")
    box.pull("wiki_en_all")
    actions = {x.name: x.action for x in check_updates(box.job, [], load_state(box.folder))}
    assert actions == {"own_notes": "unlisted", "wiki_en_all_nopic": "current"}
    with pytest.raises(UsageError, match="no ZIM 'other'"):
        check_updates(box.job, ["other"], load_state(box.folder))
    (box.folder / OLD).write_bytes(old_content[:-5])
    (look,) = check_updates(box.job, ["wiki_en_all_nopic"], load_state(box.folder))
    assert look.step is not None
    assert (look.action, look.step.reason) == ("update", "is there with another size")
    publish(box, content)
    box.server.faults[f"/zim/{FILE}.meta4"] = "500"
    box.server.faults[f"/zim/{FILE}.sha256"] = "500"
    (look,) = check_updates(box.job, ["wiki_en_all_nopic"], load_state(box.folder))
    assert (look.action, look.step) == ("failed", None)


def test_a_file_put_there_by_hand_is_read_and_believed(box: Box, content: bytes) -> None:
    publish(box, content)
    box.path.write_bytes(content)
    (done,) = box.pull("wiki_en_all")
    assert done.fetched is None
    assert load_state(box.folder).files[FILE].sha256 == hashlib.sha256(content).hexdigest()


def test_a_file_of_that_name_with_other_content_is_replaced(box: Box, content: bytes) -> None:
    publish(box, content)
    wrong = bytearray(content)
    wrong[len(wrong) // 2] ^= 0xFF
    box.path.write_bytes(wrong)
    (done,) = box.pull("wiki_en_all")
    assert done.step.reason == "is there with other content (SHA-256 differs)"
    assert box.path.read_bytes() == content


def test_one_that_fails_does_not_keep_the_others(box: Box, content: bytes, tmp_path: Path) -> None:
    publish(box, content, mirrors=("a",))
    other = zim(tmp_path / "other", "other_de_2026-06.zim", 1000)
    box.server.publish("other_de_2026-06.zim", other)
    for mirror in ("a", "zim"):
        box.server.faults[f"/{mirror}/{FILE}"] = "404"
    with pytest.raises(CheckFailed) as caught:
        box.pull("wiki_en_all", "other_de")
    assert caught.value.data is not None
    assert caught.value.data["done"] == ["other_de_2026-06.zim"]
    assert caught.value.data["changed"] is True
    assert (box.folder / "other_de_2026-06.zim").read_bytes() == other


def test_too_little_space_is_refused_before_a_byte(box: Box, content: bytes) -> None:
    publish(box, content)
    with pytest.raises(CheckFailed, match=r"need .* free .* short of") as caught:
        box.pull("wiki_en_all", keep_free=10**18)
    assert caught.value.code == "no_space"
    assert box.server.tried() == []
    assert list(box.folder.iterdir()) == []


def test_the_rate_is_held(box: Box, content: bytes) -> None:
    import time

    from infoforge.zims.transfer import Limiter

    publish(box, content)
    began = time.monotonic()
    limiter = Limiter(len(content))
    box.pull("wiki_en_all", options=replace(box.job.options, limiter=limiter))
    assert time.monotonic() - began >= 0.95


def test_a_catalog_that_moved_or_is_broken_is_read(box: Box, content: bytes) -> None:
    publish(box, content, title="Cats & dogs")
    box.pull("wiki_en_all", catalog=f"{box.server.url}/moved/catalog")
    assert box.path.exists()


def test_a_catalog_that_is_away(box: Box) -> None:
    with pytest.raises(CheckFailed, match="not there") as caught:
        box.pull("wiki_en_all", catalog=f"{box.server.url}/nothing")
    assert caught.value.code == "unreachable"
    with pytest.raises(InfoForgeError, match="refused"):
        box.pull("wiki_en_all", catalog="http://127.0.0.1:9/catalog")


def test_a_link_in_the_place_of_the_partial_is_not_followed(
    box: Box, content: bytes, tmp_path: Path
) -> None:
    publish(box, content)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (box.folder / ".partial").mkdir()
    (box.folder / ".partial" / FILE).symlink_to(victim)
    with pytest.raises(CheckFailed, match="cannot write"):
        box.pull("wiki_en_all")
    assert victim.read_text() == "precious"


def test_two_flaky_mirrors_one_of_them_wrong(box: Box, content: bytes) -> None:
    # a cuts every answer in half and has a wrong byte, b cuts every answer in half and is right.
    publish(box, content, mirrors=("a", "b"))
    wrong = bytearray(content)
    wrong[1000] ^= 0xFF
    box.server.files[f"/a/{FILE}"] = bytes(wrong)
    for mirror in ("a", "b", "zim"):
        box.server.faults[f"/{mirror}/{FILE}"] = "cut" if mirror != "zim" else "404"
    box.pull("wiki_en_all")
    assert box.path.read_bytes() == content
