"""Metalinks and .sha256 files."""

from __future__ import annotations

import pytest

from infoforge.contract import CheckFailed
from infoforge.zims.metalink import Pieces, parse_metalink, parse_sha256

SHA = "ab" * 32
NS = 'xmlns="urn:ietf:params:xml:ns:metalink"'


def link(inner: str, ns: str = NS) -> bytes:
    return (
        f'<?xml version="1.0"?><metalink {ns}><file name="a.zim">{inner}</file></metalink>'.encode()
    )


def test_all_of_it() -> None:
    piece = "cd" * 20
    found = parse_metalink(
        link(
            f"""<size>2500</size><hash type="md5">x</hash>
            <hash type="sha-256"> {SHA.upper()} </hash>
            <pieces length="1000" type="sha-1">{f"<hash>{piece}</hash>" * 3}</pieces>
            <url priority="2">https://b/a.zim</url><url>https://z/a.zim</url>
            <url location="de" priority="1">https://a/a.zim</url>
            <url priority="3">ftp://c/a.zim</url><url priority="9">../a.zim</url>
            <metaurl mediatype="torrent">https://t/a.torrent</metaurl>"""
        ),
        "https://h/zim/a.zim.meta4",
        "a.zim",
    )
    assert (found.file, found.size, found.sha256) == ("a.zim", 2500, SHA)
    assert found.pieces == Pieces(1000, "sha1", (piece,) * 3)
    assert found.mirrors == (
        "https://a/a.zim",
        "https://b/a.zim",
        "https://h/a.zim",
        "https://z/a.zim",
    )


def test_pieces_that_do_not_fit_are_left_out() -> None:
    for size, length, digest in ((2500, 1000, "cd" * 20), (1000, 0, "cd" * 20), (1000, 1000, "zz")):
        body = f'<size>{size}</size><pieces length="{length}" type="sha-1"><hash>{digest}</hash>'
        assert parse_metalink(link(body + "</pieces>"), "https://h/x", "a.zim").pieces is None


def test_a_weak_hash_is_none() -> None:
    body = '<size>1</size><hash type="sha-1">' + "ab" * 20 + "</hash>"
    assert parse_metalink(link(body), "https://h/x", "a.zim").sha256 == ""
    assert parse_metalink(link(f'<hash type="sha256">{SHA}</hash>'), "h", "a.zim").sha256 == SHA


def test_without_namespace_and_with_a_loose_ampersand() -> None:
    found = parse_metalink(link("<url>https://a/a.zim?x=1&y=2</url>", ns=""), "https://h/", "a.zim")
    assert found.mirrors == ("https://a/a.zim?x=1&y=2",)


def test_the_file_that_is_wanted_of_several() -> None:
    body = b'<metalink><file name="b.zim"><size>1</size></file><file name="a.zim"><size>2</size>'
    assert parse_metalink(body + b"</file></metalink>", "h", "a.zim").size == 2


@pytest.mark.parametrize("body", [b"", b"<html/>", b"<metalink/>", b"<!DOCTYPE x><metalink/>"])
def test_no_metalink(body: bytes) -> None:
    with pytest.raises(CheckFailed, match="is no metalink"):
        parse_metalink(body, "https://h/x", "a.zim")


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (SHA, SHA),
        (f"{SHA}  a.zim\n", SHA),
        (f"{SHA} */srv/zim/a.zim", SHA),
        (f"{'00' * 32}  b.zim\n{SHA}  a.zim\n", SHA),
        (f"{SHA}  b.zim\n", ""),
        ("<html>", ""),
        ("abcd  a.zim", ""),
    ],
)
def test_sha256_files(text: str, digest: str) -> None:
    assert parse_sha256(text.encode(), "a.zim") == digest
