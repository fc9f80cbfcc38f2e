"""A written ZIM is opened again before it gets its name."""

from __future__ import annotations

from infoforge.contract import CheckFailed
from infoforge.zimify.shelf import Shelf
from infoforge.zimify.writer import ZimWriter


def check(writer: ZimWriter, shelf: Shelf) -> int:
    """Open the finished file and compare it with what was put in.

    Args:
        writer: The writer, closed but not committed.
        shelf: The names of the folder.

    Returns:
        The number of entries.

    Raises:
        CheckFailed: The file is damaged, entries are missing, or the search index finds nothing.
    """
    from libzim.reader import Archive

    try:
        archive = Archive(writer.temporary)
    except RuntimeError as error:
        raise CheckFailed(f"the finished ZIM cannot be opened: {error}") from None
    if not archive.check():
        raise CheckFailed("the finished ZIM fails its own checksum")
    missing = [path for path in sorted(writer.paths) if not archive.has_entry_by_path(path)]
    if missing:
        raise CheckFailed(
            f"{len(missing)} entries are missing in the ZIM, the first is {missing[0]}"
        )
    if not archive.has_main_entry:
        raise CheckFailed("the ZIM has no front page")
    if writer.articles and not (archive.has_fulltext_index and archive.has_title_index):
        raise CheckFailed("the ZIM has no search index")
    return int(archive.entry_count)
