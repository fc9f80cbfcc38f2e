"""Search in the vault: vector and keyword search, fused by rank; old notes count a little less."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from infoforge.vault.store import Store, words_of

FUSION = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
PER_NOTE = 2
"""Most passages of one note among the results, while others are left."""
_COMMON = 0.2
"""A word that stands in more than this share of all chunks says nothing, if others do."""
_FEW = 50
"""Chunks among which no word is called common."""
_EXACT = 5000
"""Chunks below a folder up to which each is looked at."""
_MOST_ROWS = 400
"""Chunks that words which are known to be common may lead to."""
_MOST_READ = 800
"""Chunks that are ranked in any case."""

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
        similarity: Cosine similarity to the question; 0 when only the keyword search found it.
        vector_rank: Rank in the vector search, from 1; 0: not found by it.
        keyword_rank: Rank in the keyword search, from 1; 0: not found by it.
        score: What it is ranked by; comparable within one search alone.
    """

    source: str
    index: int
    heading: str
    content: str
    date: str
    similarity: float = 0.0
    vector_rank: int = 0
    keyword_rank: int = 0
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
        vector: Its vector; ``None``: keyword search alone.
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


def search(store: Store, query: Query, *, keywords: bool = True) -> tuple[Passage, ...]:
    """Search the index.

    Args:
        store: The index.
        query: What is searched for, and how.
        keywords: Run the keyword search as well.

    Returns:
        At most ``query.top`` passages, best first, no more than two of one note.

    Raises:
        VaultError: The database fails.
    """
    found: dict[int, Passage] = {}
    if query.vector is not None:
        for rank, (key, passage, similarity) in enumerate(vector_search(store, query), 1):
            found[key] = replace(passage, similarity=similarity, vector_rank=rank)
    if keywords:
        for rank, (key, passage) in enumerate(keyword_search(store, query), 1):
            found[key] = replace(found.get(key, passage), keyword_rank=rank)
    today = query.today or date.today()
    scored = [replace(p, score=_score(p, query, today)) for p in found.values()]
    scored.sort(key=lambda p: (-p.score, p.source, p.index))
    return tuple(_spread(scored, query.top))


def vector_search(store: Store, query: Query) -> list[tuple[int, Passage, float]]:
    """The nearest chunks with their similarity, nearest first."""
    store.tune(filtered=bool(query.under))
    vector = vector_text(query.vector)
    where, values = _under(query)
    distance = "(embedding <=> %s::vector)"
    if where:
        # In the graph a passage of a small folder is found after all the others that are nearer;
        # looking at each of the folder's own costs less.
        few = store.rows(
            f"SELECT count(*) FROM (SELECT 1 FROM chunks {where} LIMIT %s) AS held",  # noqa: S608
            *values,
            _EXACT + 1,
        )
        distance += " + 0" if few[0][0] <= _EXACT else ""
    rows = store.rows(
        # Of the chunks that are not among the nearest no more than the vector is looked at.
        f"SELECT {_COLUMNS}, 1 - distance FROM (SELECT id, {distance} AS distance"  # noqa: S608
        f"   FROM chunks {where} ORDER BY distance LIMIT %s) AS nearest"
        " JOIN chunks USING (id) ORDER BY distance, id",
        vector,
        *values,
        query.candidates,
    )
    return [(int(row[0]), _passage(row), float(row[6])) for row in rows]


def keyword_search(store: Store, query: Query) -> list[tuple[int, Passage]]:
    """The chunks that hold the question's words, by how rare these are.

    A chunk that is ranked has to be read first. So the rare words lead to the chunks; the commoner
    ones do when there are too few of these, and then two of them together.
    """
    total, words = _frequencies(store, query.text)
    telling = [(word, rows) for word, rows in words if rows <= _most_of(total)]
    telling = telling or words[:2]
    rare: list[tuple[str, float]] = []
    for word, rows in telling:
        if sum(held for _, held in rare) + rows > _MOST_ROWS:
            break
        rare.append((word, rows))
    rest = telling[len(rare) :]
    found = _ranked(store, query, total, rare, " | ")
    if rest and len(found) < query.candidates:
        found |= {
            k: v for k, v in _ranked(store, query, total, rest[:2], " & ").items() if k not in found
        }
    if rest and not found:
        found = _ranked(store, query, total, rest[:1], " | ")
    return list(found.items())[: query.candidates]


def _most_of(total: float) -> float:
    """Most chunks that a word may stand in and still say something."""
    return total if total <= _FEW else _COMMON * total


def _frequencies(store: Store, text: str) -> tuple[float, list[tuple[str, float]]]:
    """How many chunks there are, and how many hold each word, rarest first: by the statistics.

    The statistics know the common words alone; the others count as nothing here, and exactly when
    they are ranked.
    """
    rows = store.rows(
        "SELECT unnest(tsvector_to_array(to_tsvector(coalesce((SELECT value FROM vault_settings"
        " WHERE key = 'language'), 'english')::regconfig, %s)))",
        text,
    )
    known = words_of(store)
    counted = [(str(word), known.shares.get(str(word), 0.0) * known.total) for (word,) in rows]
    return known.total, sorted(counted, key=lambda item: item[1])


def _ranked(
    store: Store, query: Query, total: float, words: Sequence[tuple[str, float]], by: str
) -> dict[int, Passage]:
    """The best chunks that hold one of the words (``by``: `` | ``) or all (`` & ``), best first."""
    if not words:
        return {}
    where, values = _under(query, "AND")
    terms = [_quoted(word) for word, _ in words]
    rows = store.rows(
        "WITH hits AS MATERIALIZED (SELECT id, words AS held FROM chunks"  # noqa: S608
        f" WHERE words @@ %s::tsquery {where} LIMIT %s),"
        " ranked AS (SELECT id, term, known, ts_rank('{0.3,0.5,0.8,1}', held, term, 1) AS rank"
        "   FROM hits, unnest(%s::text[]::tsquery[], %s::float8[]) AS terms (term, known)"
        "   WHERE held @@ term),"
        " counted AS (SELECT term, greatest(count(*), max(known)) AS rows FROM ranked"
        "   GROUP BY term),"
        " weighed AS MATERIALIZED (SELECT term, rows, min(rows) OVER () AS least,"
        "   ln(1 + (greatest(%s, max(rows) OVER ()) - rows + 0.5) / (rows + 0.5)) AS weight"
        "   FROM counted),"
        " best AS (SELECT id, sum(weight * rank) AS score FROM ranked JOIN weighed USING (term)"
        "   WHERE rows <= greatest(%s, least) GROUP BY id ORDER BY score DESC, id LIMIT %s)"
        f" SELECT {_COLUMNS} FROM best JOIN chunks USING (id) ORDER BY score DESC, id",
        by.join(terms),
        *values,
        _MOST_READ,
        terms,
        [rows for _, rows in words],
        total,
        _most_of(total),
        query.candidates,
    )
    return {int(row[0]): _passage(row) for row in rows}


def vector_text(vector: Any) -> str:  # noqa: ANN401 - an array
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"


def _quoted(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"


def _under(query: Query, keyword: str = "WHERE") -> tuple[str, list[object]]:
    if not query.under:
        return "", []
    # A Mac writes file names decomposed; the same name from a keyboard is composed.
    folder = unicodedata.normalize("NFC", query.under.strip("/")) + "/"
    escaped = folder.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{keyword} normalize(source, NFC) LIKE %s", [escaped + "%"]


def _passage(row: Sequence[Any]) -> Passage:
    return Passage(str(row[1]), int(row[2]), str(row[3]), str(row[4]), str(row[5]))


def _score(passage: Passage, query: Query, today: date) -> float:
    score = sum(1 / (FUSION + rank) for rank in (passage.vector_rank, passage.keyword_rank) if rank)
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
