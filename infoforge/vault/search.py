"""Search in the vault: by meaning and by words, fused; old notes count a little less."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from infoforge.vault.store import Store

FUSION = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
PER_NOTE = 2
"""Most passages of one note among the results, while others are left."""
_COMMON = 0.2
"""A word that stands in more than this share of all chunks says nothing, if others do."""
_MOST_ROWS = 1000
"""Chunks that the words of a query may lead to before the commoner words are let go."""

_COLUMNS = "id, source, chunk_index, heading_path, content, modified::text"


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was found.

    Attributes:
        source: The note's path in the vault.
        index: The chunk's place in the note.
        heading: Heading path, the note's title first.
        content: The text.
        date: The note's own date, ISO.
        similarity: Cosine similarity to the question; 0 when it was found by words alone.
        by_meaning: Rank among those found by meaning, from 1; 0: not among them.
        by_words: Rank among those found by words, from 1; 0: not among them.
        score: What it is ranked by; comparable within one search alone.
    """

    source: str
    index: int
    heading: str
    content: str
    date: str
    similarity: float = 0.0
    by_meaning: int = 0
    by_words: int = 0
    score: float = 0.0

    @property
    def title(self) -> str:
        """The note's title."""
        return self.heading.split(" > ", 1)[0]


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for.

    Attributes:
        text: The question.
        vector: Its vector; ``None``: search by words alone.
        under: Path in the vault below which notes are searched; empty: all.
        candidates: Passages that each search contributes.
        top: Passages to give.
        stale_months: Age at which a note counts less; 0: never.
        stale_penalty: Share of its score that it loses.
        today: The day that ages are counted from; today when not given.
    """

    text: str
    vector: Any = None
    under: str = ""
    candidates: int = 30
    top: int = 5
    stale_months: int = 6
    stale_penalty: float = 0.05
    today: date | None = None


def search(store: Store, query: Query, *, words: bool = True) -> tuple[Passage, ...]:
    """Search the index.

    Args:
        store: The index.
        query: What is searched for, and how.
        words: Search by words too.

    Returns:
        At most ``query.top`` passages, best first, no more than two of one note.

    Raises:
        VaultError: The database fails.
    """
    found: dict[int, Passage] = {}
    if query.vector is not None:
        for rank, (key, passage, similarity) in enumerate(by_meaning(store, query), 1):
            found[key] = replace(passage, similarity=similarity, by_meaning=rank)
    if words:
        for rank, (key, passage) in enumerate(by_words(store, query), 1):
            found[key] = replace(found.get(key, passage), by_words=rank)
    today = query.today or date.today()
    scored = [replace(p, score=_score(p, query, today)) for p in found.values()]
    scored.sort(key=lambda p: (-p.score, p.source, p.index))
    return tuple(_spread(scored, query.top))


def by_meaning(store: Store, query: Query) -> list[tuple[int, Passage, float]]:
    """The nearest chunks with their similarity, nearest first."""
    store.tune()
    vector = vector_text(query.vector)
    where, values = _under(query)
    rows = store.rows(
        f"SELECT {_COLUMNS}, 1 - (embedding <=> %s::vector) FROM chunks {where}"  # noqa: S608
        " ORDER BY embedding <=> %s::vector LIMIT %s",
        vector,
        *values,
        vector,
        query.candidates,
    )
    return [(int(row[0]), _passage(row), float(row[6])) for row in rows]


def by_words(store: Store, query: Query) -> list[tuple[int, Passage]]:
    """The chunks that hold the question's words, by how rare these are.

    Postgres ranks without looking at how rare a word is; so each word's share is asked for first,
    and what stands in every other note is let go.
    """
    language = store.setting("language") or "english"
    total = store.rows(
        # The estimate costs nothing, but there is none before the table was first looked through.
        "SELECT CASE WHEN reltuples > 0 THEN reltuples::bigint ELSE (SELECT count(*) FROM chunks)"
        " END FROM pg_class WHERE oid = 'chunks'::regclass"
    )
    lexemes = store.rows(
        # Counted no further than matters: a common word would have every page of the table read.
        "SELECT word, (SELECT count(*) FROM (SELECT 1 FROM chunks"  # noqa: S608
        f" WHERE words @@ quote_literal(word)::tsquery LIMIT {_MOST_ROWS + 1}) AS held)"
        " FROM unnest(tsvector_to_array(to_tsvector(%s::regconfig, %s))) AS word",
        language,
        query.text,
    )
    most = max(int(total[0][0]), max((int(n) for _, n in lexemes), default=1), 1)
    held = sorted(((str(w), int(n)) for w, n in lexemes if n), key=lambda item: item[1])
    chosen: list[tuple[str, float]] = []
    rows_so_far = 0
    for word, count in held:
        too_many = rows_so_far + count > _MOST_ROWS or (count > _COMMON * most and most > 50)
        if chosen and too_many:
            break
        chosen.append((word, math.log(1 + (most - count + 0.5) / (count + 0.5))))
        rows_so_far += count
    if not chosen:
        return []
    where, values = _under(query, "AND")
    terms = ", ".join(["(%s::tsquery, %s::float8)"] * len(chosen))
    pairs: list[object] = []
    for word, weight in chosen:
        pairs += [_quoted(word), weight]
    rows = store.rows(
        f"WITH terms (term, weight) AS (VALUES {terms})"  # noqa: S608
        f" SELECT {_COLUMNS}, (SELECT sum(weight * ts_rank('{{0.3,0.5,0.8,1}}', words, term, 1))"
        "   FROM terms) AS score"
        f" FROM chunks WHERE words @@ %s::tsquery {where} ORDER BY score DESC, id LIMIT %s",
        *pairs,
        " | ".join(_quoted(word) for word, _ in chosen),
        *values,
        query.candidates,
    )
    return [(int(row[0]), _passage(row)) for row in rows]


def vector_text(vector: Any) -> str:  # noqa: ANN401 - an array
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"


def _quoted(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"


def _under(query: Query, keyword: str = "WHERE") -> tuple[str, list[object]]:
    if not query.under:
        return "", []
    folder = query.under.strip("/") + "/"
    escaped = folder.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{keyword} source LIKE %s", [escaped + "%"]


def _passage(row: Sequence[Any]) -> Passage:
    return Passage(str(row[1]), int(row[2]), str(row[3]), str(row[4]), str(row[5]))


def _score(passage: Passage, query: Query, today: date) -> float:
    score = sum(1 / (FUSION + rank) for rank in (passage.by_meaning, passage.by_words) if rank)
    if query.stale_months and months_old(passage.date, today) >= query.stale_months:
        score *= 1 - query.stale_penalty
    return round(score, 6)


def months_old(day: str, today: date) -> int:
    """Whole months between a date (ISO) and today; 0 for one in the future or none at all."""
    try:
        then = date.fromisoformat(day)
    except ValueError:
        return 0
    months = (today.year - then.year) * 12 + today.month - then.month
    return max(0, months - (today.day < then.day))


def _spread(ranked: Sequence[Passage], top: int) -> list[Passage]:
    """The best passages, at most `PER_NOTE` of one note while there are others."""
    taken: list[Passage] = []
    rest: list[Passage] = []
    held: dict[str, int] = {}
    for passage in ranked:
        if held.get(passage.source, 0) < PER_NOTE:
            held[passage.source] = held.get(passage.source, 0) + 1
            taken.append(passage)
        else:
            rest.append(passage)
    return (taken + rest)[:top] if len(taken) < top else taken[:top]
