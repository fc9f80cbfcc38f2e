"""The model in a thread of its own: it embeds the next notes while these are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from infoforge.vault.search import vector_text

if TYPE_CHECKING:
    from infoforge.vault.embed import Embedder

SLICE = 64
"""Texts that are embedded in one go. A run that fails waits for no more than these: a second."""

Vectors = Callable[[], dict[str, str]]
"""Waits for the vectors and gives them as text, by key; raises what the model raised."""


class Ahead:
    """One thread that embeds, in the order of asking; a context manager that ends with it.

    The database, the files and whoever is told of progress stay with the thread that asks, so
    nothing but the model has to bear a second one. (ONNX Runtime and a request to a server leave
    Python's lock to the others meanwhile.)

    Args:
        model: Used by that thread alone, but for counting.
    """

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="embed")

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        # What is not begun is not done any more; the thread is gone when this returns.
        self._pool.shutdown(cancel_futures=True)

    def embed(self, texts: Mapping[str, str]) -> Vectors:
        """Begin to embed.

        Args:
            texts: Passages by key.
        """
        # Of like length together, as the model computes them.
        keys = sorted(texts, key=lambda key: len(texts[key]))
        parts = [keys[start : start + SLICE] for start in range(0, len(keys), SLICE)]
        jobs = [self._pool.submit(self._model.documents, [texts[k] for k in p]) for p in parts]

        def wait() -> dict[str, str]:
            return {
                key: vector_text(row)
                for part, job in zip(parts, jobs, strict=True)
                for key, row in zip(part, job.result(), strict=True)
            }

        return wait
