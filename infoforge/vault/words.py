"""How common words are in the vault, by the statistics that the database keeps anyway."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infoforge.vault.store import Store

KNOWN_SECONDS = 60.0
"""How long a connection takes what it read for what is now: reading takes longer than a search."""


@dataclass(frozen=True, slots=True)
class Words:
    """What the statistics know.

    Attributes:
        total: How many chunks there are.
        shares: Share of the chunks that hold a word, for the common words alone.
        read: When that was, by the monotonic clock.
    """

    total: float
    shares: dict[str, float]
    read: float


def words_of(store: Store) -> Words:
    """The statistics, as of a minute ago at most.

    Raises:
        VaultError: The database fails.
    """
    now = time.monotonic()
    if store.words is None or now - store.words.read > KNOWN_SECONDS:
        row = store.rows(
            # There is no estimate before the table was first looked through.
            "SELECT CASE WHEN reltuples > 0 THEN reltuples ELSE (SELECT count(*) FROM chunks) END,"
            " most_common_elems::text::text[], most_common_elem_freqs"
            " FROM pg_class LEFT JOIN pg_stats ON schemaname = current_schema()"
            "   AND tablename = 'chunks' AND attname = 'words'"
            " WHERE oid = 'chunks'::regclass"
        )[0]
        # After the shares of the words stand the least and the greatest of them.
        shares = dict(zip(row[1] or (), row[2] or (), strict=False))
        store.words = Words(float(row[0]), shares, now)
    return store.words
